/// Why a participant is no longer in its room.
public enum LeaveReason: String, Codable, Sendable, CaseIterable {
  case left
  case removed
  case connectionLost
  case duplicateIdentity
  /// The person goes on in the call by another of its devices.
  case movedElsewhere
  case roomClosed
  case serverShutdown
}
