internal import CSystem
internal import Glibc
public import Model

/// The process's clock: monotonic nanoseconds since its making, tied to wall time once.
public struct Clock: Sendable {
  /// The monotonic clock when `Instant(nanoseconds: 0)` was.
  private let origin: Int64
  public let epoch: Epoch

  public init() {
    origin = Self.read(CLOCK_MONOTONIC)
    epoch = Epoch(ntpAtZero: NTPTime(unixNanoseconds: Self.read(CLOCK_REALTIME)))
  }

  public var now: Instant { Instant(nanoseconds: Self.read(CLOCK_MONOTONIC) &- origin) }

  /// Both clocks, read together.
  package func sample() -> ClockSample {
    ClockSample(instant: now, wallTime: Self.read(CLOCK_REALTIME))
  }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}

/// One reading of the monotonic and the wall clock, to place the kernel's arrival stamps.
package struct ClockSample {
  package let instant: Instant
  let wallTime: Int64

  /// Stamps lie in the last second: whatever else (the wall clock was stepped) counts as now.
  func instant(ofWallTime stamp: timespec) -> Instant {
    let age = wallTime &- (Int64(stamp.tv_sec) &* 1_000_000_000 &+ Int64(stamp.tv_nsec))
    return age < 0 || age > 1_000_000_000 ? instant : instant.advanced(byNanoseconds: 0 &- age)
  }
}
