package import Model
internal import Wire

/// Where a packet stands in its stream, as codecs say it beside the media.
struct FrameMark: Equatable {
  var startsFrame = true
  var endsFrame = true
  var isKeyFrame = false
  /// Of the lower of two temporal layers.
  var isBase = true
  var pictureID: UInt16 = 0
  /// 0x7F or 0x7FFF; 0 where the codec has none.
  var pictureMask: UInt16 = 0
  var tl0PictureIndex: UInt8 = 0
}

/// The bytes of a codec around a stamp: written as an encoder would, read back with the parsers of `Wire`.
package enum PayloadFormat {
  // MARK: Writing

  /// What goes before the stamp.
  static func head(_ codec: Codec, _ mark: FrameMark, stampSize: Int) -> [UInt8] {
    switch codec {
    case .opus, .red, .pcmu, .pcma, .g722: []
    case .vp8: vp8(mark)
    case .vp9: vp9(mark)
    case .h264: h264(mark, stampSize: stampSize)
    case .h265: h265(mark, stampSize: stampSize)
    case .av1: av1(mark)
    }
  }

  private static func append(pictureIDOf mark: FrameMark, to bytes: inout [UInt8]) {
    if mark.pictureMask == 0x7FFF {
      bytes.append(bigEndian: 0x8000 | mark.pictureID)
    } else {
      bytes.append(UInt8(mark.pictureID & 0x7F))
    }
  }

  /// RFC 7741 §4.2: descriptor with picture id, TL0PICIDX and temporal layer; §4.3: the frame's own first bytes.
  private static func vp8(_ mark: FrameMark) -> [UInt8] {
    var bytes: [UInt8] = [0x80 | (mark.isBase ? 0 : 0x20) | (mark.startsFrame ? 0x10 : 0), 0xE0]
    append(pictureIDOf: mark, to: &bytes)
    bytes.append(mark.tl0PictureIndex)
    bytes.append((mark.isBase ? 0 : 0x40) | 0x20)
    guard mark.startsFrame else { return bytes }
    bytes += [mark.isKeyFrame ? 0x10 : 0x11, 0, 0]
    if mark.isKeyFrame { bytes += [0x9D, 0x01, 0x2A, 0x80, 0x02, 0xE0, 0x01] }
    return bytes
  }

  /// RFC 9628 §4.2: the non-flexible mode with layers.
  private static func vp9(_ mark: FrameMark) -> [UInt8] {
    var bytes: [UInt8] = [
      0xA0 | (mark.isKeyFrame ? 0 : 0x40) | (mark.startsFrame ? 0x08 : 0) | (mark.endsFrame ? 0x04 : 0)
    ]
    append(pictureIDOf: mark, to: &bytes)
    bytes.append(mark.isBase ? 0 : 0x30)
    bytes.append(mark.tl0PictureIndex)
    return bytes
  }

  /// RFC 6184 §5: a key frame begins with its parameter sets in an aggregate; what doesn't fit in a packet is cut in
  /// fragments.
  private static func h264(_ mark: FrameMark, stampSize: Int) -> [UInt8] {
    let type: UInt8 = mark.isKeyFrame ? 5 : 1
    let importance: UInt8 = mark.isBase ? 0x40 : 0
    if mark.isKeyFrame && mark.startsFrame {
      var bytes: [UInt8] = [0x58, 0, 4, 0x67, 0x42, 0xE0, 0x1F, 0, 2, 0x68, 0xCE]
      bytes.append(bigEndian: UInt16(stampSize + 2))
      return bytes + [0x65, 0x88]
    }
    if mark.startsFrame && mark.endsFrame { return [importance | type, 0x9A] }
    if mark.isKeyFrame { return [0x65, 0x48] }
    return [
      importance | 28, (mark.startsFrame ? 0x80 : 0) | (mark.endsFrame ? 0x40 : 0) | type,
      mark.startsFrame ? 0x9A : 0x11,
    ]
  }

  /// Of 640 × 360 in two sub-layers, either of which may be begun at any picture.
  private static let sequenceParameterSet: [UInt8] = [
    0x42, 0x01, 0x03, 0x01, 0x60, 0x00, 0x00, 0x03, 0x00, 0x90, 0x00, 0x00, 0x03, 0x00, 0x00, 0x03, 0x00,
    0x5D,
    0x00, 0x00, 0xA0, 0x05, 0x02, 0x01, 0x69, 0x65, 0x15, 0x9A,
  ]

  /// RFC 7798 §4.4: likewise, with the pictures that none refers to in a sub-layer of their own.
  private static func h265(_ mark: FrameMark, stampSize: Int) -> [UInt8] {
    let type: UInt8 = mark.isKeyFrame ? 19 : mark.isBase ? 1 : 2
    let layer: UInt8 = mark.isBase ? 1 : 2
    if mark.isKeyFrame && mark.startsFrame {
      var bytes: [UInt8] = [96, 1, 0, 4, 64, 1, 0x0C, 0x02, 0, UInt8(sequenceParameterSet.count)]
      bytes += sequenceParameterSet + [0, 3, 68, 1, 0xC0]
      bytes.append(bigEndian: UInt16(stampSize + 3))
      return bytes + [type << 1, 1, 0xA8]
    }
    if mark.startsFrame && mark.endsFrame { return [type << 1, layer, 0x9A] }
    if mark.isKeyFrame { return [type << 1, 1, 0x28] }
    return [
      98, layer, (mark.startsFrame ? 0x80 : 0) | (mark.endsFrame ? 0x40 : 0) | type,
      mark.startsFrame ? 0x9A : 0x11,
    ]
  }

  /// AV1 RTP specification, §4.4: one element a packet.
  private static func av1(_ mark: FrameMark) -> [UInt8] {
    let continues: UInt8 = (mark.startsFrame ? 0 : 0x80) | (mark.endsFrame ? 0 : 0x40)
    let isFirst = mark.isKeyFrame && mark.startsFrame
    return [0x10 | continues | (isFirst ? 0x08 : 0), isFirst ? 0x08 : 0x30]
  }

  /// RFC 2198 §3: one older block before the newest.
  static func red(
    _ newest: [UInt8], older: (bytes: [UInt8], offset: UInt32)?, payloadType: UInt8
  ) -> [UInt8] {
    guard let older, older.bytes.count < 1_024, older.offset < 16_384 else { return [payloadType] + newest }
    var bytes: [UInt8] = [0x80 | payloadType]
    let rest = older.offset << 10 | UInt32(older.bytes.count)
    bytes += [UInt8(rest >> 16), UInt8(rest >> 8 & 0xFF), UInt8(rest & 0xFF), payloadType]
    return bytes + older.bytes + newest
  }

  // MARK: Reading

  /// What a plain packet's payload says of itself.
  /// - Parameter primaryOffset: of RED, where its newest block starts.
  /// - Returns: nil for a payload that no source of ours made.
  package static func stamp(
    _ payload: UnsafeRawBufferPointer, _ codec: Codec, primaryOffset: Int
  ) -> PayloadStamp? {
    guard codec == .red else { return read(payload, codec)?.0 }
    guard primaryOffset <= payload.count else { return nil }
    return PayloadStamp(UnsafeRawBufferPointer(rebasing: payload[primaryOffset...]))
  }

  /// - Returns: the stamp and its place, or nil for a payload that no source of ours made.
  static func read(_ payload: UnsafeRawBufferPointer, _ codec: Codec) -> (PayloadStamp, FrameMark)? {
    var mark = FrameMark()
    let start: Int
    switch codec {
    case .opus, .pcmu, .pcma, .g722: start = 0
    case .red: return nil
    case .vp8:
      guard let descriptor = try? VP8Descriptor(payload), descriptor.hasPictureID,
        descriptor.hasTL0PictureIndex
      else { return nil }
      mark.startsFrame = descriptor.startsFrame
      mark.isKeyFrame = descriptor.startsKeyFrame(payload)
      mark.pictureID = descriptor.pictureID
      mark.pictureMask = descriptor.pictureIDIsLong ? 0x7FFF : 0x7F
      mark.tl0PictureIndex = descriptor.tl0PictureIndex
      start = descriptor.size + (mark.startsFrame ? (mark.isKeyFrame ? 10 : 3) : 0)
    case .vp9:
      guard let descriptor = try? VP9Descriptor(payload), descriptor.hasPictureID,
        descriptor.hasTL0PictureIndex || descriptor.isFlexible
      else { return nil }
      mark.startsFrame = descriptor.startsPicture
      mark.isKeyFrame = descriptor.startsKeyFrame
      mark.pictureID = descriptor.pictureID
      mark.pictureMask = descriptor.pictureIDMask
      mark.tl0PictureIndex = descriptor.tl0PictureIndex
      start = descriptor.size
    case .h264:
      guard let units = try? H264Payload(payload), let first = payload.first else { return nil }
      mark.isKeyFrame = units.startsKeyFrame
      mark.startsFrame = units.startsFrame
      start = first & 0x1F == 24 ? lastUnit(payload) + 2 : first & 0x1F == 28 ? 3 : 2
    case .h265:
      guard let units = try? H265Payload(payload), let first = payload.first else { return nil }
      mark.isKeyFrame = units.startsKeyFrame
      mark.startsFrame = units.startsFrame
      start = first >> 1 == 48 ? 48 : first >> 1 == 49 ? 4 : 3
    case .av1:
      guard let units = try? AV1Payload(payload) else { return nil }
      mark.isKeyFrame = units.startsKeyFrame
      mark.startsFrame = units.startsFrame
      start = 2
    }
    guard start <= payload.count,
      let stamp = stamp(UnsafeRawBufferPointer(rebasing: payload[start...])),
      stamp.isFrameStart == mark.startsFrame, !mark.startsFrame || stamp.isKeyFrame == mark.isKeyFrame
    else { return nil }
    mark.isKeyFrame = stamp.isKeyFrame
    return (stamp, mark)
  }

  /// Where the last unit of an aggregate begins (RFC 6184 §5.7.1), which has been found to be whole.
  private static func lastUnit(_ payload: UnsafeRawBufferPointer) -> Int {
    var (next, last) = (1, 1)
    while next + 2 <= payload.count {
      last = next + 2
      next = last + (Int(payload[next]) << 8 | Int(payload[next + 1]))
    }
    return last
  }

  /// In plain text, or sealed for who has the key.
  private static func stamp(_ bytes: UnsafeRawBufferPointer) -> PayloadStamp? {
    PayloadStamp(bytes) ?? SealedStamp.read(bytes)
  }

  /// The newest block's stamp; every older block is held against its own.
  static func readRED(_ payload: UnsafeRawBufferPointer, blocks payloadType: UInt8) -> PayloadStamp? {
    guard let blocks = try? REDPayload(payload), blocks.payloadType == payloadType,
      let base = payload.baseAddress,
      let newest = PayloadStamp(UnsafeRawBufferPointer(rebasing: payload[blocks.primaryOffset...]))
    else { return nil }
    var offset = 4 * blocks.olderBlocks + 1
    for index in 0..<blocks.olderBlocks {
      let size = Int(base.loadBigEndian(at: 4 * index + 2, as: UInt16.self) & 0x3FF)
      guard
        let older = PayloadStamp(UnsafeRawBufferPointer(rebasing: payload[offset..<offset + size])),
        older.publisher == newest.publisher, older.track == newest.track, older.packet < newest.packet
      else { return nil }
      offset += size
    }
    return newest
  }
}

/// The dependency descriptor of synthetic AV1: two temporal layers, three templates (AV1 RTP specification, A.8).
enum SyntheticDependencies {
  /// Templates for a key frame, a base frame and one that may be left out.
  private static let templates: [UInt8] = [0x87, 0x81, 0x1E, 0xA8, 0x51, 0x40, 0x00]

  /// - Parameter isLong: with so many bytes behind the templates that the one-byte form can't hold it.
  static func bytes(_ mark: FrameMark, frameNumber: UInt16, isLong: Bool) -> [UInt8] {
    let template: UInt8 = mark.isKeyFrame ? 60 : mark.isBase ? 61 : 62
    var bytes = [(mark.startsFrame ? 0x80 : 0) | (mark.endsFrame ? 0x40 : 0) | template]
    bytes.append(bigEndian: frameNumber)
    guard mark.isKeyFrame && mark.startsFrame else { return bytes }
    return bytes + templates + (isLong ? Array(repeating: 0, count: 14) : [])
  }
}
