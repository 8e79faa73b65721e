import Model
import Testing

@testable import Congestion

/// What is probed, whatever others say that they would like to send.
@Suite("Probes", .timeLimit(.minutes(1)))
struct ProbeControllerTests {
  private static func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

  /// One whose first probe was not carried.
  private func settled(_ rate: Double = 1e6) -> ProbeController {
    var probes = ProbeController()
    let first = probes.next(target: rate / 3, WantedRate(), isIdle: false, now: Self.at(0))
    probes.judged(.carries(rate / 3), cluster: first?.cluster ?? 0, WantedRate(rate: rate / 2))
    return probes
  }

  @Test(arguments: 1...200) func `whatever is wanted, none is more than twice the target but the first`(
    seed: Int
  ) {
    var random = RandomSource.seeded(state: UInt64(seed))
    var probes = settled()
    var target = 1e6
    var last = 0.0
    for step in 0..<400 {
      let now = 1 + Double(step) / 10
      let rate = Double(random.next() % 300_000_000)
      let wanted = WantedRate(
        rate: rate, next: random.next() % 4 == 0 ? nil : Double(random.next() % 400_000_000))
      let isIdle = random.next() % 2 == 0
      guard let plan = probes.next(target: target, wanted, isIdle: isIdle, now: Self.at(now)) else {
        continue
      }
      #expect(plan.rate <= 2 * target + 1 && plan.rate <= BandwidthEstimator.bounds.upperBound)
      let isHigher = plan.rate > 1.1 * last
      last = plan.rate
      #expect(isHigher || plan.rate >= target * 1.1)
      switch random.next() % 3 {
      case 0: break
      case 1:
        probes.judged(.carries(plan.rate), cluster: plan.cluster, wanted)
        target = plan.rate
      default:
        probes.judged(.carries(target * 0.5), cluster: plan.cluster, wanted)
      }
      target = min(max(target, 50e3), 100e6)
    }
  }

  @Test func `while they are carried they go on to what is withheld, without a wait`() {
    var probes = settled(300e3)
    var target = 300e3
    let wanted = WantedRate(rate: 2.2e6, next: 2e6)
    var rates: [Double] = []
    for step in 0..<20 {
      guard let plan = probes.next(target: target, wanted, isIdle: true, now: Self.at(10 + Double(step) / 10))
      else { continue }
      rates.append(plan.rate)
      probes.judged(.carries(plan.rate), cluster: plan.cluster, wanted)
      target = plan.rate
    }
    #expect(rates == [600e3, 1.2e6, 2.4e6])
  }

  @Test func `one goes higher than what is withheld by what a picture grows until it is shown`() {
    var probes = settled()
    let plan = probes.next(
      target: 1e6, WantedRate(rate: 1.5e6, next: 1.2e6), isIdle: true, now: Self.at(10))
    #expect(plan.map { ($0.rate / 1e3).rounded() } == 1_950)
  }

  @Test(arguments: [(550e3, [1_100.0, 1_365]), (1e6, [1_365])])
  func `where one shows just too little, one that is a little higher follows at once, if that wasn't one`(
    target: Double, expected: [Double]
  ) {
    var probes = settled()
    let wanted = WantedRate(rate: 1.05e6, next: 1.05e6)
    var rates: [Double] = []
    for step in 0..<30 {
      guard let plan = probes.next(target: target, wanted, isIdle: true, now: Self.at(10 + Double(step) / 10))
      else { continue }
      rates.append(plan.rate)
      probes.judged(.carries(1.03e6), cluster: plan.cluster, wanted)
    }
    #expect(rates.map { ($0 / 1e3).rounded() } == expected)
  }

