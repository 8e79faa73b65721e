/// How often values fell into ranges whose upper bounds double, for metrics: a mean hides what matters.
///
///     first = 100     … 100 | … 200 | … 400 | …
///
/// Of fixed size; to note a value costs a few instructions and allocates nothing.
public struct Histogram: BitwiseCopyable, Sendable {
  /// Ranges with an upper bound; what is above them all counts in one more.
  public static let rangeCount = 20

  /// The upper bound of the first range.
  public let first: UInt64
  private var counts = InlineArray<21, UInt64>(repeating: 0)
  /// Of all values.
  public private(set) var sum: UInt64 = 0

  /// - Parameter first: at least 1.
  public init(first: UInt64) { self.first = max(first, 1) }

  /// For durations in nanoseconds: from 50 µs on, up to 26 s.
  public static var durations: Histogram { Histogram(first: 50_000) }
  /// For bits per second: from 25 kbit/s on, up to 13 Gbit/s.
  public static var rates: Histogram { Histogram(first: 25_000) }

  @inline(__always)
  public mutating func note(_ value: UInt64) {
    let steps = value <= first ? 0 : (value &- 1) / first
    counts[min(UInt64.bitWidth &- steps.leadingZeroBitCount, Self.rangeCount)] &+= 1
    sum &+= value
  }

  /// A negative one counts as none at all.
  public mutating func note(_ span: Duration) { note(UInt64(max(span.wholeNanoseconds, 0))) }

  /// Upper bounds, each with how many values were at most that.
  public var cumulative: [(upTo: UInt64, count: UInt64)] {
    var count: UInt64 = 0
    return (0..<Self.rangeCount).map { range in
      count &+= counts[range]
      return (first << UInt64(range), count)
    }
  }

  /// Of all values.
  public var count: UInt64 { (0...Self.rangeCount).reduce(0) { $0 &+ counts[$1] } }
}
