import Media
import Model
import Testing

@testable import Client

@Suite("Whose the packets of a slot are", .timeLimit(.minutes(1)))
struct SlotRoutesTests {
  private static let epoch = Epoch(ntpAtZero: NTPTime(unixNanoseconds: 1_790_000_000_000_000_000))
  private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }
  private func clock(_ seconds: Int64, isReported: Bool = true) -> ClockMapping {
    ClockMapping(timestamp: 7, ntp: Self.epoch.ntp(at: at(seconds)), rate: 90_000, isReported: isReported)
  }

  private func info(_ sequence: Int64) -> PacketInfo {
    var info = PacketInfo()
    info.extendedSequence = sequence
    return info
  }

  @Test func `what was sent before a change is the one's before, however late it comes`() {
    let (first, second) = (SlotSupply(.audio), SlotSupply(.audio))
    var routes = SlotRoutes()
    func supply(_ sequence: Int64) -> SlotSupply? {
      routes.supply(of: 0, info(sequence), clock: nil, epoch: Self.epoch)?.supply
    }
    #expect(supply(1) == nil)
    routes.set(0, track: "TR_a", first, now: at(0))
    #expect(routes.section(of: "TR_a") == 0)
    for sequence in [1, 2, 4] as [Int64] { #expect(supply(sequence) === first) }
    routes.set(0, track: nil, nil, now: at(1))
    #expect(supply(3) === first)
    #expect(supply(5) == nil)
    routes.set(0, track: "TR_b", second, now: at(2))
    #expect(supply(6) === second)
    #expect(routes.section(of: "TR_a") == nil)
    // Said twice it is the same.
    routes.set(0, track: "TR_b", second, now: at(2))
    #expect(supply(7) === second)
  }

  @Test func `what was reported before a change says nothing of the track behind it`() {
    let (first, second) = (SlotSupply(.video), SlotSupply(.video))
    var routes = SlotRoutes()
    func known(_ sequence: Int64, _ clock: ClockMapping?) -> ClockMapping? {
      routes.supply(of: 0, info(sequence), clock: clock, epoch: Self.epoch)?.clock
    }
    let isFirst = routes.set(0, track: "TR_a", first, now: at(10))
    // Guessed from the first packet of the slot, not reported.
    #expect(known(1, clock(11, isReported: false)) == nil)
    #expect(known(2, clock(11)) == clock(11))
    let isSecond = routes.set(0, track: "TR_b", second, now: at(20))
    #expect(known(3, clock(19)) == nil)
    #expect(known(4, clock(21)) == clock(21))
    // Nor does a later report of the track before it.
    #expect(known(2, clock(21)) == nil)
    let isOther = routes.set(0, track: "TR_b", second, now: at(30))
    #expect([isFirst, isSecond, isOther] == [true, true, false])
    #expect(known(5, clock(29)) == clock(29))
  }
}
