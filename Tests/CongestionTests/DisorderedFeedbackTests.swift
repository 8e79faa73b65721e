import Model
import Testing

@testable import Congestion

/// What an estimator makes of feedback that no honest receiver would send: nothing of it traps, and none of it stays.
@Suite("Feedback in disorder", .timeLimit(.minutes(5)))
struct DisorderedFeedbackTests {
  /// Of a seed: what is sent, and what a receiver says of it.
  private struct Disorder {
    typealias Entry = (sequence: UInt16, arrival: UInt32?)

    var random: RandomSource
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    /// All numbers that were sent since the estimator last began.
    private(set) var sent: [Int64] = []
    private var reported = 0
    private var said: [[Entry]] = []
    /// Ticks between the receiver's clock and ours.
    private var offset: UInt32
    private var streamSequence: UInt16

    init(seed: UInt64) {
      random = .seeded(state: seed &* 0x9E37_79B9 &+ 1)
      offset = UInt32(truncatingIfNeeded: random.next())
      streamSequence = UInt16(truncatingIfNeeded: random.next())
    }

    mutating func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    private var ticks: UInt32 { UInt32(truncatingIfNeeded: now.nanoseconds / 250_000) &+ offset }

    /// A moment of it.
    mutating func step(_ estimator: inout BandwidthEstimator) {
      let spans = [0, 0, 1, 5, 20, 20, 50, 200, 600, 3_000]
      now = now + .milliseconds(spans[below(below(8) == 0 ? spans.count : 7)])
      send(&estimator)
      estimator.want(Double(below(8_000_000)), next: below(2) == 0 ? nil : Double(below(4_000_000)))
      switch below(40) {
      case 0:
        let words: [Double?] = [nil, 0, -1, 1, 500e3, 5e6, 1e300, .infinity]
        estimator.setCeiling(words[below(words.count)])
      case 1 where below(4) == 0: estimator.startOver()
      default: break
      }
      for _ in 0..<below(3) { say(message(), to: &estimator) }
      if below(6) == 0 { sayByStream(to: &estimator) }
      estimator.poll(now: now)
    }

    private mutating func send(_ estimator: inout BandwidthEstimator) {
      let sizes = [0, 1, 28, 60, 1_200, 1_200, 1_500, 65_535, 100_000]
      let plan = estimator.takeProbe(canProbe: below(4) != 0, now: now)
      for _ in 0..<below(below(20) == 0 ? 600 : 12) {
        let cluster = below(2) == 0 ? plan?.cluster ?? 0 : below(50) == 0 ? UInt16.max : 0
        if below(8) == 0 {
          streamSequence &+= 1
          estimator.leave(
            ssrc: 7, sequence: streamSequence, size: sizes[below(sizes.count)], cluster: cluster, now: now)
          sent.append((sent.last ?? -1) + 1)
        } else {
          sent.append(estimator.leave(size: sizes[below(sizes.count)], cluster: cluster, now: now))
        }
      }
    }

    /// Of what was sent, or of anything else.
    private mutating func message() -> [Entry] {
      let clock = ticks
      // The reference time jumps, for good or for one message.
      if below(12) == 0 { offset = offset &+ UInt32(truncatingIfNeeded: random.next()) }
      let base = below(12) == 0 ? UInt32(truncatingIfNeeded: random.next()) : clock
      var entries: [Entry] = []
      switch below(10) {
      case 0: entries = said.isEmpty ? [] : said[below(said.count)]
      case 1:
        // Numbers that were never sent, all around where they wrap.
        let first = UInt16(truncatingIfNeeded: random.next())
        for index in 0..<UInt16(below(below(10) == 0 ? BandwidthEstimator.mostReported : 60)) {
          entries.append((first &+ index, below(2) == 0 ? nil : base &+ UInt32(index)))
        }
      case 2:
        // Of long ago.
        let from = sent.isEmpty ? 0 : below(sent.count)
        entries = sent[from...].prefix(40).map { (UInt16(truncatingIfNeeded: $0), base) }
      default:
        let upTo = sent.count - (below(3) == 0 ? min(below(30), sent.count) : 0)
        let isLost = below(8) == 0
        for (index, number) in sent[min(reported, upTo)..<upTo].enumerated() {
          entries.append(
            (UInt16(truncatingIfNeeded: number), isLost || below(9) == 0 ? nil : base &+ UInt32(index / 4)))
        }
        reported = upTo
      }
      change(&entries)
      said.append(entries)
      if said.count > 20 { said.removeFirst() }
      return entries
    }

    private mutating func change(_ entries: inout [Entry]) {
      switch below(8) {
      case 0: entries.shuffle(using: &random)
      case 1: entries.reverse()
      case 2: entries += entries
      case 3: entries.removeAll { _ in below(3) == 0 }
      case 4:
        // The times run backwards.
        let times = entries.map(\.arrival)
        for index in entries.indices { entries[index].arrival = times[times.count - 1 - index] }
      case 5:
        for index in entries.indices where entries[index].arrival != nil {
          entries[index].arrival = UInt32(truncatingIfNeeded: random.next())
        }
      default: break
      }
    }

    private func say(_ entries: [Entry], to estimator: inout BandwidthEstimator) {
      var feedback = estimator.takeFeedback(now: now)
      for entry in entries { estimator.note(entry.sequence, arrival: entry.arrival, in: &feedback) }
      _ = estimator.finish(feedback)
    }

