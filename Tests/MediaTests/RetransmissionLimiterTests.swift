import Media
import Model
import Testing

@Suite("Bounds of retransmission", .timeLimit(.minutes(5)))
struct RetransmissionLimiterTests {
  @Test func `a packet goes out again once a round trip`() {
    var limiter = RetransmissionLimiter()
    #expect(limiter.allow(5, now: start, roundTrip: .milliseconds(100)) == true)
    #expect(limiter.allow(5, now: milliseconds(74), roundTrip: .milliseconds(100)) == false)
    #expect(limiter.allow(5, now: milliseconds(75), roundTrip: .milliseconds(100)) == true)
    #expect(limiter.allow(6, now: milliseconds(75), roundTrip: .milliseconds(100)) == true)
  }

  @Test func `without a measured round trip ten milliseconds lie between`() {
    var limiter = RetransmissionLimiter()
    #expect(limiter.allow(5, now: start, roundTrip: .zero) == true)
    #expect(limiter.allow(5, now: milliseconds(9), roundTrip: .zero) == false)
    #expect(limiter.allow(5, now: milliseconds(10), roundTrip: .zero) == true)
  }

  @Test func `asking for everything always gets a thousand a second`() {
    var limiter = RetransmissionLimiter()
    var sequence: Int64 = 0
    var allowed = 0
    for millisecond in 0..<5_000 {
      for _ in 0..<10 {
        sequence += 1
        if limiter.allow(sequence, now: milliseconds(millisecond), roundTrip: .zero) { allowed += 1 }
      }
    }
    // The burst, and five seconds.
    #expect((5_990...6_001).contains(allowed))
  }

  @Test func `a pause gives one burst back, not more`() {
    var limiter = RetransmissionLimiter()
    func burst(at now: Instant, from first: Int64) -> Int {
      (first..<first + 5_000).count { limiter.allow($0, now: now, roundTrip: .zero) }
    }
    #expect(burst(at: start, from: 0) == 1_000)
    #expect(burst(at: milliseconds(3_600_000), from: 10_000) == 1_000)
  }

  @Test func `its state goes on identically`() throws {
    var random = RandomSource.seeded(state: 2)
    var limiter = RetransmissionLimiter()
    for step in 0..<3_000 {
      var writer = StateWriter()
      limiter.encode(into: &writer)
      var reader = StateReader(writer.bytes)
      var copy = try RetransmissionLimiter(from: &reader)
      try reader.finish()
      let now = milliseconds(step / 4)
      let sequence = Int64(random.next() % 300)
      #expect(
        limiter.allow(sequence, now: now, roundTrip: .milliseconds(40))
          == copy.allow(sequence, now: now, roundTrip: .milliseconds(40)))
    }
  }
}
