public import AccessTokens

/// What has a say in who comes into some rooms, and hears whose media is there: the calls that have them.
public protocol RoomOverseer: Sendable {
  /// Whether a participant may join. It is asked as they come, before the room itself is, and changes nothing.
  /// - Parameter device: of the person's, as the token has it.
  /// - Returns: the stay by which it is there as of now; nil: by none yet, or it isn't overseen.
  func admit(
    _ identity: String, device: String?, to room: String, grants: Grants
  ) async throws(JoinError) -> String?
  /// One that might have joined isn't let in by the room itself: nothing follows from `admit`.
  func turnedAway(_ identity: String, device: String?, from room: String)
  /// The room has let somebody in.
  /// - Returns: a name for its stay, by which its media is said and `disconnect` finds it; nil: it isn't overseen.
  /// - Throws: it may not be there any more, and goes again.
  func entered(
    _ identity: String, device: String?, _ room: String, grants: Grants
  ) async throws(JoinError) -> String?
  /// Somebody's media stands in a room, or doesn't any more. Said again it means no more.
  /// - Parameter stay: by which it is there; nil: it isn't known yet, or it isn't overseen.
  func media(of identity: String, stay: String?, in room: String, _ presence: MediaPresence)
  /// An administrator takes somebody out; the room does so behind this, whatever is thrown.
  /// - Throws: `notStored`: it holds, and a crash would undo it; `full`: it holds in the room alone.
  func willRemove(_ identity: String, from room: String) async throws(AdministrationError)
  /// An administrator closes a room; likewise.
  func willClose(_ room: String) async throws(AdministrationError)
}

/// How somebody's media stands in a room.
public enum MediaPresence: Hashable, Sendable {
  case connected
  /// It may come back at once: by another session, or another transport.
  case gone
  /// It was gone, and waited for by the room as long as that waits for anyone.
  case lost
}
