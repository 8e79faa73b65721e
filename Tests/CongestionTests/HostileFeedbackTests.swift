import Model
import Testing

@testable import Congestion

/// Whatever a peer says of what it was sent, and in whatever order it and we do what we may: nothing traps, and what comes of it stays
/// within its bounds.
@Suite("Estimates whatever is said", .timeLimit(.minutes(2)))
struct HostileFeedbackTests {
  private struct Run: ~Copyable {
    var estimator = BandwidthEstimator()
    var random: RandomSource
    var now: Int64 = 1_000
    /// All that has left, by its number.
    var numbers: [Int64] = []
    /// Until then there is nothing by which it could be probed, as of one that hears sound alone.
    let probesFrom: Int64

    init(seed: UInt64) {
      random = .seeded(state: seed)
      probesFrom = Int64(random.next() % 30_000)
    }

    var instant: Instant { Instant(nanoseconds: now * 1_000_000) }
    mutating func below(_ limit: UInt64) -> Int { Int(random.next() % limit) }

    mutating func step() throws {
      now += Int64(below(10) == 0 ? below(3_000) : below(60))
      switch below(12) {
      case 0, 1, 2: leave(cluster: 0, packets: 1 + below(20))
      case 3, 4:
        if let plan = estimator.takeProbe(canProbe: now >= probesFrom && below(8) != 0, now: instant) {
          #expect(plan.rate.isFinite && plan.rate <= BandwidthEstimator.bounds.upperBound)
          leave(cluster: plan.cluster, packets: below(4) == 0 ? 2 : plan.packets)
          if below(2) == 0 { hear(isHonest: true) }
        }
      case 5, 6, 7: hear()
      case 8: estimator.poll(now: instant)
      case 9:
        let rates = (0..<3).map { _ in Double(below(200_000_000)) }
        estimator.want(rates[0], next: below(2) == 0 ? nil : rates[1], room: below(3) == 0 ? nil : rates[2])
      case 10:
        switch below(4) {
        case 0: estimator.startOver()
        case 1: estimator.ceaseProbes()
        default: estimator.setCeiling(below(2) == 0 ? nil : Double(below(10_000_000)))
        }
      default:
        var writer = StateWriter()
        estimator.encode(into: &writer)
        var reader = StateReader(writer.bytes)
        estimator = try BandwidthEstimator(from: &reader)
        try reader.finish()
      }
    }

    private mutating func leave(cluster: UInt16, packets: Int) {
      for _ in 0..<packets {
        numbers.append(estimator.leave(size: 1 + below(1_500), cluster: cluster, now: instant))
        now += cluster == 0 ? Int64(below(2)) : Int64(below(6))
      }
      numbers.removeFirst(max(0, numbers.count - 3_000))
    }

    /// A message: of the last packets or any, as they came or at any time, some more than once, and some that never left.
    private mutating func hear(isHonest: Bool = false) {
      var feedback = estimator.takeFeedback(now: instant)
      let (isWild, count) = (!isHonest && below(3) == 0, (isHonest ? 20 : 1) + below(60))
      for place in 0..<count {
        let number =
          isWild || numbers.isEmpty
          ? Int64(below(65_536)) : numbers[max(0, numbers.count - count + place) % numbers.count]
        let arrival =
          !isHonest && below(8) == 0
          ? nil : UInt32(truncatingIfNeeded: isWild ? Int64(below(1 << 32)) : (now + 3 * Int64(place)) * 4)
        estimator.note(UInt16(truncatingIfNeeded: number), arrival: arrival, in: &feedback)
      }
      _ = estimator.finish(feedback)
    }
  }

  @Test(arguments: 1...300 as ClosedRange<UInt64>)
  func `nothing traps, and the target is one that there may be`(seed: UInt64) throws {
    var run = Run(seed: seed)
    for _ in 0..<400 {
      try run.step()
      let capacity = run.estimator.capacity
      #expect(capacity.isFinite && capacity > 0 && capacity <= BandwidthEstimator.bounds.upperBound)
    }
  }
}