  @Test func `one that fails is tried again after five seconds, and no sooner`() {
    var probes = settled()
    let wanted = WantedRate(rate: 4e6, next: 3e6)
    var times: [Double] = []
    for step in 0..<300 {
      let now = 10 + Double(step) / 10
      guard let plan = probes.next(target: 1e6, wanted, isIdle: true, now: Self.at(now)) else { continue }
      times.append(now)
      probes.judged(.carries(1e6), cluster: plan.cluster, wanted)
    }
    #expect(times.count == 6)
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 4.99 && $1 - $0 < 5.2 })
  }

  @Test func `one whose packets are all lost in a stall is not waited for for ever`() {
    var probes = settled()
    let wanted = WantedRate(rate: 4e6, next: 3e6)
    let lost = probes.next(target: 1e6, wanted, isIdle: true, now: Self.at(10))
    #expect(lost != nil)
    // Feedback is back before the verdict was given up.
    probes.hurry()
    let next = probes.next(target: 1e6, wanted, isIdle: true, now: Self.at(10.2))
    #expect(next != nil)
  }

  @Test func `the first whose feedback comes behind a silence is judged, and begins no other climb`() throws {
    var probes = ProbeController()
    let begun = probes.next(target: 300e3, WantedRate(), isIdle: true, now: Self.at(0))
    let first = try #require(begun)
    probes.hurry()
    probes.judged(.carries(first.rate), cluster: first.cluster, WantedRate(rate: 9e6))
    #expect(probes.firstLeft == 0)
    let second = probes.next(target: first.rate, WantedRate(rate: 9e6), isIdle: true, now: Self.at(0.1))
    #expect(second.map { $0.rate > first.rate } == true)
    probes.hurry()
    let third = probes.next(target: first.rate, WantedRate(rate: 9e6), isIdle: true, now: Self.at(0.2))
    #expect(third.map { $0.rate <= 2 * first.rate } ?? true)
  }

  /// Whatever a peer lets be heard of it, and in whatever order: each of these is a message of the peer's, or its silence.
  @Test(arguments: 1...400 as ClosedRange<UInt64>)
  func `in any order of what is heard they go on, and those of a start are no more than there may be`(
    seed: UInt64
  ) {
    var random = RandomSource.seeded(state: seed)
    var probes = ProbeController()
    if random.next() % 4 == 0 { probes.resume(firstLeft: UInt8(truncatingIfNeeded: random.next())) }
    var (now, plans, starts) = (0.0, [UInt16](), 0)
    for _ in 0..<200 {
      now += Double(random.next() % 700) / 1_000
      let rates = (0..<3).map { _ in Double(random.next() % 5_000_000) }
      let wanted = WantedRate(
        rate: rates[0], next: random.next() % 2 == 0 ? nil : rates[1],
        room: random.next() % 3 == 0 ? nil : rates[2])
      switch random.next() % 6 {
      case 0, 1, 2:
        let left = probes.firstLeft
        let plan = probes.next(
          target: 300e3, wanted, isIdle: random.next() % 2 == 0, now: Self.at(now))
        if let plan { plans.append(plan.cluster) }
        if probes.firstLeft < left { starts += 1 }
      case 3:
        let cluster = random.next() % 4 == 0 ? plans.first : plans.last
        let rate = Double(random.next() % 3_000_000)
        probes.judged(
          random.next() % 3 == 0 ? .failed(rate) : .carries(rate), cluster: cluster ?? 0, wanted, above: 300e3
        )
      case 4: probes.hurry()
      default: probes.cancel()
      }
      #expect(probes.firstLeft <= 8)
    }
    #expect(starts <= 8)
  }

  @Test func `where nothing is withheld, or what is sent fills the target, there are none`() {
    var probes = settled()
    let full = probes.next(target: 1e6, WantedRate(rate: 4e6, next: 3e6), isIdle: false, now: Self.at(20))
    let enough = probes.next(target: 1e6, WantedRate(rate: 0.9e6), isIdle: true, now: Self.at(20))
    #expect(full == nil && enough == nil)
  }

  @Test
  func
    `for room to grow they come less often each time that there is none, and at once no more where there is`()
  {
    var probes = settled()
    var times: [Double] = []
    for step in 0..<3_000 {
      let now = 10 + Double(step) / 10
      let wanted = WantedRate(rate: 0.9e6, room: 1.25e6)
      guard let plan = probes.next(target: 1e6, wanted, isIdle: false, now: Self.at(now)) else { continue }
      times.append(now)
      #expect(plan.rate <= 2e6)
      probes.judged(.failed(0.8e6), cluster: plan.cluster, wanted)
    }
    let spans = zip(times, times.dropFirst()).map { ($1 - $0).rounded() }
    #expect(spans == [10, 20, 40, 60, 60, 60])
    let last = probes.next(
      target: 1e6, WantedRate(rate: 0.9e6, room: 1.25e6), isIdle: false, now: Self.at(400))
    #expect(last != nil)
    probes.judged(.carries(1.37e6), cluster: last?.cluster ?? 0, WantedRate(rate: 0.9e6))
    let enough = probes.next(target: 1.37e6, WantedRate(rate: 0.9e6), isIdle: false, now: Self.at(460))
    let again = probes.next(
      target: 1e6, WantedRate(rate: 0.9e6, room: 1.25e6), isIdle: false, now: Self.at(406))
    #expect(enough == nil && again != nil)
  }

  @Test func `one for room that is given up for another reason takes no part in the wait for the next`() {
    var probes = settled()
    let room = WantedRate(rate: 0.9e6, room: 1.25e6)
    #expect(isPlanned(&probes, room, at: 10) != nil)
    probes.hurry()
    let other = isPlanned(&probes, WantedRate(rate: 3e6, next: 3e6), at: 10.5)
    #expect(other != nil)
    probes.judged(.failed(0.5e6), cluster: other ?? 0, WantedRate(rate: 3e6, next: 3e6))
    #expect(isPlanned(&probes, room, at: 15.4) == nil && isPlanned(&probes, room, at: 15.6) != nil)
  }

  private func isPlanned(_ probes: inout ProbeController, _ wanted: WantedRate, at second: Double) -> UInt16?
  {
    probes.next(target: 1e6, wanted, isIdle: true, now: Self.at(second))?.cluster
  }

  @Test func `one for room that proves no more than is allowed has found none`() {
    var probes = settled()
    let room = WantedRate(rate: 0.9e6, room: 1.25e6)
    var times: [Double] = []
    for step in 0..<700 {
      let now = 10 + Double(step) / 10
      guard let cluster = isPlanned(&probes, room, at: now) else { continue }
      times.append(now)
      probes.judged(.carries(0.99e6), cluster: cluster, room, above: 1e6)
    }
    #expect(times.count == 3, "after 10 and 20 s more")
  }
}
