import Model
import Testing

@testable import Transport

@Suite("Bit rates of a transport", .timeLimit(.minutes(2)))
struct TrafficTallyTests {
  @Test func `bit rates are those of the last second, and fall to nothing when nothing flows`() throws {
    var tally = TrafficTally(since: Instant(nanoseconds: 1_000_000_000))
    var changes: [Bool] = []
    for _ in 0..<100 { tally.cameIn(1_000) }
    tally.wentOut(250)
    #expect(tally.bitrates == Bitrates())
    changes.append(tally.tally(now: Instant(nanoseconds: 2_000_000_000)))
    #expect(tally.bitrates == Bitrates(received: 800_000, sent: 2_000))
    // No time has passed.
    changes.append(tally.tally(now: Instant(nanoseconds: 2_000_000_000)))
    tally.cameIn(50_000)
    tally.wentOut(125)
    changes.append(tally.tally(now: Instant(nanoseconds: 2_500_000_000)))
    #expect(tally.bitrates == Bitrates(received: 800_000, sent: 2_000))
    changes.append(tally.tally(now: Instant(nanoseconds: 4_000_000_000)))
    #expect(tally.bitrates == Bitrates())
    changes.append(tally.tally(now: Instant(nanoseconds: 5_000_000_000)))
    #expect(changes == [true, false, false, true, false])
  }
}
