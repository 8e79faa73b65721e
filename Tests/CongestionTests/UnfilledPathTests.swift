import Model
import Testing

@testable import Congestion

/// What is believed of a path while less is sent than it may carry.
@Suite("A path that isn't filled", .timeLimit(.minutes(1)))
struct UnfilledPathTests {
  /// A path of one rate, whose remote reports every 50 ms.
  private final class Path {
    var estimator = BandwidthEstimator()
    var rate: Double
    var now: Int64 = 1_000_000_000
    private(set) var probes: [(rate: Double, at: Int64)] = []
    private var free: Int64 = 0
    private var underway: [(number: Int64, arrived: Int64)] = []
    private var reported: Int64 = 0
    var isDeaf = false
    var canProbe = true
    /// Bytes of a picture that are yet to leave, at the pace of the target.
    var picture = 0

    init(_ rate: Double) { self.rate = rate }

    var target: Double { estimator.target }
    var isFull: Bool { estimator.isFull }
    /// Seconds for which what leaves now waits.
    var queued: Double { Double(max(0, free - now)) / 1e9 }

    func send(_ bytes: Int, cluster: UInt16 = 0) {
      let number = estimator.leave(size: bytes, cluster: cluster, now: Instant(nanoseconds: now))
      free = max(free, now) + Int64(Double(bytes) * 8e9 / rate)
      underway.append((number, free + 20_000_000))
    }

    /// - Parameters:
    ///   - bitsPerSecond: of packets of 500 bytes.
    ///   - next: the target at which more would be sent; `room`: at which what is sent may grow.
    func run(
      _ span: Duration, at bitsPerSecond: Double, next: Double? = nil, room: Double? = nil,
      _ each: () -> Void = {}
    ) {
      let until = now + span.wholeNanoseconds
      var budget = 0.0
      while now < until {
        now += 1_000_000
        let instant = Instant(nanoseconds: now)
        estimator.want(bitsPerSecond, next: next, room: room)
        estimator.poll(now: instant)
        budget += bitsPerSecond / 8_000
        while budget >= 500 {
          budget -= 500
          send(500)
        }
        var pace = Pacer.factor * target / 8_000
        while picture > 0, pace > 0 {
          send(min(picture, 1_000))
          (picture, pace) = (picture - 1_000, pace - 1_000)
        }
        if let plan = estimator.takeProbe(canProbe: canProbe, now: instant) {
          probes.append((plan.rate, now))
          for _ in 0..<max(plan.packets, plan.bytes / 250) {
            send(250, cluster: plan.cluster)
            now += Int64(250 * 8e9 / plan.rate)
          }
        }
        if now / 1_000_000 % 50 == 0 { report(instant) }
        each()
      }
    }

    private func report(_ instant: Instant) {
      let come = underway.filter { $0.arrived <= now }
      underway.removeAll { $0.arrived <= now }
      guard !come.isEmpty, !isDeaf else { return }
      var feedback = estimator.takeFeedback(now: instant)
      for packet in come {
        estimator.note(
          UInt16(truncatingIfNeeded: packet.number),
          arrival: UInt32(truncatingIfNeeded: packet.arrived / 250_000), in: &feedback)
      }
      _ = estimator.finish(feedback)
    }
  }

  @Test func `the first probes leave one by one, and none after one that fails`() throws {
    let narrow = Path(300e3)
    narrow.run(.milliseconds(400), at: 100e3, next: 1e6)
    #expect(narrow.probes.count == 1 && abs(narrow.probes[0].rate - 1.8e6) < 1)
    let wide = Path(20e6)
    wide.run(.milliseconds(400), at: 100e3, next: 1e6)
    try #require(wide.probes.count >= 2)
    #expect(wide.probes[1].rate > 2.8e6 && wide.probes[1].at > wide.probes[0].at + 40_000_000)
    #expect(wide.target > 3e6)
  }

  @Test func `where probes can show what a path carries, the target stays near what is sent`() {
    func reached(_ further: Double) -> Double {
      var rate = AIMDRate(start: 600e3)
      for tenth in 1...600 {
        rate.update(
          .normal, acknowledged: 700e3, roundTrip: .milliseconds(50), bounds: BandwidthEstimator.bounds,
          allowed: .infinity, mayGrow: true, further: further, isFilled: true,
          now: Instant(nanoseconds: Int64(tenth) * 100_000_000))
      }
      return rate.rate
    }
    #expect(reached(AIMDRate.further) > 1.0e6 && reached(AIMDRate.further) < 1.1e6)
    #expect(reached(AIMDRate.furtherProbed) > 0.8e6 && reached(AIMDRate.furtherProbed) < 0.85e6)
  }

  @Test func `what was proven long ago and isn't used is proven by a probe before it is`() {
    let path = Path(8e6)
    path.run(.seconds(3), at: 100e3, next: 3e6)
    #expect(path.target > 2.5e6)
    path.rate = 400e3
    path.run(.seconds(15), at: 100e3)
    #expect(path.target <= 300e3)
    path.rate = 8e6
    path.run(.seconds(7), at: 100e3, next: 3e6)
    #expect(path.target > 2.5e6, "one probe finds it again")
  }

  @Test func `a burst's own queue is no reason to send less`() {
    let path = Path(6e6)
    path.run(.seconds(3), at: 800e3, next: 2e6)
    let before = path.target
    #expect(before > 1.5e6 && before < 4.5e6)
    var turns = 0
    path.run(.seconds(4), at: 800e3) {
      turns += 1
      // A large picture each second, paced at more than the path carries.
      if turns % 1_000 < 60 { path.send(1_250) }
    }
    #expect(path.target >= before * 0.99)
  }

