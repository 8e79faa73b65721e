/// Why a participant is no longer in the room.
public enum LeaveReason: String, Codable, Sendable, CaseIterable {
  case left
  case removed
  case connectionLost
  case duplicateIdentity
  case roomClosed
  case serverShutdown
}
