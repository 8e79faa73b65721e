internal import Model

/// Lets `burst` things pass at once and `rate` a second in the long run.
struct TokenBucket: Sendable {
  private let interval: Int64
  private let depth: Int64
  /// When the bucket was, or will be, full: every token taken moves it on by one interval.
  private var fullAt: Instant

  /// - Parameters:
  ///   - rate: tokens a second, 1 to a million.
  ///   - burst: tokens in a full bucket.
  init(rate: Int64, burst: Int64, now: Instant) {
    interval = 1_000_000_000 / rate
    depth = interval * burst
    fullAt = now
  }

  /// - Returns: whether there was a token.
  mutating func take(at now: Instant) -> Bool {
    let base = max(fullAt, now)
    guard base.nanoseconds &+ interval &- now.nanoseconds <= depth else { return false }
    fullAt = base.advanced(byNanoseconds: interval)
    return true
  }

  func encode(into writer: inout StateWriter) {
    writer.write(interval)
    writer.write(depth)
    writer.write(fullAt)
  }

  init(from reader: inout StateReader) throws(StateError) {
    interval = try reader.integer()
    depth = try reader.integer()
    fullAt = try reader.instant()
  }
}
