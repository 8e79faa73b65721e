import Model
import Testing

@testable import Congestion

/// A publisher that follows the estimate, over a simulated path.
private final class EstimateFollower {
  var estimator = SendTimeEstimator()
  let path: Bottleneck
  private(set) var sent: [(second: Double, rate: Double)] = []
  private(set) var waits: [(second: Double, wait: Double)] = []
  var isPaused = false
  /// Of the sender's clock, in units of abs-send-time.
  var offset: UInt32 = 0xFF_0000
  private var rate = 300e3
  private var budget = 0.0
  private var underway: [(at: Int64, units: UInt32)] = []
  private var words: [(at: Int64, rate: Double)] = []
  private var nextWord: Int64 = 1_000_000_000

  init(_ path: Bottleneck) { self.path = path }

  func turn(at now: Int64) {
    while let word = words.first, word.at <= now {
      words.removeFirst()
      rate = word.rate
    }
    for packet in underway where packet.at <= now {
      estimator.received(
        units: packet.units, size: 1_200, roundTrip: .nanoseconds(2 * path.delay),
        at: Instant(nanoseconds: packet.at))
    }
    underway.removeAll { $0.at <= now }
    if let estimate = estimator.estimate, now >= min(nextWord, estimator.deadline.nanoseconds) {
      nextWord = now + 1_000_000_000
      estimator.noteSent(now: Instant(nanoseconds: now))
      sent.append((Double(now) / 1e9, estimate))
      words.append((now + path.delay, estimate))
    }
    guard !isPaused else { return }
    budget = min(budget + rate / 8 / 1e3, 3_600)
    while budget >= 1_200 {
      budget -= 1_200
      waits.append((Double(now) / 1e9, path.wait(at: now) / 1e6))
      let units = (UInt32(truncatingIfNeeded: (now << 18) / 1_000_000_000) &+ offset) & 0xFF_FFFF
      if let arrived = path.pass(1_200, at: now) { underway.append((arrived, units)) }
    }
  }

  func run(seconds: Range<Int>, _ each: (Double) -> Void = { _ in }) {
    for step in seconds.lowerBound * 1_000..<seconds.upperBound * 1_000 {
      each(Double(step) / 1e3)
      turn(at: Int64(step) * 1_000_000)
    }
  }

  func mean(_ span: ClosedRange<Double>) -> Double {
    let inside = sent.filter { span.contains($0.second) }
    return inside.reduce(0) { $0 + $1.rate } / Double(max(inside.count, 1))
  }
  func wait(_ span: ClosedRange<Double>) -> Double {
    let inside = waits.filter { span.contains($0.second) }.map(\.wait).sorted()
    return inside.isEmpty ? 0 : inside[Int(Double(inside.count - 1) * 0.95)]
  }
}

@Suite("What a publisher's path carries, by when its packets left", .timeLimit(.minutes(2)))
struct SendTimeEstimatorTests {
  @Test(arguments: [(1e6, 25), (2e6, 100), (5e6, 10)])
  func `the estimate comes near to the capacity, over several circles of its clock`(
    capacity: Double, delay: Int
  ) {
    let path = Bottleneck(rate: capacity, delay: .milliseconds(delay), queue: .milliseconds(300))
    let sender = EstimateFollower(path)
    sender.run(seconds: 0..<200)
    let share = sender.mean(40...200) / capacity
    print(
      "abs-send-time \(Int(capacity / 1e3)) kbit/s, \(2 * delay) ms: estimate \(share), queue p95 \(sender.wait(40...200)) ms"
    )
    #expect(share > 0.8 && share < 1.1)
    #expect(sender.wait(40...200) < 100)
  }

