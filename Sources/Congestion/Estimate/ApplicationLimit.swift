internal import Model

/// Whether the application sends less than it may, so that what arrives says nothing of what the path carries: a bucket that
/// fills at a share of the target and is emptied by what is sent.
struct ApplicationLimit: BitwiseCopyable {
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

  private let share: Double

  /// - Parameter share: of the target; what sends less of it sends less than it may.
  init(share: Double) { self.share = share }

  /// - Returns: whether it has just ended.
  mutating func sent(bytes: Int, target: Double, now: Instant) -> Bool {
    let budget = target * share
    let most = budget * Self.window
    if last != .min { bucket += budget * Double(now.nanoseconds &- last) / 1e9 }
    last = now.nanoseconds
    bucket = min(max(bucket - Double(bytes) * 8, -most), most)
    let level = most > 0 ? bucket / most : 0
    if since == nil, level > Self.begins {
      since = now
    } else if since != nil, level < Self.ends {
      since = nil
      endedAt = now
      return true
    }
    return false
  }

  /// Whether what arrives is all that the path carries: not so while little is sent, and shortly after.
  func isOver(now: Instant) -> Bool { since == nil && now - endedAt > Self.settling }
}

/// How much of its target the application makes use of.
struct TargetUse: BitwiseCopyable {
  private var limit = ApplicationLimit(share: 0.65)
  private var filling = ApplicationLimit(share: 0.85)
  private var burst = SentBurst()

  init() {}

  /// Since when it sends so little that nothing is learnt of more; nil: it doesn't.
  var idleSince: Instant? { limit.since }

  /// Whether it sends nearly as much as it may, so that what arrives is what the path carries.
  func fills(now: Instant) -> Bool { filling.isOver(now: now) }

  /// Bits per second, the most of a tenth of the last half second.
  mutating func burst(now: Instant) -> Double { burst.rate(at: now.nanoseconds) }

  /// - Returns: whether it has just ceased to send little.
  mutating func sent(bytes: Int, target: Double, now: Instant) -> Bool {
    burst.sent(bytes: bytes, at: now.nanoseconds)
    _ = filling.sent(bytes: bytes, target: target, now: now)
    return limit.sent(bytes: bytes, target: target, now: now)
  }
}
