internal import Model

/// Where a source's time lies on this machine's. It stands still while the source does, or the process: what is due then goes out
/// afterwards at its own pace, and not in a heap.
struct PlayTime {
  /// Nanoseconds; who has stood still for longer goes on from there.
  private static let mostLate: Int64 = 200_000_000

  /// Where the source's beginning lies; `.never` before it plays.
  private(set) var start = Instant.never
  private var isStarving = false
  private var turnedAt = Instant.never

  mutating func begin(at moment: Instant) { start = moment }

  /// Until when frames are due, from the source's beginning.
  func due(now: Instant) -> Int64 { now.nanoseconds - start.nanoseconds }

  /// A turn begins.
  /// - Parameter next: when the next frame is due, from the source's beginning; nil: none is there yet.
  mutating func turn(now: Instant, next: Int64?) {
    let hasStood = turnedAt != .never && now.nanoseconds - turnedAt.nanoseconds > Self.mostLate
    turnedAt = now
    guard isStarving || hasStood, let next else { return }
    let late = due(now: now) - next
    if late > Self.mostLate { start = start.advanced(byNanoseconds: late) }
  }

  /// A turn ends.
  /// - Parameter isStarving: more is to come of the source, and isn't there.
  mutating func rest(isStarving: Bool) { self.isStarving = isStarving }
}
