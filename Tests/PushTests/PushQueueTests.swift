import Model
import Testing

@testable import Push

@Suite("What waits for a push service", .timeLimit(.minutes(2)))
struct PushQueueTests {
  private static let start = Sample.second(1)

  private func queue(count: Int = 100, bytes: Int = 1_000_000, atOnce: Int = 10) -> PushQueue {
    PushQueue(limits: PushQueue.Limits(count: count, bytes: bytes, atOnce: atOnce))
  }

  /// All that is to be sent now.
  private func sent(_ queue: inout PushQueue, now: Instant = start) -> [PushJob] {
    var jobs: [PushJob] = []
    while case .send(let job) = queue.next(now: now) { jobs.append(job) }
    return jobs
  }

  private func ids(_ jobs: [PushJob]) -> [String] { jobs.map(\.id) }

  @Test func `all that may be under way at once is, rings first, each in its order`() {
    var queue = queue(atOnce: 4)
    queue.add(Sample.job(1, isRing: false))
    for number in 2...4 { queue.add(Sample.job(number)) }
    queue.add(Sample.job(5, isRing: false))
    let first = sent(&queue)
    #expect(ids(first) == ["id-2", "id-3", "id-4", "id-1"] && first.allSatisfy { $0.tries == 1 })
    #expect(queue.next(now: Self.start) == .wait(until: .never))
    queue.answered(first[1].number, .delivered, now: Self.start)
    #expect(ids(sent(&queue)) == ["id-5"] && queue.count == 4)
    #expect(queue.takeFinished().map(\.state) == [.delivered] && queue.takeFinished().isEmpty)
  }

  @Test(arguments: [
    (PushVerdict.delivered, PushOutcome.State.delivered, ""), (.remove(reason: "r"), .removed, "r"),
    (.failed(reason: "r"), .failed, "r"), (.misconfigured(reason: "r"), .failed, "r"),
    (.expired(reason: "r"), .expired, "r"),
  ])
  func `a verdict ends a push, once`(verdict: PushVerdict, state: PushOutcome.State, reason: String) throws {
    var queue = queue()
    queue.add(Sample.job())
    let job = try #require(sent(&queue).first)
    queue.answered(job.number, verdict, now: Self.start)
    queue.answered(job.number, .delivered, now: Self.start)
    queue.answered(99, .delivered, now: Self.start)
    let finished = PushQueue.Finished(
      job: job, state: state, reason: reason, mayHaveArrived: state == .delivered)
    #expect(queue.takeFinished() == [finished])
    #expect(queue.counters.outcomes == [state: 1] && queue.count == 0 && queue.bytes == 0)
    #expect(sent(&queue).isEmpty)
  }

  @Test func `what is to be sent again waits, keeps its id, and goes before what came later`() throws {
    var queue = queue(atOnce: 1)
    queue.add(Sample.job(1))
    queue.add(Sample.job(2))
    let first = try #require(sent(&queue).first)
    queue.answered(first.number, .retry(after: .seconds(2), reason: "x"), now: Self.start)
    #expect(ids(sent(&queue)) == ["id-2"])
    #expect(queue.next(now: Self.start) == .wait(until: Sample.second(3)))
    queue.add(Sample.job(3))
    queue.answered(2, .delivered, now: Self.start)
    let again = sent(&queue, now: Sample.second(3))
    #expect(ids(again) == ["id-1"] && again.first?.tries == 2 && queue.counters.retries == 1)
  }

