import Media
import Model
import Testing

@testable import Client

@Suite("Whose the packets of a slot are", .timeLimit(.minutes(1)))
struct SlotRoutesTests {
  private func info(_ sequence: Int64) -> PacketInfo {
    var info = PacketInfo()
    info.extendedSequence = sequence
    return info
  }

  @Test func `what was sent before a change is the one's before, however late it comes`() {
    let (first, second) = (SlotSupply(.audio), SlotSupply(.audio))
    var routes = SlotRoutes()
    func supply(_ sequence: Int64) -> SlotSupply? { routes.supply(of: 0, info(sequence)) }
    #expect(supply(1) == nil)
    routes.set(0, track: "TR_a", first)
    #expect(routes.section(of: "TR_a") == 0)
    for sequence in [1, 2, 4] as [Int64] { #expect(supply(sequence) === first) }
    routes.set(0, track: nil, nil)
    #expect(supply(3) === first)
    #expect(supply(5) == nil)
    routes.set(0, track: "TR_b", second)
    #expect(supply(6) === second)
    #expect(routes.section(of: "TR_a") == nil)
    // Said twice it is the same.
    routes.set(0, track: "TR_b", second)
    #expect(supply(7) === second)
  }
}
