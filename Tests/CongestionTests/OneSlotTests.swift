import Model
import Testing

@testable import Congestion

/// What one publisher, or one way to show it, may cost the other slots of a subscriber.
@Suite("One slot among others", .timeLimit(.minutes(1)))
struct OneSlotTests {
  private let start = Instant(nanoseconds: 1_000_000_000_000)

  private static func ladder(_ rates: [Double]) -> [LayerOption] {
    rates.enumerated().map {
      LayerOption(
        encoding: UInt8($0.offset), width: UInt16(320 << $0.offset), height: UInt16(180 << $0.offset),
        frameRate: 30,
        rate: $0.element, peak: $0.element)
    }
  }

  private func run(_ demands: inout [SlotDemand], _ target: Double, from second: Double, tenths: Int)
    -> Allocation
  {
    var allocation = Allocator.allocate(target, demands, now: start + .milliseconds(Int(second * 1_000)))
    for tenth in 1...max(tenths, 1) {
      for (index, slot) in allocation.slots.enumerated() { demands[index].memory = slot.memory }
      allocation = Allocator.allocate(
        target, demands, now: start + .milliseconds(Int(second * 1_000) + tenth * 100))
    }
    for (index, slot) in allocation.slots.enumerated() { demands[index].memory = slot.memory }
    return allocation
  }

