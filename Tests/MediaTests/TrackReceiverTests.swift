import Media
import Model
import Testing
import Wire

@Suite("A track as it comes in", .timeLimit(.minutes(5)))
struct TrackReceiverTests {
  func video(_ sequence: UInt16, key: Bool = false, at milliseconds: Int = 0) -> RTPPacket {
    RTPPacket(
      sequence: sequence, timestamp: UInt32(truncatingIfNeeded: milliseconds * 90), marker: true,
      payload: vp8(key: key, pictureID: sequence & 0x7FFF, tl0: 7))
  }

  @Test func `a packet is described once`() throws {
    var receiver = TrackReceiver(section(.video))
    var packet = video(65_535, key: true)
    packet.contributors = [1, 2]
    let level = AudioLevel(attenuation: 30, voice: true)
    let taken = receiver.take(packet.bytes, level: level)
    let info = try #require(taken.outcome.info)
    #expect(info.extendedSequence == 0x1_FFFF)
    #expect(info.flags == [.marker, .frameStart, .keyFrame, .audioLevel, .longPictureID])
    #expect(info.contributors == 2)
    #expect(info.payloadOffset == 20)
    #expect(Int(info.payloadSize) == packet.payload.count)
    #expect(info.audioLevel == 0x80 | 30)
    #expect(info.pictureID == 0x7FFF && info.tl0PictureIndex == 7)
    #expect(taken.packet == packet.bytes)
    let isStarted = receiver.isStarted
    #expect(isStarted)
  }

  @Test func `padding is cut, and a packet of padding alone keeps its place`() throws {
    var receiver = TrackReceiver(section(.video))
    _ = receiver.take(video(1).bytes)
    var bytes = RTPPacket(sequence: 2, payload: []).bytes + [0, 0, 0, 4]
    bytes[0] |= 0x20
    let info = try #require(receiver.take(bytes).outcome.info)
    #expect(info.payloadSize == 0)
    #expect(receiver.take(video(3).bytes).outcome.info?.extendedSequence == info.extendedSequence + 1)
  }

  @Test func `payload types of others, broken descriptors and repetitions go nowhere, each by its name`() {
    var receiver = TrackReceiver(section(.video))
    var packet = video(1)
    packet.payloadType = 98
    #expect(receiver.take(packet.bytes).outcome.drop == .unknownPayloadType)
    // The retransmissions' type under the media's SSRC, and the other way round.
    packet.payloadType = 97
    #expect(receiver.take(packet.bytes).outcome.drop == .unknownPayloadType)
    packet.payloadType = 96
    #expect(receiver.take(packet.bytes, isRTX: true).outcome.drop == .unknownPayloadType)
    packet.payload = [0x80]
    #expect(receiver.take(packet.bytes).outcome.drop == .malformedPayload)
    #expect(receiver.take(packet.bytes).outcome.drop == .duplicate)
    #expect(receiver.take(video(30_000).bytes).outcome.drop == .sequenceJump)
  }

