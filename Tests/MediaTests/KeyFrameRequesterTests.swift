import Media
import Model
import Testing

@Suite("Asking for key frames, RFC 4585 §6.3.1", .timeLimit(.minutes(5)))
struct KeyFrameRequesterTests {
  @Test func `without a need nothing is asked`() {
    var requester = KeyFrameRequester()
    #expect(requester.deadline == .never)
    #expect(requester.poll(now: start) == false)
  }

  @Test func `a hundred needs are one request`() {
    var requester = KeyFrameRequester()
    var asked = 0
    for step in 0..<100 {
      requester.request()
      if requester.poll(now: milliseconds(step)) { asked += 1 }
    }
    #expect(asked == 1)
    #expect(requester.asked == 1)
  }

  @Test func `it is repeated each half second until a key frame comes`() {
    var requester = KeyFrameRequester()
    requester.request()
    #expect(requester.deadline <= start)
    let asked = (0..<1_750).filter { requester.poll(now: milliseconds($0)) }
    #expect(asked == [0, 500, 1_000, 1_500])
    requester.arrived()
    #expect(requester.deadline == .never)
    #expect(requester.poll(now: milliseconds(9_000)) == false)
  }

  @Test func `a need just after a key frame waits for the rest of the interval`() {
    var requester = KeyFrameRequester()
    requester.request()
    #expect(requester.poll(now: start) == true)
    requester.arrived()
    requester.request()
    #expect(requester.poll(now: milliseconds(499)) == false)
    #expect(requester.deadline == milliseconds(500))
    #expect(requester.poll(now: milliseconds(500)) == true)
  }

  @Test func `a request that went astray is repeated at once, one that was answered isn't`() {
    var requester = KeyFrameRequester()
    requester.request()
    #expect(requester.poll(now: start) == true)
    requester.lost()
    #expect(requester.poll(now: milliseconds(10)) == true)
    #expect(requester.poll(now: milliseconds(20)) == false)
    requester.arrived()
    requester.lost()
    requester.request()
    #expect(requester.poll(now: milliseconds(30)) == false)
  }

  @Test func `its state goes on identically`() throws {
    var requester = KeyFrameRequester()
    requester.request()
    _ = requester.poll(now: start)
    var writer = StateWriter()
    requester.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    var copy = try KeyFrameRequester(from: &reader)
    #expect(copy.poll(now: milliseconds(499)) == false)
    #expect(copy.poll(now: milliseconds(500)) == true)
    #expect(copy.asked == 2)
  }
}
