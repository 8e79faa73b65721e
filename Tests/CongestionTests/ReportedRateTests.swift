import Model
import Testing

@testable import Congestion

/// A path whose receiver tells no arrival times.
@Suite("What a path carries by reports alone", .timeLimit(.minutes(2)))
struct ReportedRateTests {
  private static let start = BandwidthEstimator.start

  private func at(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

  /// Sends what it may over a path, with a report a second of what was lost.
  /// - Returns: the rate that was allowed at each second.
  private func flow(
    _ rate: inout ReportedRate, capacity: Double, loss: Double = 0, wanted: Double = 20e6,
    seconds: Range<Int>,
    behind before: UInt64 = 0
  ) -> [Double] {
    var sent = before
    return seconds.map { second in
      let now = at(Double(second))
      let sending = min(rate.target(now: now) ?? wanted, wanted)
      sent += UInt64(sending / 8)
      let packets = sending / 8 / 1_200
      let carried = min(sending, capacity) * (1 - loss)
      rate.take(packets: packets, lost: packets * (1 - carried / sending), now: now)
      rate.weigh(sent: sent, roundTrip: .milliseconds(50), now: now)
      return rate.target(now: now) ?? -1
    }
  }

  @Test func `nothing is withheld while nothing is heard, for some seconds, and then all but the start`() {
    var rate = ReportedRate()
    var sent: UInt64 = 0
    for second in 0..<30 {
      sent += 400_000
      rate.weigh(sent: sent, roundTrip: .milliseconds(50), now: at(Double(second)))
      let target = rate.target(now: at(Double(second)))
      #expect(target == (second < 8 ? nil : Self.start), "\(second) s")
    }
    rate.take(packets: 100, lost: 0, now: at(30))
    rate.weigh(sent: sent + 400_000, roundTrip: .milliseconds(50), now: at(30))
    #expect(rate.target(now: at(30)) == nil, "all arrives")
  }

  @Test func `nothing is withheld where nothing is sent`() {
    var rate = ReportedRate()
    for second in 0..<100 {
      rate.weigh(sent: 0, roundTrip: .milliseconds(50), now: at(Double(second)))
      #expect(rate.target(now: at(Double(second))) == nil)
    }
  }

  @Test func `by receiver reports it begins with everything and settles about what is carried`() {
    var rate = ReportedRate()
    let targets = flow(&rate, capacity: 2e6, seconds: 1..<240)
    #expect(targets[0] == -1 && targets[1] > 0 && targets[1] < 2e6)
    #expect(targets.max()! < 1.4 * 2e6)
    let late = targets[60...]
    let mean = late.reduce(0, +) / Double(late.count)
    print("reports alone, 2000 kbit/s: target \(mean / 2e6)")
    #expect(mean > 0.7 * 2e6 && mean < 1.15 * 2e6)
  }

  @Test(arguments: [0.0, 0.015, 0.05, 0.09]) func `below a tenth of losses nothing is withheld`(loss: Double)
  {
    var rate = ReportedRate()
    let targets = flow(&rate, capacity: 20e6, loss: loss, seconds: 1..<30)
    #expect(targets.allSatisfy { $0 == -1 })
  }

  private static let sentBefore: UInt64 = 150_000

  /// Losses have taken the rate down to three quarters of the start.
  private func cut() -> ReportedRate {
    var rate = ReportedRate()
    rate.weigh(sent: 0, roundTrip: .milliseconds(50), now: at(0))
    rate.take(packets: 100, lost: 50, now: at(1))
    rate.weigh(sent: Self.sentBefore, roundTrip: .milliseconds(50), now: at(1))
    return rate
  }

  @Test(arguments: [(0.0, true), (0.015, true), (0.05, false), (0.09, false)])
  func `behind a cut losses between two and ten in a hundred change nothing`(loss: Double, grows: Bool) {
    var rate = cut()
    let targets = flow(&rate, capacity: 20e6, loss: loss, seconds: 2..<30, behind: Self.sentBefore)
    #expect(grows ? targets.last! > 2 * Self.start : targets.allSatisfy { $0 == Self.start * 0.75 })
  }

  @Test func `a tenth and more takes the rate down by half of what is lost, once in a round trip`() {
    var rate = ReportedRate()
    rate.weigh(sent: 0, roundTrip: .milliseconds(500), now: at(1))
    rate.take(packets: 100, lost: 20, now: at(2))
    rate.weigh(sent: 1_000_000, roundTrip: .milliseconds(500), now: at(2))
    let arriving = 8e6 * 0.8
    #expect(rate.target(now: at(2)) == arriving * 0.9)
    rate.take(packets: 100, lost: 20, now: at(2.5))
    rate.weigh(sent: 2_000_000, roundTrip: .milliseconds(500), now: at(2.5))
    #expect(rate.target(now: at(2.5)) == arriving * 0.9)
    rate.take(packets: 100, lost: 20, now: at(3.4))
    rate.weigh(sent: 3_000_000, roundTrip: .milliseconds(500), now: at(3.4))
    #expect(rate.target(now: at(3.4)) == arriving * 0.9 * 0.9)
  }

  @Test func `what arrives bounds how far it grows`() {
    var rate = cut()
    let targets = flow(&rate, capacity: 20e6, wanted: 100e3, seconds: 2..<300, behind: Self.sentBefore)
    #expect(targets.last! <= 8 * Self.start)
    #expect(targets.last! > 4 * Self.start)
  }

  @Test func `an estimate of the remote's counts at once where it is lower, slowly where it is higher`() {
    var rate = ReportedRate()
    rate.take(estimate: 1_000_000, now: at(1))
    #expect(rate.target(now: at(1)) == 1_000_000)
    rate.take(estimate: 300_000, now: at(1.1))
    #expect(rate.target(now: at(1.1)) == 300_000)
    rate.take(estimate: 1_300_000, now: at(2.1))
    #expect(rate.target(now: at(2.1)) == 800_000)
    // A thousand at once are no more than one.
    for _ in 0..<1_000 { rate.take(estimate: 100_000_000, now: at(2.1)) }
    #expect(rate.target(now: at(2.1)) == 800_000)
  }

  @Test func `however much is said, an estimate gains no more than half of itself a second`() {
    var rate = ReportedRate()
    rate.take(estimate: 2_000_000, now: at(1))
    // As often as a peer may say it.
    for step in 1...20 {
      rate.take(estimate: 200_000_000, now: at(1 + Double(step) * 0.05))
      #expect(rate.estimate(now: at(1 + Double(step) * 0.05))! <= 2e6 * (1 + Double(step) * 0.05))
    }
    let second = rate.estimate(now: at(2))!
    #expect(second >= 3e6)
    for step in 1...40 { rate.take(estimate: 200_000_000, now: at(2 + Double(step) / 2)) }
    #expect(rate.estimate(now: at(22)) == 200_000_000, "what is meant is reached within half a minute")
  }

  @Test(arguments: [50e3, 600e3, 1.5e6])
  func `an estimate that grows as receivers' do is believed as it is`(first: Double) {
    var rate = ReportedRate()
    var said = first
    for second in 1...60 {
      rate.take(estimate: UInt64(said), now: at(Double(second)))
      #expect(rate.estimate(now: at(Double(second))) == Double(UInt64(said)))
      said *= 1.08
    }
  }

  @Test func `an estimate that isn't repeated is forgotten`() {
    var rate = ReportedRate()
    rate.take(estimate: 200_000, now: at(1))
    #expect(rate.estimate(now: at(5.9)) == 200_000)
    #expect(rate.estimate(now: at(6)) == nil)
    #expect(rate.target(now: at(6)) == nil)
  }

  @Test func `losses take an estimate down, and it is believed again when they have stopped`() {
    var rate = ReportedRate()
    rate.take(estimate: 3_000_000, now: at(1))
    rate.weigh(sent: 0, roundTrip: .milliseconds(50), now: at(1))
    rate.take(packets: 300, lost: 150, now: at(2))
    rate.weigh(sent: 300_000, roundTrip: .milliseconds(50), now: at(2))
    #expect(rate.target(now: at(2))! < 3_000_000 * 0.8)
    rate.take(estimate: 3_000_000, now: at(3))
    #expect(rate.target(now: at(3))! < 3_000_000 * 0.8)
    rate.take(estimate: 3_000_000, now: at(13))
    #expect(rate.target(now: at(13)) == 3_000_000)
  }

  @Test(arguments: [0, 1, 29_999, 200_000_001, UInt64.max])
  func `whatever is said the target stays within its bounds`(said: UInt64) {
    var rate = ReportedRate()
    rate.take(estimate: said, now: at(1))
    #expect(BandwidthEstimator.bounds.contains(rate.target(now: at(1))!))
  }

  @Test func `any reports in any order leave a rate within its bounds, and a state that is read again`()
    throws
  {
    var random = RandomSource.seeded(state: 20_261_124)
    for _ in 0..<200 {
      var rate = ReportedRate()
      var now = at(1)
      var sent: UInt64 = 0
      for _ in 0..<300 {
        now = now + .milliseconds(Int64(random.next() % 3_000))
        switch random.next() % 4 {
        case 0: rate.take(estimate: random.next() >> (random.next() % 64), now: now)
        case 1:
          let packets = Double(random.next() % 100_000)
          rate.take(packets: packets, lost: Double(random.next() % 200_000), now: now)
        case 2:
          sent = random.next() % 5 == 0 ? random.next() : sent &+ random.next() % 1_000_000
          rate.weigh(sent: sent, roundTrip: .milliseconds(Int64(random.next() % 9_000)), now: now)
        default:
          var writer = StateWriter()
          rate.encode(into: &writer)
          var reader = StateReader(writer.bytes)
          let before = rate.target(now: now)
          rate = try ReportedRate(from: &reader)
          #expect(rate.target(now: now) == before)
        }
        if let target = rate.target(now: now) { try #require(BandwidthEstimator.bounds.contains(target)) }
      }
    }
  }

  @Test(arguments: [Double.nan, -1, .infinity, 29_000])
  func `a state with a rate that is none is refused`(value: Double) {
    var writer = StateWriter()
    ReportedRate().encode(into: &writer)
    var bytes = writer.bytes
    for (index, byte) in withUnsafeBytes(of: value.bitPattern.littleEndian, Array.init).enumerated() {
      bytes[1 + index] = byte
    }
    var reader = StateReader(bytes)
    #expect(throws: StateError.self) { try ReportedRate(from: &reader) }
  }

  /// A receiver at which all arrives.
  private func served(_ total: Double, until seconds: Int) -> ReportedRate {
    var rate = ReportedRate()
    for second in 0...seconds {
      rate.take(packets: 60, lost: 0, now: at(Double(second)))
      rate.weigh(
        sent: UInt64(Double(second) * total / 8),
        roundTrip: .milliseconds(50), now: at(Double(second)))
    }
    return rate
  }

  @Test func `what leaves in streams that an estimate doesn't name comes on top of it`() {
    var rate = served(1.2e6, until: 5)
    rate.take(estimate: 400_000, beside: 200_000, now: at(5))
    #expect(rate.estimate(now: at(5.5)) == 600_000)
    rate.take(estimate: 300_000, now: at(6))
    #expect(rate.estimate(now: at(6)) == 300_000)
    rate.take(estimate: .max, beside: .greatestFiniteMagnitude, now: at(7))
    #expect(rate.estimate(now: at(7)).map { $0 <= BandwidthEstimator.bounds.upperBound } == true)
  }

  @Test func `an estimate of 0.85 of what arrives whole takes away nothing that flows`() {
    var rate = served(190_000, until: 5)
    rate.take(estimate: 23_000, beside: 150_000, now: at(5))
    #expect(rate.estimate(now: at(5.5)).map { $0 >= 189_000 * 1.2 && $0 < 191_000 * 1.2 } == true)
    rate = served(2e6, until: 5)
    rate.take(estimate: 1_700_000, now: at(5))
    #expect(rate.estimate(now: at(5.5)).map { $0 >= 1_990_000 * 1.2 && $0 < 2_010_000 * 1.2 } == true)
    // One that lasts is believed.
    rate.take(estimate: 1_700_000, now: at(7.9))
    #expect(rate.estimate(now: at(7.9)).map { $0 >= 1_990_000 * 1.2 } == true)
    #expect(rate.estimate(now: at(8)) == 1_700_000)
    // Less is believed, and so is any where a queue grows, once something is lost, or nothing is known of what arrives any more.
    rate = served(2e6, until: 5)
    rate.take(estimate: 1_500_000, now: at(6))
    #expect(rate.estimate(now: at(6)) == 1_500_000)
    rate = served(2e6, until: 5)
    rate.take(packets: 100, lost: 0, now: at(6))
    rate.weigh(sent: 1_500_000, roundTrip: .milliseconds(160), now: at(6))
    rate.take(estimate: 1_700_000, now: at(6))
    #expect(rate.estimate(now: at(6)) == 1_700_000)
    rate = served(2e6, until: 5)
    rate.take(packets: 100, lost: 5, now: at(6))
    rate.weigh(sent: 1_500_000, roundTrip: .milliseconds(50), now: at(6))
    rate.take(estimate: 1_700_000, now: at(6))
    #expect(rate.estimate(now: at(6)) == 1_700_000)
    rate = served(2e6, until: 5)
    rate.take(estimate: 1_700_000, now: at(11))
    #expect(rate.estimate(now: at(11)) == 1_700_000)
  }
}
