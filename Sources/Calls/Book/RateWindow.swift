/// How often something was done within a span, by exact times.
public struct RateWindow: Hashable, Sendable {
  private var times: [Int64] = []

  public init() {}

  /// - Parameters:
  ///   - most: within `span` milliseconds.
  ///   - now: on the clock that doesn't jump.
  /// - Returns: in how many milliseconds it may be done once more; nil: now.
  public func wait(most: Int, span: Int64, at now: Int64) -> Int64? {
    let recent = times.filter { now - $0 < span }
    guard recent.count >= most else { return nil }
    // As many have to be a span ago that there is room for one more.
    let last = recent.count - most
    return last < recent.count ? span - (now - recent[last]) : span
  }

  /// Counts one.
  public mutating func add(span: Int64, at now: Int64) {
    times.removeAll { now - $0 >= span }
    times.append(now)
  }

  /// Takes back one that was counted at a time; nothing happens if it isn't counted any more.
  public mutating func giveBack(at time: Int64) {
    if let index = times.lastIndex(of: time) { times.remove(at: index) }
  }

  public func isIdle(span: Int64, at now: Int64) -> Bool { times.allSatisfy { now - $0 >= span } }
}
