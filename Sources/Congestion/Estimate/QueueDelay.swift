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

  private static let long = 0.08
  private static let leastDrain = 0.3

  init() {}

  var isLong: Bool { nanoseconds > Self.long * 1e9 }

  /// The share of the rate at which a queue that has grown is emptied within about a second; 1 while it is short.
  var drain: Double {
    let seconds = nanoseconds / 1e9
    return seconds > Self.long ? max(1 - seconds, Self.leastDrain) : 1
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
