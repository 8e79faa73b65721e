import Model
import Testing

@testable import Congestion

@Suite("Packets that overtake each other", .timeLimit(.minutes(1)))
struct OvertakenPacketsTests {
  /// A packet each 10 ms, feedback each 100 ms; every second packet is reported missing, and received in the next report.
  @Test func `one that was reported lost and comes after all is no loss`() {
    var estimator = BandwidthEstimator()
    for round in 0..<100 {
      var now = Instant(nanoseconds: Int64(round) * 100_000_000)
      for number in 0..<10 {
        estimator.leave(size: 1_200, now: now + .milliseconds(Int64(number) * 10))
      }
      now = now + .milliseconds(120)
      var feedback = estimator.takeFeedback(now: now)
      for number in max(0, round * 10 - 10)..<round * 10 + 10 {
        let isLate = number % 2 == 1
        guard isLate || number >= round * 10 else { continue }
        let arrival = isLate && number >= round * 10 ? nil : UInt32(number * 40 + 80)
        estimator.note(UInt16(number), arrival: arrival, in: &feedback)
      }
      _ = estimator.finish(feedback)
    }
    #expect(estimator.loss < 0.05)
  }

  @Test func `what arrives is counted whole, in whatever order it is reported within a moment`() throws {
    var random = RandomSource.seeded(state: 9)
    var rate = AcknowledgedRate()
    for index in 0..<5_000 as Range<Int64> {
      rate.take(
        bytes: 1_200, arrived: index * 5_000_000 + Int64(random.next() % 30_000_000), isIdle: false)
    }
    let known = try #require(rate.bitsPerSecond)
    #expect(known > 1_920_000 * 0.85 && known < 1_920_000 * 1.15)
  }
}
