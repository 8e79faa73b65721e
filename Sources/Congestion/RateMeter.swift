internal import Model

/// What flows, by the second: the mean of the last second, and the most that a second of the last three had. Fixed memory;
/// sampled by its owner ten times a second from a count that only grows.
public struct RateMeter: BitwiseCopyable, Sendable {
  /// Between two samples.
  public static let interval = Duration.milliseconds(100)
  private static let second = 10
  private static let kept = 30

  private var spans: InlineArray<30, UInt32> = InlineArray(repeating: 0)
  private var place = 0
  private var count = 0
  private var total: UInt64 = 0
  private var latest: UInt64 = 0
  private var means: InlineArray<30, UInt32> = InlineArray(repeating: 0)

  /// - Parameter base: what was counted before: it came at no known time, and is no part of any rate.
  public init(base: UInt64 = 0) { total = base }

  /// Takes the count as it is now.
  /// - Parameter intervals: since the last sample, at least 1: what came is spread over all.
  public mutating func sample(_ bytes: UInt64, intervals: Int = 1) {
    let span = UInt32(clamping: (bytes &- total) / UInt64(max(intervals, 1)))
    total = bytes
    for _ in 0..<min(max(intervals, 1), Self.kept) { take(span) }
  }

  private mutating func take(_ span: UInt32) {
    let old = spans[(place + Self.kept - Self.second) % Self.kept]
    spans[place] = span
    latest = latest &+ UInt64(span) &- min(UInt64(old), latest &+ UInt64(span))
    means[place] = UInt32(clamping: latest)
    place = (place + 1) % Self.kept
    count = min(count + 1, Self.kept)
  }

  /// It has measured for less than a second: one picture may have come just within, or just before.
  public var isBrief: Bool { count < Self.second }

  /// Bits per second, of the last second; of what there is before a second is over.
  public var mean: Double {
    guard count > 0 else { return 0 }
    return Double(latest) * 8 * Double(Self.second) / Double(min(count, Self.second))
  }

  /// Bits per second, of the last three seconds; of what there is before they are over.
  public var steady: Double {
    guard count > 0 else { return 0 }
    var bytes: UInt64 = 0
    for index in 0..<Self.kept { bytes &+= UInt64(spans[index]) }
    return Double(bytes) * 8 * Double(Self.second) / Double(count)
  }

  /// Bits per second of the fullest second within the last three.
  public var peak: Double {
    var most: UInt32 = 0
    for index in 0..<Self.kept { most = max(most, means[index]) }
    return max(Double(most) * 8, mean)
  }
}