  @Test func `pictures beyond the bound are paused, and sound doesn't count among them`() {
    var demands = (0..<100).map {
      SlotDemand(slot: $0, kind: .audio, options: [LayerOption(rate: 1e3, peak: 1e3)])
    }
    demands += (100..<180).map { SlotDemand(slot: $0, kind: .video, options: Self.ladder([10e3])) }
    let slots = run(&demands, 100e6, from: 0, tenths: 20).slots
    #expect(slots.count == 180 && slots.map(\.slot) == Array(0..<180))
    #expect(slots.prefix(164).allSatisfy { $0.option != nil && !$0.memory.isStarved })
    #expect(
      slots.suffix(16).allSatisfy { $0.option == nil && $0.reason == .bandwidth && $0.memory.isStarved })
  }

  @Test func `one lowering of the target takes away no picture, and less than that does for good`() {
    let demands = (0..<8).map {
      SlotDemand(slot: $0, kind: .video, options: Self.ladder([100e3, 400e3, 1_600e3]))
    }
    /// How many of the eight are shown, half a second apart.
    func shown(_ target: Double) -> [Int] {
      var demands = demands
      _ = run(&demands, 900e3, from: 0, tenths: 600)
      return (0..<14).map { half in
        run(&demands, target, from: 100 + Double(half) / 2, tenths: 4).slots.count { $0.option != nil }
      }
    }
    let missed = shown(0.86 * 800e3)
    #expect(missed.prefix(9).allSatisfy { $0 == 8 }, "while the target may come back")
    #expect(missed.last == 6, "in the long run nothing is sent beyond the target")
    #expect(shown(0.83 * 800e3)[1] == 6)
  }

  @Test func `what little is missing is not taken up by the motion of another`() {
    var demands = (0..<2).map {
      SlotDemand(slot: $0, kind: .video, options: Self.ladder([100e3]))
    }
    _ = run(&demands, 1e6, from: 0, tenths: 600)
    demands[0].options.append(
      LayerOption(encoding: 0, temporal: 1, width: 320, height: 180, frameRate: 30, rate: 140e3, peak: 140e3))
    let slots = run(&demands, 180e3, from: 100, tenths: 20).slots
    #expect(slots[0].option?.temporal == 0 && slots[1].option != nil)
  }

  @Test func `a tile that is made smaller, and a dip behind it, hold no other slot back`() {
    var demands = (0..<2).map {
      SlotDemand(slot: $0, kind: .video, options: Self.ladder([100e3, 400e3, 1_600e3]))
    }
    _ = run(&demands, 10e6, from: 0, tenths: 600)
    demands[0].picture.width = 300
    _ = run(&demands, 10e6, from: 70, tenths: 50)
    #expect(demands[0].memory.shown?.encoding == 0)
    demands[1].picture.width = 600
    _ = run(&demands, 450e3, from: 80, tenths: 20)
    _ = run(&demands, 10e6, from: 83, tenths: 100)
    #expect(demands[1].memory.shown?.encoding == 1, "after the short wait")
  }

  @Test func `who asks for more waits for nothing that failed before, where the target has room to spare`()
    throws
  {
    var demands = [SlotDemand(slot: 0, kind: .video, options: Self.ladder([100e3, 400e3]))]
    _ = run(&demands, 10e6, from: 0, tenths: 100)
    // It fails soon after it was taken up, and shows the smaller.
    _ = run(&demands, 380e3, from: 11, tenths: 10)
    #expect(demands[0].memory.shown?.encoding == 0)
    func shown(_ target: Double, isAsked: Bool) -> UInt8? {
      var asking = demands
      if isAsked { asking[0].memory.tryAgain() }
      _ = run(&asking, target, from: 13, tenths: 2)
      return asking[0].memory.shown?.encoding
    }
    #expect(shown(560e3, isAsked: false) == 0, "what was too much two seconds ago waits")
    #expect(shown(560e3, isAsked: true) == 1)
    #expect(shown(440e3, isAsked: true) == 0, "without room to spare it waits")
    // So much is what a probe has to show.
    var asking = demands
    asking[0].memory.tryAgain()
    let next = try #require(run(&asking, 440e3, from: 13, tenths: 2).next)
    #expect(shown(next - 1, isAsked: true) == 0 && shown(next + 1, isAsked: true) == 1, "\(next)")
    // Once it has failed again it waits as before.
    demands[0].memory.tryAgain()
    _ = run(&demands, 560e3, from: 13, tenths: 5)
    _ = run(&demands, 380e3, from: 14, tenths: 10)
    _ = run(&demands, 560e3, from: 16, tenths: 5)
    #expect(demands[0].memory.shown?.encoding == 0)
  }

  @Test func `an encoding that swells once it is shown fails by itself`() {
    var demands = (0..<2).map { SlotDemand(slot: $0, kind: .video, options: Self.ladder([100e3, 400e3])) }
    // The second has room for its low encoding alone.
    demands[0].options[1].rate = 120e3
    demands[0].options[1].peak = 120e3
    _ = run(&demands, 600e3, from: 0, tenths: 300)
    #expect(demands.map { $0.memory.shown?.encoding } == [1, 1])
    demands[0].options[1].rate = 5e6
    demands[0].options[1].peak = 5e6
    demands[0].memory.lastUp = start + .seconds(29)
    demands[1].memory = SlotMemory()
    _ = run(&demands, 600e3, from: 31, tenths: 30)
    #expect(demands.map { $0.memory.shown?.encoding } == [0, 1])
  }

  @Test func `a screen with no room for its next size moves`() {
    let sizes: [(UInt8, UInt16, Double)] = [(0, 960, 200e3), (1, 1_920, 3e6)]
    var options: [LayerOption] = []
    for (encoding, width, rate) in sizes {
      for temporal in UInt8(0)...1 {
        let share = temporal == 0 ? rate / 2 : rate
        options.append(
          LayerOption(
            encoding: encoding, temporal: temporal, width: width, height: width / 16 * 9,
            frameRate: temporal == 0 ? 5 : 15, rate: share, peak: share))
      }
    }
    var demands = [SlotDemand(slot: 0, kind: .video, options: options)]
    demands[0].isScreen = true
    let allocation = run(&demands, 600e3, from: 0, tenths: 300)
    #expect(allocation.slots[0].option.map { [$0.encoding, $0.temporal] } == [0, 1])
  }

  /// A peer's turn is one of hundreds, ten times a second.
  @Test func `sixty-four pictures in twelve layers each are shared out in a few milliseconds`() {
    let options = (0..<12).map { place -> LayerOption in
      let rate = Double(place + 1) * 10e3
      return LayerOption(
        encoding: UInt8(place / 4), temporal: UInt8(place % 4), width: UInt16(320 << (place / 4)),
        height: UInt16(180 << (place / 4)), frameRate: UInt8(4 << (place % 4)), rate: rate, peak: rate)
    }
    var demands = (0..<64).map { SlotDemand(slot: $0, kind: .video, options: options) }
    let clock = ContinuousClock()
    let best = (0..<3).map { _ in clock.measure { _ = run(&demands, 20e6, from: 0, tenths: 10) } / 12 }.min()!
    // Without optimization, on any machine: what is superlinear in slots takes seconds.
    #expect(best < .milliseconds(120), "\(best)")
  }

  @Test func `what is shown as it is best asks for room to grow, as long as nothing is withheld`() {
    let demands = [
      SlotDemand(slot: 0, kind: .audio, options: [LayerOption(rate: 40e3, peak: 40e3)]),
      SlotDemand(slot: 1, kind: .video, options: Self.ladder([100e3, 400e3])),
    ]
    let narrow = Allocator.allocate(500e3, demands, now: start)
    #expect(narrow.next == nil && narrow.room == 540e3)
    let wide = Allocator.allocate(545e3, demands, now: start)
    #expect(wide.next == nil && wide.room == nil)
    let short = Allocator.allocate(300e3, demands, now: start)
    #expect(short.next != nil && short.room == nil)
    let sound = Allocator.allocate(10e3, Array(demands.prefix(1)), now: start)
    #expect(sound.room == nil, "sound alone needs none")
  }
}
