import Model
import Testing

@testable import Engine

@Suite("What leaves by the slots", .timeLimit(.minutes(1)))
struct SlotRatesTests {
  private let peer = PeerKey(rawValue: 7)
  private let start = Instant(nanoseconds: 1_000_000_000)

  private func time(_ tenths: Int) -> Instant { start + .milliseconds(tenths * 100) }

  /// 50 packets of 80 bytes a second for some tenths of a second.
  private func sound(_ rates: inout SlotRates, tenths: Range<Int>) {
    for tenth in tenths {
      let packets = UInt32(tenth * 5)
      rates.sample(0, peer, now: time(tenth), [(0, packets, packets * 80)], repaired: 0)
    }
  }

  @Test func `room is kept for sound between two sentences`() {
    var rates = SlotRates(places: 1)
    sound(&rates, tenths: 0..<40)
    let spoken = rates.reserve(0, peer, slot: 0)!
    #expect(abs(spoken - 48e3) < 2e3)
    for tenth in 40..<60 { rates.sample(0, peer, now: time(tenth), [(0, 195, 195 * 80)], repaired: 0) }
    #expect(rates.rate(0, peer, slot: 0)! < 2e3)
    #expect(rates.reserve(0, peer, slot: 0)! > spoken * 0.7)
  }

  @Test func `a burst of sound keeps no room from pictures for longer than it lasts`() {
    var rates = SlotRates(places: 1)
    sound(&rates, tenths: 0..<40)
    // 40 kB in one tenth of a second.
    rates.sample(0, peer, now: time(40), [(0, 230, 195 * 80 + 40_000)], repaired: 0)
    for tenth in 41..<60 {
      rates.sample(0, peer, now: time(tenth), [(0, 230, 195 * 80 + 40_000)], repaired: 0)
    }
    #expect(rates.reserve(0, peer, slot: 0)! < 150e3)
  }

  @Test func `a slot whose stream begins again is measured again, and keeps no room for what never was`() {
    var rates = SlotRates(places: 1)
    sound(&rates, tenths: 0..<40)
    for tenth in 40..<60 {
      let packets = UInt32((tenth - 40) * 5)
      rates.sample(0, peer, now: time(tenth), [(0, packets, packets * 80)], repaired: 0)
      #expect(rates.reserve(0, peer, slot: 0).map { $0 < 60e3 } ?? true)
    }
  }

  @Test func `what is sent again is known within a second, and nothing where a peer was rebuilt`() {
    var rates = SlotRates(places: 1)
    for tenth in 0..<30 {
      rates.sample(0, peer, now: time(tenth), [], repaired: UInt64(tenth) * 1_250)
    }
    #expect(abs(rates.repairs(0, peer) - 100e3) < 10e3)
    rates.sample(0, peer, now: time(30), [], repaired: 0)
    #expect(rates.repairs(0, peer) < 100e3)
    #expect(rates.repairs(0, PeerKey(rawValue: 8)) == 0)
  }
}