  @Test func `what is too late is not begun`() {
    var queue = queue()
    queue.add(Sample.job(1, deadline: 5))
    queue.add(Sample.job(2, deadline: 6))
    #expect(ids(sent(&queue, now: Sample.second(5))) == ["id-2"])
    #expect(
      queue.takeFinished().map { [$0.job.id, $0.state.rawValue, $0.reason] } == [["id-1", "expired", "late"]])
    #expect(queue.counters.dropped == [.late: 1])
  }

  // MARK: Bounds

  @Test func `full, it takes a ring for the end of one, and else no more`() {
    var queue = queue(count: 3)
    queue.add(Sample.job(1))
    queue.add(Sample.job(2, isRing: false))
    queue.add(Sample.job(3, isRing: false))
    queue.add(Sample.job(4, isRing: false))
    #expect(ids(queue.takeFinished().map(\.job)) == ["id-4"])
    queue.add(Sample.job(5))
    queue.add(Sample.job(6))
    queue.add(Sample.job(7))
    let lost = queue.takeFinished()
    #expect(ids(lost.map(\.job)) == ["id-2", "id-3", "id-7"])
    #expect(lost.allSatisfy { $0.state == .failed && $0.reason == "queueCount" })
    #expect(queue.counters.dropped == [.queueCount: 4] && queue.count == 3)
  }

  @Test func `its bytes are bounded, and one that is too large by itself takes no other's place`() {
    let size = Sample.job(1, bytes: 1_000).bytes
    var queue = queue(bytes: size * 2)
    queue.add(Sample.job(1, isRing: false, bytes: 1_000))
    queue.add(Sample.job(2, bytes: 1_000))
    queue.add(Sample.job(3, bytes: 1_000))
    #expect(ids(queue.takeFinished().map(\.job)) == ["id-1"] && queue.bytes == size * 2)
    queue.add(Sample.job(4, bytes: 1_000))
    #expect(
      queue.takeFinished().map(\.reason) == ["queueBytes"] && queue.counters.dropped == [.queueBytes: 2])
    #expect(ids(sent(&queue)) == ["id-2", "id-3"])
  }

  // MARK: Rings that are over

  private func said(_ queue: inout PushQueue) -> [[String]] {
    queue.takeFinished().map { [$0.job.id, $0.state.rawValue, $0.reason] }
  }

  @Test func `a ring that is over isn't sent, and where it may have arrived is said`() throws {
    var queue = queue(atOnce: 2)
    for number in 1...4 { queue.add(Sample.job(number)) }
    queue.add(Sample.job(5, ringId: "another"))
    let under = sent(&queue)
    queue.answered(under[0].number, .retry(after: .seconds(1), reason: "x"), now: Self.start)
    #expect(ids(sent(&queue)) == ["id-3"])
    // One was refused and one waits for its turn; two are under way.
    queue.stop(ring: Sample.ringId)
    let waiting = queue.takeFinished()
    #expect(Set(ids(waiting.map(\.job))) == ["id-1", "id-4"])
    #expect(waiting.allSatisfy { $0.state == .expired && $0.reason == "ringOver" && !$0.mayHaveArrived })
    // These are not sent again, but may have arrived.
    queue.answered(2, .retry(after: .seconds(1), reason: "x"), isUnanswered: true, now: Self.start)
    queue.answered(3, .delivered, now: Self.start)
    let answered = queue.takeFinished()
    #expect(answered.map(\.state) == [.expired, .delivered] && answered.allSatisfy(\.mayHaveArrived))
    #expect(ids(sent(&queue, now: Sample.second(20))) == ["id-5"] && queue.count == 1)
  }

  @Test
  func `once a try has no answer a push may have arrived, whatever follows, unless its token is no good`()
    throws
  {
    let verdicts: [(PushVerdict, Bool)] = [
      (.failed(reason: "x"), true), (.expired(reason: "x"), true), (.remove(reason: "x"), false),
    ]
    for (verdict, mayHaveArrived) in verdicts {
      var queue = queue()
      queue.add(Sample.job())
      let job = try #require(sent(&queue).first)
      queue.answered(
        job.number, .retry(after: .seconds(1), reason: "noAnswer"), isUnanswered: true, now: Self.start)
      #expect(ids(sent(&queue, now: Sample.second(2))) == ["id-1"])
      queue.answered(job.number, verdict, now: Sample.second(2))
      #expect(queue.takeFinished().map(\.mayHaveArrived) == [mayHaveArrived], "\(verdict)")
    }
  }

  @Test func `the end of a ring that is under way waits for its answer, and goes where the ring may be`() {
    var queue = queue()
    for number in 1...3 { queue.add(Sample.job(number)) }
    let rings = sent(&queue)
    queue.stop(ring: Sample.ringId)
    for number in 1...4 {
      queue.addEnd(Sample.job(number + 10, isRing: false, to: number), now: Self.start)
    }
    // Of the fourth nothing is under way.
    #expect(ids(sent(&queue)) == ["id-14"])
    let again = PushVerdict.retry(after: .seconds(1), reason: "x")
    queue.answered(rings[0].number, .delivered, now: Self.start)
    queue.answered(rings[1].number, again, isUnanswered: true, now: Self.start)
    queue.answered(rings[2].number, again, now: Self.start)
    #expect(ids(sent(&queue)) == ["id-11", "id-12"])
    #expect(
      said(&queue) == [
        ["id-1", "delivered", ""], ["id-2", "expired", "ringOver"], ["id-3", "expired", "ringOver"],
        ["id-13", "expired", "neverRang"],
      ])
  }

  @Test func `an end waits six seconds for an answer, and no longer`() throws {
    var queue = queue()
    queue.add(Sample.job(1))
    let ring = try #require(sent(&queue).first)
    queue.addEnd(Sample.job(2, isRing: false, to: 1), now: Self.start)
    #expect(queue.next(now: Self.start) == .wait(until: Sample.second(7)))
    #expect(ids(sent(&queue, now: Sample.second(7))) == ["id-2"])
    queue.answered(ring.number, .failed(reason: "x"), now: Sample.second(8))
    #expect(said(&queue) == [["id-1", "failed", "x"]])
  }

  @Test func `nothing more is sent to a device that is gone`() throws {
    var queue = queue(atOnce: 1)
    queue.add(Sample.job(1))
    queue.add(Sample.job(2, isRing: false, to: 1))
    queue.add(Sample.job(3))
    let under = try #require(sent(&queue).first)
    queue.stop(device: Sample.device(1).name)
    queue.answered(under.number, .retry(after: .seconds(1), reason: "x"), now: Self.start)
    #expect(said(&queue) == [["id-2", "failed", "deviceGone"], ["id-1", "failed", "deviceGone"]])
    #expect(ids(sent(&queue, now: Sample.second(20))) == ["id-3"])
    #expect(queue.counters.dropped == [.deviceGone: 1])
  }

  // MARK: Anything, in any order

  private struct Mistake: Error { let text: String }

  private func run(_ seed: UInt64) throws {
    var random = RandomSource.seeded(state: seed)
    var queue = queue(count: 30, bytes: 40_000, atOnce: 5)
    var (added, ended, sending, now) = (0, Set<String>(), [PushJob](), Self.start)
    func check(_ holds: Bool, _ text: @autoclosure () -> String) throws {
      if !holds { throw Mistake(text: "seed \(seed): \(text())") }
    }
    for step in 0..<2_000 {
      let isOver = step >= 1_500
      if !isOver, Int.random(in: 0..<3, using: &random) == 0 {
        added += 1
        let job = Sample.job(
          added, isRing: Bool.random(using: &random), ringId: "ring-\(added / 4)",
          bytes: Int.random(in: 1...3_000, using: &random),
          deadline: now.nanoseconds / 1_000_000_000 + Int64.random(in: 1...30, using: &random), to: added / 3)
        if job.isRing { queue.add(job) } else { queue.addEnd(job, now: now) }
      }
      if Int.random(in: 0..<20, using: &random) == 0 { queue.stop(ring: "ring-\(added / 4)") }
      if Int.random(in: 0..<40, using: &random) == 0 { queue.stop(device: Sample.device(added / 3).name) }
      while case .send(let job) = queue.next(now: now) {
        try check(now < job.deadline, "too late")
        try check(!sending.contains { $0.number == job.number }, "twice at once")
        sending.append(job)
      }
      try check(sending.count <= 5 && queue.count <= 30 && queue.bytes <= 40_000, "over a bound")
      if let index = sending.indices.randomElement(using: &random), Bool.random(using: &random) {
        let job = sending.remove(at: index)
        let verdicts: [PushVerdict] = [
          .delivered, .failed(reason: "f"), .retry(after: .milliseconds(1_500), reason: "x"),
        ]
        queue.answered(
          job.number, verdicts.randomElement(using: &random) ?? .delivered,
          isUnanswered: Bool.random(using: &random), now: now)
      }
      for done in queue.takeFinished() {
        try check(ended.insert(done.job.id).inserted, "\(done.job.id) ends twice")
      }
      now = now + .milliseconds(Int.random(in: 0...400, using: &random))
    }
    try check(ended.count == added && queue.count == 0 && queue.bytes == 0, "\(added - ended.count) are left")
    try check(queue.counters.outcomes.values.reduce(0, +) == UInt64(added), "counted wrong")
  }

  @Test func `whatever comes in whatever order, each push ends once, within all bounds`() throws {
    for seed in 0..<60 as Range<UInt64> { try run(seed) }
  }
}
