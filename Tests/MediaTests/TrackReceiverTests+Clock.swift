import Media
import Model
import Testing
import Wire

/// Its reports, and the clock that they tell of.
extension TrackReceiverTests {
  @Test func `a report block tells of the last sender report and the time since`() throws {
    var receiver = TrackReceiver(section(.video))
    #expect(receiver.reportBlock(now: start) == nil)
    _ = receiver.take(video(9).bytes)
    _ = receiver.take(video(11).bytes)
    let first = receiver.reportBlock(now: milliseconds(5))
    var block = try #require(first)
    #expect(block.lastSenderReport == 0 && block.delaySinceLastSenderReport == 0)
    #expect(block.ssrc == 0x1111_1111 && block.cumulativeLost == 1 && block.highestSequence == 11)
    receiver.senderReport(
      ntp: NTPTime(rawValue: 0x0001_0002_0003_0004), timestamp: 5, arrival: milliseconds(10))
    let second = receiver.reportBlock(now: milliseconds(1_510))
    block = try #require(second)
    #expect(block.lastSenderReport == 0x0002_0003)
    #expect(block.delaySinceLastSenderReport == 98_304)
    // A report "from the future" has no negative delay.
    let third = receiver.reportBlock(now: start)
    block = try #require(third)
    #expect(block.delaySinceLastSenderReport == 0)
  }

