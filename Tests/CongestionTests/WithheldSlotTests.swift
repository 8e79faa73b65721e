import Model
import Testing

@testable import Congestion

/// Slots whose key frames a path doesn't carry in time.
@Suite("Slots that are withheld", .timeLimit(.minutes(1)))
struct WithheldSlotTests {
  private var demand = SlotDemand(
    slot: 0, kind: .video, options: [LayerOption(rate: 100_000, peak: 100_000)])
  private var now = Instant(nanoseconds: 1_000_000_000_000)
  private let target = 500_000.0

  /// Allocates every tenth of a second, until the slot is shown.
  /// - Returns: seconds.
  private mutating func wait(most: Int = 700) -> Double {
    for step in 0..<most {
      let slot = Allocator.allocate(target, [demand], now: now).slots[0]
      demand.memory = slot.memory
      guard slot.option == nil else { return Double(step) / 10 }
      #expect(slot.reason == .bandwidth && slot.memory.isStarved)
      #expect(demand.memory.isHeld(target, now: now))
      now = now + .milliseconds(100)
    }
    return .infinity
  }

  @Test mutating func `the wait is longer each time, up to a minute, and begins again after a calm`() {
    let first = wait()
    #expect(first == 0)
    for seconds in [8.0, 16, 32, 60, 60] {
      demand.memory.withhold(target: target, now: now)
      let waited = wait()
      #expect(waited == seconds)
      now = now + .seconds(2)
    }
    now = now + .seconds(20)
    demand.memory.withhold(target: target, now: now)
    let waited = wait()
    #expect(waited == 8)
  }

  @Test mutating func `where half as much again is carried nothing is withheld`() {
    let first = wait()
    #expect(first == 0)
    demand.memory.withhold(target: target / 1.5 - 1, now: now)
    let waited = wait()
    #expect(waited == 0)
    demand.memory.withhold(target: target / 1.4, now: now)
    let other = wait()
    #expect(other > 0)
  }
}
