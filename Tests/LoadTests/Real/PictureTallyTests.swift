import Model
import Testing

@testable import Load

@Suite("Which pictures a subscriber is shown", .timeLimit(.minutes(1)))
struct PictureTallyTests {
  private func at(_ milliseconds: Int) -> Instant { Instant(nanoseconds: Int64(milliseconds) * 1_000_000) }

  @Test func `pictures of the span count, those before and behind it are seen alone`() throws {
    var tally = PictureTally()
    _ = try tally.show(8, sent: 100, now: at(0))
    tally.begin(at: 10, now: at(50))
    for (number, isInSpan) in [(9, false), (10, true), (12, true)] {
      #expect(try tally.show(number, sent: 100, now: at(100)) == isInSpan)
    }
    tally.end(at: 14, now: at(150))
    for (number, isInSpan) in [(13, true), (14, false), (15, false)] {
      #expect(try tally.show(number, sent: 100, now: at(200)) == isInSpan)
    }
    #expect((tally.verified, tally.seen) == (3, 7))
  }

  @Test func `a picture that was shown before, or a later one, is a fault`() throws {
    var tally = PictureTally()
    _ = try tally.show(5, sent: 100, now: at(0))
    for number in [5, 4, 0] {
      #expect(throws: PictureTally.Fault.shownBefore) { try tally.show(number, sent: 100, now: at(1)) }
    }
    #expect(try !tally.show(6, sent: 100, now: at(2)))
  }

  @Test func `a picture that was never sent is a fault`() {
    var tally = PictureTally()
    tally.begin(at: 0, now: at(0))
    for number in [10, 11, 1 << 32] {
      #expect(throws: PictureTally.Fault.neverSent) { try tally.show(number, sent: 10, now: at(1)) }
    }
    #expect((tally.verified, tally.seen) == (0, 0))
  }

  @Test func `a pause is a freeze from the bound on, and lasts from picture to picture`() throws {
    var tally = PictureTally()
    tally.begin(at: 0, now: at(0))
    for (number, time) in [(0, 10), (1, 220), (2, 500), (3, 560)] {
      _ = try tally.show(number, sent: 100, now: at(time))
    }
    #expect((tally.freezes, tally.frozen) == (1, 280_000_000))
  }

  @Test func `pauses at the edges of the span count, as far as they are in it`() throws {
    var tally = PictureTally()
    _ = try tally.show(0, sent: 100, now: at(0))
    tally.begin(at: 1, now: at(1_000))
    _ = try tally.show(1, sent: 100, now: at(1_300))
    tally.end(at: 2, now: at(2_000))
    _ = try tally.show(2, sent: 100, now: at(9_000))
    #expect((tally.freezes, tally.frozen) == (2, 1_000_000_000))
  }

  @Test func `what never came is frozen throughout`() {
    var tally = PictureTally()
    tally.begin(at: 0, now: at(0))
    tally.end(at: 150, now: at(10_000))
    #expect((tally.freezes, tally.frozen) == (1, 10_000_000_000))
  }

  @Test func `another span counts by itself`() throws {
    var tally = PictureTally()
    tally.begin(at: 0, now: at(0))
    _ = try tally.show(0, sent: 10, now: at(900))
    tally.end(at: 1, now: at(1_000))
    tally.begin(at: 1, now: at(2_000))
    _ = try tally.show(1, sent: 10, now: at(2_010))
    #expect((tally.verified, tally.freezes, tally.seen) == (1, 0, 2))
  }
}
