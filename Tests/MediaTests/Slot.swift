import Media
import Model
import Testing
import Wire

/// As `#require`, which can't stand inside itself.
func some<T>(_ value: T?, sourceLocation: SourceLocation = #_sourceLocation) throws -> T {
  try #require(value, sourceLocation: sourceLocation)
}

/// What a subscriber's packet says.
struct Sent: Equatable {
  var index: UInt64
  var header: RTPHeader
  var mid: [UInt8]?
  var level: UInt8?
  var payload: [UInt8]
  var contributors: [UInt32]
  /// By id.
  var extensions: [UInt8: [UInt8]] = [:]

  var sequence: Int64 { Int64(bitPattern: index) }
  var timestamp: UInt32 { header.timestamp }
  var descriptor: VP8Descriptor? { payload.withUnsafeBytes { try? VP8Descriptor($0) } }
  var pictureID: UInt16? { descriptor.flatMap { $0.hasPictureID ? $0.pictureID : nil } }
  var tl0: UInt8? { descriptor.flatMap { $0.hasTL0PictureIndex ? $0.tl0PictureIndex : nil } }
  /// The original sequence number of a retransmission.
  var original: UInt16 { UInt16(payload[0]) << 8 | UInt16(payload[1]) }
}

/// One subscriber's slot, as its transport would drive it.
final class Slot {
  static let midID: UInt8 = 3
  static let levelID: UInt8 = 5
  private static let vp8 = {
    var info = PacketInfo()
    info.format = .vp8
    info.primaryFormat = .vp8
    return info
  }()
  var section: SendSection
  var forwarder: Forwarder
  /// Room that outgoing packets get.
  var room = 1_600

  init(
    _ kind: MediaKind, mid: String = "a0", rtx: Bool = true, levelID: UInt8 = Slot.levelID, seed: UInt64 = 1,
    video: CodecFormat = .vp8
  ) {
    var extensions = HeaderExtensionMap()
    extensions[.mid] = Self.midID
    extensions[.audioLevel] = levelID
    section = SendSection(
      index: 0, mid: mid, kind: kind,
      codecs: kind == .video
        ? [
          NegotiatedCodec(
            format: video, payloadType: 120, rtxPayloadType: rtx ? 121 : nil, nack: true, pli: true)
        ]
        : [NegotiatedCodec(codec: .opus, payloadType: 109)],
      extensions: extensions, ssrc: 0xAAAA_AAAA, rtxSSRC: rtx ? 0xBBBB_BBBB : nil, cname: "c", streamID: "s")
    var random = RandomSource.seeded(state: seed)
    forwarder = Forwarder(section, random: &random)
  }

  /// Puts the forwarder out and back in as bytes.
  func rebuild() throws {
    var writer = StateWriter()
    forwarder.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    forwarder = try Forwarder(section, from: &reader)
    try reader.finish()
    var again = StateWriter()
    forwarder.encode(into: &again)
    if again.bytes != writer.bytes { throw StateError.invalid(field: "not the same again", offset: 0) }
  }

  var counters: ForwarderCounters { forwarder.counters }
  var needsKeyFrame: Bool { forwarder.needsKeyFrame }
  var source: TrackKey? { forwarder.source }
  var usesRTX: Bool { forwarder.usesRTX(Self.vp8) }
  var answersNACK: Bool { forwarder.answersNACK(Self.vp8) }
  func report(now: Instant) -> SenderReport? { forwarder.senderReport(now: now, epoch: epoch) }

  @discardableResult
  func feed(_ source: Source?) -> Bool { forwarder.setSource(source?.key, clock: source?.clock) }

  func begin(with past: RecentPictures) -> Bool { forwarder.beginWith(past) }
  func pause(_ pauses: Bool) -> Bool { forwarder.setPaused(pauses) }

  func forward(_ packet: Source.Packet) -> Sent? {
    write { buffer in
      packet.bytes.withUnsafeBytes { forwarder.rewrite($0, packet.info, into: buffer, epoch: epoch) }
    }
  }

  func select(_ packet: Source.Packet) -> Selection? { forwarder.select(packet.info) }

  func depart(_ selection: Selection, _ packet: Source.Packet) -> Sent? {
    write { buffer in
      packet.bytes.withUnsafeBytes {
        forwarder.depart(selection, $0, packet.info, now: packet.info.arrival, into: buffer, epoch: epoch)
      }
    }
  }

