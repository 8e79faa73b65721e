import Media
import Model
import Wire

/// VP9 descriptor: what it says lies in the payload.
@Sendable public func fuzzVP9(_ bytes: UnsafeRawBufferPointer) {
  guard let descriptor = try? VP9Descriptor(bytes) else { return }
  check(descriptor.size >= 1 && descriptor.size <= bytes.count, "the descriptor is in the payload")
  check(descriptor.pictureID <= descriptor.pictureIDMask, "the picture id is in its circle")
  check(
    descriptor.pictureIDOffset < descriptor.size && descriptor.tl0PictureIndexOffset < descriptor.size,
    "fields are in the descriptor")
  check(!descriptor.startsKeyFrame || descriptor.startsPicture, "a key frame begins a picture")
}

/// H.264 units: a key frame begins a frame, and is not left out.
@Sendable public func fuzzH264(_ bytes: UnsafeRawBufferPointer) {
  guard let units = try? H264Payload(bytes) else { return }
  check(!units.startsKeyFrame || units.startsFrame, "a key frame begins a frame")
}

@Sendable public func fuzzAV1(_ bytes: UnsafeRawBufferPointer) {
  guard let units = try? AV1Payload(bytes) else { return }
  check(!units.startsKeyFrame || units.startsFrame, "a key frame begins a frame")
}

/// RED: blocks lie in the payload, and another payload type is all that changes.
@Sendable public func fuzzRED(_ bytes: UnsafeRawBufferPointer) {
  guard let blocks = try? REDPayload(bytes) else { return }
  check(
    blocks.primaryOffset >= 1 && blocks.primaryOffset <= bytes.count, "the newest block is in the payload")
  check(4 * blocks.olderBlocks < blocks.primaryOffset, "headers come before blocks")
  var copy = Array(bytes)
  copy.withUnsafeMutableBytes { payload in
    REDPayload.rewrite(payload, olderBlocks: blocks.olderBlocks, payloadType: 17)
    guard let again = try? REDPayload(UnsafeRawBufferPointer(payload)) else {
      return check(false, "what is rewritten is read")
    }
    check(again.payloadType == 17 && again.primaryOffset == blocks.primaryOffset, "only the type changed")
    REDPayload.rewrite(payload, olderBlocks: blocks.olderBlocks, payloadType: blocks.payloadType)
    check(payload.elementsEqual(bytes), "nothing else is touched")
  }
}

@Sendable public func fuzzDependencyDescriptor(_ bytes: UnsafeRawBufferPointer) {
  let known = DependencyTemplates(offset: 60, count: 3, decodeTargets: 2, discardable: 0b100)
  guard let descriptor = try? DependencyDescriptor(bytes, known: known) else { return }
  check(descriptor.templateID < 64, "a template has a number of six bits")
  guard let templates = descriptor.templates else { return }
  check(
    (1...64).contains(templates.count) && (1...32).contains(templates.decodeTargets), "counts are in bounds")
  check(
    templates.count == 64 || templates.discardable >> UInt64(templates.count) == 0, "marks are of templates")
}

/// A packet of any codec through a receiver and a slot: what comes out is RTP of the slot, of the source's payload.
///
/// The first two bytes choose the subscriber and whether the descriptor's element is taken.
@Sendable public func fuzzTrackReceiver(_ bytes: UnsafeRawBufferPointer) {
  guard bytes.count > 2 else { return }
  let isVideo = bytes[0] < 3
  let codecs = isVideo ? video : audio
  var extensions = HeaderExtensionMap()
  extensions[.mid] = 1
  extensions[.dependencyDescriptor] = 5
  extensions[.absoluteSendTime] = 6
  var receiver = TrackReceiver(
    ReceiveSection(
      index: 0, mid: "0", kind: isVideo ? .video : .audio, codecs: codecs, extensions: extensions, ssrc: 7))
  var random = RandomSource.seeded(state: 1)
  var slot = Forwarder(
    SendSection(
      index: 0, mid: "0", kind: isVideo ? .video : .audio,
      codecs: bytes[0] == 4 ? codecs.filter { $0.codec != .red } : codecs, extensions: extensions, ssrc: 9,
      rtxSSRC: nil, cname: "", streamID: "", allowsMixedExtensions: bytes[0] & 1 == 0), random: &random)
  _ = slot.setSource(TrackKey(peer: PeerKey(home: 0, serial: 1), index: 0), clock: nil)

  var packet = Array(bytes[2...])
  packet.withUnsafeMutableBytes { packet in
    guard let header = try? RTPHeader(UnsafeRawBufferPointer(packet)) else { return }
    var carried = CarriedExtensions()
    var reader = HeaderExtensionReader(UnsafeRawBufferPointer(packet), header)
    while let element = reader.next() {
      guard element.id == 5, bytes[1] & 1 != 0 else { continue }
      carried.descriptorOffset = UInt16(truncatingIfNeeded: element.offset)
      carried.descriptorSize = UInt8(truncatingIfNeeded: element.size)
    }
    guard
      case .media(let info, let offset, let size) = receiver.receive(
        packet, header, isRTX: false, audioLevel: nil, carried: carried, arrival: Instant(nanoseconds: 1))
    else { return }
    check(offset == 0 && size <= packet.count, "a packet is in its buffer")
    let source = UnsafeRawBufferPointer(rebasing: packet[..<size])
    let sent = written(packet.count + 64) {
      guard let selection = slot.select(info) else { return nil }
      return slot.depart(
        selection, source, info, now: info.arrival, into: $0, epoch: Epoch(ntpAtZero: NTPTime(rawValue: 0)))?
        .size
    }
    guard let sent else { return }
    sent.withUnsafeBytes { sent in
      guard let again = try? RTPHeader(sent) else { return check(false, "what is sent is RTP") }
      check(again.ssrc == 9 && again.paddingSize == 0, "it is the slot's")
      check(
        again.payloadSize == header.payloadSize
          || info.format == .red && again.payloadSize < header.payloadSize,
        "the payload is the source's, or its newest block")
    }
  }
}

private let audio = [
  NegotiatedCodec(codec: .opus, payloadType: 111), NegotiatedCodec(codec: .red, payloadType: 63),
]
private let video: [NegotiatedCodec] =
  [
    NegotiatedCodec(codec: .vp8, payloadType: 96), NegotiatedCodec(codec: .vp9, payloadType: 98),
    NegotiatedCodec(codec: .av1, payloadType: 45),
  ]
  + [CodecFormat.h264(.constrainedBaseline, mode: 1)].compactMap { $0 }
  .map { NegotiatedCodec(format: $0, payloadType: 102) }
