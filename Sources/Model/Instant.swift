/// A moment on the server's monotonic clock, in nanoseconds since start.
///
/// Values are handed in by the owner of the clock; nothing below Engine reads one.
public struct Instant: BitwiseCopyable, Comparable, Hashable, Sendable {
  public var nanoseconds: Int64

  @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Later than any moment that is ever reached: "no deadline".
  @inlinable public static var never: Instant { Instant(nanoseconds: .max) }

  @inlinable public static func < (a: Self, b: Self) -> Bool { a.nanoseconds < b.nanoseconds }
  @inlinable public static func + (a: Self, b: Duration) -> Self {
    Self(nanoseconds: a.nanoseconds &+ b.wholeNanoseconds)
  }
  @inlinable public static func - (a: Self, b: Self) -> Duration {
    .nanoseconds(a.nanoseconds &- b.nanoseconds)
  }

  /// For the hot path: `self` plus a plain number of nanoseconds.
  @inlinable public func advanced(byNanoseconds span: Int64) -> Self {
    Self(nanoseconds: nanoseconds &+ span)
  }
}

extension Duration {
  /// Whole nanoseconds; spans beyond 292 years saturate.
  @inlinable public var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return seconds < 0 ? .min : .max }
    let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return carried ? (seconds < 0 ? .min : .max) : sum
  }
}
