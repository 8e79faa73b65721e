internal import Model
internal import Wire

extension TrackReceiver {
  /// Reads the codec's own header; an empty payload (padding for a probe) is passed on as it is.
  /// Mutating for speed alone: what only reads is handed a copy of the whole value, 9 KiB a packet.
  /// - Parameter payload: in the owner's buffer, which may be changed.
  /// - Returns: false for a payload that is none of its codec.
  @inline(__always)
  mutating func describe(_ payload: UnsafeRawBufferPointer, _ info: inout PacketInfo) -> Bool {
    guard payload.count > 0 else { return true }
    switch info.format.codec {
    case .vp8: return describeVP8(payload, &info)
    case .opus, .pcmu, .pcma, .g722: return true
    default: return describeOther(payload, &info)
    }
  }

  @inline(__always)
  private mutating func describeVP8(_ payload: UnsafeRawBufferPointer, _ info: inout PacketInfo) -> Bool {
    guard let descriptor = try? VP8Descriptor(payload) else { return false }
    info.pictureID = descriptor.pictureID
    info.pictureIDOffset = UInt8(truncatingIfNeeded: descriptor.pictureIDOffset)
    info.tl0PictureIndex = descriptor.tl0PictureIndex
    info.tl0PictureIndexOffset = UInt8(truncatingIfNeeded: descriptor.tl0PictureIndexOffset)
    if descriptor.pictureIDIsLong { info.flags.insert(.longPictureID) }
    if descriptor.nonReference { info.flags.insert(.discardable) }
    if descriptor.startsFrame { info.flags.insert(.frameStart) }
    if descriptor.keyIndex != nil { Self.removeKeyIndex(payload, descriptor) }
    info.layer.temporal = descriptor.temporalID
    if descriptor.layerSync { info.flags.insert(.switchingPoint) }
    if descriptor.startsKeyFrame(payload) {
      info.flags.insert(.keyFrame)
      if let size = VP8KeyFrameSize(payload, descriptor) {
        pictures.set(PictureSize(width: size.width, height: size.height))
      }
    }
    return true
  }

