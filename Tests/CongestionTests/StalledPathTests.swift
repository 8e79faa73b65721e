import Model
import Testing

@testable import Congestion

/// What is left of an estimate where feedback stays out, and where a worker goes on from its bytes.
@Suite("Estimates that go on", .timeLimit(.minutes(1)))
struct StalledPathTests {
  private static func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  /// Packets of 1,200 bytes at a rate that arrive after so long, reported each 50 ms, until a moment.
  private func run(
    _ estimator: inout BandwidthEstimator, from begin: Int64, to end: Int64, rate: Double,
    delay: (Int64) -> Int64,
    isHeard: (Int64) -> Bool = { _ in true }
  ) {
    var waiting: [(number: Int64, at: Int64)] = []
    var due = 0.0
    for now in begin..<end {
      due += rate / 8_000
      while due >= 1_200 {
        due -= 1_200
        let number = estimator.leave(size: 1_200, now: Self.at(now))
        waiting.append((number, now + delay(now)))
      }
      estimator.poll(now: Self.at(now))
      guard now % 50 == 0, isHeard(now) else { continue }
      var feedback = estimator.takeFeedback(now: Self.at(now))
      for packet in waiting where packet.at <= now {
        estimator.note(
          UInt16(truncatingIfNeeded: packet.number), arrival: UInt32(truncatingIfNeeded: packet.at * 4),
          in: &feedback)
      }
      waiting.removeAll { $0.at <= now }
      _ = estimator.finish(feedback)
    }
  }

  @Test func `without feedback the rate falls by a fifth each half second, however long the queue was`() {
    var estimator = BandwidthEstimator()
    run(&estimator, from: 0, to: 4_000, rate: 500e3, delay: { _ in 20 })
    // A queue of half a second builds up.
    run(&estimator, from: 4_000, to: 5_000, rate: 500e3, delay: { 20 + ($0 - 4_000) / 2 })
    let before = estimator.capacity
    run(&estimator, from: 5_000, to: 8_100, rate: 100e3, delay: { _ in 500 }, isHeard: { _ in false })
    // After 1, 1.5, 2, 2.5 and 3 s.
    let left = estimator.capacity / before
    #expect((0.3...0.45).contains(left), "\(left)")
  }

  /// A probe leaves, one packet each millisecond, and arrives as it left.
  private func probe(_ estimator: inout BandwidthEstimator, at begin: Int64) throws {
    let planned = estimator.takeProbe(canProbe: true, now: Self.at(begin))
    let plan = try #require(planned)
    let count = max(plan.packets, plan.bytes / 250)
    let numbers = (0..<count).map {
      estimator.leave(size: 250, cluster: plan.cluster, now: Self.at(begin + Int64($0)))
    }
    var feedback = estimator.takeFeedback(now: Self.at(begin + 60))
    for (place, number) in numbers.enumerated() {
      estimator.note(
        UInt16(truncatingIfNeeded: number), arrival: UInt32((begin + 20 + Int64(place)) * 4), in: &feedback)
    }
    _ = estimator.finish(feedback)
  }

  private func moved(_ estimator: borrowing BandwidthEstimator) throws -> BandwidthEstimator {
    var writer = StateWriter()
    estimator.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    let again = try BandwidthEstimator(from: &reader)
    try reader.finish()
    return again
  }

  @Test func `a worker that goes on before the first probe was heard of has it before it`() throws {
    var estimator = BandwidthEstimator()
    var once = try moved(estimator)
    let first = once.takeProbe(canProbe: true, now: Self.at(100))
    #expect(first?.rate == 3 * BandwidthEstimator.start)
    // It had left and was not heard of yet.
    var twice = try moved(once)
    let again = twice.takeProbe(canProbe: true, now: Self.at(200))
    #expect(again?.rate == 3 * BandwidthEstimator.start)
    // However often it moves, there are eight.
    for second in 1...20 {
      var other = try moved(estimator)
      _ = other.takeProbe(canProbe: true, now: Self.at(Int64(second) * 1_000))
      estimator = other
    }
    var last = try moved(estimator)
    let none = last.takeProbe(canProbe: true, now: Self.at(30_000))
    #expect(none == nil)
  }

  @Test func `a worker that goes on from its bytes begins with no climb`() throws {
    var estimator = BandwidthEstimator()
    try probe(&estimator, at: 0)
    run(&estimator, from: 100, to: 4_000, rate: 500e3, delay: { _ in 20 })
    let target = estimator.target
    var writer = StateWriter()
    estimator.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    var again = try BandwidthEstimator(from: &reader)
    try reader.finish()
    #expect(abs(again.target - target) < target / 100)
    let none = again.takeProbe(canProbe: true, now: Self.at(4_000))
    #expect(none == nil)
    // What is withheld is probed for, in its own time.
    again.want(5e6, next: 4e6)
    run(&again, from: 4_000, to: 4_600, rate: 100e3, delay: { _ in 20 })
    again.want(5e6, next: 4e6)
    if let plan = again.takeProbe(canProbe: true, now: Self.at(4_600)) {
      #expect(plan.rate <= 2 * again.target + 1)
    }
  }

  @Test func `a remote's own word bounds what is sent, and is nothing that its path is remembered by`() throws
  {
    var estimator = BandwidthEstimator()
    run(&estimator, from: 0, to: 4_000, rate: 500e3, delay: { _ in 20 })
    let free = estimator.target
    estimator.setCeiling(100e3)
    #expect(estimator.target <= 100e3)
    var writer = StateWriter()
    estimator.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    var again = try BandwidthEstimator(from: &reader)
    #expect(again.target <= 100e3)
    again.setCeiling(nil)
    #expect(abs(again.target - free) < free / 100)
  }

  @Test func `a queue that was answered is not answered once more when it has gone`() {
    var rate = AIMDRate(start: 1e6)
    func update(_ use: DelayTrend.Use, at milliseconds: Int64) {
      rate.update(
        use, acknowledged: 900e3, roundTrip: .milliseconds(100), bounds: 10e3...100e6, allowed: .infinity,
        mayGrow: true, isFilled: true, now: Self.at(milliseconds))
    }
    update(.normal, at: 0)
    update(.over, at: 50)
    let answered = rate.rate
    #expect(abs(answered - 765e3) < 1e3)
    update(.over, at: 100)
    for step in 0..<20 { update(.normal, at: 150 + Int64(step) * 50) }
    #expect(rate.rate >= answered, "\(rate.rate)")
  }
}
