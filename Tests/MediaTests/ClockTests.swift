import Media
import Model
import Testing

@Suite("Publishers' clocks", .timeLimit(.minutes(5)))
struct ClockTests {
  /// A publisher whose wall clock is `offset` behind the server's and runs `drift` parts per million fast.
  struct Publisher {
    var offset: Int64
    var drift: Int64 = 0
    var clock = PublisherClock()

    func ntp(at now: Instant) -> NTPTime {
      epoch.ntp(at: now).advanced(
        byNanoseconds: -offset + now.nanoseconds / 1_000_000 * drift)
    }
    /// A report sent at `sent` that came after `delay`.
    mutating func report(_ sent: Instant, delay: Duration) {
      clock.report(ntp(at: sent), arrival: sent + delay, epoch: epoch)
    }
    /// How far off the server's idea of the publisher's clock is.
    func error(at now: Instant) -> Duration {
      .nanoseconds(clock.serverTime(ntp(at: now)).nanoseconds(since: epoch.ntp(at: now)))
    }
  }

  @Test(arguments: [0, 3_600_000_000_000, -3_600_000_000_000, 1_800_000_000_000_000_000] as [Int64])
  func `the smallest delay decides, whatever the offset`(offset: Int64) {
    var random = RandomSource.seeded(state: 5)
    var publisher = Publisher(offset: offset)
    for second in 0..<60 {
      publisher.report(
        milliseconds(second * 1_000), delay: .milliseconds(20) + .microseconds(Int(random.next() % 60_000)))
    }
    let error = publisher.error(at: milliseconds(60_000))
    #expect(error >= .milliseconds(20) - .microseconds(1))
    #expect(error < .milliseconds(26))
  }

  @Test(arguments: [50, -50] as [Int64])
  func `a drift of 50 ppm is followed for an hour`(drift: Int64) {
    var random = RandomSource.seeded(state: 6)
    var publisher = Publisher(offset: 77_000_000, drift: drift)
    for second in 0..<3_600 {
      publisher.report(
        milliseconds(second * 1_000), delay: .milliseconds(10) + .microseconds(Int(random.next() % 20_000)))
      guard second > 20 else { continue }
      let error = publisher.error(at: milliseconds(second * 1_000))
      #expect(error > .milliseconds(9) && error < .milliseconds(20), "at \(second) s: \(error)")
    }
  }

  @Test func `a report that disagrees says so until another confirms it`() {
    var clock = PublisherClock()
    func report(_ seconds: Int, offBy offset: Int64) -> Bool {
      let now = milliseconds(seconds * 1_000)
      return clock.report(epoch.ntp(at: now).advanced(byNanoseconds: offset), arrival: now, epoch: epoch)
    }
    let announced = [
      report(1, offBy: 0), report(2, offBy: 5_000_000), report(3, offBy: -10_000_000_000),
      report(4, offBy: -20_000_000_000), report(5, offBy: -20_000_000_000), report(6, offBy: -20_000_000_000),
    ]
    #expect(announced == [true, true, false, false, true, true])
  }

  @Test func `one report that was held for seconds changes nothing`() {
    var publisher = Publisher(offset: 0)
    publisher.report(start, delay: .milliseconds(10))
    publisher.report(milliseconds(1_000), delay: .seconds(4))
    #expect(publisher.error(at: start) < .milliseconds(11))
    publisher.report(milliseconds(6_000), delay: .milliseconds(10))
    #expect(publisher.error(at: start) < .milliseconds(12))
  }

  @Test func `reports of two tracks, held by one stalled path, change nothing either`() {
    var publisher = Publisher(offset: 0)
    publisher.report(start, delay: .milliseconds(10))
    for (sent, delay) in [(1_000, 3_000), (1_050, 2_960), (2_000, 2_015), (2_050, 1_970)] {
      publisher.report(milliseconds(sent), delay: .milliseconds(delay))
    }
    #expect(publisher.error(at: start) < .milliseconds(11))
  }