  /// Asks for a packet of the stream again; it is found in the source's history.
  func ask(_ sequence: UInt16, of source: Source, at now: Instant = milliseconds(100_000)) -> Sent? {
    let request = forwarder.retransmission(of: sequence, now: now, roundTrip: .milliseconds(20))
    guard let request, let packet = source.sent[request.source] else { return nil }
    return write { buffer in
      packet.bytes.withUnsafeBytes { forwarder.rewriteRetransmission(request, $0, packet.info, into: buffer) }
    }
  }

  func write(_ body: (UnsafeMutableRawBufferPointer) -> OutgoingPacket?) -> Sent? {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 8)
    defer { buffer.deallocate() }
    guard let outgoing = body(buffer), outgoing.size <= room else { return nil }
    let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<outgoing.size])
    guard let header = try? RTPHeader(bytes), header.headerSize == outgoing.headerSize,
      header.ssrc == outgoing.ssrc, header.sequence == UInt16(truncatingIfNeeded: outgoing.index)
    else { return nil }
    var sent = Sent(
      index: outgoing.index, header: header, payload: Array(bytes[header.headerSize...]),
      contributors: (0..<header.csrcCount).map {
        bytes.loadUnaligned(fromByteOffset: 12 + 4 * $0, as: UInt32.self).bigEndian
      })
    var reader = HeaderExtensionReader(bytes, header)
    while let element = reader.next() {
      let data = Array(bytes[element.offset..<element.offset + element.size])
      sent.extensions[element.id] = data
      if element.id == Self.midID { sent.mid = data }
      if element.id == section.extensions[.audioLevel] { sent.level = data.first }
    }
    return sent
  }
}

/// A track that feeds slots: a publisher's packets, read as they are when they come in.
final class Source {
  struct Packet {
    var bytes: [UInt8]
    var info: PacketInfo
  }

  let key: TrackKey
  let kind: MediaKind
  var receiver: TrackReceiver
  /// Of the next packet.
  var sequence: UInt16
  var pictureID: UInt16?
  var isLong = true
  var tl0: UInt8?
  /// Of the source's clock at `start`.
  let base: UInt32
  var clock: ClockMapping?
  /// What it sent, by extended sequence number: the history.
  var sent: [Int64: Packet] = [:]

  init(
    _ kind: MediaKind, peer: UInt64, sequence: UInt16 = 100, base: UInt32 = 5_000, pictureID: UInt16? = nil,
    tl0: UInt8? = nil
  ) {
    key = TrackKey(peer: PeerKey(rawValue: peer), index: 0)
    self.kind = kind
    self.sequence = sequence
    self.base = base
    self.pictureID = pictureID
    self.tl0 = tl0
    receiver = TrackReceiver(section(kind))
  }

  /// The source's clock is known as well as a sender report tells it.
  func report(rate: Double? = nil) {
    clock = ClockMapping(
      timestamp: base, ntp: epoch.ntp(at: start), rate: kind == .video ? 90_000 : 48_000,
      measured: rate.map { UInt32($0.rounded()) }, isReported: true)
  }

  func timestamp(at milliseconds: Int) -> UInt32 {
    base &+ UInt32(truncatingIfNeeded: milliseconds * (kind == .video ? 90 : 48))
  }

  /// The next packet, captured at a moment and come `delay` later; nil if the receiver drops it.
  func next(
    at moment: Int, delay: Int = 10, key: Bool = false, newFrame: Bool = true,
    _ change: (inout RTPPacket) -> Void = { _ in }
  ) -> Packet? {
    let frame = newFrame ? 1 : 0 as UInt16
    pictureID = pictureID.map { $0 &+ frame }
    tl0 = tl0.map { $0 &+ UInt8(frame) }
    var packet = RTPPacket(
      sequence: sequence, timestamp: timestamp(at: moment), payloadType: kind == .video ? 96 : 111,
      marker: true)
    if kind == .video {
      packet.payload = vp8(
        key: key, starts: newFrame, pictureID: pictureID.map { $0 & (isLong ? 0x7FFF : 0x7F) }, long: isLong,
        tl0: tl0)
    }
    change(&packet)
    sequence = packet.sequence &+ 1
    let taken = receiver.take(packet.bytes, level: packet.level, at: milliseconds(moment + delay))
    guard let info = taken.outcome.info else { return nil }
    let kept = Packet(bytes: taken.packet, info: info)
    sent[info.extendedSequence] = kept
    return kept
  }
}

extension ClockMapping {
  /// The timestamp of some milliseconds after `start`.
  func timestamp(at moment: Int) -> UInt32 { timestamp(at: epoch.ntp(at: milliseconds(moment))) }
}
