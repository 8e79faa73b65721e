import Model
import Testing

@testable import Congestion

@Suite("What flows by the second", .timeLimit(.minutes(1)))
struct RateMeterTests {
  @Test func `the mean is that of the last second, the peak that of the last three`() {
    var meter = RateMeter()
    var bytes: UInt64 = 0
    func run(_ tenths: Int, _ each: UInt64) {
      for _ in 0..<tenths {
        bytes += each
        meter.sample(bytes)
      }
    }
    #expect(meter.mean == 0 && meter.peak == 0)
    run(5, 1_000)
    #expect(meter.mean == 80_000, "half a second is counted for what it is")
    run(15, 1_000)
    #expect(meter.mean == 80_000 && meter.peak == 80_000)
    run(10, 3_000)
    #expect(meter.mean == 240_000 && meter.peak == 240_000)
    run(10, 500)
    #expect(meter.mean == 40_000 && meter.peak == 240_000)
    run(31, 500)
    #expect(meter.mean == 40_000 && meter.peak == 40_000)
  }

  @Test func `what came while it was not looked at is spread over that time`() {
    var meter = RateMeter()
    for tenth in 1...20 { meter.sample(UInt64(tenth) * 1_000) }
    meter.sample(20_000 + 120_000, intervals: 120)
    #expect(meter.mean == 80_000 && meter.peak == 80_000)
  }

  @Test func `a count that leaps or begins again does not trap`() {
    var meter = RateMeter()
    for count in [UInt64.max, 0, .max / 2, 5, .max] { meter.sample(count) }
    #expect(meter.mean >= 0 && meter.peak >= meter.mean)
  }
}
