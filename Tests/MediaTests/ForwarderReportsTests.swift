import Media
import Model
import Testing
import Wire

@Suite("Reports about a slot's stream", .timeLimit(.minutes(5)))
struct ForwarderReportsTests {
  @Test func `the sender report tells the stream's timestamp of now`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    source.report()
    slot.feed(source)
    #expect(slot.report(now: start) == nil, "nothing was sent")
    let sent = try some(
      slot.forward(try some(source.next(at: 0) { $0.payload = Array(repeating: 1, count: 77) })))
    let report = try some(slot.report(now: milliseconds(250)))
    #expect(report.ssrc == 0xAAAA_AAAA)
    #expect(report.ntp == epoch.ntp(at: milliseconds(250)))
    #expect(abs(Int32(bitPattern: report.rtpTimestamp &- sent.timestamp) - 12_000) <= 1)
    #expect(report.packetCount == 1 && report.octetCount == 77)
  }

  @Test func `while the stream waits for its next source there is none`() throws {
    let slot = Slot(.video)
    let source = Source(.video, peer: 1)
    source.report()
    slot.feed(source)
    _ = slot.forward(try some(source.next(at: 0, key: true)))
    #expect(slot.report(now: milliseconds(10)) != nil)
    let other = Source(.video, peer: 2)
    other.report()
    slot.feed(other)
    #expect(slot.report(now: milliseconds(20)) == nil)
    slot.feed(nil)
    #expect(slot.report(now: milliseconds(30)) == nil)
  }

  @Test func `a clock that was only guessed is reported after ten seconds`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    source.report()
    source.clock?.isReported = false
    slot.feed(source)
    for second in 0..<10 {
      _ = slot.forward(try some(source.next(at: second * 1_000)))
      #expect(slot.report(now: milliseconds(second * 1_000 + 990)) == nil)
    }
    #expect(slot.report(now: milliseconds(10_011)) != nil)
  }

  /// A source whose reports don't come because nothing comes has a clock that no one knows, however long ago it was reported.
  @Test func `a source whose clock was only guessed gets no sender report while cut off, nor soon after`()
    throws
  {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    source.report()
    source.clock?.isReported = false
    slot.feed(source)
    _ = slot.forward(try some(source.next(at: 0)))
    for second in 1...15 { #expect(slot.report(now: milliseconds(second * 1_000)) == nil) }
    try slot.rebuild()
    for second in 15..<25 {
      _ = slot.forward(try some(source.next(at: second * 1_000)))
      #expect(slot.report(now: milliseconds(second * 1_000 + 500)) == nil)
    }
    _ = slot.forward(try some(source.next(at: 25_000)))
    #expect(slot.report(now: milliseconds(25_500)) != nil)
  }

  @Test
  func
    `a clock that was reported long ago makes no sender report until its source reports again`()
    throws
  {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    source.report()
    source.clock?.isReported = false
    slot.feed(source)
    _ = slot.forward(try some(source.next(at: 12_000)))
    #expect(slot.report(now: milliseconds(12_020)) == nil)
    source.clock?.isReported = true
    slot.forwarder.setClock(try some(source.clock))
    #expect(slot.report(now: milliseconds(12_100)) != nil)
  }

  @Test func `sender reports go on for a cut-off source whose clock was reported`() throws {
    let slot = Slot(.audio)
    let source = Source(.audio, peer: 1)
    source.report()
    slot.feed(source)
    _ = slot.forward(try some(source.next(at: 0)))
    for second in 1...15 { #expect(slot.report(now: milliseconds(second * 1_000)) != nil) }
  }

  @Test func `audio and video of one publisher stay within 5 ms over changes of source`() throws {
    let voice = Slot(.audio)
    let picture = Slot(.video)
    for person in 1...4 as ClosedRange<UInt64> {
      let microphone = Source(.audio, peer: person, base: UInt32(person) &* 0x3333_3333)
      let camera = Source(.video, peer: person, base: UInt32(person) &* 0x7777_7777)
      microphone.report()
      camera.report()
      voice.feed(microphone)
      picture.feed(camera)
      let begin = Int(person) * 2_000
      var pairs: (audio: Sent?, video: Sent?) = (nil, nil)
      // The video's key frame comes late, and over a slower way.
      for step in 0..<40 {
        pairs.audio = voice.forward(try some(microphone.next(at: begin + step * 20, delay: 8)))
        let sent = picture.forward(
          try some(camera.next(at: begin + step * 20, delay: 90, key: step == 5)))
        pairs.video = sent ?? pairs.video
      }
      let now = milliseconds(begin + 1_000)
      let heard = try some(voice.report(now: now))
      let seen = try some(picture.report(now: now))
      // When each receiver plays what was captured at the same moment.
      let audio =
        Int64(Int32(bitPattern: try some(pairs.audio).timestamp &- heard.rtpTimestamp)) * 1_000_000 / 48
      let video =
        Int64(Int32(bitPattern: try some(pairs.video).timestamp &- seen.rtpTimestamp)) * 1_000_000 / 90
      #expect(abs(audio - video) < 5_000_000)
    }
  }

  /// A receiver's line: what it takes for the moment of a timestamp, given the last report of a source.
  func moment(_ timestamp: UInt32, by report: SenderReport, rate: Double) -> Double {
    Double(report.ntp.nanoseconds(since: epoch.ntp(at: start))) / 1e6
      + Double(Int32(bitPattern: timestamp &- report.rtpTimestamp)) / rate * 1_000
  }

  @Test(arguments: [(-0.05, -0.05), (0, -0.07), (-0.07, 0), (0.03, -0.03)])
  func `a slow source's successor goes on on its line, whatever its own rate`(
    before: Double, after: Double
  ) throws {
    let slot = Slot(.audio)
    let first = Source(.audio, peer: 1, base: 77)
    let second = Source(.audio, peer: 2, base: 0x8000_0000)
    first.report(rate: 48_000 * (1 + before))
    second.report(rate: 48_000 * (1 + after))
    slot.feed(first)
    for step in 0..<100 {
      _ = slot.forward(
        try some(first.next(at: step * 20) { $0.timestamp = first.clock!.timestamp(at: step * 20) }))
    }
    let last = try some(slot.report(now: milliseconds(1_990)))
    slot.feed(second)
    // Its way is longer by 80 ms, which is no silence.
    let sent = try some(
      slot.forward(
        try some(
          second.next(at: 2_100, delay: 90) { $0.timestamp = second.clock!.timestamp(at: 2_100) })))
    #expect(abs(moment(sent.timestamp, by: last, rate: 48_000 * (1 + before)) - 2_100) < 1)
    let next = try some(slot.report(now: milliseconds(2_500)))
    #expect(abs(moment(sent.timestamp, by: next, rate: 48_000 * (1 + after)) - 2_100) < 1)
  }

  @Test func `where one of two clocks is only guessed, arrival says how far they lie apart`() throws {
    for guessed in [0, 1] {
      let slot = Slot(.audio)
      let sources = [Source(.audio, peer: 1), Source(.audio, peer: 2, base: 0x9999_0000)]
      for source in sources { source.report() }
      // A guess that is half a second off.
      sources[guessed].clock!.timestamp &+= 24_000
      sources[guessed].clock!.isReported = false
      slot.feed(sources[0])
      let last = try some(slot.forward(try some(sources[0].next(at: 1_000))))
      slot.feed(sources[1])
      let sent = try some(slot.forward(try some(sources[1].next(at: 1_100, delay: 15))))
      #expect(abs(Int(sent.timestamp &- last.timestamp) - 105 * 48) <= 1)
    }
  }

  // MARK: - Round trip

  func block(sentAt: Instant, delay: UInt32) -> ReportBlock {
    ReportBlock(
      ssrc: 1, fractionLost: 3, cumulativeLost: -4, jitter: 5,
      lastSenderReport: epoch.ntp(at: sentAt).middle, delaySinceLastSenderReport: delay)
  }

  @Test func `the round trip is what is left of the time since the report`() throws {
    var reports = ForwarderReports()
    #expect(reports.roundTrip == nil)
    // 500 ms at the far end.
    reports.receive(block(sentAt: start, delay: 32_768), highest: 0, now: milliseconds(580), epoch: epoch)
    let measured = try some(reports.roundTrip)
    #expect(measured >= .microseconds(79_900) && measured <= .microseconds(80_100))
    #expect(reports.fractionLost == 3 && reports.cumulativeLost == -4 && reports.jitter == 5)
    #expect(reports.lastReport == milliseconds(580))
    for step in 0..<60 {
      let sent = milliseconds(1_000 + step * 1_000)
      reports.receive(block(sentAt: sent, delay: 0), highest: 0, now: sent + .milliseconds(20), epoch: epoch)
    }
    let settled = try some(reports.roundTrip)
    #expect(settled > .milliseconds(19) && settled < .milliseconds(21))
  }

  @Test func `no report yet, a negative or an absurd trip is no sample`() {
    var reports = ForwarderReports()
    reports.receive(ReportBlock(ssrc: 1), highest: 0, now: milliseconds(10), epoch: epoch)
    reports.receive(block(sentAt: start, delay: 65_536), highest: 0, now: milliseconds(500), epoch: epoch)
    reports.receive(block(sentAt: start, delay: .max), highest: 0, now: milliseconds(500), epoch: epoch)
    reports.receive(block(sentAt: start, delay: 0), highest: 0, now: milliseconds(10_001), epoch: epoch)
    reports.receive(
      block(sentAt: milliseconds(900), delay: 0), highest: 0, now: milliseconds(500), epoch: epoch)
    #expect(reports.roundTrip == nil)
    #expect(reports.lastReport == milliseconds(500))
  }

  @Test func `the middle bits of the clock may wrap between report and answer`() throws {
    // 18.2 hours after a multiple of 65,536 s.
    let early = Epoch(ntpAtZero: NTPTime(rawValue: 0x1234_FFFF_FF00_0000))
    var reports = ForwarderReports()
    let last = early.ntp(at: start).middle
    reports.receive(
      ReportBlock(ssrc: 1, lastSenderReport: last), highest: 0, now: milliseconds(300), epoch: early)
    #expect(try some(reports.roundTrip) > .milliseconds(299))
  }
}
