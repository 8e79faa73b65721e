package import Model
internal import Wire

/// Makes the packets of one track in any codec that was agreed on: audio of 20 ms, video in two temporal layers.
package struct TrackSource {
  private struct KeyFrames {
    var isWanted = true
    var last = Instant(nanoseconds: -10_000_000_000)
  }

  private struct Picture {
    var id: UInt16
    var tl0Index: UInt8 = 0
  }

  private struct Sound {
    /// Frames of silence that are left, of which few are sent.
    var silence = 0
    /// The block of the packet before, for RED.
    var lastBlock: (bytes: [UInt8], timestamp: UInt32)?
  }

  package let log: PublishedTrack
  let logNumber: Int
  /// As the descriptions agreed.
  package let section: SendSection
  package private(set) var codec: NegotiatedCodec
  private let habits: PeerConfiguration
  private let shape: FrameShape
  package private(set) var ssrc: UInt32
  package private(set) var rtxSSRC: UInt32?
  private var numbers: SourceNumbers
  private var base: UInt32
  private var picture: Picture
  private var frame: UInt32 = 0
  private var sound = Sound()
  private var keyFrames = KeyFrames()
  package private(set) var nextFrame: Instant
  /// Until the server is known to have mapped the stream.
  private var namesSection = true
  /// Plain packets, to be sent again; by number.
  private var kept: [(number: Int, bytes: [UInt8], rtxPayloadType: UInt8?)] = []
  /// Sender report's counts.
  package private(set) var packetCount: UInt32 = 0
  package private(set) var octetCount: UInt32 = 0
  private var random: RandomSource

  init(
    section: SendSection, codec: NegotiatedCodec, habits: PeerConfiguration, log: PublishedTrack,
    logNumber: Int, sequence: UInt16, shape: FrameShape, now: Instant, random: RandomSource
  ) {
    self.section = section
    self.log = log
    self.logNumber = logNumber
    self.random = random
    self.codec = codec
    self.habits = habits
    self.shape = shape
    ssrc = section.ssrc
    rtxSSRC = section.rtxSSRC
    numbers = SourceNumbers(next: sequence, nextRTX: UInt16(truncatingIfNeeded: self.random.next()))
    base = UInt32(truncatingIfNeeded: self.random.next())
    picture = Picture(id: UInt16(truncatingIfNeeded: self.random.next()) & 0x7FFF)
    nextFrame = now
    log.startRun(base: base, ssrc: ssrc, now: now, rate: codec.codec.clockRate)
    log.isRepaired = codec.nack
    log.takesKeyFrameRequests = codec.pli || codec.fir
  }

  package var kind: MediaKind { section.kind }
  package var clock: DriftingClock { habits.clock }

  // MARK: What happens to a source

  mutating func acknowledge() { namesSection = false }
  /// A publisher that agreed to no way of asking for key frames sends one from time to time.
  private func isKeyFrameDue(_ now: Instant) -> Bool {
    let since = now.nanoseconds - keyFrames.last.nanoseconds
    guard codec.pli || codec.fir || keyFrames.isWanted else { return since >= 1_000_000_000 }
    return keyFrames.isWanted && since >= 250_000_000
  }

  mutating func requestKeyFrame() { keyFrames.isWanted = true }
  /// Makes no more frames; what was sent can still be asked for.
  package mutating func stop() { nextFrame = .never }

  /// Goes on in another codec, from the next frame on.
  /// - Returns: false if that is the present one.
  package mutating func change(to new: NegotiatedCodec, now: Instant) -> Bool {
    guard new.payloadType != codec.payloadType, nextFrame != .never else { return false }
    let old = codec.codec.clockRate
    let rate = new.codec.clockRate
    codec = new
    sound.lastBlock = nil
    sound.silence = 0
    keyFrames.isWanted = true
    keyFrames.last = Instant(nanoseconds: -10_000_000_000)
    log.noteCodecChange(now: now)
    guard old != rate else { return true }
    // Browsers count on by either clock (RFC 7160 §3.2); others begin anywhere.
    let last = base &+ DriftingClock.units(clock.local(nextFrame), rate: old)
    let habit = random.next() % 3
    let first =
      habit == 0
      ? last
      : habit == 1
        ? last &+ DriftingClock.units(shape.interval, rate: rate)
          &- DriftingClock.units(shape.interval, rate: old)
        : UInt32(truncatingIfNeeded: random.next())
    base = first &- DriftingClock.units(clock.local(nextFrame), rate: rate)
    log.startRun(base: base, ssrc: ssrc, now: now, rate: rate, isClockChange: true)
    return true
  }

  /// Packets that were lost before the first link: their numbers are missing.
  mutating func skip(_ count: Int) {
    for _ in 0..<min(count, numbers.leeway) {
      var mark = FrameMark()
      mark.startsFrame = false
      record(timestamp: 0, mark, descriptor: [], sentAt: .never)
      numbers.advance()
    }
  }

  /// Whether a payload can be wrong: what is in plain Opus or PCM is not read on the way.
  var hasForm: Bool { kind == .video || codec.codec == .red }

  /// Uses up a number for a packet that is sealed as it should be, and whose payload breaks its codec's form.
  mutating func makeMalformed() -> [UInt8] {
    var mark = FrameMark()
    mark.startsFrame = false
    record(timestamp: 0, mark, descriptor: [], sentAt: .never)
    defer { numbers.advance() }
    // Without a header extension: nothing about it is to be reported but that it came.
    var bytes: [UInt8] = [0x80, codec.payloadType]
    bytes.append(bigEndian: numbers.next)
    bytes.append(bigEndian: base)
    bytes.append(bigEndian: ssrc)
    // It announces more than there is (RFC 7741 §4.2, RFC 9628 §4.2, RFC 6184 §5.7.1, RFC 7798 §4.4.2, RFC 2198 §3).
    return bytes + [codec.codec == .h264 ? 0x18 : codec.codec == .h265 ? 0x60 : 0xFF, 0xFF]
  }

  /// From here on timestamps are so much ahead, under the same numbers.
  package mutating func jump(by units: UInt32) { base &+= units }
  /// As are picture ids and the numbers of base frames.
  mutating func jumpPictures(by count: UInt16) {
    picture.id &+= count
    picture.tl0Index &+= UInt8(truncatingIfNeeded: count)
  }
  /// The next number is far ahead, within what SRTP can follow.
  mutating func leap(_ random: inout RandomSource) {
    numbers.advance(by: min(Int(UInt16.random(in: 15_000...30_000, using: &random)), numbers.leeway))
  }

  /// The encoder starts over with other numbers, under the same SSRC: forward, as SRTP allows no way back.
  package mutating func restart(now: Instant) {
    let jump = Int.random(in: 4_000...30_000, using: &random)
    numbers.advance(by: min(jump, max(numbers.leeway, 1)))
    startRun(now: now)
  }

  /// The same under another SSRC, which the MID extension ties to the section.
  package mutating func restart(ssrc: UInt32, rtxSSRC: UInt32?, now: Instant) {
    self.ssrc = ssrc
    if self.rtxSSRC != nil { self.rtxSSRC = rtxSSRC }
    numbers.begin(at: UInt16(truncatingIfNeeded: random.next()))
    namesSection = true
    startRun(now: now)
  }

  private mutating func startRun(now: Instant) {
    base = UInt32(truncatingIfNeeded: random.next())
    picture.id = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    kept = []
    sound.lastBlock = nil
    keyFrames.isWanted = true
    keyFrames.last = Instant(nanoseconds: -10_000_000_000)
    log.startRun(base: base, ssrc: ssrc, now: now, rate: codec.codec.clockRate)
  }

  // MARK: Packets

  /// The packets of the frame that is due, in plain text, with their numbers.
  mutating func makeFrame(now: Instant, transportSequence: inout UInt16) -> [(number: Int, bytes: [UInt8])] {
    let timestamp = base &+ DriftingClock.units(clock.media(nextFrame, kind), rate: codec.codec.clockRate)
    defer {
      nextFrame = nextFrame.advanced(byNanoseconds: shape.interval)
      frame += 1
    }
    let endsSilence = sound.silence == 1
    guard isHeard() else { return [] }
    var mark = FrameMark()
    var count = 1
    if kind == .video {
      mark.isKeyFrame = isKeyFrameDue(now)
      if mark.isKeyFrame {
        keyFrames.isWanted = false
        keyFrames.last = now
      }
      count = Int.random(in: mark.isKeyFrame ? shape.keyFramePackets : shape.packets, using: &random)
      mark.isBase = mark.isKeyFrame || frame % 2 == 0
      picture.id = (picture.id &+ 1) & 0x7FFF
      if mark.isBase { picture.tl0Index &+= 1 }
      mark.pictureMask = habits.hasShortPictureIDs ? 0x7F : 0x7FFF
      mark.pictureID = picture.id & mark.pictureMask
      mark.tl0PictureIndex = picture.tl0Index
    }
    var packets: [(number: Int, bytes: [UInt8])] = []
    for index in 0..<count {
      mark.startsFrame = index == 0
      mark.endsFrame = index == count - 1
      let descriptor = dependencies(mark)
      let number = record(timestamp: timestamp, mark, descriptor: descriptor, sentAt: now)
      let stamp = PayloadStamp(
        publisher: UInt32(log.publisher), track: UInt8(log.index), packet: UInt32(number), frame: frame,
        length: UInt16(Int.random(in: shape.packetSize, using: &random)), isKeyFrame: mark.isKeyFrame,
        isFrameStart: mark.startsFrame, isFrameEnd: mark.endsFrame)
      let isMarked = kind == .audio ? stamp.packet == 0 || endsSilence : mark.endsFrame
      var bytes = section.header(
        isMarked, codec.payloadType, numbers.next, timestamp, ssrc, namesSection: namesSection,
        level: level(stamp.packet),
        carried: [(.dependencyDescriptor, descriptor), (.absoluteCaptureTime, captureTime(number))],
        room: 2_200, &transportSequence)
      appendPayload(stamp, mark, timestamp: timestamp, to: &bytes)
      packets.append((number, bytes))
      packetCount &+= 1
      octetCount &+= UInt32(stamp.length)
      numbers.advance()
    }
    if codec.nack {
      kept += packets.map { ($0.number, $0.bytes, codec.rtxPayloadType) }
      if kept.count > 1_000 { kept.removeFirst(kept.count - 700) }
    }
    return packets
  }

  private func level(_ packet: UInt32) -> AudioLevel {
    guard habits.talksInTurns else {
      return AudioLevel(attenuation: UInt8(packet % 127), voice: packet % 2 == 0)
    }
    let isLoud = (packet / 150 &+ UInt32(log.publisher)) % 3 == 0
    return AudioLevel(attenuation: UInt8(packet % 20) + (isLoud ? 10 : 100), voice: isLoud)
  }

  /// Opus sends little in silence: a frame of every twenty (RFC 7587 §3.1.3).
  private mutating func isHeard() -> Bool {
    guard habits.pausesInSilence, [.opus, .red].contains(codec.codec) else { return true }
    if sound.silence > 0 {
      sound.silence -= 1
      return sound.silence == 0 || sound.silence % 20 == 0
    }
    if random.next() % 100 == 0 { sound.silence = Int.random(in: 5...60, using: &random) }
    return true
  }

  /// Every tenth packet says when it was captured. Every other publisher sends what a system with another clock
  /// captured, and how far that clock is ahead of its own.
  private func captureTime(_ packet: Int) -> [UInt8] {
    guard section.extensions[.absoluteCaptureTime] != 0, packet % 10 == 0 else { return [] }
    let isForeign = log.publisher % 2 == 1
    let ahead: UInt64 = isForeign ? 90 << 32 | 1 << 31 : 0
    var bytes: [UInt8] = []
    bytes.append(bigEndian: clock.ntp(nextFrame).rawValue &+ ahead)
    if isForeign { bytes.append(bigEndian: ahead) }
    return bytes
  }

  private func dependencies(_ mark: FrameMark) -> [UInt8] {
    guard codec.codec == .av1, section.extensions[.dependencyDescriptor] != 0 else { return [] }
    return SyntheticDependencies.bytes(
      mark, frameNumber: UInt16(truncatingIfNeeded: frame),
      isLong: habits.hasLongDescriptors && section.allowsMixedExtensions)
  }

  private mutating func appendPayload(
    _ stamp: PayloadStamp, _ mark: FrameMark, timestamp: UInt32, to bytes: inout [UInt8]
  ) {
    guard codec.codec == .red, let opus = section.codecs.first(where: { $0.codec == .opus }) else {
      bytes += PayloadFormat.head(codec.codec, mark, stampSize: Int(stamp.length))
      return stamp.write(to: &bytes)
    }
    var newest: [UInt8] = []
    stamp.write(to: &newest)
    let older = sound.lastBlock.map { ($0.bytes, timestamp &- $0.timestamp) }
    bytes += PayloadFormat.red(newest, older: older, payloadType: opus.payloadType)
    sound.lastBlock = (newest, timestamp)
  }

  @discardableResult
  private mutating func record(
    timestamp: UInt32, _ mark: FrameMark, descriptor: [UInt8], sentAt: Instant
  ) -> Int {
    let number = log.nextPacket
    log.append(
      PublishedTrack.Packet(
        sequence: numbers.next, timestamp: timestamp, run: log.runs.count - 1, pictureID: mark.pictureID,
        tl0PictureIndex: picture.tl0Index, frame: frame, startsFrame: mark.startsFrame,
        isKeyFrame: mark.isKeyFrame, codec: codec.codec, descriptor: descriptor, sentAt: sentAt))
    return number
  }

  /// The server has opened a packet of this SSRC, under this number.
  mutating func noteHeard(_ sequence: UInt16) { numbers.noteHeard(sequence) }

  /// The retransmission of what the server asks for (RFC 4588).
  /// - Returns: nil for a number that isn't kept any more.
  package mutating func retransmission(
    of wanted: UInt16, transportSequence: inout UInt16
  ) -> (number: Int, bytes: [UInt8])? {
    guard let rtxSSRC, let found = kept.last(where: { log.packets[$0.number].sequence == wanted }),
      let rtxPayloadType = found.rtxPayloadType
    else { return nil }
    guard let original = PlainPacket(found.bytes) else { return nil }
    // Retransmissions name their section for good: nothing ever acknowledges their SSRC.
    var bytes = section.header(
      original.header.marker, rtxPayloadType, numbers.nextRTX, original.header.timestamp, rtxSSRC,
      namesSection: true, level: nil,
      carried: [(.dependencyDescriptor, log.packets[found.number].descriptor)],
      room: original.payload.count + RTX.sequenceSize, &transportSequence)
    bytes.append(bigEndian: wanted)
    bytes += original.payload
    numbers.nextRTX &+= 1
    return (found.number, bytes)
  }

  func senderReport(now: Instant) -> SenderReport {
    SenderReport(
      ssrc: ssrc, ntp: clock.ntp(now),
      rtpTimestamp: base &+ DriftingClock.units(clock.media(now, kind), rate: codec.codec.clockRate),
      packetCount: packetCount, octetCount: octetCount)
  }

  /// The log's number of a sequence number that the server names.
  package func number(of wanted: UInt16) -> Int? {
    kept.last { log.packets[$0.number].sequence == wanted }?.number
  }
}
