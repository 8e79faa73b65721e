internal import Model

/// Whether the application sends less than it may, so that what arrives says nothing of what the path carries: a bucket that
/// fills at 65 % of the target and is emptied by what is sent.
struct ApplicationLimit: BitwiseCopyable {
  private static let share = 0.65
  private static let window: Double = 0.5
  /// Begins when the bucket is so full, ends when it is so empty.
  private static let begins = 0.8
  private static let ends = 0.5

  private var bucket = 0.0
  private var last: Int64 = .min
  private(set) var since: Instant?
  private var endedAt = Instant(nanoseconds: .min / 2)
  /// What arrives is known for what is sent again.
  private static let settling = Duration.milliseconds(500)

  init() {}

  /// - Returns: whether it has just ended.
  mutating func sent(bytes: Int, target: Double, now: Instant) -> Bool {
    let budget = target * Self.share
    let most = budget * Self.window
    if last != .min { bucket += budget * Double(now.nanoseconds &- last) / 1e9 }
    last = now.nanoseconds
    bucket = min(max(bucket - Double(bytes) * 8, -most), most)
    let share = most > 0 ? bucket / most : 0
    if since == nil, share > Self.begins {
      since = now
    } else if since != nil, share < Self.ends {
      since = nil
      endedAt = now
      return true
    }
    return false
  }

  /// Whether what arrives is all that the path carries: not so while little is sent, and shortly after.
  func isOver(now: Instant) -> Bool { since == nil && now - endedAt > Self.settling }
}