  @Test func `a retransmission is unwrapped in place and fills the hole`() throws {
    var receiver = TrackReceiver(section(.video))
    _ = receiver.take(video(10).bytes)
    _ = receiver.take(video(12).bytes)
    let original = video(11, key: true)
    let taken = receiver.take(
      original.repeated(ssrc: 0x2222_2222, payloadType: 97, sequence: 500), isRTX: true)
    let info = try #require(taken.outcome.info)
    #expect(info.extendedSequence == 0x1_000B)
    #expect(info.flags.contains(.recovered) && info.flags.contains(.keyFrame))
    #expect(taken.packet == original.bytes)
    #expect(
      receiver.take(original.repeated(ssrc: 0x2222_2222, payloadType: 97, sequence: 501), isRTX: true)
        .outcome.drop == .duplicate)
  }

  @Test func `retransmissions before the stream, ahead of it or without content go nowhere`() {
    var receiver = TrackReceiver(section(.video))
    let early = video(11).repeated(ssrc: 0x2222_2222, payloadType: 97, sequence: 1)
    #expect(receiver.take(early, isRTX: true).outcome.drop == .retransmissionWithoutStream)
    var unbound = TrackReceiver(section(.video, ssrc: nil))
    #expect(unbound.take(early, isRTX: true).outcome.drop == .retransmissionWithoutStream)
    _ = receiver.take(video(10).bytes)
    #expect(receiver.take(early, isRTX: true).outcome.drop == .retransmissionWithoutStream)
    let padding = RTPPacket(sequence: 2, ssrc: 0x2222_2222, payloadType: 97, payload: [])
    #expect(receiver.take(padding.bytes, isRTX: true).outcome.drop == .paddingOnly)
    let empty = RTPPacket(sequence: 3, ssrc: 0x2222_2222, payloadType: 97, payload: [0, 10])
    #expect(receiver.take(empty.bytes, isRTX: true).outcome.drop == .paddingOnly)
  }

  @Test func `holes are asked for where NACK was agreed on, and only there`() {
    for agreed in [true, false] {
      var receiver = TrackReceiver(section(.video, nack: agreed))
      _ = receiver.take(video(1).bytes)
      _ = receiver.take(video(3).bytes)
      var asked: [UInt16] = []
      receiver.missing(now: milliseconds(10), roundTrip: .zero) { asked.append($0) }
      #expect(asked == (agreed ? [2] : []))
    }
  }

  /// Gives the receiver a key frame, and after `count` lost packets one that is none.
  private func lose(_ count: Int, moving: Bool, _ receiver: inout TrackReceiver) throws -> PacketInfo {
    let first = try #require(receiver.take(video(1, key: true).bytes).outcome.info)
    #expect(first.restart == 0)
    if moving { receiver.moved() }
    let next = receiver.take(video(UInt16(2 + count)).bytes, at: milliseconds(100))
    return try #require(next.outcome.info)
  }

  @Test(arguments: [(256, false, false), (257, false, true), (32, true, false), (33, true, true)])
  func `what is lost beyond asking is not asked for, but a key frame is`(
    lost: Int, moving: Bool, skips: Bool
  ) throws {
    var receiver = TrackReceiver(section(.video))
    let info = try lose(lost, moving: moving, &receiver)
    // Those who get the track see the gap as it is.
    #expect(info.restart == 0)
    var missing = 0
    receiver.missing(now: milliseconds(200), roundTrip: .zero) { _ in missing += 1 }
    #expect(missing == (skips ? 0 : lost))
    let request = receiver.keyFrameDue(now: milliseconds(200))
    #expect((request != nil) == skips)
    let key = receiver.take(video(UInt16(3 + lost), key: true).bytes, at: milliseconds(210))
    #expect(key.outcome.info?.restart == 0)
    let deadline = receiver.deadline
    #expect(deadline == .never || !skips)
  }

  @Test func `a publisher that moves without losing anything goes on as before`() throws {
    var receiver = TrackReceiver(section(.video))
    let info = try lose(0, moving: true, &receiver)
    #expect(info.restart == 0)
    // The move is over with that packet: later losses are asked for as ever.
    let later = receiver.take(video(2 + 40).bytes, at: milliseconds(200))
    #expect(later.outcome.info?.restart == 0)
    let request = receiver.keyFrameDue(now: milliseconds(300))
    #expect(request == nil)
  }

  @Test func `what was found missing before the move was noticed counts as well`() throws {
    var receiver = TrackReceiver(section(.video))
    let info = try lose(100, moving: false, &receiver)
    #expect(info.restart == 0)
    receiver.moved()
    _ = receiver.take(video(103).bytes, at: milliseconds(110))
    var missing = 0
    receiver.missing(now: milliseconds(200), roundTrip: .zero) { _ in missing += 1 }
    #expect(missing == 0)
    let request = receiver.keyFrameDue(now: milliseconds(110))
    #expect(request != nil)
  }

  @Test func `a key frame that was asked for at the old address is asked for again at once`() throws {
    var receiver = TrackReceiver(section(.video))
    _ = try lose(0, moving: false, &receiver)
    receiver.requestKeyFrame()
    let first = receiver.keyFrameDue(now: milliseconds(200))
    let tooSoon = receiver.keyFrameDue(now: milliseconds(300))
    receiver.moved()
    let again = receiver.keyFrameDue(now: milliseconds(300))
    #expect(first != nil && tooSoon == nil && again != nil)
  }

  @Test func `a request waits for the stream's first packet and ends with a key frame`() {
    var receiver = TrackReceiver(section(.video))
    receiver.requestKeyFrame()
    #expect(receiver.deadline == .never)
    #expect(receiver.keyFrameDue(now: start) == nil)
    _ = receiver.take(video(1).bytes)
    #expect(receiver.deadline <= start)
    #expect(receiver.keyFrameDue(now: start) == .pictureLoss)
    _ = receiver.take(video(2, key: true).bytes)
    #expect(receiver.keyFrameDue(now: milliseconds(2_000)) == nil)
    var audio = TrackReceiver(section(.audio))
    audio.requestKeyFrame()
    _ = audio.take(RTPPacket(payloadType: 111).bytes)
    #expect(audio.keyFrameDue(now: start) == nil)
  }

  @Test func `a source that starts over is counted, asked for a key frame, and its old holes forgotten`()
    throws
  {
    var receiver = TrackReceiver(section(.video))
    _ = receiver.take(video(1, key: true).bytes)
    _ = receiver.take(video(4).bytes)
    _ = receiver.take(video(30_000).bytes, at: milliseconds(1))
    let info = try #require(receiver.take(video(30_001).bytes, at: milliseconds(2)).outcome.info)
    #expect(info.restart == 1)
    #expect(receiver.restarts == 1)
    var asked: [UInt16] = []
    receiver.missing(now: milliseconds(100), roundTrip: .zero) { asked.append($0) }
    #expect(asked == [])
    #expect(receiver.keyFrameDue(now: milliseconds(100)) == .pictureLoss)
    _ = receiver.take(video(30_002, key: true).bytes, at: milliseconds(101))
    #expect(receiver.deadline == .never)
  }

  @Test func `a description that names another SSRC starts the source over, however near its numbers`() throws
  {
    var receiver = TrackReceiver(section(.video))
    _ = receiver.take(video(100, key: true).bytes)
    _ = receiver.take(video(102).bytes)
    receiver.apply(section(.video, ssrc: 0x3333_3333, rtxSSRC: nil))
    #expect(receiver.ssrc == 0x3333_3333)
    #expect(receiver.rtxSSRC == nil)
    // No request for the old stream's packet goes to the new one.
    var asked: [UInt16] = []
    receiver.missing(now: milliseconds(50), roundTrip: .zero) { asked.append($0) }
    #expect(asked == [])
    let info = try #require(receiver.take(video(103).bytes).outcome.info)
    #expect(info.restart == 1)
    // The same description again changes nothing.
    receiver.apply(section(.video, ssrc: 0x3333_3333, rtxSSRC: 0x4444_4444))
    #expect(receiver.take(video(104).bytes).outcome.info?.restart == 1)
    #expect(receiver.rtxSSRC == 0x4444_4444)
  }

  @Test func `a duplicate does not count for jitter`() throws {
    var receiver = TrackReceiver(section(.video))
    for index in 0..<50 {
      _ = receiver.take(video(UInt16(index), at: index * 20).bytes, at: milliseconds(index * 20))
      _ = receiver.take(video(UInt16(index), at: index * 20).bytes, at: milliseconds(index * 20 + 9))
    }
    let block = receiver.reportBlock(now: milliseconds(1_000))
    #expect(try #require(block).jitter == 0)
  }

  // MARK: - Reports and clock

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

  @Test func `the clock is guessed from the first packet until a report tells, and measured with the second`()
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
    let told = try #require(reported)
    // Pictures are timed by the machine's clock.
    #expect(told.isReported && told.timestamp == 777 && told.measured == 90_000)
    #expect(
      abs(NTPTime(rawValue: told.ntp).nanoseconds(since: epoch.ntp(at: milliseconds(600)))) <= 2)
    // 5 % slow.
    let later = ntp.advanced(byNanoseconds: 2_000_000_000)
    receiver.senderReport(ntp: later, timestamp: 777 + 171_000, arrival: milliseconds(2_600))
    clock.report(later, arrival: milliseconds(2_600), epoch: epoch)
    let known = try #require(receiver.mapping(clock, epoch: epoch))
    #expect(known.isReported && known.rate == 90_000 && known.measured == 85_500)
    let moment = known.ntp(at: 777 + 171_000)
    #expect(abs(moment.nanoseconds(since: epoch.ntp(at: milliseconds(2_600)))) < 100_000)
  }

  @Test(arguments: [0, -34_000, -70_000])
  func `a sound's clock is known with the first report, once packets told its pace`(pace: Int) throws {
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
        let told = receiver.mapping(clock, epoch: epoch)
        #expect(try #require(told).isReported == false)
      }
    }
    let reported = receiver.mapping(clock, epoch: epoch)
    let told = try #require(reported)
    #expect(told.isReported && told.rate == 48_000)
    // Three seconds after the report.
    let error = told.ntp(at: timestamp(4_000)).nanoseconds(since: epoch.ntp(at: milliseconds(4_000)))
    #expect(abs(error) < 15_000_000)
  }

  @Test func `when the publisher's clock was set, what was known holds until both have told anew`() throws {
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

  @Test func `its state goes on identically`() throws {
    var random = RandomSource.seeded(state: 31)
    var receiver = TrackReceiver(section(.video))
    var next: UInt16 = 65_400
    for step in 0..<1_500 {
      var writer = StateWriter()
      receiver.encode(into: &writer)
      var reader = StateReader(writer.bytes)
      var copy = try TrackReceiver(section(.video), from: &reader)
      try reader.finish()
      var again = StateWriter()
      copy.encode(into: &again)
      #expect(again.bytes == writer.bytes)

      next &+= random.next() % 10 == 0 ? 3 : 1
      if random.next() % 200 == 0 { next &+= 20_000 }
      let now = milliseconds(step * 7)
      let packet = video(next &- UInt16(random.next() % 4), key: random.next() % 50 == 0, at: step * 7)
      let isRTX = random.next() % 6 == 0
      let bytes =
        isRTX ? packet.repeated(ssrc: 0x2222_2222, payloadType: 97, sequence: UInt16(step)) : packet.bytes
      let one = receiver.take(bytes, isRTX: isRTX, at: now)
      let two = copy.take(bytes, isRTX: isRTX, at: now)
      #expect(one.outcome.drop == two.outcome.drop && one.packet == two.packet)
      #expect(one.outcome.info?.extendedSequence == two.outcome.info?.extendedSequence)
      if random.next() % 9 == 0 {
        receiver.requestKeyFrame()
        copy.requestKeyFrame()
      }
      #expect(receiver.keyFrameDue(now: now) == copy.keyFrameDue(now: now))
      var asked: [[UInt16]] = [[], []]
      receiver.missing(now: now, roundTrip: .milliseconds(30)) { asked[0].append($0) }
      copy.missing(now: now, roundTrip: .milliseconds(30)) { asked[1].append($0) }
      #expect(asked[0] == asked[1])
      #expect(receiver.deadline == copy.deadline)
    }
  }
}
