internal import AccessTokens
internal import Signalling

/// What the native door asks of what people of a call share in its room.
protocol SessionService: Sendable {
  /// From now on the events of that person's sessions come.
  /// - Returns: nil: the room is no call's.
  func open(_ identity: String, in room: String) -> SessionLine?
  func close(_ line: SessionLine)
  /// - Returns: the number that the event has, once it is on the disk.
  func append(
    _ message: ClientMessage.SessionEvent, by token: AccessToken, in room: String
  ) async throws(Refusal) -> ServerMessage.SessionSeq
}
