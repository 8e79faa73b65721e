import Model
import Testing

@testable import Congestion

/// What an allocation learns of steps that were taken back.
@Suite("Steps that failed", .timeLimit(.minutes(1)))
struct SharedFailureTests {
  private let start = Instant(nanoseconds: 1_000_000_000_000)

  private func video(_ slot: Int, fast: UInt8 = 30) -> SlotDemand {
    var options: [LayerOption] = []
    for (encoding, size) in [(150e3, 320), (500e3, 640)].enumerated() {
      for layer in 0..<3 {
        let rate = size.0 * [0.4, 0.65, 1][layer]
        options.append(
          LayerOption(
            encoding: UInt8(encoding), temporal: UInt8(layer), width: UInt16(size.1),
            height: UInt16(size.1 * 9 / 16), frameRate: fast >> (2 - UInt8(layer)) + 1, rate: rate, peak: rate
          ))
      }
    }
    return SlotDemand(slot: slot, kind: .video, options: options)
  }

  /// Allocates every tenth of a second, with what the last one left.
  private func run(
    _ demands: inout [SlotDemand], from: Double, to: Double, target: Double
  ) -> Allocation {
    var last = Allocator.allocate(target, demands, now: start + .milliseconds(Int(from * 1_000)))
    for step in Int(from * 10)..<Int(to * 10) {
      last = Allocator.allocate(target, demands, now: start + .milliseconds(step * 100))
      for (index, slot) in last.slots.enumerated() { demands[index].memory = slot.memory }
    }
    return last
  }

  @Test func `what one slot found too much no other tries soon after`() {
    var demands = [video(0), video(1)]
    #expect(run(&demands, from: 0, to: 1, target: 350e3).slots.allSatisfy { $0.option?.encoding == 0 })
    // The second is turned down to its smallest, and the first goes up, and falls.
    demands[1].picture.quality = .low
    #expect(run(&demands, from: 1, to: 3, target: 560e3).slots[0].option?.encoding == 1)
    #expect(run(&demands, from: 3, to: 4, target: 350e3).slots[0].option?.encoding == 0)
    // Now the second may show more: its step is as much as the one that failed.
    demands[1].picture.quality = .high
    demands[0].picture.quality = .low
    #expect(run(&demands, from: 4, to: 10, target: 560e3).slots[1].option?.encoding == 0)
    #expect(run(&demands, from: 10, to: 24, target: 560e3).slots[1].option?.encoding == 1)
  }

  @Test func `a larger picture isn't shown that stutters, where the smaller moves`() {
    var demands = [video(0)]
    // 200 kbit/s is all that the larger takes at 7 pictures a second.
    let shown = run(&demands, from: 0, to: 1, target: 300e3).slots[0].option
    #expect(shown?.encoding == 0 && shown?.temporal == 2)
    #expect(run(&demands, from: 1, to: 2, target: 400e3).slots[0].option?.encoding == 1)
    // A screen's sharpness counts more, a source that is slow has nothing better, and some want no more.
    for change in [{ $0.isScreen = true }, { $0 = video(0, fast: 8) }, { $0.picture.frameRate = 5 }]
      as [(inout SlotDemand) -> Void]
    {
      var other = video(0)
      change(&other)
      var one = [other]
      let target = other.options[0].frameRate < 5 ? 560e3 : 300e3
      #expect(run(&one, from: 0, to: 1, target: target).slots[0].option?.encoding == 1)
    }
  }

  @Test func `motion that was taken away is back after six seconds, size later`() {
    var demands = [video(0)]
    #expect(run(&demands, from: 0, to: 30, target: 560e3).slots[0].option?.temporal == 2)
    let fallen = run(&demands, from: 30, to: 31, target: 400e3).slots[0].option
    #expect(fallen?.encoding == 1 && fallen?.temporal == 1)
    #expect(run(&demands, from: 31, to: 35, target: 560e3).slots[0].option?.temporal == 1)
    #expect(run(&demands, from: 35, to: 37, target: 560e3).slots[0].option?.temporal == 2)
    #expect(run(&demands, from: 37, to: 38, target: 200e3).slots[0].option?.encoding == 0)
    #expect(run(&demands, from: 38, to: 44, target: 560e3).slots[0].option?.encoding == 0)
    #expect(run(&demands, from: 44, to: 56, target: 560e3).slots[0].option?.encoding == 1)
  }

  @Test func `what its subscriber turned off is off, whether anything is known of it or not`() {
    var demand = video(0)
    demand.picture.quality = .off
    #expect(Allocator.allocate(1e6, [demand], now: start).slots[0].reason == .off)
    demand.options = []
    #expect(Allocator.allocate(1e6, [demand], now: start).slots[0].reason == .off)
    demand.picture.quality = .high
    #expect(Allocator.allocate(1e6, [demand], now: start).slots[0].reason == .silent)
  }
}
