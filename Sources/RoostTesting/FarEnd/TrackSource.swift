internal import Model
internal import Wire

/// A publisher's own clock: set to any time, and a little too fast or too slow.
struct DriftingClock {
  /// Nanoseconds that it is ahead at the beginning.
  var offset: Int64
  /// Parts per million that it runs too fast.
  var drift: Int64
  /// Parts per million that the sound card runs faster than it.
  var soundDrift: Int64

  /// Nanoseconds of its own since the simulation's zero.
  func local(_ now: Instant) -> Int64 { now.nanoseconds + now.nanoseconds / 1_000_000 * drift }
  func ntp(_ now: Instant) -> NTPTime {
    NTPTime(unixNanoseconds: VirtualClock.wallTimeAtZero + offset + local(now))
  }

  /// A track's own time: the clock's, or the sound card's.
  func media(_ now: Instant, _ kind: MediaKind) -> Int64 {
    let time = local(now)
    return kind == .audio ? time + time / 1_000_000 * soundDrift : time
  }

  /// Units of an RTP clock at its own time.
  static func units(_ local: Int64, rate: UInt32) -> UInt32 {
    let (seconds, rest) = local.quotientAndRemainder(dividingBy: 1_000_000_000)
    return UInt32(truncatingIfNeeded: seconds * Int64(rate) + rest * Int64(rate) / 1_000_000_000)
  }
}

/// Makes the packets of one track: audio as Opus sends it, video as a VP8 encoder with two temporal layers would.
struct TrackSource {
  let log: PublishedTrack
  let logNumber: Int
  let kind: MediaKind
  let clock: DriftingClock
  /// As the descriptions agreed.
  let section: SendSection
  let codec: NegotiatedCodec
  private(set) var ssrc: UInt32
  private(set) var rtxSSRC: UInt32?
  private var sequence: UInt16
  private var rtxSequence: UInt16
  private var base: UInt32
  private var pictureID: UInt16
  private var tl0PictureIndex: UInt8 = 0
  private var frame: UInt32 = 0
  private var wantsKeyFrame = true
  private var lastKeyFrame = Instant(nanoseconds: -10_000_000_000)
  private(set) var nextFrame: Instant
  private let interval: Int64
  private let packetSize: ClosedRange<Int>
  private let framePackets: ClosedRange<Int>
  private let keyFramePackets: ClosedRange<Int>
  /// Until the server is known to have mapped the stream.
  private var namesSection = true
  /// Plain packets, to be sent again; by number.
  private var kept: [(number: Int, bytes: [UInt8])] = []
  /// Sender report's counts.
  private(set) var packetCount: UInt32 = 0
  private(set) var octetCount: UInt32 = 0
  private var random: RandomSource

  init(
    section: SendSection, log: PublishedTrack, logNumber: Int, clock: DriftingClock, sequence: UInt16,
    frameInterval: Int64, packetSize: ClosedRange<Int>, framePackets: ClosedRange<Int> = 1...4,
    keyFramePackets: ClosedRange<Int> = 3...7, now: Instant, random: RandomSource
  ) {
    self.section = section
    self.log = log
    self.logNumber = logNumber
    self.clock = clock
    self.sequence = sequence
    self.random = random
    kind = section.kind
    codec = section.codecs[0]
    ssrc = section.ssrc
    rtxSSRC = section.rtxSSRC
    interval = frameInterval
    self.packetSize = packetSize
    self.framePackets = framePackets
    self.keyFramePackets = keyFramePackets
    rtxSequence = UInt16(truncatingIfNeeded: self.random.next())
    base = UInt32(truncatingIfNeeded: self.random.next())
    pictureID = UInt16(truncatingIfNeeded: self.random.next()) & 0x7FFF
    nextFrame = now
    log.startRun(base: base, ssrc: ssrc, now: now)
    log.isRepaired = codec.nack
  }

  // MARK: What happens to a source

  mutating func acknowledge() { namesSection = false }
  mutating func requestKeyFrame() { wantsKeyFrame = true }
  /// Makes no more frames; what was sent can still be asked for.
  mutating func stop() { nextFrame = .never }

