internal import Model
internal import Wire

/// Makes the packets of one track out of frames that an encoder has made.
final class EncodedSource {
  let section: SendSection
  let logNumber: Int
  private let log: PublishedTrack
  private let codec: NegotiatedCodec
  private let clock: DriftingClock
  private var numbers: SourceNumbers
  private let base: UInt32
  private var pictureID: UInt16
  private var frame: UInt32 = 0
  /// Until the server is known to have mapped the stream.
  private var namesSection = true
  /// Plain packets, to be sent again.
  private var kept: [(number: Int, sequence: UInt16, bytes: [UInt8])] = []
  private(set) var packetCount: UInt32 = 0
  private(set) var octetCount: UInt32 = 0
  private var isStopped = false

  /// Bytes of a packet's payload, at most.
  private static let mostBytes = 1_100
  private static let keptLimit = 600

  /// - Returns: nil where the section has none of the codecs that there are encoders for.
  init?(
    section: SendSection, clock: DriftingClock, log: PublishedTrack, logNumber: Int, now: Instant,
    random: RandomSource
  ) {
    let wanted: Codec = section.kind == .audio ? .opus : .vp8
    guard let codec = section.codecs.first(where: { $0.codec == wanted }) else { return nil }
    var random = random
    self.section = section
    self.codec = codec
    self.clock = clock
    self.log = log
    self.logNumber = logNumber
    numbers = SourceNumbers(
      next: UInt16(truncatingIfNeeded: random.next()) & 0x7FFF,
      nextRTX: UInt16(truncatingIfNeeded: random.next()) & 0x7FFF)
    base = UInt32(truncatingIfNeeded: random.next())
    pictureID = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    log.startRun(base: base, ssrc: section.ssrc, now: now, rate: codec.codec.clockRate)
    log.isRepaired = codec.nack
    log.takesKeyFrameRequests = codec.pli || codec.fir
  }

  var kind: MediaKind { section.kind }
  var ssrc: UInt32 { section.ssrc }

  func acknowledge() { namesSection = false }
  /// Makes no more packets; what was sent can still be asked for.
  func stop() { isStopped = true }

  /// In plain text, with the log's numbers.
  func packets(
    of encoded: EncodedFrame, now: Instant, transportSequence: inout UInt16
  ) -> [(number: Int, bytes: [UInt8])] {
    guard !isStopped, !encoded.bytes.isEmpty else { return [] }
    let timestamp =
      base &+ DriftingClock.units(clock.media(encoded.capturedAt, kind), rate: codec.codec.clockRate)
    let count = kind == .audio ? 1 : (encoded.bytes.count + Self.mostBytes - 1) / Self.mostBytes
    let isKeyFrame = kind == .video && encoded.bytes[0] & 1 == 0
    if kind == .video { pictureID = (pictureID &+ 1) & 0x7FFF }
    let packets = (0..<count).map { place in
      let part =
        encoded.bytes[encoded.bytes.count * place / count..<encoded.bytes.count * (place + 1) / count]
      let number = log.nextPacket
      log.append(
        PublishedTrack.Packet(
          sequence: numbers.next, timestamp: timestamp, run: 0, pictureID: pictureID, tl0PictureIndex: 0,
          frame: frame, startsFrame: place == 0, isKeyFrame: isKeyFrame, codec: codec.codec, sentAt: now))
      var bytes = section.header(
        kind == .audio ? frame == 0 : place == count - 1, codec.payloadType, numbers.next, timestamp, ssrc,
        namesSection: namesSection,
        level: kind == .audio ? AudioLevel(attenuation: encoded.attenuation, voice: true) : nil,
        room: part.count + 8, &transportSequence)
      if kind == .video { appendDescriptor(startsFrame: place == 0, to: &bytes) }
      bytes += part
      kept.append((number, numbers.next, bytes))
      packetCount &+= 1
      octetCount &+= UInt32(part.count)
      numbers.advance()
      return (number, bytes)
    }
    if kept.count > Self.keptLimit { kept.removeFirst(kept.count - Self.keptLimit / 2) }
    frame &+= 1
    return packets
  }

  /// With a picture id of 15 bits, and no layers (RFC 7741 §4.2).
  private func appendDescriptor(startsFrame: Bool, to bytes: inout [UInt8]) {
    bytes += [0x80 | (startsFrame ? 0x10 : 0), 0x80]
    bytes.append(bigEndian: 0x8000 | pictureID)
  }

  /// The retransmission of what the server asks for (RFC 4588).
  /// - Returns: nil for a number that isn't kept any more.
  func retransmission(
    of wanted: UInt16, transportSequence: inout UInt16
  ) -> (number: Int, bytes: [UInt8])? {
    guard let rtxSSRC = section.rtxSSRC, let payloadType = codec.rtxPayloadType,
      let found = kept.last(where: { $0.sequence == wanted }), let original = PlainPacket(found.bytes)
    else { return nil }
    // Retransmissions name their section for good: nothing ever acknowledges their SSRC.
    var bytes = section.header(
      original.header.marker, payloadType, numbers.nextRTX, original.header.timestamp, rtxSSRC,
      namesSection: true, level: nil, room: original.payload.count + RTX.sequenceSize, &transportSequence)
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
}
