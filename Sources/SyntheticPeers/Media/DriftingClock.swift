package import Model

/// A publisher's own clock: set to any time, and a little too fast or too slow.
public struct DriftingClock: Sendable {
  /// Wall time at `Instant(nanoseconds: 0)`: the 1st of January 2026.
  package static let wallTimeAtZero: Int64 = 1_767_225_600_000_000_000

  /// Nanoseconds that it is ahead at the beginning.
  public var offset: Int64 = 0
  /// Parts per million that it runs too fast.
  public var drift: Int64 = 0
  /// Parts per million that the sound card runs faster than it.
  public var soundDrift: Int64 = 0

  public init() {}

  /// Nanoseconds of its own since the simulation's zero.
  package func local(_ now: Instant) -> Int64 { now.nanoseconds + now.nanoseconds / 1_000_000 * drift }
  package func ntp(_ now: Instant) -> NTPTime {
    NTPTime(unixNanoseconds: Self.wallTimeAtZero + offset + local(now))
  }

  /// A track's own time: the clock's, or the sound card's.
  package func media(_ now: Instant, _ kind: MediaKind) -> Int64 {
    let time = local(now)
    return kind == .audio ? time + time / 1_000_000 * soundDrift : time
  }

  /// Units of an RTP clock at its own time.
  package static func units(_ local: Int64, rate: UInt32) -> UInt32 {
    let (seconds, rest) = local.quotientAndRemainder(dividingBy: 1_000_000_000)
    return UInt32(truncatingIfNeeded: seconds * Int64(rate) + rest * Int64(rate) / 1_000_000_000)
  }
}
