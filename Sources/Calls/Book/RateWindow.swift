/// How often something was done within a span: at most so often, by exact times.
struct RateWindow: Hashable, Sendable {
  private var times: [Int64] = []

  /// - Parameters:
  ///   - most: within `span` milliseconds.
  ///   - now: on the clock that doesn't jump.
  /// - Returns: nil where it may be done, and is counted; else in how many milliseconds it may.
  mutating func take(most: Int, span: Int64, at now: Int64) -> Int64? {
    times.removeAll { now - $0 >= span }
    guard times.count < most else { return times.first.map { span - (now - $0) } ?? span }
    times.append(now)
    return nil
  }

  func isIdle(span: Int64, at now: Int64) -> Bool { times.allSatisfy { now - $0 >= span } }
}
