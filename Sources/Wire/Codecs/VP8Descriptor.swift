/// Why a payload has no VP8 descriptor that we accept. The reason is counted, never answered.
public enum VP8Error: Error, Equatable, Sendable {
  case empty
  /// The descriptor's flags announce a field that the payload, of `size` bytes, doesn't hold.
  case truncated(field: Field, size: Int)

  public enum Field: UInt8, Sendable {
    case extensionFlags, pictureID, tl0PictureIndex, temporalID
  }
}

/// The bytes before the VP8 data in every RTP payload (RFC 7741 §4.2). Offsets are from the payload's first byte.
public struct VP8Descriptor: Equatable, Sendable {
  /// Bytes of the descriptor, 1–6.
  public var size: Int
  /// N: no other frame refers to this one, so it may be left out.
  public var nonReference: Bool
  /// S: the payload begins a partition.
  public var startsPartition: Bool
  /// PID, 0–7.
  public var partition: UInt8
  /// 0 where absent; `hasPictureID` tells.
  public var pictureID: UInt16
  /// 0 where absent; otherwise where the picture id starts.
  public var pictureIDOffset: Int
  /// The M bit: the picture id has 15 bits in two bytes, otherwise 7 in one.
  public var pictureIDIsLong: Bool
  public var tl0PictureIndex: UInt8
  /// 0 where absent.
  public var tl0PictureIndexOffset: Int
  public var hasTemporalID: Bool
  /// TID, 0–3; 0 where absent.
  public var temporalID: UInt8
  /// Y: the frame depends on the base layer only, so a receiver may begin this temporal layer with it.
  public var layerSync: Bool
  /// KEYIDX, 0–31; nil where absent.
  public var keyIndex: UInt8?

  @inlinable public var hasPictureID: Bool { pictureIDOffset != 0 }
  @inlinable public var hasTL0PictureIndex: Bool { tl0PictureIndexOffset != 0 }
  /// The payload is the first of its frame.
  @inlinable public var startsFrame: Bool { startsPartition && partition == 0 }
  /// The mask of the picture id's circle: 0x7F or 0x7FFF.
  @inlinable public var pictureIDMask: UInt16 { pictureIDIsLong ? 0x7FFF : 0x7F }

  /// - Parameter payload: of the RTP packet, without padding; nothing of it is kept.
  @inlinable public init(_ payload: UnsafeRawBufferPointer) throws(VP8Error) {
    guard payload.count > 0, let bytes = payload.baseAddress else { throw .empty }
    let first = bytes.byte(at: 0)
    nonReference = first & 0x20 != 0
    startsPartition = first & 0x10 != 0
    partition = first & 0x07
    pictureID = 0
    pictureIDOffset = 0
    pictureIDIsLong = false
    tl0PictureIndex = 0
    tl0PictureIndexOffset = 0
    hasTemporalID = false
    temporalID = 0
    layerSync = false
    keyIndex = nil
    size = 1
    guard first & 0x80 != 0 else { return }

    guard payload.count > 1 else { throw .truncated(field: .extensionFlags, size: payload.count) }
    let flags = bytes.byte(at: 1)
    var offset = 2
    if flags & 0x80 != 0 {
      guard offset < payload.count else { throw .truncated(field: .pictureID, size: payload.count) }
      pictureIDOffset = offset
      let byte = bytes.byte(at: offset)
      if byte & 0x80 != 0 {
        guard offset &+ 1 < payload.count else { throw .truncated(field: .pictureID, size: payload.count) }
        pictureIDIsLong = true
        pictureID = bytes.loadBigEndian(at: offset, as: UInt16.self) & 0x7FFF
        offset &+= 2
      } else {
        pictureID = UInt16(byte)
        offset &+= 1
      }
    }
    if flags & 0x40 != 0 {
      guard offset < payload.count else { throw .truncated(field: .tl0PictureIndex, size: payload.count) }
      tl0PictureIndexOffset = offset
      tl0PictureIndex = bytes.byte(at: offset)
      offset &+= 1
    }
    if flags & 0x30 != 0 {
      guard offset < payload.count else { throw .truncated(field: .temporalID, size: payload.count) }
      let byte = bytes.byte(at: offset)
      if flags & 0x20 != 0 {
        hasTemporalID = true
        temporalID = byte >> 6
        layerSync = byte & 0x20 != 0
      }
      if flags & 0x10 != 0 { keyIndex = byte & 0x1F }
      offset &+= 1
    }
    size = offset
  }

