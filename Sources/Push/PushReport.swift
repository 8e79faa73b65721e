/// How it stands with one push service.
public struct PushReport: Equatable, Sendable {
  /// `production`, `sandbox` or `webhook`.
  public var service: String
  public var counters: PushCounters
  /// Pushes that wait or are under way, and about what they take.
  public var waiting: Int
  public var waitingBytes: Int
}
