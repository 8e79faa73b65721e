import Media
import Model
import Testing

@Suite("The line through a track's sender reports", .timeLimit(.minutes(5)))
struct ReportLineTests {
  /// A track whose clock counts `rate` a second by name, and `pace` parts per million more in truth.
  struct Track {
    var rate: UInt32 = 48_000
    var pace = 0
    var base: UInt32 = 0xFFFF_F000
    var ntp = NTPTime(unixNanoseconds: 1_900_000_000_000_000_000)
    var line = ReportLine()
    /// As packets come.
    var arriving: ClockPace?

    func timestamp(_ moment: Int) -> UInt32 {
      base &+ UInt32(truncatingIfNeeded: moment * Int(rate) / 1_000 * (1_000_000 + pace) / 1_000_000)
    }
    func time(_ moment: Int) -> NTPTime { ntp.advanced(byNanoseconds: Int64(moment) * 1_000_000) }
    /// A report on a moment, in milliseconds, whose timestamp is `late` milliseconds behind.
    mutating func report(_ moment: Int, late: Int = 0) {
      let behind = UInt32(truncatingIfNeeded: late * Int(rate) / 1_000)
      line.add(
        time(moment), timestamp(moment) &- behind, rate: rate, pace: arriving, arrival: milliseconds(moment))
    }
    /// Milliseconds that the line is ahead of the truth.
    func error(at moment: Int) throws -> Double {
      let drawn = try #require(line.line(rate: rate, pace: arriving))
      let span = Double(time(moment).nanoseconds(since: drawn.ntp)) / 1e9
      let expected = Double(drawn.rate) * span
      let counted = Double(Int32(bitPattern: timestamp(moment) &- drawn.timestamp))
      return (expected - counted) / Double(rate) * 1_000
    }
    var isKnown: Bool { line.line(rate: rate)?.isKnown ?? false }
  }

  @Test(arguments: [-70_000, -34_000, -3_000, -50, 0, 50, 3_000, 70_000])
  func `whatever the clock's rate, five seconds after any report the line is within 5 ms`(pace: Int) throws {
    for rate in [48_000, 90_000, 8_000] as [UInt32] {
      var track = Track(rate: rate, pace: pace)
      // As browsers report sound: 2.5 to 7.5 s apart.
      var random = RandomSource.seeded(state: 3)
      var moment = 0
      for count in 1...40 {
        track.report(moment)
        // Two reports that differ by less than a frame or so say nothing of the rate.
        if count > 2 || pace.magnitude > 10_000 && count > 1 {
          let error = try track.error(at: moment + 5_000)
          #expect(abs(error) < 5, "after \(count) reports at \(moment) ms")
        }
        moment += 2_500 + Int(random.next() % 5_000)
      }
    }
  }

  @Test func `reports that scatter by a frame leave the nominal rate and the middle of the scatter`() throws {
    var random = RandomSource.seeded(state: 8)
    var track = Track()
    for second in 0..<60 {
      track.report(second * 5_000, late: Int(random.next() % 20))
      guard second > 2 else { continue }
      #expect(abs(try track.error(at: second * 5_000 + 5_000) + 10) < 18)
    }
  }

  @Test func `a slow clock whose reports scatter is followed within a frame`() throws {
    var random = RandomSource.seeded(state: 9)
    var track = Track(pace: -34_000)
    for second in 0..<60 {
      track.report(second * 5_000, late: Int(random.next() % 20))
      guard second > 2 else { continue }
      #expect(abs(try track.error(at: second * 5_000 + 5_000) + 10) < 30)
    }
  }

  /// How far the line is off at worst, and by how much it moves at worst from one report to the next, in milliseconds.
  private func worst(_ track: inout Track, seed: UInt64, late: (inout RandomSource) -> Int) throws -> (
    error: Double, drift: Double
  ) {
    var random = RandomSource.seeded(state: seed)
    var (moment, worst) = (0, (error: 0.0, drift: 0.0))
    for count in 1...30 {
      track.report(moment, late: late(&random))
      let next = moment + 3_000 + Int(random.next() % 2_000)
      if count > 1 {
        let (now, then) = (try track.error(at: moment), try track.error(at: next))
        worst = (max(worst.error, abs(now), abs(then)), max(worst.drift, abs(then - now)))
      }
      moment = next
    }
    return worst
  }

  @Test func `reports that are off by tens of milliseconds carry no picture away until the next report`()
    throws
  {
    for seed in 1...40 as ClosedRange<UInt64> {
      var track = Track(rate: 90_000, arriving: .nominal)
      let found = try worst(&track, seed: seed) { Int($0.next() % 81) - 40 }
      #expect(found.error < 80 && found.drift < 30, "seed \(seed): \(found)")
    }
  }

  @Test func `a rate that packets come at is believed, however far reports are off`() throws {
    for seed in 1...40 as ClosedRange<UInt64> {
      var track = Track(pace: -34_000, arriving: ClockPace(fraction: -0.032, margin: 0.006))
      let found = try worst(&track, seed: seed) { Int($0.next() % 41) - 20 }
      #expect(found.error < 70 && found.drift < 35, "seed \(seed): \(found)")
    }
  }

