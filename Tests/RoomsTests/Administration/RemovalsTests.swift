import Testing

@testable import Rooms

@Suite("Who was removed")
struct RemovalsTests {
  @Test func `who was removed is remembered for its time, and the table has a bound`() {
    var removals = Removals(memory: 100)
    removals.insert(room: "r", identity: "ada", now: 1_000)
    for (issued, now, isOut) in [
      (999, 1_001, true), (1_000, 1_001, true), (1_001, 1_001, false), (nil, 1_099, true),
      (nil, 1_100, false),
      (999, 1_100, false),
    ] as [(Int?, Int, Bool)] {
      #expect(removals.forbids(room: "r", identity: "ada", issued: issued, now: now) == isOut)
    }
    #expect(!removals.forbids(room: "s", identity: "ada", issued: nil, now: 1_001))
    #expect(!removals.forbids(room: "r", identity: "eve", issued: nil, now: 1_001))
    // Removed once more: the later one counts, also when the earlier is forgotten.
    removals.insert(room: "r", identity: "ada", now: 1_050)
    removals.insert(room: "r", identity: "bob", now: 1_120)
    #expect(removals.forbids(room: "r", identity: "ada", issued: 1_040, now: 1_120) && removals.count == 2)
    for number in 0..<(Removals.capacity + 10) {
      removals.insert(room: "flood", identity: "\(number)", now: 1_121)
    }
    #expect(removals.count == Removals.capacity)
    #expect(removals.forbids(room: "flood", identity: "\(Removals.capacity)", issued: nil, now: 1_121))
    #expect(!removals.forbids(room: "flood", identity: "0", issued: nil, now: 1_121))
    for number in 0..<(3 * Removals.capacity) {
      removals.insert(room: "r", identity: "ada", now: 1_130 + number / 65_536)
    }
    #expect(
      removals.count <= Removals.capacity
        && removals.forbids(room: "r", identity: "ada", issued: nil, now: 1_132))
  }
}
