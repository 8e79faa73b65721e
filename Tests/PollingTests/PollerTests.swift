import Model
import Polling
import Testing

@Suite("What a thread waits on", .timeLimit(.minutes(1)))
struct PollerTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  /// A poller that tests may ask in expressions.
  private final class Waiter {
    let poller: Poller
    init(capacity: Int = 16) throws {
      let made = Poller(capacity: capacity)
      guard let made else { throw Refused() }
      poller = made
    }
    func ids(until deadline: Instant, now: Instant, atMost: Duration? = nil) -> [UInt64] {
      (0..<poller.wait(until: deadline, now: now, atMost: atMost)).map { poller[$0].id }
    }
    func add(_ wakeup: Wakeup, id: UInt64, _ interest: Poller.Interest = .readable) -> Bool {
      poller.add(wakeup.descriptor, id: id, interest)
    }
  }
  private struct Refused: Error {}

  @Test func `what was signalled is reported by its number, until it is cleared`() throws {
    let waiter = try Waiter()
    let wakeups = (0..<3).map { _ in Wakeup() }
    for (number, wakeup) in wakeups.enumerated() { #expect(waiter.add(wakeup, id: UInt64(number) << 40)) }
    #expect(waiter.ids(until: start, now: start) == [])
    wakeups[2].signal()
    wakeups[0].signal()
    #expect(Set(waiter.ids(until: .never, now: start)) == [0, 2 << 40])
    wakeups[0].clear()
    #expect(waiter.ids(until: .never, now: start) == [2 << 40])
    waiter.poller.remove(wakeups[2].descriptor)
    #expect(waiter.ids(until: start, now: start) == [])
  }

  @Test func `more than fits is reported by the next wait`() throws {
    let waiter = try Waiter(capacity: 2)
    let wakeups = (0..<5).map { _ in Wakeup() }
    for (number, wakeup) in wakeups.enumerated() {
      #expect(waiter.add(wakeup, id: UInt64(number), [.readable, .onceEach]))
      wakeup.signal()
    }
    var seen: [UInt64] = []
    // Their descriptors are open until then: an optimised build lets go of values after their last use.
    withExtendedLifetime(wakeups) {
      for _ in 0..<3 { seen += waiter.ids(until: start, now: start) }
    }
    #expect(seen.sorted() == [0, 1, 2, 3, 4])
  }

  @Test(arguments: [(1, nil), (20, nil), (20_000, 20), (-1, 20)] as [(Int, Int?)])
  func `a wait ends at its deadline and never before it`(deadline: Int, bound: Int?) throws {
    let waiter = try Waiter()
    let end = deadline < 0 ? Instant.never : start + .milliseconds(deadline) + .nanoseconds(1)
    let clock = ContinuousClock()
    let took = clock.measure {
      #expect(waiter.ids(until: end, now: start, atMost: bound.map { .milliseconds($0) }) == [])
    }
    #expect(took >= .milliseconds(bound ?? deadline) && took < .seconds(5))
  }

  @Test func `a deadline that is over, or a descriptor that is none, is no reason to wait`() throws {
    let waiter = try Waiter()
    let isWatched = waiter.poller.add(-1, id: 1, .readable)
    #expect(!isWatched)
    let took = ContinuousClock().measure {
      #expect(waiter.ids(until: start, now: start + .seconds(1)) == [])
      #expect(waiter.ids(until: Instant(nanoseconds: .min), now: start, atMost: .seconds(5)) == [])
    }
    #expect(took < .seconds(1))
  }

  @Test func `a short wait for a signal alone ends with it, or with its time`() {
    let wakeup = Wakeup()
    let clock = ContinuousClock()
    let whole = clock.measure { wakeup.wait(atMost: .milliseconds(5)) }
    #expect(whole >= .milliseconds(5) && whole < .seconds(5))
    wakeup.signal()
    #expect(clock.measure { wakeup.wait(atMost: .seconds(20)) } < .seconds(5))
    // The signal is used up.
    #expect(clock.measure { wakeup.wait(atMost: .milliseconds(5)) } >= .milliseconds(5))
    #expect(clock.measure { wakeup.wait(atMost: .milliseconds(-1)) } < .seconds(1))
  }
}