  /// Writes another picture id and TL0PICIDX in their places, each with the width it has; absent ones stay absent.
  /// - Parameters:
  ///   - payload: the one that the descriptor was read from; bytes outside of it are never written.
  ///   - pictureID: the low 7 or 15 bits are taken.
  @inlinable public mutating func rewrite(
    _ payload: UnsafeMutableRawBufferPointer, pictureID newPictureID: UInt16, tl0PictureIndex newIndex: UInt8
  ) {
    guard size <= payload.count, let bytes = payload.baseAddress else { return }
    if hasPictureID {
      pictureID = newPictureID & pictureIDMask
      if pictureIDIsLong {
        bytes.storeBigEndian(0x8000 | pictureID, at: pictureIDOffset)
      } else {
        bytes.store(byte: UInt8(truncatingIfNeeded: pictureID), at: pictureIDOffset)
      }
    }
    if hasTL0PictureIndex {
      tl0PictureIndex = newIndex
      bytes.store(byte: newIndex, at: tl0PictureIndexOffset)
    }
  }

  /// Takes KEYIDX out, which need not be there (RFC 7741 §4.2). Its octet, which is the last, stays where it is: where it was there for
  /// KEYIDX alone, it says from now on that the frame is of the lowest layer of frame rate.
  /// - Parameter payload: the one that the descriptor was read from; bytes outside of it are never written.
  public mutating func removeKeyIndex(_ payload: UnsafeMutableRawBufferPointer) {
    guard keyIndex != nil, size <= payload.count, let bytes = payload.baseAddress else { return }
    let flags = UnsafeRawPointer(bytes).byte(at: 1)
    bytes.store(byte: flags & ~0x10 | 0x20, at: 1)
    let layer = hasTemporalID ? UnsafeRawPointer(bytes).byte(at: size &- 1) & 0xE0 : 0
    bytes.store(byte: layer, at: size &- 1)
    keyIndex = nil
    hasTemporalID = true
  }

  /// Whether the payload begins a key frame: the inverse key frame flag of the frame's first byte is 0
  /// (RFC 7741 §4.3). Always false in payloads that don't begin a frame.
  @inlinable public func startsKeyFrame(_ payload: UnsafeRawBufferPointer) -> Bool {
    guard startsFrame, size < payload.count, let bytes = payload.baseAddress else { return false }
    return bytes.byte(at: size) & 0x01 == 0
  }
}

/// The picture's size, from the start of a key frame (RFC 6386 §9.1).
public struct VP8KeyFrameSize: Equatable, Sendable {
  /// Pixels, 0–16383.
  public var width: UInt16
  public var height: UInt16

  /// - Returns: nil if the payload begins no key frame, is cut before the size or lacks the start code.
  @inlinable public init?(_ payload: UnsafeRawBufferPointer, _ descriptor: VP8Descriptor) {
    let start = descriptor.size
    guard descriptor.startsKeyFrame(payload), payload.count &- start >= 10, let bytes = payload.baseAddress,
      bytes.byte(at: start &+ 3) == 0x9D, bytes.byte(at: start &+ 4) == 0x01,
      bytes.byte(at: start &+ 5) == 0x2A
    else { return nil }
    // Little-endian; the upper two bits are a scaling hint.
    width = bytes.loadBigEndian(at: start &+ 6, as: UInt16.self).byteSwapped & 0x3FFF
    height = bytes.loadBigEndian(at: start &+ 8, as: UInt16.self).byteSwapped & 0x3FFF
  }
}
