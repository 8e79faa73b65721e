import Signalling
import Testing

@testable import Gateway

@Suite("Answers that are kept for requests that come again", .timeLimit(.minutes(1)))
struct AnsweredRequestsTests {
  @Test func `answers are remembered up to a bound, the latest ones`() {
    var requests = AnsweredRequests()
    for number in 0..<1000 {
      #expect(requests.enter(RequestID(number)) == .new)
      #expect(requests.enter(RequestID(number)) == .pending)
      requests.answer(RequestID(number), "a\(number)")
    }
    #expect(requests.enter(RequestID(999)) == .answered("a999"))
    #expect(requests.enter(RequestID(999 - AnsweredRequests.capacity + 1)) != .new)
    #expect(requests.enter(RequestID(0)) == .new)
    requests.answer(RequestID(-1), "x")
    #expect(requests.enter(RequestID(-1)) == .new)
  }

  @Test func `long answers are remembered by their bytes`() {
    var requests = AnsweredRequests()
    let half = String(repeating: "x", count: AnsweredRequests.byteCapacity / 2)
    for number in 0..<10 {
      #expect(requests.enter(RequestID(number)) == .new)
      requests.answer(RequestID(number), half)
    }
    #expect(
      requests.enter(RequestID(9)) == .answered(half) && requests.enter(RequestID(8)) == .answered(half))
    #expect(requests.enter(RequestID(7)) == .new)
    requests.answer(RequestID(7), half + half + "x")
    #expect(requests.enter(RequestID(7)) == .new, "too long to be remembered")
    #expect(requests.enter(RequestID(9)) == .new, "and all before it had to go")
  }
}