  /// KEYIDX counts one encoder's key frames, and pictures refer to them by it. In a slot that goes on from one source to another two
  /// that have nothing to do with each other would come to have the same one. No receiver needs it: that a key frame is missing
  /// sequence numbers and picture ids say, which go on without a gap.
  @inline(never)
  private static func removeKeyIndex(_ payload: UnsafeRawBufferPointer, _ descriptor: VP8Descriptor) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.keyIndexKept) { return }
    #endif
    var descriptor = descriptor
    descriptor.removeKeyIndex(UnsafeMutableRawBufferPointer(mutating: payload))
  }

  @inline(never)
  private mutating func describeOther(_ payload: UnsafeRawBufferPointer, _ info: inout PacketInfo) -> Bool {
    switch info.format.codec {
    case .vp9:
      guard let descriptor = try? VP9Descriptor(payload) else { return false }
      info.pictureID = descriptor.pictureID
      info.pictureIDOffset = UInt8(truncatingIfNeeded: descriptor.pictureIDOffset)
      info.tl0PictureIndex = descriptor.tl0PictureIndex
      info.tl0PictureIndexOffset = UInt8(truncatingIfNeeded: descriptor.tl0PictureIndexOffset)
      if descriptor.pictureIDIsLong { info.flags.insert(.longPictureID) }
      info.layer = LayerID(spatial: descriptor.spatialID, temporal: descriptor.temporalID)
      // Of the layers above: no later picture of theirs refers to one of theirs before this one (RFC 9628 §4.2).
      if descriptor.switchesUp { info.layer.opens = 0xFE << descriptor.temporalID }
      noteSpatialLayer(descriptor, payload, isLast: info.flags.contains(.marker))
      if descriptor.spatialID >= layers.top { info.flags.insert(.topSpatialLayer) }
      if descriptor.isNotReferencedAbove, descriptor.isInterPredicted,
        descriptor.spatialID < layers.top
      {
        info.flags.insert(.notNeededAbove)
      }
      if descriptor.endsLayerFrame { info.flags.insert(.endsLayerFrame) }
      if descriptor.startsLayerFrame, !descriptor.isInterPredicted { info.flags.insert(.beginsSpatialLayer) }
      if descriptor.startsPicture { info.flags.insert(.frameStart) }
      if descriptor.startsKeyFrame { info.flags.insert(.keyFrame) }
    case .h264:
      guard let units = try? H264Payload(payload) else { return false }
      describeLayer(units, &info)
      if units.parameterSetSize > 0 {
        let unit = payload[units.parameterSetOffset..<units.parameterSetOffset &+ units.parameterSetSize]
        H264ParameterSet.pictureSize(UnsafeRawBufferPointer(rebasing: unit)).map { pictures.set($0) }
      }
      if units.startsFrame { info.flags.insert(.frameStart) }
      if units.startsKeyFrame { info.flags.insert(.keyFrame) }
    case .h265: return describeH265(payload, &info)
    case .av1:
      guard let units = try? AV1Payload(payload) else { return false }
      if units.startsFrame { info.flags.insert(.frameStart) }
      if units.startsKeyFrame {
        info.flags.insert(.keyFrame)
        AV1SequenceHeader.pictureSize(payload, units).map { pictures.set($0) }
      }
    case .red where word.isEncrypted: break
    case .red:
      guard let blocks = try? REDPayload(payload),
        let format = formats[blocks.payloadType], format.codec != .red
      else { return false }
      info.primaryFormat = format
      info.primaryOffset = UInt16(truncatingIfNeeded: blocks.primaryOffset)
      info.olderBlocks = UInt8(truncatingIfNeeded: blocks.olderBlocks)
    case .vp8, .opus, .pcmu, .pcma, .g722: break
    }
    return true
  }

  /// Which layer of VP9 is the highest that is sent: as a key frame says, or as two pictures in a row end.
  private mutating func noteSpatialLayer(
    _ descriptor: VP9Descriptor, _ payload: UnsafeRawBufferPointer, isLast: Bool
  ) {
    if let scalability = VP9Scalability(payload, descriptor) {
      layers.top = scalability.layers - 1
      pictures.pictures = scalability.pictures
    }
    guard isLast else { return }
    if descriptor.spatialID > layers.top || descriptor.spatialID == layers.last {
      layers.top = descriptor.spatialID
    }
    layers.last = descriptor.spatialID
  }

  /// Frames of H.264 that no other refers to are a layer of their own, which may be taken up with any of them; an encoder that says
  /// more of its layers knows them better.
  private func describeLayer(_ units: H264Payload, _ info: inout PacketInfo) {
    if units.isDiscardable {
      info.flags.insert(.discardable)
      info.layer.temporal = 1
    }
    if let temporal = units.temporalID { info.layer.temporal = temporal }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.referencesLeftOut), !units.isDiscardable { info.layer.temporal = 1 }
    #endif
    // Those of higher layers may refer to frames of the one below.
    if units.isDiscardable, info.layer.temporal == 1 { info.flags.insert(.switchingPoint) }
  }

  /// Notes the extensions that go on; what a dependency descriptor says of the frame counts more than the payload.
  /// - Returns: whether it says what the frame is.
  @inline(never)
  mutating func describe(
    _ carried: CarriedExtensions, _ packet: UnsafeRawBufferPointer, _ info: inout PacketInfo
  ) -> Bool {
    info.carried = carried
    info.flags.insert(.carriesExtensions)
    let start = Int(carried.descriptorOffset)
    let end = start &+ Int(carried.descriptorSize)
    guard start > 0 else { return false }
    guard end <= packet.count,
      let isKnown = dependencies.describe(
        UnsafeRawBufferPointer(rebasing: packet[start..<end]),
        isLate: info.extendedSequence < statistics.highestSequence, &info)
    else {
      info.carried.descriptorOffset = 0
      return false
    }
    if dependencies.followsUnfinished { requestKeyFrame() }
    if info.flags.contains(.keyFrame), dependencies.pictures[0].pixels > 0 {
      pictures.pictures = dependencies.pictures
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.lowestSizeForAll) { pictures.set(dependencies.pictures[0]) }
      #endif
    }
    return isKnown
  }
}
