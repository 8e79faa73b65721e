internal import Media
internal import Model

/// Frames of several encodings in the order in which they were taken, however long the packets of each were on their way: a large key
/// frame has more of them to lose, and comes behind small pictures that were taken after it.
struct EncodingMerge: Sendable {
  struct Entry: Sendable {
    var frame: EncodedFrame
    var encoding: Int
    /// Nanoseconds from the recording's beginning.
    var time: Int64
  }

  /// How long a frame waits for earlier ones of the other encodings.
  static let patience = Duration.milliseconds(500)
  /// Bytes of frames that wait at most.
  static let most = 4 * 1_024 * 1_024

  /// The earliest first; of one moment the larger.
  private var waiting: [Entry] = []
  private var bytes = 0

  mutating func add(_ frame: EncodedFrame, _ encoding: Int, at time: Int64) {
    var place = waiting.count
    // Those of one encoding stay in their order, whatever their times say.
    while place > 0, waiting[place - 1].encoding != encoding, Self.isBefore(time, frame, waiting[place - 1]) {
      place -= 1
    }
    waiting.insert(Entry(frame: frame, encoding: encoding, time: time), at: place)
    bytes += frame.bytes.count
  }

  private static func isBefore(_ time: Int64, _ frame: EncodedFrame, _ other: Entry) -> Bool {
    if time != other.time { return time < other.time }
    return frame.size?.pixels ?? 0 > other.frame.size?.pixels ?? 0
  }

  /// - Parameter now: `.never`: nothing more comes, so nothing waits.
  /// - Returns: nil where the next frame is still to wait.
  mutating func next(now: Instant) -> Entry? {
    guard let first = waiting.first,
      now == .never || bytes > Self.most || now - first.frame.arrival >= Self.patience
    else { return nil }
    bytes -= first.frame.bytes.count
    return waiting.removeFirst()
  }
}
