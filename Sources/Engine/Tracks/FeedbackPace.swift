internal import Model

/// How often a track's feedback and its clock cross to other workers: docs/bounds.md, "Between workers".
struct FeedbackPace: BitwiseCopyable {
  static let interval: Int64 = 100_000_000
  static let clocksPerSecond = 64

  private var lastRequest = Instant(nanoseconds: .min / 2)
  private var lastCrossing = Instant(nanoseconds: .min / 2)
  private var clockWindow = Instant(nanoseconds: .min / 2)
  private var clocksSent = 0
  private var lastLoss = Instant(nanoseconds: .min / 2)

  /// Bounds the key-frame requests that packets in want of a key frame bring about.
  mutating func mayRequest(at moment: Instant) -> Bool {
    guard moment.nanoseconds &- lastRequest.nanoseconds >= Self.interval else { return false }
    lastRequest = moment
    return true
  }

  /// Bounds the key-frame requests that cross to the source's worker, whatever their cause: a subscriber may ask as often
  /// as it likes. One that is left out is made again by the next packet that its subscriber can't take.
  mutating func mayCross(at moment: Instant) -> Bool {
    guard moment.nanoseconds &- lastCrossing.nanoseconds >= Self.interval else { return false }
    lastCrossing = moment
    return true
  }

  /// How often it is looked at what the consumers of a track of audio lose, however many there are and report.
  mutating func mayMeasureLoss(at moment: Instant) -> Bool {
    guard moment.nanoseconds &- lastLoss.nanoseconds >= Self.lossInterval else { return false }
    lastLoss = moment
    return true
  }
  private static let lossInterval: Int64 = 900_000_000

  /// Bounds what a publisher's reports make cross to other workers; 32 tracks of one clock tell it so often.
  mutating func maySendClock(at moment: Instant) -> Bool {
    if moment.nanoseconds &- clockWindow.nanoseconds >= 1_000_000_000 {
      clockWindow = moment
      clocksSent = 0
    }
    clocksSent += 1
    return clocksSent <= Self.clocksPerSecond
  }
}
