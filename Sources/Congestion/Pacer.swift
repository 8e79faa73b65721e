public import Model

/// How much may leave now: so that a frame leaves over some milliseconds, and no queue grows on the way that the estimator
/// would take for a full path. A path with room to spare sees nothing of it: what fits into the budget leaves at once.
public struct Pacer: BitwiseCopyable, Sendable {
  /// Over the target, so that what waits is gone soon.
  public static let factor = 2.5
  /// Seconds of the rate that may leave in one go.
  public static let span = 0.005
  /// Who waits does so until a multiple of this many nanoseconds: those who got the same frame go on in one waking of their worker, where
  /// each at its own moment cost as much as all sending. Less than `span`, so that no rate is lost.
  private static let round: Int64 = 2_000_000
  /// Seconds of the rate after which what was charged without a wait is forgotten: sound that is too much doesn't hold pictures back for
  /// longer than it lasts.
  private static let longestDebt = 0.3

  private let span: Double
  /// Bytes a nanosecond; nil: nothing is held back.
  private var rate: Double?
  /// Bytes that may leave.
  private(set) var budget = 0.0
  private var last = Instant(nanoseconds: 0)

  public init(span: Double = Pacer.span) { self.span = span }

  /// - Parameter target: bits per second; nil: nothing is known of the path, and nothing is held back.
  public mutating func setTarget(_ target: Double?) {
    let isFirst = rate == nil
    rate = target.map { $0 * Self.factor / 8e9 }
    if isFirst { budget = most }
  }

  private var most: Double { (rate ?? 0) * span * 1e9 }

  /// Whether a packet may leave now.
  public mutating func mayLeave(_ now: Instant) -> Bool {
    guard let rate else { return true }
    let passed = now.nanoseconds &- last.nanoseconds
    if passed > 0 {
      budget = min(budget + Double(passed) * rate, most)
      last = now
    }
    return budget > 0
  }

  /// A packet left, whether it was asked for or not.
  @inline(__always)
  public mutating func charge(_ bytes: Int) {
    if let rate { budget = max(budget - Double(bytes), -rate * Self.longestDebt * 1e9) }
  }

  /// When the next one may.
  public func next(_ now: Instant) -> Instant {
    guard let rate, budget <= 0, rate > 0 else { return now }
    let earliest = now.nanoseconds &+ Int64(min((-budget / rate).rounded(.up), 1e9)) &+ 1
    let over = earliest % Self.round
    return Instant(nanoseconds: over == 0 ? earliest : earliest &+ Self.round &- over)
  }
}
