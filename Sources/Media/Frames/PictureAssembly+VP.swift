internal import Model
internal import Wire

/// VP8 (RFC 7741) and VP9 (RFC 9628).
extension PictureAssembly {
  static func beginsVP8(_ payload: UnsafeRawBufferPointer) -> Bool {
    (try? VP8Descriptor(payload))?.startsFrame ?? false
  }

  mutating func addVP8(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard let descriptor = try? VP8Descriptor(payload), descriptor.size < payload.count,
      descriptor.startsFrame == bytes.isEmpty
    else { return false }
    if descriptor.startsFrame {
      isKeyFrame = descriptor.startsKeyFrame(payload)
      size = VP8KeyFrameSize(payload, descriptor).map { PictureSize(width: $0.width, height: $0.height) }
      layer.temporal = descriptor.temporalID
      layer.baseIndex =
        descriptor.hasTemporalID && descriptor.hasTL0PictureIndex ? descriptor.tl0PictureIndex : nil
      layer.refersToBase = descriptor.layerSync
    }
    bytes += payload[descriptor.size...]
    return true
  }

  static func beginsVP9(_ payload: UnsafeRawBufferPointer) -> Bool {
    (try? VP9Descriptor(payload))?.startsPicture ?? false
  }

  mutating func addVP9(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard let descriptor = try? VP9Descriptor(payload), descriptor.size < payload.count else { return false }
    // Layers of size come one behind the other, each whole.
    guard descriptor.startsLayerFrame == (bytes.isEmpty || hasEnded) else { return false }
    if bytes.isEmpty {
      guard descriptor.startsPicture else { return false }
      isKeyFrame = descriptor.startsKeyFrame
      layer.temporal = descriptor.temporalID
      layer.baseIndex = descriptor.hasTL0PictureIndex ? descriptor.tl0PictureIndex : nil
      layer.opensAbove = descriptor.switchesUp
    }
    if descriptor.startsLayerFrame {
      guard layerStarts.count < 8 else { return false }
      layerStarts.append(bytes.count)
    }
    bytes += payload[descriptor.size...]
    hasEnded = descriptor.endsLayerFrame
    if isKeyFrame, let layers = VP9Scalability(payload, descriptor) {
      // What is shown is the highest.
      let top = layers.pictures[Int(min(layers.layers, 4)) - 1]
      if top.pixels > 0 { size = top }
    }
    if isKeyFrame, size == nil, layerStarts.count == 1 {
      size = bytes.withUnsafeBytes { VP9FrameHeader($0) }?.size
    }
    return true
  }

  func finishedVP9() -> [UInt8]? {
    guard hasEnded else { return nil }
    guard layerStarts.count > 1 else { return bytes }
    let ends = layerStarts.dropFirst() + [bytes.count]
    return bytes + VP9FrameHeader.index(of: zip(layerStarts, ends).map { $1 - $0 })
  }
}
