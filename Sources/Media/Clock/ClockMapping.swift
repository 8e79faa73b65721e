public import Model

/// Ties a stream's RTP timestamps to the server's time line: one moment in both, and the rate between.
public struct ClockMapping: BitwiseCopyable, Equatable, Sendable {
  public var timestamp: UInt32
  public var ntp: UInt64
  /// Hertz, the codec's.
  public var rate: UInt32
  /// Hertz as the clock runs in truth; the codec's where nothing else is known.
  public var measured: UInt32
  /// From sender reports, its rate too; otherwise guessed, and not good enough for lip sync.
  public var isReported: Bool

  public init(timestamp: UInt32, ntp: NTPTime, rate: UInt32, measured: UInt32? = nil, isReported: Bool) {
    self.timestamp = timestamp
    self.ntp = ntp.rawValue
    self.rate = rate
    self.measured = measured ?? rate
    self.isReported = isReported
  }

  /// The timestamp that a sample of this moment has.
  public func timestamp(at moment: NTPTime) -> UInt32 {
    let span = moment.nanoseconds(since: NTPTime(rawValue: ntp))
    return timestamp &+ UInt32(truncatingIfNeeded: Self.units(span, rate: measured))
  }

  /// The moment of a sample; exact within half the timestamp circle.
  public func ntp(at moment: UInt32) -> NTPTime {
    let units = Int64(Int32(bitPattern: moment &- timestamp))
    return NTPTime(rawValue: ntp).advanced(byNanoseconds: units &* 1_000_000_000 / Int64(max(measured, 1)))
  }

  /// Nanoseconds in units of a clock, to the nearest.
  static func units(_ nanoseconds: Int64, rate: UInt32) -> Int64 {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let scaled = rest &* Int64(rate)
    return seconds &* Int64(rate) &+ (scaled &+ (scaled < 0 ? -500_000_000 : 500_000_000)) / 1_000_000_000
  }
}
