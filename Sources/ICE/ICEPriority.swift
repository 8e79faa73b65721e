/// Priorities of candidates and pairs (RFC 8445 §5.1.2, §6.1.2.3), for the one component there is.
public enum ICEPriority {
  /// The type preferences that RFC 8445 §5.1.2.2 recommends.
  public enum CandidateType: UInt32, Sendable {
    case host = 126
    case peerReflexive = 110
    case serverReflexive = 100
    case relayed = 0
  }

  /// - Parameter localPreference: 0–65535, larger for the better of one agent's addresses.
  public static func candidate(_ type: CandidateType, localPreference: UInt16) -> UInt32 {
    type.rawValue << 24 | UInt32(localPreference) << 8 | 255
  }

  /// - Parameters:
  ///   - controlling: the priority of the controlling side's candidate.
  ///   - controlled: that of the other side's.
  public static func pair(controlling: UInt32, controlled: UInt32) -> UInt64 {
    UInt64(min(controlling, controlled)) << 32 &+ UInt64(max(controlling, controlled)) << 1
      &+ (controlling > controlled ? 1 : 0)
  }
}
