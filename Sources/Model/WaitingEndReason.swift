/// Why a session waits to be let into a room no longer.
public enum WaitingEndReason: String, Sendable, CaseIterable {
  /// It is in, and its `participant.joined` came before; one that is hidden has none, nor has one whose participant was there already.
  case admitted
  /// A host has refused it, which removes its identity, or the invitation by which it came holds no more.
  case removed
  /// It was waited for as long as sessions wait.
  case timedOut
  case left
  case connectionLost
  /// Its identity came again, and waits by that session.
  case duplicateIdentity
  case roomClosed
  case serverShutdown
  /// It was to come in, and there was no place for it, or a host has refused it alone, because its identity is in by another session.
  case refused
}
