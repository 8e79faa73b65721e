internal import Model

/// How often somebody may ask: a bucket that fills at an even rate.
struct Budget: Sendable {
  private let rate: Double
  private let burst: Double
  private var left: Double
  private var at: Instant?

  /// - Parameters:
  ///   - rate: units a second.
  ///   - burst: units at once.
  init(rate: Double, burst: Double) {
    self.rate = rate
    self.burst = burst
    left = burst
  }

  /// As `take`, of what may be more than there can ever be at once: then all of that is taken.
  mutating func take(upTo amount: Double, now: Instant) -> Bool { take(min(amount, burst), now: now) }

  /// - Returns: false, and nothing is taken, when there isn't enough.
  mutating func take(_ amount: Double = 1, now: Instant) -> Bool {
    refill(now: now)
    guard left >= amount else { return false }
    left -= amount
    return true
  }

  /// Takes it where it is too late to refuse: what isn't there is owed. Never more than there can be at once.
  mutating func owe(_ amount: Double, now: Instant) {
    refill(now: now)
    left -= min(amount, burst)
  }

  private mutating func refill(now: Instant) {
    if let at { left = min(burst, left + max(0, Double(now.nanoseconds - at.nanoseconds)) / 1e9 * rate) }
    at = now
  }

  /// When nothing is missing any more.
  var fullAt: Instant {
    guard let at else { return Instant(nanoseconds: .min) }
    return at.advanced(byNanoseconds: Int64(((burst - left) / rate * 1e9).rounded(.up)))
  }
}
