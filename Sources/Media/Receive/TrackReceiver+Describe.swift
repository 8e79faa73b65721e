internal import Model
internal import Wire

extension TrackReceiver {
  /// Reads the codec's own header; an empty payload (padding for a probe) is passed on as it is.
  /// Mutating for speed alone: what only reads is handed a copy of the whole value, 9 KiB a packet.
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
    info.layer.temporal = descriptor.temporalID
    if descriptor.layerSync { info.flags.insert(.switchingPoint) }
    if descriptor.startsKeyFrame(payload) {
      info.flags.insert(.keyFrame)
      if let size = VP8KeyFrameSize(payload, descriptor) {
        picture = PictureSize(width: size.width, height: size.height)
      }
    }
    return true
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
      if descriptor.switchesUp { info.flags.insert(.opensHigherLayers) }
      if descriptor.endsLayerFrame { info.flags.insert(.endsLayerFrame) }
      if descriptor.startsLayerFrame, !descriptor.isInterPredicted { info.flags.insert(.beginsSpatialLayer) }
      if descriptor.startsPicture { info.flags.insert(.frameStart) }
      if descriptor.startsKeyFrame { info.flags.insert(.keyFrame) }
    case .h264:
      guard let units = try? H264Payload(payload) else { return false }
      if units.isDiscardable { info.flags.insert(.discardable) }
      if units.startsFrame { info.flags.insert(.frameStart) }
      if units.startsKeyFrame { info.flags.insert(.keyFrame) }
    case .av1:
      guard let units = try? AV1Payload(payload) else { return false }
      if units.startsFrame { info.flags.insert(.frameStart) }
      if units.startsKeyFrame { info.flags.insert(.keyFrame) }
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

  /// Notes the extensions that go on; what a dependency descriptor says of the frame counts more than the payload.
  @inline(never)
  mutating func describe(
    _ carried: CarriedExtensions, _ packet: UnsafeRawBufferPointer, _ info: inout PacketInfo
  ) {
    info.carried = carried
    info.flags.insert(.carriesExtensions)
    let start = Int(carried.descriptorOffset)
    let end = start &+ Int(carried.descriptorSize)
    guard start > 0 else { return }
    guard end <= packet.count,
      let descriptor = try? DependencyDescriptor(
        UnsafeRawBufferPointer(rebasing: packet[start..<end]), known: templates)
    else {
      info.carried.descriptorOffset = 0
      return
    }
    if let new = descriptor.templates { templates = new }
    info.carried.frameNumber = descriptor.frameNumber
    if descriptor.startsFrame {
      info.flags.insert(.frameStart)
      if descriptor.templates != nil { info.flags.insert(.keyFrame) }
    } else {
      info.flags.remove(.frameStart)
    }
    switch descriptor.isDiscardable {
    case true?: info.flags.insert(.discardable)
    case false?: info.flags.remove(.discardable)
    case nil: break
    }
  }
}
