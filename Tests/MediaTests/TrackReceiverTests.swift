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
