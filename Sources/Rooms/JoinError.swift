public import Model

/// Why a participant was not let in.
public enum JoinError: Error, Equatable, Sendable {
  /// The server stops.
  case draining
  /// The room, or the server, has as many as it may.
  case full(limit: Int)
  /// The person is in the room's call by another device.
  case elsewhere
  /// There is no such room, and joining makes none.
  case noRoom
  /// The identity was removed from the room, and the token is not known to be of after that.
  case removed
  /// The invitation that has given out its token holds no more.
  case revoked
  /// The token's metadata and attributes are more than the room has place for.
  case tooLarge(StateExcess)
  /// The identity has come and gone, or asked, too often in this room.
  case tooOften
  /// No new session gets into the room.
  case locked
  /// A host has to let it in, and by this door it can't wait for that.
  case admissionRequired
  /// It has waited as long as sessions wait.
  case notAdmitted
  /// It waited, and that is over for a reason that ends sessions, too.
  case waitingEnded(LeaveReason)
}
