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
    .closest(monotonic: { now }, wall: { Self.read(CLOCK_REALTIME) })
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

  static let attempts = 4
  /// Nanoseconds between readings that nothing came between.
  static let undisturbed: Int64 = 2_000

  /// Reads the monotonic clock before and after the other, since the thread may be put aside between two readings
  /// for milliseconds: again if they lie apart, and of a few attempts takes the one where they are closest.
  @inline(__always)
  static func closest(monotonic: () -> Instant, wall: () -> Int64) -> ClockSample {
    var best = ClockSample(instant: monotonic(), wallTime: wall())
    var smallest = Int64.max
    var before = best.instant
    var wallTime = best.wallTime
    for attempt in 1...attempts {
      let after = monotonic()
      let spread = after.nanoseconds &- before.nanoseconds
      if spread < smallest {
        smallest = spread
        best = ClockSample(instant: after, wallTime: wallTime)
      }
      if smallest <= undisturbed || attempt == attempts { break }
      before = after
      wallTime = wall()
    }
    return best
  }

  /// Stamps lie in the last second: whatever else (the wall clock was stepped) counts as now.
  func instant(ofWallTime stamp: timespec) -> Instant {
    let age = wallTime &- (Int64(stamp.tv_sec) &* 1_000_000_000 &+ Int64(stamp.tv_nsec))
    return age < 0 || age > 1_000_000_000 ? instant : instant.advanced(byNanoseconds: 0 &- age)
  }
}
