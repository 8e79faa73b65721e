import Model
import Testing

@testable import Congestion

/// A subscriber that reports arrivals and takes no retransmission stream, so that nothing can be sent to probe with.
@Suite("A path that can't be probed", .timeLimit(.minutes(2)))
struct UnprobedPathTests {
  /// Sound, and one picture in several layers, by what the allocator makes of the estimate.
  private final class Subscriber {
    private static let sound = 60e3
    var estimator = BandwidthEstimator()
    private let path: Bottleneck
    private let layers: [Double]
    private var memory = SlotMemory()
    private(set) var shown: Int?
    /// When something is shown that wasn't, or something better.
    private(set) var rises: [Double] = []
    /// Of all packets, in milliseconds.
    private(set) var waits: [Double] = []
    /// Nothing arrives, and nothing is heard.
    var isOut = false
    private var now: Int64 = 1_000_000_000
    private var begin: Int64 = 1_000_000_000
    private var budget = 0.0
    private var underway: [(number: Int64, at: Int64)] = []
    private var arrived: [Int64: Int64] = [:]
    private var highest: Int64 = -1
    private var reported: Int64 = 0

    init(_ path: Bottleneck, layers: [Double]) {
      self.path = path
      self.layers = layers
    }

    var second: Double { Double(now - begin) / 1e9 }

    func run(_ span: Duration) {
      for _ in 0..<span.wholeNanoseconds / 1_000_000 {
        turn()
        now += 1_000_000
      }
    }

    private func turn() {
      let step = (now - begin) / 1_000_000
      while let first = underway.first, first.at <= now {
        underway.removeFirst()
        arrived[first.number] = first.at
        highest = max(highest, first.number)
      }
      if step % 50 == 0, highest >= reported { report() }
      estimator.poll(now: Instant(nanoseconds: now))
      if step % 100 == 0 { allocate() }
      if step % 20 == 0 { send(Int(Self.sound / 400)) }
      guard let shown else { return }
      budget = min(budget + layers[shown] / 8_000, 3_000)
      while budget >= 750 {
        budget -= 750
        send(750)
      }
    }

    private func send(_ bytes: Int) {
      let number = estimator.leave(size: bytes, now: Instant(nanoseconds: now))
      waits.append(path.wait(at: now) / 1e6)
      if let at = path.pass(bytes, at: now), !isOut { underway.append((number, at)) }
    }

    private func report() {
      var feedback = estimator.takeFeedback(now: Instant(nanoseconds: now))
      for number in reported...highest {
        let ticks = arrived.removeValue(forKey: number).map { UInt32(truncatingIfNeeded: $0 / 250_000) }
        if !isOut { estimator.note(UInt16(truncatingIfNeeded: number), arrival: ticks, in: &feedback) }
      }
      reported = highest + 1
      if !isOut { _ = estimator.finish(feedback) }
    }

    private func allocate() {
      let sound = LayerOption(rate: Self.sound, peak: Self.sound)
      let options = layers.enumerated().map {
        LayerOption(encoding: UInt8($0.offset), rate: $0.element, peak: $0.element)
      }
      let allocation = Allocator.allocate(
        estimator.capacity,
        [
          SlotDemand(slot: 0, kind: .audio, options: [sound]),
          SlotDemand(slot: 1, kind: .video, options: options, memory: memory),
        ], now: Instant(nanoseconds: now))
      estimator.want(allocation.wanted, next: allocation.next, room: allocation.room)
      memory = allocation.slots[1].memory
      let before = shown
      shown = allocation.slots[1].option.map { Int($0.encoding) }
      if (shown ?? -1) > (before ?? -1) { rises.append(second) }
    }
  }

  @Test func `after an outage pictures come back, from the cheapest to the best`() throws {
    let subscriber = Subscriber(
      Bottleneck(rate: 2e6, delay: .milliseconds(20), queue: .milliseconds(300)), layers: [150e3, 500e3])
    subscriber.run(.seconds(10))
    #expect(subscriber.shown == 1)
    subscriber.isOut = true
    subscriber.run(.seconds(10))
    #expect(subscriber.shown == nil)
    subscriber.isOut = false
    subscriber.run(.seconds(60))
    let first = try #require(subscriber.rises.first(where: { $0 > 20 }))
    print("figure: without probes, pictures are back \(subscriber.rises.map { $0 - 20 }) s behind an outage")
    #expect(first <= 45 && subscriber.shown == 1)
  }

  @Test(arguments: [120e3, 180e3])
  func `a path that carries no picture is tried again ever more seldom`(rate: Double) {
    let subscriber = Subscriber(
      Bottleneck(rate: rate, delay: .milliseconds(20), queue: .milliseconds(300)), layers: [150e3])
    subscriber.run(.seconds(180))
    print("figure: without probes, tried in vain at \(subscriber.rises) s on \(rate) bit/s")
    // It is tried at all.
    #expect((2...7).contains(subscriber.rises.count))
    #expect(zip(subscriber.rises, subscriber.rises.dropFirst()).allSatisfy { $1 - $0 >= 8 })
    let waits = subscriber.waits.sorted()
    #expect(waits[waits.count * 95 / 100] < 100)
  }

  @Test func `a better layer that isn't carried is tried no more often than its wait allows`() {
    let subscriber = Subscriber(
      Bottleneck(rate: 400e3, delay: .milliseconds(20), queue: .milliseconds(300)), layers: [150e3, 500e3])
    subscriber.run(.seconds(180))
    #expect(subscriber.rises.count <= 8 && subscriber.shown != nil)
    #expect(zip(subscriber.rises, subscriber.rises.dropFirst()).allSatisfy { $1 - $0 >= 8 })
  }

  @Test func `each try in vain doubles the wait, up to a minute, and one that lasts ends that`() {
    func at(_ second: Double) -> Instant { Instant(nanoseconds: Int64(second * 1e9)) }
    var untried = UntriedRate()
    #expect(untried.mayRise(now: at(0)))
    var second = 0.0
    for wait in [16.0, 32, 60, 60] {
      untried.note(from: 90e3, to: 95e3, isUntried: true, now: at(second))
      // A little less is no fall.
      untried.note(from: 95e3, to: 91e3, isUntried: true, now: at(second + 1))
      #expect(untried.mayRise(now: at(second + 1)))
      untried.note(from: 91e3, to: 80e3, isUntried: false, now: at(second + 2))
      #expect(!untried.mayRise(now: at(second + 1.9 + wait)))
      second += 2 + wait
      #expect(untried.mayRise(now: at(second)))
    }
    untried.note(from: 90e3, to: 95e3, isUntried: true, now: at(second))
    untried.note(from: 95e3, to: 80e3, isUntried: false, now: at(second + 41))
    #expect(!untried.mayRise(now: at(second + 48.9)) && untried.mayRise(now: at(second + 49)))
  }
}