  @Test func `a short queue says nothing of a target that isn't made use of`() {
    let path = Path(4e6)
    path.run(.seconds(5), at: 100e3, next: 3e6)
    let known = path.target
    #expect(known > 2.5e6)
    // A picture of 20 KiB from time to time, as of a third of the target: 40 ms of the path.
    for _ in 0..<10 {
      for _ in 0..<40 { path.send(500) }
      path.run(.milliseconds(230), at: 100e3, next: 3e6)
    }
    #expect(path.target >= known && path.estimator.capacity >= known)
  }

  @Test func `where large pictures make a long queue, what comes meanwhile is what the path carries`() {
    let path = Path(3e6)
    path.run(.seconds(4), at: 100e3, next: 2.6e6)
    path.run(.seconds(3), at: 1.8e6)
    #expect(path.target > 2.5e6)
    // 60 KiB in a fifth of a second.
    path.run(.milliseconds(200), at: 4.2e6)
    path.run(.seconds(1), at: 1.8e6)
    #expect(path.estimator.capacity > 0.8 * 3e6)
  }

  @Test func `which layers are shown doesn't go by what a queue takes for a moment`() {
    let path = Path(1e6)
    path.run(.seconds(5), at: 700e3)
    path.run(.milliseconds(500), at: 2e6)
    #expect(path.estimator.target < path.estimator.capacity)
  }

  @Test func `what is in flight is bounded, and counts no longer where nothing is heard of it`() {
    let path = Path(3e6)
    #expect(!path.isFull)
    path.run(.seconds(3), at: 800e3, next: 1e6)
    #expect(!path.isFull)
    path.isDeaf = true
    path.run(.milliseconds(900), at: 4e6)
    #expect(path.isFull)
    let target = path.target
    path.run(.milliseconds(300), at: 1e3)
    #expect(path.target < target, "taken for stalled")
    #expect(!path.isFull, "a little goes on leaving")
    path.estimator.startOver()
    for _ in 0..<1_000 { path.send(1_000) }
    #expect(!path.isFull, "nothing is known of another path")
  }

  @Test(arguments: [30_000, 60_000, 80_000])
  func `a picture much larger than others doesn't lower the target`(
    bytes: Int
  ) {
    let path = Path(3e6)
    path.run(.seconds(10), at: 1.6e6, next: 2e6)
    let before = path.target
    #expect(before > 1.7e6)
    for _ in 0..<4 {
      path.picture = bytes
      // Where a scene is cut, less comes behind the picture.
      path.run(.milliseconds(300), at: 0.3e6)
      path.run(.milliseconds(1_700), at: 1.6e6)
      #expect(path.target > 0.95 * before)
    }
  }

  @Test func `pictures that stay large on a path that doesn't carry them lower it`() {
    let path = Path(1e6)
    path.run(.seconds(5), at: 0.8e6)
    for _ in 0..<60 {
      path.picture += 60_000
      path.run(.milliseconds(300), at: 0.2e6)
    }
    #expect(path.target < 1.1e6)
  }

  @Test func `while something is withheld a path that doesn't carry it is probed every five seconds`() {
    let path = Path(500e3)
    path.run(.seconds(5), at: 250e3, next: 3e6)
    let before = path.probes.count
    path.run(.seconds(40), at: 250e3, next: 3e6)
    let later = path.probes.dropFirst(before).map(\.at)
    #expect((6...9).contains(later.count), "\(later.count) in 40 s")
    #expect(zip(later, later.dropFirst()).allSatisfy { $1 - $0 >= 4_900_000_000 })
    #expect(path.target < 600e3)
  }

  @Test func `where nothing can be sent that no stream counts there are no probes, and the start stays`() {
    let path = Path(20e6)
    path.canProbe = false
    path.run(.seconds(20), at: 350e3)
    #expect(path.probes.isEmpty)
    #expect((500e3...650e3).contains(path.target), "\(path.target)")
    // Where something is withheld it goes up to that, by 8 % a second, and no further.
    path.run(.seconds(5), at: 350e3, next: 3e6)
    #expect((800e3...1e6).contains(path.target), "\(path.target)")
    path.run(.seconds(30), at: 350e3, next: 3e6)
    #expect(path.probes.isEmpty && path.target > 3e6 && path.target < 3.1e6)
  }

  @Test func `at another address everything begins as at first`() {
    let path = Path(20e6)
    path.run(.seconds(5), at: 2e6, next: 4e6)
    #expect(path.target > 2e6)
    let before = path.probes.count
    path.estimator.startOver()
    #expect(path.target == BandwidthEstimator.start && !path.estimator.hasFeedback && !path.isFull)
    path.run(.milliseconds(300), at: 400e3, next: 4e6)
    #expect(path.probes.count > before && abs(path.probes[before].rate - 3 * BandwidthEstimator.start) < 1)
  }

  @Test func `large pictures on a path that is nearly full pile up no queue`() {
    let path = Path(1.7e6)
    path.run(.seconds(10), at: 1.6e6, next: 2e6)
    var longest = 0.0
    for _ in 0..<8 {
      path.picture = 45_000
      var waited = 0.0
      // What is sent follows the target, as layers do.
      for _ in 0..<100 {
        path.run(.milliseconds(100), at: min(1.69e6, path.estimator.capacity))
        waited = max(waited, path.queued)
      }
      longest = max(longest, waited)
    }
    #expect(longest < 0.6, "\(longest)")
  }

  @Test func `what a remote doesn't ask for isn't probed for room`() {
    let path = Path(20e6)
    path.estimator.setCeiling(500e3)
    path.run(.seconds(5), at: 400e3, room: 540e3)
    let before = path.probes.count
    path.run(.seconds(60), at: 400e3, room: 540e3)
    #expect(path.probes.count == before)
  }
}
