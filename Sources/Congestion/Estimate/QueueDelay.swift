internal import Model

/// How long packets wait on the way: how much later they arrive than the fastest of the last seconds did. The two clocks have
/// nothing to do with each other, so only differences count.
struct QueueDelay: BitwiseCopyable {
  /// The fastest is looked for in this and the one before.
  private static let window: Int64 = 5_000_000_000
  private static let smoothing = 0.2

  private var least: Int64 = .max
  private var leastBefore: Int64 = .max
  private var begin: Int64 = .min
  /// Nanoseconds.
  private(set) var nanoseconds = 0.0

  /// When a queue that is there was last taken for a large picture's, which is soon gone; and whether it wasn't.
  private var excusedAt: Instant?
  private var wasExcused = false
  private static let mostExcused = 250e6
  private static let longestExcuse = Duration.seconds(1)

  private static let long = 0.08
  private static let leastDrain = 0.3

  init() {}

  var isLong: Bool { nanoseconds > Self.long * 1e9 }

  /// The share of the rate at which a queue that has grown is emptied within about a second; 1 while it is short.
  var drain: Double {
    let seconds = nanoseconds / 1e9
    return seconds > Self.long ? max(1 - seconds, Self.leastDrain) : 1
  }

  /// A large picture makes the queue grow: no reason to send less, as long as it is gone within a second. One that isn't is excused no more
  /// before it has been short.
  mutating func excuse(now: Instant) -> Bool {
    guard !wasExcused, nanoseconds < Self.mostExcused else { return false }
    if excusedAt == nil { excusedAt = now }
    return true
  }

  /// The queue of a large picture is still there: true once.
  mutating func hasStayed(now: Instant) -> Bool {
    guard isLong else {
      (excusedAt, wasExcused) = (nil, false)
      return false
    }
    guard let excusedAt, !wasExcused, now - excusedAt >= Self.longestExcuse else { return false }
    wasExcused = true
    return true
  }

  mutating func take(sent: Int64, arrived: Int64) {
    if begin == .min || arrived &- begin > Self.window || arrived < begin {
      leastBefore = least
      least = .max
      begin = arrived
    }
    let journey = arrived &- sent
    least = min(least, journey)
    let wait = Double(journey &- min(least, leastBefore))
    nanoseconds += Self.smoothing * (wait - nanoseconds)
  }
}