  @Test func `the clock is guessed from the first packet until a report tells, and measured once several do`()
    throws
  {
    var receiver = TrackReceiver(section(.video))
    var clock = PublisherClock()
    #expect(receiver.mapping(clock, epoch: epoch) == nil)
    _ = receiver.take(video(1, at: 1_000).bytes, at: milliseconds(500))
    let guessed = receiver.mapping(clock, epoch: epoch)
    let guess = try #require(guessed)
    #expect(!guess.isReported && guess.timestamp == 90_000 && guess.rate == 90_000)
    #expect(guess.ntp == epoch.ntp(at: milliseconds(500)).rawValue)
    let ntp = NTPTime(unixNanoseconds: 5_000_000_000)
    receiver.senderReport(ntp: ntp, timestamp: 777, arrival: milliseconds(600))
    #expect(receiver.mapping(clock, epoch: epoch)?.isReported == false)
    clock.report(ntp, arrival: milliseconds(600), epoch: epoch)
    let reported = receiver.mapping(clock, epoch: epoch)
    let found = try #require(reported)
    // Pictures are timed by the machine's clock.
    #expect(found.isReported && found.timestamp == 777 && found.measured == 90_000)
    #expect(
      abs(NTPTime(rawValue: found.ntp).nanoseconds(since: epoch.ntp(at: milliseconds(600)))) <= 2)
    // 5 % slow: two reports alone don't show it.
    func report(_ seconds: UInt32) -> ClockMapping? {
      let later = ntp.advanced(byNanoseconds: Int64(seconds) * 1_000_000_000)
      let arrival = milliseconds(600 + Int(seconds) * 1_000)
      receiver.senderReport(ntp: later, timestamp: 777 + seconds * 85_500, arrival: arrival)
      clock.report(later, arrival: arrival, epoch: epoch)
      return receiver.mapping(clock, epoch: epoch)
    }
    let (second, _, last) = (report(2), report(5), report(9))
    #expect(second?.measured == 90_000)
    let known = try #require(last)
    #expect(known.isReported && known.rate == 90_000 && known.measured == 85_500)
    let moment = known.ntp(at: 777 + 9 * 85_500)
    #expect(abs(moment.nanoseconds(since: epoch.ntp(at: milliseconds(9_600)))) < 100_000)
  }

  @Test(arguments: [0, -34_000, -70_000])
  func `a sound's clock is known with the first report, once packets have shown its pace`(pace: Int) throws {
    var receiver = TrackReceiver(section(.audio))
    var clock = PublisherClock()
    var random = RandomSource.seeded(state: 5)
    func timestamp(_ moment: Int) -> UInt32 { UInt32(moment * 48 * (1_000_000 + pace) / 1_000_000) }
    for step in 0..<200 {
      let sent = step * 20
      _ = receiver.take(
        RTPPacket(sequence: UInt16(step), timestamp: timestamp(sent), payloadType: 111).bytes,
        at: milliseconds(sent + 10 + Int(random.next() % 8)))
      if sent == 1_000 {
        let ntp = epoch.ntp(at: milliseconds(sent))
        clock.report(ntp, arrival: milliseconds(sent), epoch: epoch)
        receiver.senderReport(ntp: ntp, timestamp: timestamp(sent), arrival: milliseconds(sent))
        let found = receiver.mapping(clock, epoch: epoch)
        #expect(try #require(found).isReported == false)
      }
    }
    let reported = receiver.mapping(clock, epoch: epoch)
    let found = try #require(reported)
    #expect(found.isReported && found.rate == 48_000)
    // Three seconds after the report.
    let error = found.ntp(at: timestamp(4_000)).nanoseconds(since: epoch.ntp(at: milliseconds(4_000)))
    #expect(abs(error) < 15_000_000)
  }

  @Test func `when the publisher's clock was set, what was known holds until both have reported again`()
    throws
  {
    var audio = TrackReceiver(section(.audio))
    var clock = PublisherClock()
    _ = audio.take(RTPPacket(timestamp: 0, payloadType: 111).bytes)
    var step: Int64 = 0
    func report(_ second: Int64, ofAudio: Bool) {
      let arrival = milliseconds(Int(second) * 1_000)
      let ntp = NTPTime(unixNanoseconds: second * 1_000_000_000 + step)
      clock.report(ntp, arrival: arrival, epoch: epoch)
      if ofAudio { audio.senderReport(ntp: ntp, timestamp: UInt32(second) * 48_000, arrival: arrival) }
    }
    for second in [1, 6, 11] as [Int64] { report(second, ofAudio: true) }
    #expect(audio.mapping(clock, epoch: epoch)?.isReported == true)
    step = 30_000_000_000
    // Another track's reports tell it first.
    for second in [12, 13, 14] as [Int64] { report(second, ofAudio: false) }
    #expect(audio.mapping(clock, epoch: epoch) == nil)
    report(16, ofAudio: true)
    #expect(audio.mapping(clock, epoch: epoch) == nil)
    report(21, ofAudio: true)
    let mapping = try #require(audio.mapping(clock, epoch: epoch))
    let error = mapping.ntp(at: 22 * 48_000).nanoseconds(since: epoch.ntp(at: milliseconds(22_000)))
    #expect(mapping.isReported && abs(error) < 1_000_000)
  }

  @Test(arguments: [0, 50, -50, -34_000, -70_000, 60_000] as [Int64])
  func `audio and video of one instant lie within 5 ms of each other, whatever the sound card`(
    soundDrift: Int64
  ) throws {
    var audio = TrackReceiver(section(.audio))
    var video = TrackReceiver(section(.video))
    var clock = PublisherClock()
    var random = RandomSource.seeded(state: 12)
    // The publisher's wall clock is a day off and 40 ppm fast.
    func wall(_ now: Instant) -> NTPTime {
      epoch.ntp(at: now).advanced(byNanoseconds: 86_400_000_000_000 + now.nanoseconds / 1_000_000 * 40)
    }
    // 48 and 90 units a millisecond, from different beginnings.
    func audioTime(_ now: Instant) -> UInt32 {
      0xFFF0_0000 &+ UInt32((now.nanoseconds + now.nanoseconds / 1_000_000 * soundDrift) * 48 / 1_000_000)
    }
    func videoTime(_ now: Instant) -> UInt32 {
      0xFFFF_0000 &+ UInt32(truncatingIfNeeded: now.nanoseconds * 90 / 1_000_000)
    }
    _ = audio.take(RTPPacket(timestamp: audioTime(start), payloadType: 111).bytes)
    _ = video.take(RTPPacket(timestamp: videoTime(start), payload: vp8(key: true)).bytes)
    for second in 1...120 {
      for isAudio in [true, false] {
        let sent = milliseconds(second * 1_000 + (isAudio ? 0 : 400))
        let arrival = sent + .microseconds(15_000 + Int(random.next() % 40_000))
        clock.report(wall(sent), arrival: arrival, epoch: epoch)
        if isAudio {
          audio.senderReport(ntp: wall(sent), timestamp: audioTime(sent), arrival: arrival)
        } else {
          video.senderReport(ntp: wall(sent), timestamp: videoTime(sent), arrival: arrival)
        }
      }
      guard second > 1 else { continue }
      let now = milliseconds(second * 1_000 + 700)
      let (ofAudio, ofVideo) = (audio.mapping(clock, epoch: epoch), video.mapping(clock, epoch: epoch))
      let heard = try #require(ofAudio).ntp(at: audioTime(now))
      let seen = try #require(ofVideo).ntp(at: videoTime(now))
      #expect(abs(heard.nanoseconds(since: seen)) < 5_000_000)
    }
  }
}
