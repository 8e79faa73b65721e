internal import Rooms

/// One transport of a participant without a socket, as a front door has it.
struct TransportHandle {
  enum Way {
    /// Of a session that is held.
    case session(ParticipantSession, ParticipantTransport)
    /// By its id, as WHIP and WHEP have it: there is no session.
    case standalone(StandaloneAnswer, TransportRole)
  }

  let way: Way
  /// The numbers of all far ends of the participant.
  var siblings: [Int] = []

  var transport: ParticipantTransport? { if case .session(_, let transport) = way { transport } else { nil } }
  var isStandalone: Bool { transport == nil }
}
