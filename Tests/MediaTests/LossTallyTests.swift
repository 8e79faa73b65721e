import Model
import Testing

@testable import Media

@Suite("Losses of a session", .timeLimit(.minutes(2)))
struct LossTallyTests {
  @Test func `loss is the worse of both directions, smoothed, and impossible counts are no loss`() {
    var tally = LossTally()
    for step in 1...40 { tally.tally(expected: Int64(step) * 100, received: Int64(step) * 90) }
    #expect(abs(Int(tally.worse) - 6_553) < 10)
    for step in 41...80 {
      tally.reported(fraction: 64, of: 100, sent: 100)
      tally.tally(expected: Int64(step) * 100, received: Int64(step) * 100 - 400)
    }
    #expect(abs(Int(tally.worse) - 16_384) < 10)
    // What the publisher's own path lost is nothing to the subscriber's.
    var innocent = LossTally()
    for _ in 0..<40 {
      innocent.reported(fraction: 128, of: 100, sent: 50)
      innocent.tally(expected: 0, received: 0)
    }
    #expect(innocent.worse == 0)
    // Tracks that end, sources that start over, reports of nothing or of everything.
    var extreme = LossTally()
    extreme.tally(expected: .max, received: .min)
    extreme.tally(expected: .min, received: .max)
    extreme.tally(expected: 0, received: 0)
    for _ in 0..<1_000 { extreme.reported(fraction: 255, of: .max, sent: .max) }
    extreme.tally(expected: -5, received: 5)
    #expect(extreme.worse <= 65_535 / 2)
  }
}