  @Test func `one report that is off by a tenth of a second changes nothing`() throws {
    var track = Track(rate: 90_000, arriving: .nominal)
    for second in 0..<4 { track.report(second * 4_000) }
    track.report(16_000, late: 120)
    for moment in [16_000, 20_000] { #expect(abs(try track.error(at: moment)) < 1) }
    track.report(20_000)
    #expect(abs(try track.error(at: 25_000)) < 1)
  }

  @Test func `a clock that was set by a tenth of a second is followed with the second report`() throws {
    var track = Track(rate: 90_000, arriving: .nominal)
    for second in 0..<8 { track.report(second * 4_000) }
    for moment in [32_000, 36_000] { track.report(moment, late: 150) }
    #expect(abs(try track.error(at: 36_000) + 150) < 1)
    #expect(abs(try track.error(at: 40_000) + 150) < 1)
  }

  @Test func `a rate that packets don't come at is believed once reports show it for long`() throws {
    var track = Track(rate: 90_000, pace: -20_000, arriving: .nominal)
    for moment in [0, 4_000] { track.report(moment) }
    #expect(try #require(track.line.line(rate: 90_000, pace: .nominal)).rate == 90_000)
    for moment in [8_000, 12_000] { track.report(moment) }
    #expect(abs(try track.error(at: 17_000)) < 1)
  }

  @Test func `one report is not enough, nor are two in one second`() {
    var track = Track()
    #expect(track.line.line(rate: 48_000) == nil)
    track.report(0)
    #expect(!track.isKnown)
    track.report(600)
    #expect(!track.isKnown)
    track.report(1_200)
    #expect(track.isKnown)
  }

  @Test func `reports that come late, twice or in another order change nothing`() throws {
    var track = Track(pace: -50_000)
    for second in 0..<8 { track.report(second * 1_000) }
    let line = try #require(track.line.line(rate: 48_000))
    for second in [7, 5, 6, 2, 2, 7] { track.report(second * 1_000) }
    let again = try #require(track.line.line(rate: 48_000))
    #expect(again == line)
  }

  @Test func `a report with a nonsense time changes nothing`() throws {
    var track = Track(pace: 40_000)
    for second in 0..<5 { track.report(second * 1_000) }
    for (index, ntp) in [0, .max, 1 << 63, 0x8000_0000].enumerated() as EnumeratedSequence<[UInt64]> {
      track.line.add(
        NTPTime(rawValue: ntp), UInt32(index) &* 0x4000_0001, rate: 48_000, arrival: milliseconds(5_000))
      #expect(abs(try track.error(at: 6_000)) < 1)
    }
    track.report(6_000)
    #expect(abs(try track.error(at: 8_000)) < 1)
  }

  @Test func `nonsense first is forgotten with the second report that makes sense`() throws {
    var track = Track(pace: -30_000)
    track.line.add(NTPTime(rawValue: 7), 9, rate: 48_000, arrival: start)
    track.report(1_000)
    track.report(2_000)
    #expect(track.isKnown)
    #expect(abs(try track.error(at: 3_000)) < 1)
  }

  @Test(arguments: [600_000, -600_000, 20_000, -20_000])
  func `a wall clock that was set is believed with the second report`(step: Int64) throws {
    var track = Track(pace: -50_000)
    for second in 0..<6 { track.report(second * 1_000) }
    track.ntp = track.ntp.advanced(byNanoseconds: step * 1_000_000)
    track.report(6_000)
    track.report(7_000)
    #expect(track.isKnown)
    #expect(abs(try track.error(at: 9_000)) < 1)
  }

  @Test func `timestamps that begin again are believed with the second report`() throws {
    var track = Track()
    for second in 0..<6 { track.report(second * 1_000) }
    track.base &+= 0x5555_5555
    track.report(6_000)
    #expect(abs(try track.error(at: 7_000)) > 1_000)
    track.report(7_000)
    #expect(abs(try track.error(at: 9_000)) < 1)
  }

  @Test func `a rate that changes is followed with the second report after`() throws {
    var track = Track()
    for second in 0..<10 { track.report(second * 5_000) }
    // From 45 s on 6 % slow.
    track.base &+= UInt32(45 * 48_000 * 6 / 100)
    track.pace = -60_000
    for moment in [50_000, 55_000, 60_000] { track.report(moment) }
    #expect(abs(try track.error(at: 65_000)) < 5)
  }

  @Test func `before the codec is known the last report is kept`() throws {
    var track = Track(rate: 90_000)
    track.line.add(track.time(0), 1, rate: 0, arrival: start)
    track.line.add(track.time(1_000), 2, rate: 0, arrival: start)
    #expect(track.line.line(rate: 0) == nil)
    let drawn = try #require(track.line.line(rate: 90_000))
    #expect(drawn.timestamp == 2 && drawn.rate == 90_000 && !drawn.isKnown)
  }

  @Test func `no report traps anything, and its state goes on identically`() throws {
    var random = RandomSource.seeded(state: 17)
    var line = ReportLine()
    for step in 0..<20_000 {
      var writer = StateWriter()
      line.encode(into: &writer)
      var reader = StateReader(writer.bytes)
      var copy = try ReportLine(from: &reader)
      try reader.finish()
      let edges: [UInt64] = [0, .max, 1 << 63, (1 << 63) - 1, UInt64(step) << 32, random.next()]
      let ntp = NTPTime(rawValue: edges[Int(random.next() % 6)])
      let timestamp = UInt32(truncatingIfNeeded: step % 3 == 0 ? random.next() : UInt64(step) * 48_000)
      let rate = [0, 1, 8_000, 48_000, 90_000, .max][Int(random.next() % 6)] as UInt32
      line.add(ntp, timestamp, rate: rate, arrival: milliseconds(step))
      copy.add(ntp, timestamp, rate: rate, arrival: milliseconds(step))
      #expect(copy.line(rate: 48_000)?.timestamp == line.line(rate: 48_000)?.timestamp)
      if let drawn = line.line(rate: rate) { #expect(abs(Double(drawn.rate) / Double(rate) - 1) < 0.51) }
    }
  }
}
