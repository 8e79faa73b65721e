/// Why a payload has no VP9 descriptor that we accept. The reason is counted, never answered.
public enum VP9Error: Error, Equatable, Sendable {
  case empty
  /// The descriptor's flags announce a field that the payload, of `size` bytes, doesn't hold.
  case truncated(field: Field, size: Int)
  /// A frame may refer to three others (RFC 9628 §4.2).
  case tooManyReferences

  public enum Field: UInt8, Sendable {
    case pictureID, layers, tl0PictureIndex, references, scalability
  }
}

/// The bytes before the VP9 data in every RTP payload (RFC 9628 §4.2). Offsets are from the payload's first byte.
public struct VP9Descriptor: Equatable, Sendable {
  /// Bytes of the descriptor, at least 1.
  public var size: Int
  /// P: the frame refers to an earlier picture.
  public var isInterPredicted: Bool
  /// F: each frame says which ones it refers to.
  public var isFlexible: Bool
  /// B and E: the payload begins, and ends, a frame of one spatial layer.
  public var startsLayerFrame: Bool
  public var endsLayerFrame: Bool
  /// Z: no frame of a higher spatial layer refers to this one.
  public var isNotReferencedAbove: Bool
  /// 0 where absent.
  public var pictureID: UInt16
  /// 0 where absent; otherwise where the picture id starts.
  public var pictureIDOffset: Int
  /// M: the picture id has 15 bits in two bytes, otherwise 7 in one.
  public var pictureIDIsLong: Bool
  public var tl0PictureIndex: UInt8
  /// 0 where absent, as it is in flexible mode.
  public var tl0PictureIndexOffset: Int
  /// L: the two numbers and marks that follow are in the descriptor; else they are 0 and false.
  public var hasLayers: Bool
  public var temporalID: UInt8
  public var spatialID: UInt8
  /// U: from here on a receiver may take this temporal layer up.
  public var switchesUp: Bool
  /// Where the scalability structure is, in bytes from the payload's first; 0 where there is none.
  public var scalabilityOffset: Int
  /// D: the frame refers to the lower spatial layer of the same picture.
  public var isInterLayerPredicted: Bool

  @inlinable public var hasPictureID: Bool { pictureIDOffset != 0 }
  @inlinable public var hasTL0PictureIndex: Bool { tl0PictureIndexOffset != 0 }
  /// The mask of the picture id's circle: 0x7F or 0x7FFF.
  @inlinable public var pictureIDMask: UInt16 { pictureIDIsLong ? 0x7FFF : 0x7F }
  /// The payload is the first of its picture, over all spatial layers.
  @inlinable public var startsPicture: Bool { startsLayerFrame && spatialID == 0 }
  /// The payload is the first of a picture that refers to none before it.
  @inlinable public var startsKeyFrame: Bool { startsPicture && !isInterPredicted }

  /// - Parameter payload: of the RTP packet, without padding; nothing of it is kept.
  @inlinable public init(_ payload: UnsafeRawBufferPointer) throws(VP9Error) {
    guard payload.count > 0, let bytes = payload.baseAddress else { throw .empty }
    let first = bytes.byte(at: 0)
    isInterPredicted = first & 0x40 != 0
    isFlexible = first & 0x10 != 0
    startsLayerFrame = first & 0x08 != 0
    endsLayerFrame = first & 0x04 != 0
    isNotReferencedAbove = first & 0x01 != 0
    pictureID = 0
    pictureIDOffset = 0
    pictureIDIsLong = false
    tl0PictureIndex = 0
    tl0PictureIndexOffset = 0
    hasLayers = first & 0x20 != 0
    temporalID = 0
    spatialID = 0
    switchesUp = false
    isInterLayerPredicted = false
    scalabilityOffset = 0
    var offset = 1
    if first & 0x80 != 0 {
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
    if hasLayers {
      guard offset < payload.count else { throw .truncated(field: .layers, size: payload.count) }
      let byte = bytes.byte(at: offset)
      temporalID = byte >> 5
      switchesUp = byte & 0x10 != 0
      spatialID = byte >> 1 & 0x07
      isInterLayerPredicted = byte & 0x01 != 0
      offset &+= 1
      if !isFlexible {
        guard offset < payload.count else { throw .truncated(field: .tl0PictureIndex, size: payload.count) }
        tl0PictureIndexOffset = offset
        tl0PictureIndex = bytes.byte(at: offset)
        offset &+= 1
      }
    }
    if isFlexible && isInterPredicted { offset = try Self.referencesEnd(payload, from: offset) }
    if first & 0x02 != 0 {
      guard let end = Self.scalabilityEnd(payload, from: offset) else {
        throw .truncated(field: .scalability, size: payload.count)
      }
      scalabilityOffset = offset
      offset = end
    }
    size = offset
  }

  /// Skips the distances to the frames that this one refers to, each of which says whether another follows.
  @usableFromInline static func referencesEnd(
    _ payload: UnsafeRawBufferPointer, from start: Int
  ) throws(VP9Error) -> Int {
    for offset in start..<(start &+ 3) {
      guard offset < payload.count, let bytes = payload.baseAddress else {
        throw .truncated(field: .references, size: payload.count)
      }
      if bytes.byte(at: offset) & 0x01 == 0 { return offset &+ 1 }
    }
    throw .tooManyReferences
  }

  /// Skips the scalability structure, which says how the layers hang together (RFC 9628 §4.2.1).
  @usableFromInline static func scalabilityEnd(_ payload: UnsafeRawBufferPointer, from start: Int) -> Int? {
    guard start < payload.count, let bytes = payload.baseAddress else { return nil }
    let first = bytes.byte(at: start)
    var offset = start &+ 1
    if first & 0x10 != 0 { offset &+= 4 &* (Int(first >> 5) &+ 1) }
    if first & 0x08 != 0 {
      guard offset < payload.count else { return nil }
      var pictures = bytes.byte(at: offset)
      offset &+= 1
      while pictures > 0 {
        guard offset < payload.count else { return nil }
        offset &+= 1 &+ Int(bytes.byte(at: offset) >> 2 & 0x03)
        pictures &-= 1
      }
    }
    return offset <= payload.count ? offset : nil
  }
}
