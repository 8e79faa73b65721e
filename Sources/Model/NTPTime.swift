/// A wall-clock moment in RTCP's 64-bit format: seconds since 1900 in the upper half, their fraction in the
/// lower (RFC 3550 §4). Arithmetic wraps, as the format does in 2036.
public struct NTPTime: Hashable, Sendable {
  public var rawValue: UInt64

  @inlinable public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Seconds between 1900 and 1970.
  public static let unixEpoch: UInt64 = 2_208_988_800

  /// - Parameter unixNanoseconds: nanoseconds since 1970; taken modulo the 136 years of an era.
  @inlinable public init(unixNanoseconds: Int64) {
    let (seconds, rest) = unixNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let floorSeconds = rest < 0 ? seconds &- 1 : seconds
    let nanoseconds = UInt64(rest < 0 ? rest &+ 1_000_000_000 : rest)
    let whole = UInt64(bitPattern: floorSeconds) &+ Self.unixEpoch
    rawValue = whole << 32 | ((nanoseconds << 32) / 1_000_000_000)
  }

  /// The middle 32 bits, as report blocks carry them (RFC 3550 §6.4.1, "LSR").
  @inlinable public var middle: UInt32 { UInt32(truncatingIfNeeded: rawValue >> 16) }

  /// Signed nanoseconds from `other` to `self`; exact to a nanosecond within ±68 years.
  @inlinable public func nanoseconds(since other: NTPTime) -> Int64 {
    let difference = Int64(bitPattern: rawValue &- other.rawValue)
    let seconds = difference >> 32
    let fraction = UInt64(bitPattern: difference) & 0xFFFF_FFFF
    return seconds &* 1_000_000_000 &+ Int64((fraction &* 1_000_000_000 &+ 0x8000_0000) >> 32)
  }

  @inlinable public func advanced(byNanoseconds span: Int64) -> NTPTime {
    let (seconds, rest) = span.quotientAndRemainder(dividingBy: 1_000_000_000)
    let fraction = (rest << 32) / 1_000_000_000
    return NTPTime(rawValue: rawValue &+ UInt64(bitPattern: (seconds << 32) &+ fraction))
  }
}

/// Ties the monotonic clock to wall time, once, at start. It is never stepped afterwards, so every sender
/// report of the process speaks of one time line whatever happens to the system's clock.
public struct Epoch: Hashable, Sendable {
  /// Wall time at `Instant(nanoseconds: 0)`.
  public let ntpAtZero: NTPTime

  public init(ntpAtZero: NTPTime) { self.ntpAtZero = ntpAtZero }

  @inlinable public func ntp(at instant: Instant) -> NTPTime {
    ntpAtZero.advanced(byNanoseconds: instant.nanoseconds)
  }
  @inlinable public func instant(at ntp: NTPTime) -> Instant {
    Instant(nanoseconds: ntp.nanoseconds(since: ntpAtZero))
  }
}