    private mutating func sayByStream(to estimator: inout BandwidthEstimator) {
      var feedback = estimator.takeFeedback(now: now)
      let moments: [StreamArrival] = [
        .lost, .unknown, .known(now.nanoseconds), .known(.min), .known(.max), .known(0),
        .known(Int64(bitPattern: random.next())),
      ]
      for back in 0..<UInt16(below(50)) {
        estimator.note(
          ssrc: below(10) == 0 ? 8 : 7, sequence: streamSequence &- back, moments[below(moments.count)],
          in: &feedback)
      }
      _ = estimator.finish(feedback)
    }
  }

  private static let steps = 300

  /// - Returns: what is wrong.
  private func fault(_ estimator: borrowing BandwidthEstimator, now: Instant) -> String? {
    let (target, capacity) = (estimator.target, estimator.capacity)
    for rate in [target, capacity] where !rate.isFinite || !BandwidthEstimator.bounds.contains(rate) {
      return "a rate of \(rate)"
    }
    if target > capacity { return "a target of \(target) over \(capacity)" }
    if let arriving = estimator.arriving, !arriving.isFinite || arriving < 0 { return "\(arriving) arrive" }
    if !(0...1).contains(estimator.loss) { return "a loss of \(estimator.loss)" }
    if estimator.roundTrip < .milliseconds(1) { return "a round trip of \(estimator.roundTrip)" }
    // It was polled just now.
    if estimator.deadline <= now { return "a deadline that is over" }
    return nil
  }

  private func rebuilt(_ bytes: [UInt8]) throws -> BandwidthEstimator {
    var reader = StateReader(bytes)
    let estimator = try BandwidthEstimator(from: &reader)
    try reader.finish()
    return estimator
  }

  private func bytes(_ estimator: borrowing BandwidthEstimator) -> [UInt8] {
    var writer = StateWriter()
    estimator.encode(into: &writer)
    return writer.bytes
  }

  @Test(arguments: 0..<20)
  func `whatever feedback says, the target is a rate within its bounds and no deadline is over`(tenth: UInt64)
  {
    for seed in tenth * 10..<tenth * 10 + 10 {
      var estimator = BandwidthEstimator()
      var disorder = Disorder(seed: seed)
      for step in 0..<Self.steps {
        disorder.step(&estimator)
        if let fault = fault(estimator, now: disorder.now) {
          Issue.record("seed \(seed), step \(step): \(fault)")
          break
        }
      }
    }
  }

  @Test(arguments: 0..<20)
  func `in mid-run its bytes give the same estimate, and those that go on from them do the same`(
    tenth: UInt64
  ) throws {
    for seed in tenth * 10..<tenth * 10 + 10 {
      var estimator = BandwidthEstimator()
      var disorder = Disorder(seed: seed)
      let moment = 20 + disorder.below(Self.steps)
      for _ in 0..<moment { disorder.step(&estimator) }
      let state = bytes(estimator)
      try #require(state.count <= 64, "seed \(seed): it doesn't grow with what was said")
      var one = try rebuilt(state)
      var other = try rebuilt(state)
      let again = bytes(one)
      try #require(again == state, "seed \(seed)")
      let (before, after) = (estimator.capacity, one.target)
      let (next, following) = (estimator.nextNumber, one.nextNumber)
      try #require(before == after && next == following, "seed \(seed)")
      var twin = disorder
      for step in 0..<100 {
        disorder.step(&one)
        twin.step(&other)
        let found = fault(one, now: disorder.now)
        try #require(found == nil, "seed \(seed), step \(step) after the bytes")
        let rates = [one.target, one.capacity, one.loss]
        let others = [other.target, other.capacity, other.loss]
        let (deadline, another) = (one.deadline, other.deadline)
        try #require(rates == others && deadline == another, "seed \(seed), step \(step)")
      }
    }
  }

  @Test func `what was sent before the last 8,192 packets is forgotten, whatever leaves without a word`() {
    var estimator = BandwidthEstimator()
    let now = Instant(nanoseconds: 1_000_000_000)
    // Faster than anything: younger packets make room for older ones no more.
    for _ in 0..<50_000 { estimator.leave(size: 1_200, now: now) }
    let last = Int64(49_999)
    for (back, isKnown) in [(Int64(8_192), false), (30_000, false), (8_191, true), (0, true)] {
      var feedback = estimator.takeFeedback(now: now + .milliseconds(50))
      estimator.note(UInt16(truncatingIfNeeded: last - back), arrival: 0, in: &feedback)
      let isHeard = estimator.finish(feedback)
      #expect(isHeard == isKnown, "\(back) packets back")
    }
  }

  @Test(arguments: 0..<20)
  func `on a clean path it climbs back over a megabit within thirty seconds`(tenth: UInt64) {
    for seed in tenth * 10..<tenth * 10 + 10 {
      var estimator = BandwidthEstimator()
      var disorder = Disorder(seed: seed)
      for _ in 0..<Self.steps { disorder.step(&estimator) }
      // What the remote said of itself is forgotten after a while.
      estimator.setCeiling(nil)
      let begin = (disorder.now.nanoseconds / MediaFlow.step + 1) * MediaFlow.step
      let path = Bottleneck(rate: 5e6, delay: .milliseconds(20), queue: .milliseconds(300), seed: seed)
      let flow = MediaFlow(path, start: .nanoseconds(begin), seed: seed)
      flow.take(over: estimator)
      var now = begin
      while now < begin + 30_000_000_000, flow.estimator.target <= 1e6 {
        flow.turn(at: now)
        now += MediaFlow.step
      }
      let target = flow.estimator.target
      #expect(target > 1e6, "seed \(seed): \(target) after 30 s")
    }
  }
}