  @Test(arguments: [30_000_000_000, -30_000_000_000] as [Int64])
  func `a clock that was set is believed once it stays`(step: Int64) {
    var publisher = Publisher(offset: 0)
    publisher.report(start, delay: .milliseconds(10))
    publisher.offset = step
    publisher.report(milliseconds(1_000), delay: .milliseconds(30))
    #expect(abs(publisher.error(at: start).wholeNanoseconds) > 29_000_000_000)
    publisher.report(milliseconds(2_000), delay: .milliseconds(12))
    let error = publisher.error(at: start)
    #expect(error >= .milliseconds(10) && error < .milliseconds(31))
  }

  @Test func `nothing is known before the first report`() {
    #expect(!PublisherClock().isKnown)
  }

  @Test func `nonsense in a report traps nothing`() {
    var clock = PublisherClock()
    var random = RandomSource.seeded(state: 9)
    for step in 0..<5_000 {
      let edges: [UInt64] = [0, .max, 1 << 63, (1 << 63) - 1, random.next()]
      let ntp = edges[step % edges.count]
      clock.report(NTPTime(rawValue: ntp), arrival: milliseconds(step * 300), epoch: epoch)
      _ = clock.serverTime(NTPTime(rawValue: random.next()))
    }
    #expect(clock.isKnown)
  }

  @Test func `its state goes on identically`() throws {
    var random = RandomSource.seeded(state: 4)
    var publisher = Publisher(offset: -5)
    for step in 0..<200 {
      var writer = StateWriter()
      publisher.clock.encode(into: &writer)
      var reader = StateReader(writer.bytes)
      var copy = publisher
      copy.clock = try PublisherClock(from: &reader)
      try reader.finish()
      if random.next() % 20 == 0 { publisher.offset += 5_000_000_000 }
      copy.offset = publisher.offset
      let delay = Duration.milliseconds(Int(random.next() % 3_000))
      publisher.report(milliseconds(step * 400), delay: delay)
      copy.report(milliseconds(step * 400), delay: delay)
      #expect(publisher.error(at: start) == copy.error(at: start))
    }
  }

  // MARK: - Mapping

  @Test func `timestamps and moments lead to each other, over the wrap`() {
    let now = epoch.ntp(at: start)
    let mapping = ClockMapping(timestamp: 0xFFFF_FF00, ntp: now, rate: 90_000, isReported: true)
    #expect(mapping.timestamp(at: now.advanced(byNanoseconds: 1_000_000_000)) == 89_744)
    #expect(mapping.timestamp(at: now.advanced(byNanoseconds: -1_000_000_000)) == 0xFFFE_9F70)
    #expect(abs(mapping.ntp(at: 89_744).nanoseconds(since: now) - 1_000_000_000) <= 1)
    #expect(abs(mapping.ntp(at: 0xFFFE_9F70).nanoseconds(since: now) + 1_000_000_000) <= 1)
  }

  @Test func `there and back is the same timestamp within half the circle`() {
    var random = RandomSource.seeded(state: 8)
    for _ in 0..<2_000 {
      let rate: UInt32 = random.next() % 2 == 0 ? 90_000 : 48_000
      let mapping = ClockMapping(
        timestamp: UInt32(truncatingIfNeeded: random.next()), ntp: NTPTime(rawValue: random.next()),
        rate: rate,
        isReported: true)
      let moment = UInt32(truncatingIfNeeded: random.next())
      #expect(mapping.timestamp(at: mapping.ntp(at: moment)) == moment)
    }
  }

  @Test func `a rate of 0 traps nothing`() {
    let mapping = ClockMapping(timestamp: 5, ntp: NTPTime(rawValue: 0), rate: 0, isReported: false)
    #expect(mapping.timestamp(at: NTPTime(rawValue: .max)) == 5)
    _ = mapping.ntp(at: 0x8000_0005)
  }
}
