public import AccessTokens

/// What has a say in who comes into some rooms, and hears whose media is there: the calls that have them.
public protocol RoomOverseer: Sendable {
  /// Whether somebody may come in. It is asked as they come, beside what the room itself asks.
  /// - Parameter device: of the person's, as the token has it.
  func admit(
    _ identity: String, device: String?, to room: String, grants: Grants
  ) async throws(JoinError)
  /// Somebody's media is connected in a room, or isn't any more. Said again it means no more.
  func media(of identity: String, in room: String, isConnected: Bool)
}