  /// Packets that were lost before the first link: their numbers are missing.
  mutating func skip(_ count: Int) {
    for _ in 0..<count {
      record(timestamp: 0, starts: false, isKey: false, sentAt: .never)
      advanceSequence()
    }
  }

  /// The encoder starts over with other numbers, under the same SSRC: forward, as SRTP allows no way back.
  mutating func restart(now: Instant) {
    sequence &+= UInt16(Int.random(in: 4_000...30_000, using: &random))
    startRun(now: now)
  }

  /// The same under another SSRC, which the MID extension ties to the section.
  mutating func restart(ssrc: UInt32, rtxSSRC: UInt32?, now: Instant) {
    self.ssrc = ssrc
    if self.rtxSSRC != nil { self.rtxSSRC = rtxSSRC }
    sequence = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    namesSection = true
    startRun(now: now)
  }

  private mutating func startRun(now: Instant) {
    base = UInt32(truncatingIfNeeded: random.next())
    pictureID = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    kept = []
    wantsKeyFrame = true
    lastKeyFrame = Instant(nanoseconds: -10_000_000_000)
    log.startRun(base: base, ssrc: ssrc, now: now)
  }

  // MARK: Packets

  /// The packets of the frame that is due, in plain text, with their numbers.
  mutating func makeFrame(now: Instant, transportSequence: inout UInt16) -> [(number: Int, bytes: [UInt8])] {
    let timestamp = base &+ DriftingClock.units(clock.media(nextFrame, kind), rate: codec.codec.clockRate)
    defer {
      nextFrame = nextFrame.advanced(byNanoseconds: interval)
      frame += 1
    }
    var isKey = false
    var count = 1
    if kind == .video {
      isKey = wantsKeyFrame && now.nanoseconds - lastKeyFrame.nanoseconds >= 250_000_000
      if isKey {
        wantsKeyFrame = false
        lastKeyFrame = now
      }
      count = Int.random(in: isKey ? keyFramePackets : framePackets, using: &random)
      pictureID = (pictureID &+ 1) & 0x7FFF
      if isKey || frame % 2 == 0 { tl0PictureIndex &+= 1 }
    }
    var packets: [(number: Int, bytes: [UInt8])] = []
    for index in 0..<count {
      let number = record(timestamp: timestamp, starts: index == 0, isKey: isKey, sentAt: now)
      let stamp = PayloadStamp(
        publisher: UInt32(log.publisher), track: UInt8(log.index), packet: UInt32(number), frame: frame,
        length: UInt16(Int.random(in: packetSize, using: &random)), isKeyFrame: isKey,
        isFrameStart: index == 0, isFrameEnd: index == count - 1)
      let bytes = write(stamp, timestamp: timestamp, &transportSequence)
      packets.append((number, bytes))
      packetCount &+= 1
      octetCount &+= UInt32(stamp.length)
      advanceSequence()
    }
    if codec.nack {
      kept += packets
      if kept.count > 1_000 { kept.removeFirst(kept.count - 700) }
    }
    return packets
  }

  @discardableResult
  private mutating func record(timestamp: UInt32, starts: Bool, isKey: Bool, sentAt: Instant) -> Int {
    let number = log.nextPacket
    log.append(
      PublishedTrack.Packet(
        sequence: sequence, timestamp: timestamp, run: log.runs.count - 1, pictureID: pictureID,
        tl0PictureIndex: tl0PictureIndex, frame: frame, startsFrame: starts, isKeyFrame: isKey,
        sentAt: sentAt))
    return number
  }

  private mutating func advanceSequence() { sequence &+= 1 }

