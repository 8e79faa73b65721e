import Model
import Testing

/// Expectations can't change a value.
private final class Limit {
  private(set) var value: RateLimit

  init(rate: Double, burst: Double) { value = RateLimit(rate: rate, burst: burst) }

  var full: Instant { value.full }
  func take(_ amount: Double = 1, now: Instant) -> Bool { value.take(amount, now: now) }
  func take(upTo amount: Double, now: Instant) -> Bool { value.take(upTo: amount, now: now) }
  func wait(for amount: Double = 1, now: Instant) -> Duration { value.wait(for: amount, now: now) }
  @discardableResult func charge(_ amount: Double, now: Instant) -> Duration {
    value.charge(amount, now: now)
  }
  func charge(upTo amount: Double, now: Instant) { value.charge(upTo: amount, now: now) }
}

@Suite("Limits by rate", .timeLimit(.minutes(1)))
struct RateLimitTests {
  private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

  @Test func `a burst passes at once, and then as much as the rate brings`() {
    let limit = Limit(rate: 20, burst: 100)
    var taken = 0
    while limit.take(now: at(5)) { taken += 1 }
    #expect(taken == 100)
    #expect(limit.wait(now: at(5)) == .milliseconds(50))
    let refused = limit.full
    #expect(!limit.take(2, now: at(5.099)) && limit.full == refused, "a refusal takes nothing")
    #expect(limit.take(2, now: at(5.1)) && !limit.take(now: at(5.1)))
  }

  @Test func `rest fills no more than the burst`() {
    let limit = Limit(rate: 20, burst: 100)
    #expect(limit.take(100, now: at(0)) && limit.take(100, now: at(1_000)))
    #expect(!limit.take(now: at(1_000)))
    #expect(limit.full == at(1_005))
  }

  @Test func `pieces that make up the burst pass, whatever the rate`() {
    for rate in [3, 7, 65_536, 262_144, 1e6] {
      let limit = Limit(rate: rate, burst: 1_000)
      for _ in 0..<1_000 { #expect(limit.take(now: at(1))) }
      #expect(!limit.take(max(1, rate / 1e6), now: at(1)))
    }
  }

  @Test func `more than there ever is at once takes all of it`() {
    let limit = Limit(rate: 10, burst: 50)
    #expect(!limit.take(51, now: at(0)) && limit.wait(for: 51, now: at(0)) == .milliseconds(100))
    #expect(limit.take(upTo: 1_000, now: at(0)) && !limit.take(now: at(0)))
    #expect(!limit.take(upTo: 1_000, now: at(4.9)) && limit.take(upTo: 1_000, now: at(5)))
  }

  @Test func `a charge beyond the burst is owed, and waits until it is paid`() {
    let limit = Limit(rate: 10, burst: 50)
    #expect(limit.charge(50, now: at(0)) == .zero)
    #expect(limit.charge(20, now: at(0)) == .seconds(2))
    #expect(!limit.take(now: at(2)) && limit.take(now: at(2.1)))
    limit.charge(upTo: 1_000, now: at(2.1))
    #expect(limit.full == at(12.1))
  }

  @Test func `amounts beyond all measure neither trap nor come for nothing`() {
    let limit = Limit(rate: 1, burst: 10)
    for _ in 0..<20 { limit.charge(1e300, now: at(1e6)) }
    #expect(limit.full == .never && !limit.take(now: at(2e6)))
    #expect(RateLimit(rate: 1, burst: 10).wait(for: .infinity, now: at(0)) > .seconds(86_400))
    let early = Limit(rate: 1, burst: 10)
    #expect(early.take(now: Instant(nanoseconds: .min)) && early.take(9, now: Instant(nanoseconds: .min)))
  }

  @Test func `a limit goes on from its state`() throws {
    let limit = Limit(rate: 50, burst: 25)
    for _ in 0..<20 { #expect(limit.take(now: at(3))) }
    var writer = StateWriter()
    limit.value.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    let copy = try RateLimit(from: &reader)
    try reader.finish()
    #expect(copy == limit.value)
  }

  @Test(arguments: [(0, 1), (-1, 1), (1, -1)] as [(Int64, Int64)])
  func `a limit without an interval or with a negative span is no state`(interval: Int64, span: Int64) {
    var writer = StateWriter()
    writer.write(interval)
    writer.write(span)
    writer.write(at(0))
    let bytes = writer.bytes
    #expect(throws: StateError.self) {
      var reader = StateReader(bytes)
      _ = try RateLimit(from: &reader)
    }
  }
}
