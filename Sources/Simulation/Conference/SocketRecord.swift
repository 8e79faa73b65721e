internal import Model

/// One WebSocket of the conference, seen from the cable between its two ends.
final class SocketRecord {
  let socket: SimulatedSocket
  let client: RoomClient
  /// nil: a client that isn't let in.
  let participant: Participant?
  /// Who only knocks is to be refused by this code.
  let refusal: String?
  /// It came while its identity was being removed: it may be let in, and not stay.
  var races = false
  /// When what was sent last arrives, each way: nothing overtakes.
  var upUntil = Instant(nanoseconds: 0)
  var downUntil = Instant(nanoseconds: 0)
  /// Nothing gets through any more; what was on its way to the server may have.
  var isBroken = false
  var losesWhatWasSent = false
  /// The server has heard that it is gone.
  var hasHungUp = false
  /// The server has had something of it.
  var hasEntered = false
  /// What the server said on it, counted at its door.
  var closedMessages = 0
  var closeCode: UInt16?

  init(
    _ socket: SimulatedSocket, client: RoomClient, participant: Participant?, refusal: String? = nil
  ) {
    self.socket = socket
    self.client = client
    self.participant = participant
    self.refusal = refusal
  }
}
