import Codecs
import Model
import Testing

@testable import Load

/// Participant 9 is subscribed to 1 and 4.
@Suite("What a subscriber makes of what decoders say", .timeLimit(.minutes(1)))
struct ViewerTests {
  private func viewer() -> Viewer {
    let viewer = Viewer(
      Participant(
        number: 9, role: Participant.Role(room: 0, sources: [1, 4]), options: LoadOptions()))
    viewer.isMeasured = true
    return viewer
  }

  private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

  private func take(
    _ viewer: Viewer, _ result: Decoded.Result, publisher: Int? = nil, sent: Int = 10, at time: Int = 100,
    stream: Int = 0, isKeyFrame: Bool = false
  ) -> [Int64] {
    var delays: [Int64] = []
    viewer.take(
      Decoded(
        name: StreamName(subscriber: 9, stream: stream), publisher: publisher, result: result,
        isKeyFrame: isKeyFrame, arrivedAt: at(time - 3), decodedAt: at(time)),
      captured: { _ in (0..<sent).map { at($0 * 10) } }, verified: { delays.append($1) })
    return delays
  }

  private func picture(_ publisher: Int, _ number: Int) -> Decoded.Result {
    .picture(MarkedPicture(publisher: publisher, number: number))
  }

  @Test func `a picture is verified with its delay from capture`() {
    let viewer = viewer()
    viewer.begin(next: { _ in 0 }, now: at(0))
    #expect(take(viewer, picture(1, 5), publisher: 1) == [50_000_000])
    #expect(viewer.shares[1]?.pictures.verified == 1 && viewer.shares[4]?.pictures.verified == 0)
    #expect(viewer.delay.count == 1 && viewer.decoding.maximum == 3_000_000 && viewer.corrupt == 0)
  }

  @Test func `before the span a picture is shown and not measured`() {
    let viewer = viewer()
    #expect(take(viewer, picture(1, 5)).isEmpty)
    viewer.begin(next: { _ in 6 }, now: at(0))
    #expect(viewer.shown == 1 && viewer.delay.count == 0 && viewer.corrupt == 0)
  }

  @Test(
    arguments: [
      (Decoded.Result.picture(MarkedPicture(publisher: 4, number: 5)), 1, "another publisher"),
      (.picture(MarkedPicture(publisher: 2, number: 5)), nil, "another publisher"),
      (.picture(MarkedPicture(publisher: 1, number: 10)), 1, "never sent"),
      (.wrongPicture(.checksum), 1, "checksum"),
      (.wrongPicture(.square(bit: 3, mean: 120)), 1, "can't be read"),
      (.wrongPicture(.pattern(40)), 1, "pattern"),
      (.wrongPicture(.size(width: 16, height: 16)), 1, "16 × 16"),
      (.noPicture, 1, "not to be shown"), (.failed(.damaged), 1, "damaged"),
    ] as [(Decoded.Result, Int?, String)])
  func `what is wrong is corrupt, with the reason, whenever it comes`(
    result: Decoded.Result, publisher: Int?, word: String
  ) {
    let viewer = viewer()
    #expect(take(viewer, result, publisher: publisher).isEmpty)
    #expect(viewer.corrupt == 1 && viewer.shown <= 1)
    #expect(viewer.faults.count == 1 && viewer.faults.keys.first?.contains(word) == true, "\(viewer.faults)")
    #expect(viewer.shares.values.allSatisfy { $0.pictures.seen == 0 })
  }

  @Test
  func `a stream that begins again with a key frame may show what followed it once more, and then goes on`() {
    let viewer = viewer()
    viewer.begin(next: { _ in 0 }, now: at(0))
    for number in 0...6 { _ = take(viewer, picture(1, number), isKeyFrame: number == 2) }
    for number in 2...8 { _ = take(viewer, picture(1, number), isKeyFrame: number == 2) }
    #expect(viewer.corrupt == 0 && viewer.shares[1]?.pictures.verified == 9)
    // Without a key frame it is wrong, and so it is behind something new.
    _ = take(viewer, picture(1, 5))
    #expect(viewer.corrupt == 1)
    for (number, isKeyFrame) in [(2, true), (3, false), (9, false), (4, false)] {
      _ = take(viewer, picture(1, number), isKeyFrame: isKeyFrame)
    }
    #expect(viewer.corrupt == 2 && viewer.shares[1]?.pictures.verified == 10)
  }

  @Test func `a publisher that moves to another slot may begin there with pictures that were shown, once`() {
    let viewer = viewer()
    viewer.begin(next: { _ in 0 }, now: at(0))
    for number in 3...6 { _ = take(viewer, picture(1, number)) }
    for number in 5...7 { _ = take(viewer, picture(1, number), stream: 2) }
    #expect(viewer.corrupt == 0 && viewer.shares[1]?.pictures.verified == 5)
    _ = take(viewer, picture(1, 7), stream: 2)
    #expect(viewer.corrupt == 1)
    // The slot that it left has no beginning before another publisher was in it.
    _ = take(viewer, picture(1, 7))
    #expect(viewer.corrupt == 2)
    _ = take(viewer, picture(4, 1))
    _ = take(viewer, picture(1, 7))
    #expect(viewer.corrupt == 2)
  }

  @Test func `a picture that is shown twice is corrupt`() {
    let viewer = viewer()
    viewer.begin(next: { _ in 0 }, now: at(0))
    _ = take(viewer, picture(1, 5))
    #expect(take(viewer, picture(1, 5)).isEmpty && viewer.corrupt == 1)
    #expect(viewer.shares[1]?.pictures.verified == 1)
  }

  @Test
  func `tones count by publisher while measuring goes on; a wrong one counts once a right one was heard`() {
    let viewer = viewer()
    _ = take(viewer, .sound(isRight: false), publisher: 1)
    #expect(viewer.shares[1]?.wrong == 0)
    _ = take(viewer, .sound(isRight: true), publisher: 1)
    viewer.begin(next: { _ in 0 }, now: at(0))
    for isRight in [true, false, true] { _ = take(viewer, .sound(isRight: isRight), publisher: 1) }
    // Whose it is isn't known, or it never came.
    _ = take(viewer, .sound(isRight: nil), publisher: nil)
    _ = take(viewer, .lostSound, publisher: 1)
    viewer.end(next: { _ in 0 }, now: at(50))
    _ = take(viewer, .sound(isRight: true), publisher: 1)
    #expect(viewer.shares[1]?.right == 2 && viewer.shares[1]?.wrong == 1 && viewer.shares[1]?.heard == 4)
    #expect(viewer.shares[4]?.right == 0)
  }

  @Test func `it has seen all once a picture and a tone of each have come`() {
    let viewer = viewer()
    for publisher in [1, 4] {
      _ = take(viewer, picture(publisher, 1), publisher: publisher)
      #expect(!viewer.hasSeenAll)
      _ = take(viewer, .sound(isRight: true), publisher: publisher)
    }
    #expect(viewer.hasSeenAll)
  }

  @Test func `reasons are counted without end and kept with one`() {
    let viewer = viewer()
    for width in 1...200 { _ = take(viewer, .wrongPicture(.size(width: width, height: 1))) }
    #expect(viewer.corrupt == 200 && viewer.faults.count == 50)
  }
}
