import Media
import Model
import Testing

@testable import Client

@Suite("What a subscriber begins with, and a file doesn't", .timeLimit(.minutes(1)))
struct ReplayFilterTests {
  private func verdicts(_ timestamps: [UInt32]) -> [ReplayFilter.Verdict] {
    var filter = ReplayFilter()
    return timestamps.map { timestamp in
      var info = PacketInfo()
      info.timestamp = timestamp
      return filter.judge(info)
    }
  }

  @Test func `pictures a millisecond apart are left out, up to the first that is shown for longer`() {
    #expect(
      verdicts([900, 900, 990, 1_080, 990, 1_170, 4_770, 1_080, 8_370])
        == [.held, .held, .dropped, .dropped, .dropped, .dropped, .taken, .taken, .taken])
  }

  @Test
  func `a source that is there from its beginning loses nothing, also across the turn of its timestamps`() {
    #expect(verdicts([.max - 9, .max - 9, 3_590, 3_590, 7_190]) == [.held, .held, .taken, .taken, .taken])
  }

  @Test func `a picture that stays alone is taken`() {
    var filter = ReplayFilter()
    var info = PacketInfo()
    info.arrival = Instant(nanoseconds: 1_000_000_000)
    let first = filter.judge(info)
    let early = filter.gaveUp(now: Instant(nanoseconds: 1_500_000_000))
    let late = filter.gaveUp(now: Instant(nanoseconds: 1_800_000_000))
    let next = filter.judge(info)
    #expect(first == .held && !early && late && next == .taken)
  }
}