  @Test func `a path that gets narrower is said before the second is over`() throws {
    let path = Bottleneck(rate: 3e6, delay: .milliseconds(25), queue: .milliseconds(500))
    let sender = EstimateFollower(path)
    sender.run(seconds: 0..<80) { path.rate = $0 >= 60.5 ? 1e6 : 3e6 }
    let before = sender.mean(55...60.5)
    let first = try #require(sender.sent.first { $0.second > 60.5 && $0.rate < before * 0.97 })
    print(
      "abs-send-time step down: said after \(first.second - 60.5) s, queue p95 \(sender.wait(63.5...80)) ms")
    #expect(first.second < 61.4)
    #expect(sender.wait(63.5...80) < 150)
  }

  @Test func `after a pause of any length it goes on`() {
    for pause in [5, 12, 40, 63, 64, 65, 130] {
      let path = Bottleneck(rate: 2e6, delay: .milliseconds(25), queue: .milliseconds(300))
      let sender = EstimateFollower(path)
      sender.run(seconds: 0..<150 + pause) { sender.isPaused = $0 >= 60 && $0 < 60 + Double(pause) }
      let share = sender.mean(Double(75 + pause)...Double(150 + pause)) / 2e6
      #expect(share > 0.75 && share < 1.15, "\(pause) s: \(share)")
    }
  }

  @Test func `before a packet says when it left nothing is estimated`() {
    var estimator = SendTimeEstimator()
    #expect(estimator.estimate == nil)
    estimator.received(units: 5, size: 100, roundTrip: .milliseconds(50), at: Instant(nanoseconds: 1))
    #expect(estimator.estimate == BandwidthEstimator.start)
    #expect(estimator.deadline == .never)
  }

  @Test func `times that mean nothing leave it within its bounds`() {
    var random = RandomSource.seeded(state: 71)
    for _ in 0..<50 {
      var estimator = SendTimeEstimator()
      var now: Int64 = 0
      for _ in 0..<5_000 {
        now += Int64(random.next() % 20_000_000)
        if random.next() % 500 == 0 { now += 30_000_000_000 }
        estimator.received(
          units: UInt32(truncatingIfNeeded: random.next()), size: Int(random.next() % 1_500),
          roundTrip: .milliseconds(50), at: Instant(nanoseconds: now))
        if let rate = estimator.estimate, !BandwidthEstimator.bounds.contains(rate) {
          Issue.record("\(rate) after \(now)")
        }
        if estimator.deadline.nanoseconds <= now { estimator.noteSent(now: Instant(nanoseconds: now)) }
      }
    }
  }

  @Test func `falls are said ten times a second at most`() {
    var random = RandomSource.seeded(state: 72)
    var estimator = SendTimeEstimator()
    var moments: [Int64] = []
    for step in 1..<60_000 {
      let now = Int64(step) * 1_000_000
      estimator.received(
        units: UInt32(truncatingIfNeeded: random.next() % 4_000), size: 1_200, roundTrip: .milliseconds(1),
        at: Instant(nanoseconds: now))
      if estimator.deadline.nanoseconds <= now || step % 1_000 == 0 {
        if step % 1_000 != 0 { moments.append(now) }
        estimator.noteSent(now: Instant(nanoseconds: now))
      }
    }
    for (one, next) in zip(moments, moments.dropFirst()) { #expect(next - one >= 100_000_000) }
  }

  @Test func `the rate goes on from its bytes`() throws {
    let path = Bottleneck(rate: 2e6, delay: .milliseconds(25), queue: .milliseconds(300))
    let sender = EstimateFollower(path)
    sender.run(seconds: 0..<60)
    let before = sender.estimator.estimate
    var writer = StateWriter()
    sender.estimator.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    sender.estimator = try SendTimeEstimator(from: &reader)
    #expect(sender.estimator.estimate == before)
    sender.run(seconds: 60..<120)
    #expect(sender.mean(70...120) > 0.75 * 2e6)
  }

  @Test(arguments: [Double.nan, .infinity, 0])
  func `a state whose rate is none is refused`(value: Double) {
    var writer = StateWriter()
    writer.write(UInt8(1))
    writer.write(optional: Instant(nanoseconds: 4))
    writer.write(value)
    var reader = StateReader(writer.bytes)
    #expect(throws: StateError.self) { try SendTimeEstimator(from: &reader) }
  }
}
