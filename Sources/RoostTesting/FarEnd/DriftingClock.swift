internal import Model

/// A publisher's own clock: set to any time, and a little too fast or too slow.
struct DriftingClock {
  /// Nanoseconds that it is ahead at the beginning.
  var offset: Int64
  /// Parts per million that it runs too fast.
  var drift: Int64
  /// Parts per million that the sound card runs faster than it.
  var soundDrift: Int64

  /// Nanoseconds of its own since the simulation's zero.
  func local(_ now: Instant) -> Int64 { now.nanoseconds + now.nanoseconds / 1_000_000 * drift }
  func ntp(_ now: Instant) -> NTPTime {
    NTPTime(unixNanoseconds: VirtualClock.wallTimeAtZero + offset + local(now))
  }

  /// A track's own time: the clock's, or the sound card's.
  func media(_ now: Instant, _ kind: MediaKind) -> Int64 {
    let time = local(now)
    return kind == .audio ? time + time / 1_000_000 * soundDrift : time
  }

  /// Units of an RTP clock at its own time.
  static func units(_ local: Int64, rate: UInt32) -> UInt32 {
    let (seconds, rest) = local.quotientAndRemainder(dividingBy: 1_000_000_000)
    return UInt32(truncatingIfNeeded: seconds * Int64(rate) + rest * Int64(rate) / 1_000_000_000)
  }
}
