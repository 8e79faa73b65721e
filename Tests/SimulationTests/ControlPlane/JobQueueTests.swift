import Model
import Synchronization
import Testing

@testable import Simulation

@Suite("Tasks of one thread", .timeLimit(.minutes(2)))
struct JobQueueTests {
  private actor Counter {
    private(set) var log: [String] = []
    func note(_ text: String) { log.append(text) }
    func noteTwice(_ text: String) async {
      note(text + " begins")
      // Others have their turn.
      await Task {}.value
      note(text + " ends")
    }
  }

  private final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    func note(_ text: String) { lines.withLock { $0.append(text) } }
    var all: [String] { lines.withLock { $0 } }
  }

  @Test func `nothing runs before its turn, and then all of it`() {
    let jobs = JobQueue(random: .seeded(state: 1))
    let log = Log()
    jobs.begin()
    defer { jobs.end() }
    Task { log.note("ran") }
    #expect(log.all.isEmpty && !jobs.isEmpty)
    #expect(jobs.run())
    #expect(log.all == ["ran"] && jobs.isEmpty)
  }

  @Test func `actors take turns as the seed has it, the same way every time`() {
    let first = Self.turns(seed: 1)
    #expect(first.count == 40)
    for _ in 0..<20 { #expect(Self.turns(seed: 1) == first) }
    let others = (2...9).map { Self.turns(seed: $0) }
    #expect(others.allSatisfy { $0.count == 40 })
    #expect(Set(others).count > 1)
  }

  private static func turns(seed: UInt64) -> [String] {
    let jobs = JobQueue(random: .seeded(state: seed))
    let log = Log()
    let counters = (0..<4).map { _ in Counter() }
    jobs.begin()
    defer { jobs.end() }
    for turn in 0..<5 {
      for (index, counter) in counters.enumerated() {
        Task {
          await counter.noteTwice("\(index) in \(turn)")
          for line in await counter.log.suffix(2) { log.note(line) }
        }
      }
    }
    _ = jobs.run()
    return log.all
  }

  @Test func `a thread without a queue is left alone`() async {
    let jobs = JobQueue(random: .seeded(state: 1))
    jobs.begin()
    jobs.end()
    // Runs on the pool, or this test never ends.
    let value = await Task.detached { 7 }.value
    #expect(value == 7 && jobs.isEmpty)
  }

  @Test func `waiting jobs are woken in the order of time`() {
    let jobs = JobQueue(random: .seeded(state: 1))
    let pauses = VirtualPauses()
    let log = Log()
    jobs.begin()
    defer { jobs.end() }
    for span in [30, 10, 20, 10] {
      Task {
        try await pauses.pause(.milliseconds(span))
        log.note("\(span)")
      }
    }
    _ = jobs.run()
    #expect(pauses.deadline == Instant(nanoseconds: 10_000_000) && log.all.isEmpty)
    pauses.advance(to: Instant(nanoseconds: 10_000_000))
    _ = jobs.run()
    #expect(log.all == ["10", "10"] && pauses.deadline == Instant(nanoseconds: 20_000_000))
    pauses.advance(to: Instant(nanoseconds: 50_000_000))
    _ = jobs.run()
    // Both are late, and either may come first.
    #expect(log.all.count == 4 && Set(log.all.suffix(2)) == ["20", "30"] && pauses.deadline == .never)
  }

  @Test func `a cancelled job waits no longer`() {
    let jobs = JobQueue(random: .seeded(state: 1))
    let pauses = VirtualPauses()
    let log = Log()
    jobs.begin()
    defer { jobs.end() }
    let tasks = (0..<2).map { number in
      Task {
        do { try await pauses.pause(.seconds(1)) } catch { log.note("cancelled \(number)") }
      }
    }
    // Before it waits, and while it does.
    tasks[0].cancel()
    _ = jobs.run()
    #expect(log.all == ["cancelled 0"])
    tasks[1].cancel()
    _ = jobs.run()
    #expect(log.all == ["cancelled 0", "cancelled 1"] && pauses.deadline == .never)
  }
}
