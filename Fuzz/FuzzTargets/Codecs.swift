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
  check(descriptor.scalabilityOffset < descriptor.size, "the structure is in the descriptor")
  if let scalability = VP9Scalability(bytes, descriptor) {
    check((1...8).contains(scalability.layers), "layers are in bounds")
  }
}

/// H.264 units: a key frame begins a frame, and is not left out.
@Sendable public func fuzzH264(_ bytes: UnsafeRawBufferPointer) {
  guard let units = try? H264Payload(bytes) else { return }
  check(!units.startsKeyFrame || units.startsFrame, "a key frame begins a frame")
  check(
    units.parameterSetOffset + units.parameterSetSize <= bytes.count, "a parameter set lies in the payload")
}

/// A size, or none.
@Sendable public func fuzzH264ParameterSet(_ bytes: UnsafeRawBufferPointer) {
  if let size = H264ParameterSet.pictureSize(bytes) { check(size.pixels > 0, "no picture is empty") }
}

/// H.265 units: a key frame begins a frame, and what is read lies in the payload.
@Sendable public func fuzzH265(_ bytes: UnsafeRawBufferPointer) {
  guard let units = try? H265Payload(bytes) else { return }
  check(!units.startsKeyFrame || units.startsFrame, "a key frame begins a frame")
  check(units.temporalID <= 6, "sub-layers are in bounds")
  check(!units.isUnreferenced || !units.isRandomAccess, "pictures refer to where one can begin")
  check(
    units.parameterSetOffset + units.parameterSetSize <= bytes.count, "a parameter set lies in the payload")
}

/// A size and sub-layers, or none.
@Sendable public func fuzzH265ParameterSet(_ bytes: UnsafeRawBufferPointer) {
  guard let set = H265ParameterSet(bytes) else { return }
  check(set.picture.pixels > 0 && set.topSubLayer <= 6, "no picture is empty, and sub-layers are in bounds")
}

@Sendable public func fuzzVideoLayersAllocation(_ bytes: UnsafeRawBufferPointer) {
  guard let read = try? VideoLayersAllocation(bytes) else { return }
  check(read.streams <= 4 && read.stream < max(read.streams, 1), "it came in a stream that is listed")
  for stream in -1...4 {
    let said = read.announcement(ofStream: stream, arrival: Instant(nanoseconds: 0))
    check(
      !said.isActive || (0..<Int(read.streams)).contains(stream), "none but those that are listed are sent")
    for layer in 0..<4 { check(said.layers[layer].temporalCount <= 4, "layers are in bounds") }
  }
}

@Sendable public func fuzzAV1(_ bytes: UnsafeRawBufferPointer) {
  guard let units = try? AV1Payload(bytes) else { return }
  check(!units.startsKeyFrame || units.startsFrame, "a key frame begins a frame")
  check(units.firstUnit < bytes.count, "a unit is in the payload")
  if let size = AV1SequenceHeader.pictureSize(bytes, units) { check(size.pixels > 0, "no picture is empty") }
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
  // Three templates of two temporal layers, from 60 on.
  var known = DependencyStructure()
  let key: [UInt8] = [0xBC, 0x12, 0x34, 0x87, 0x81, 0x1E, 0xA8, 0x51, 0x40, 0x00]
  _ = key.withUnsafeBytes { try? DependencyDescriptor($0, &known) }
  check(known.count == 3, "a structure is known")
  guard let descriptor = try? DependencyDescriptor(bytes, &known) else {
    return check(known.count == 3, "what is refused changes nothing")
  }
  check(descriptor.templateID < 64, "a template has a number of six bits")
  check((1...64).contains(known.count) && (1...32).contains(known.targets.count), "counts are in bounds")
  check(known.active & ~known.targets.all == 0, "marks are of targets")
  if let frame = descriptor.frame { check(frame.spatial < 4 && frame.temporal < 8, "layers are in bounds") }
  guard
    let change = ActiveTargetsChange(
      bytes, targets: 1, count: known.targets.count,
      offset: descriptor.hasStructure ? descriptor.targetsOffset : nil)
  else { return }
  var again = known
  let rewritten = (0..<change.size).map { change.byte($0, bytes) }
  let read = rewritten.withUnsafeBytes { try? DependencyDescriptor($0, &again) }
  guard let read else { return check(false, "what is rewritten is read") }
  check(read.activeTargets == 1 && again.active == 1, "it says which targets are sent")
  check(
    read.frameNumber == descriptor.frameNumber && read.hasStructure == descriptor.hasStructure
      && (read.frame == nil) == (descriptor.frame == nil)
      && read.frame?.farthest == descriptor.frame?.farthest,
    "nothing else changes")
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
    NegotiatedCodec(codec: .av1, payloadType: 45), NegotiatedCodec(codec: .h265, payloadType: 49),
  ]
  + [CodecFormat.h264(.constrainedBaseline, mode: 1)].compactMap { $0 }
  .map { NegotiatedCodec(format: $0, payloadType: 102) }
