internal import Model

/// When a rate that isn't sent is tried where nothing can be sent to probe with: the target goes up to where something that is
/// withheld is shown, and that is the probe. After a fall it waits, and longer each time that it was tried in vain.
struct UntriedRate: BitwiseCopyable {
  /// As long as what was taken away for want of rate waits (`SlotMemory.shortHold`).
  private static let first: Int64 = 8_000_000_000
  private static let longest: Int64 = 60_000_000_000
  /// A fall within so long after a rise says that it was in vain: what there is room for may have to wait for `SlotMemory.longestHold`.
  private static let trial: Int64 = 40_000_000_000
  /// What falls by less has not fallen.
  private static let fall = 0.95

  private var wait = UntriedRate.first
  private var fellAt: Int64 = .min
  private var roseAt: Int64 = .min

  init() {}

  func mayRise(now: Instant) -> Bool { fellAt == .min || now.nanoseconds &- fellAt >= wait }

  /// What is allowed has changed.
  /// - Parameter isUntried: it may rise for this reason alone.
  mutating func note(from before: Double, to after: Double, isUntried: Bool, now: Instant) {
    if after < Self.fall * before {
      if roseAt != .min {
        wait = now.nanoseconds &- roseAt < Self.trial ? min(2 * wait, Self.longest) : Self.first
      }
      (fellAt, roseAt) = (now.nanoseconds, .min)
    } else if isUntried, after > before {
      roseAt = now.nanoseconds
    }
  }
}