  private mutating func write(
    _ stamp: PayloadStamp, timestamp: UInt32, _ transportSequence: inout UInt16
  ) -> [UInt8] {
    let isMarked = kind == .audio ? stamp.packet == 0 : stamp.isFrameEnd
    var bytes = writeHeader(
      isMarked, codec.payloadType, sequence, timestamp, ssrc, namesSection: namesSection,
      level: AudioLevel(attenuation: UInt8(stamp.packet % 127), voice: stamp.packet % 2 == 0),
      room: 16 + Int(stamp.length), &transportSequence)
    if kind == .video { appendVP8(stamp, to: &bytes) }
    stamp.write(to: &bytes)
    return bytes
  }

  private func writeHeader(
    _ marker: Bool, _ payloadType: UInt8, _ sequence: UInt16, _ timestamp: UInt32, _ ssrc: UInt32,
    namesSection: Bool, level: AudioLevel?, room: Int, _ transportSequence: inout UInt16
  ) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 64 + room + SRTPSession.room) { buffer, count in
      let buffer = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<64])
      guard
        var writer = RTPWriter(
          into: buffer, marker: marker, payloadType: payloadType, sequence: sequence, timestamp: timestamp,
          ssrc: ssrc)
      else { return }
      if namesSection, section.extensions[.mid] != 0, let mid = MIDBytes(section.mid) {
        writer.append(id: section.extensions[.mid], mid)
      }
      if section.extensions[.audioLevel] != 0, let level {
        var byte = level.byte
        writer.append(id: section.extensions[.audioLevel], &byte, size: 1)
      }
      if section.extensions[.transportSequence] != 0 {
        writer.append(id: section.extensions[.transportSequence], transportSequence)
        transportSequence &+= 1
      }
      count = writer.finish()
    }
  }

  /// RFC 7741 §4.2: descriptor with picture id, TL0PICIDX and temporal layer; §4.3: the frame's own first bytes.
  private func appendVP8(_ stamp: PayloadStamp, to bytes: inout [UInt8]) {
    let isBase = stamp.isKeyFrame || frame % 2 == 0
    bytes.append(0x80 | (isBase ? 0 : 0x20) | (stamp.isFrameStart ? 0x10 : 0))
    bytes.append(0xE0)
    bytes.append(bigEndian: 0x8000 | pictureID)
    bytes.append(tl0PictureIndex)
    bytes.append((isBase ? 0 : 0x40) | 0x20)
    guard stamp.isFrameStart else { return }
    bytes += [stamp.isKeyFrame ? 0x10 : 0x11, 0, 0]
    if stamp.isKeyFrame { bytes += [0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01] }
  }

  /// The retransmission of what the server asks for (RFC 4588).
  /// - Returns: nil for a number that isn't kept any more.
  mutating func retransmission(
    of wanted: UInt16, transportSequence: inout UInt16
  ) -> (number: Int, bytes: [UInt8])? {
    guard let rtxSSRC, let rtxPayloadType = codec.rtxPayloadType,
      let found = kept.last(where: { log.packets[$0.number].sequence == wanted })
    else { return nil }
    let original: (header: RTPHeader, payload: [UInt8])? = found.bytes.withUnsafeBytes { packet in
      guard let header = try? RTPHeader(packet) else { return nil }
      return (header, Array(packet[header.payloadOffset...]))
    }
    guard let original else { return nil }
    // Retransmissions name their section for good: nothing ever acknowledges their SSRC.
    var bytes = writeHeader(
      original.header.marker, rtxPayloadType, rtxSequence, original.header.timestamp, rtxSSRC,
      namesSection: true, level: nil, room: original.payload.count + RTX.sequenceSize, &transportSequence)
    bytes.append(bigEndian: wanted)
    bytes += original.payload
    rtxSequence &+= 1
    return (found.number, bytes)
  }

  func senderReport(now: Instant) -> SenderReport {
    SenderReport(
      ssrc: ssrc, ntp: clock.ntp(now),
      rtpTimestamp: base &+ DriftingClock.units(clock.media(now, kind), rate: codec.codec.clockRate),
      packetCount: packetCount, octetCount: octetCount)
  }

  /// The log's number of a sequence number that the server names.
  func number(of wanted: UInt16) -> Int? {
    kept.last { log.packets[$0.number].sequence == wanted }?.number
  }
}
