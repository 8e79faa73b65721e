import Model
import Testing

@testable import Client

@Suite("When frames of a source go out", .timeLimit(.minutes(1)))
struct PlayTimeTests {
  private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  /// Plays a frame each 40 ms in turns of 10 ms.
  private struct Play {
    var time = PlayTime()
    var next: Int64 = 0
    /// How many went out in the last turn.
    var burst = 0

    mutating func turn(_ now: Instant) {
      time.turn(now: now, next: next * 40_000_000)
      burst = 0
      while next * 40_000_000 <= time.due(now: now) {
        next += 1
        burst += 1
      }
      time.rest(isStarving: false)
    }
  }

  @Test func `a process that was stopped for a minute goes on where it was, and sends nothing in a heap`() {
    var play = Play()
    play.time.begin(at: at(0))
    for step in 0...100 as ClosedRange<Int64> { play.turn(at(step * 10)) }
    #expect(play.next == 26)
    play.turn(at(61_000))
    #expect(play.burst == 1 && play.next == 27)
    for step in 1...100 as ClosedRange<Int64> {
      play.turn(at(61_000 + step * 10))
      #expect(play.burst <= 1)
    }
    #expect(play.next == 52)
  }

  @Test func `a turn that comes a little late changes nothing`() {
    var play = Play()
    play.time.begin(at: at(0))
    play.turn(at(0))
    play.turn(at(190))
    #expect(play.burst == 4 && play.time.start == at(0))
    // Nor does a frame that lies behind others of its file.
    play.time.turn(now: at(200), next: -500_000_000)
    #expect(play.time.start == at(0))
  }

  @Test func `a source that stood still goes on from there`() {
    var time = PlayTime()
    time.begin(at: at(0))
    for step in 0..<50 as Range<Int64> {
      time.turn(now: at(step * 20), next: nil)
      time.rest(isStarving: true)
    }
    time.turn(now: at(1_000), next: 40_000_000)
    #expect(time.due(now: at(1_000)) == 40_000_000)
  }
}
