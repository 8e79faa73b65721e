import Model
import Testing

@testable import Load

@Suite("A run, second by second", .timeLimit(.minutes(1)))
struct TimelineTests {
  private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

  @Test func `what arrives counts in the second in which it was made`() {
    var timeline = Timeline()
    timeline.begin(now: at(10))
    timeline.note(expected: 2, madeAt: at(10.9))
    timeline.note(expected: 1, madeAt: at(12))
    timeline.note(arrivalOf: at(10.9), delay: 1_500_000_000)
    #expect(timeline.seconds.map(\.expected) == [2, 0, 1])
    #expect(timeline.seconds.map(\.arrived) == [1, 0, 0])
    #expect(timeline.seconds.map(\.loss) == [0.5, nil, 1])
    #expect(timeline.place(of: at(12.5)) == 2.5)
  }

  @Test func `what was made before, or without a beginning, counts nowhere`() {
    var timeline = Timeline()
    timeline.note(expected: 1, madeAt: at(1))
    #expect(timeline.seconds.isEmpty && timeline.place(of: at(5)) == 0)
    timeline.begin(now: at(10))
    timeline.note(expected: 1, madeAt: at(9.9))
    timeline.note(arrivalOf: at(3), delay: 0)
    timeline.note(expected: 1, madeAt: .never)
    #expect(timeline.seconds.isEmpty)
  }

  @Test func `a second beginning moves nothing, and a very late moment takes no memory`() {
    var timeline = Timeline()
    timeline.begin(now: at(1))
    timeline.begin(now: at(5))
    timeline.note(expected: 1, madeAt: at(5.5))
    timeline.note(expected: 1, madeAt: at(1 + Double(Timeline.limit)))
    #expect(timeline.seconds.count == 5)
  }
}
