import Model
import Testing

@testable import Congestion

/// What is believed of a wide path that loses and delays packets at random: none of it is the sender's doing.
@Suite("A wide path with losses at random", .timeLimit(.minutes(1)))
struct RandomLossTests {
  private struct Path: ~Copyable {
    var estimator = BandwidthEstimator()
    var random: UInt64
    /// Milliseconds for which the target was below what was sent at first.
    var low = 0

    /// - Returns: 0–1.
    mutating func draw() -> Double {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Double(random >> 11) / Double(1 << 53)
    }

    /// Pictures at 25 a second, whose packets are lost at `loss` and each delayed by up to `jitter` milliseconds; reported every
    /// 50 ms.
    mutating func run(milliseconds: Int, at bitsPerSecond: Double, loss: Double, jitter: Double) {
      var underway: [(number: Int64, arrived: Int64?)] = []
      var free: Int64 = 0
      for millisecond in 1_000...(1_000 + milliseconds) {
        let now = Int64(millisecond) * 1_000_000
        let instant = Instant(nanoseconds: now)
        estimator.poll(now: instant)
        if millisecond % 40 == 0 {
          var left = Int(bitsPerSecond / 8 / 25)
          while left > 0 {
            let number = estimator.leave(size: min(left, 1_100), now: instant)
            left -= 1_100
            free = max(free, now + 20_000_000 + Int64(draw() * jitter * 1e6)) + 100_000
            underway.append((number, draw() < loss ? nil : free))
          }
        }
        if millisecond % 50 == 0, let last = underway.lastIndex(where: { ($0.arrived ?? .max) <= now }) {
          var feedback = estimator.takeFeedback(now: instant)
          for packet in underway[...last] {
            estimator.note(
              UInt16(truncatingIfNeeded: packet.number),
              arrival: packet.arrived.map { UInt32(truncatingIfNeeded: $0 / 250_000) }, in: &feedback)
          }
          underway.removeSubrange(...last)
          _ = estimator.finish(feedback)
        }
        if estimator.target < 0.9 * BandwidthEstimator.start { low += 1 }
      }
    }
  }

  @Test(arguments: [200e3, 350e3, 450e3, 550e3])
  func `five in a hundred lost take the target down in few runs, and for five seconds at most`(
    rate: Double
  ) {
    for jitter in [0.0, 5, 15, 30] {
      var fell = 0
      for seed in 0..<60 {
        var path = Path(random: UInt64(seed) &* 7_919 &+ 13)
        for _ in 0..<8 { _ = path.draw() }
        path.run(milliseconds: 20_000, at: rate, loss: 0.05, jitter: jitter)
        if path.low > 0 { fell += 1 }
        #expect(path.low < 5_000, "seed \(seed), jitter \(jitter)")
        #expect(path.estimator.target > 540e3, "seed \(seed), jitter \(jitter)")
      }
      #expect(fell <= 4, "\(fell) of 60, jitter \(jitter)")
    }
  }
}
