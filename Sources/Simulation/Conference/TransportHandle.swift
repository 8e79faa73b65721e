internal import Rooms

/// One transport of a participant without a socket, as a front door has it.
struct TransportHandle {
  let session: ParticipantSession
  let transport: ParticipantTransport
  /// The numbers of all far ends of the session.
  var siblings: [Int] = []
}
