/// Why a payload is no H.265 that we accept. The reason is counted, never answered.
public enum H265Error: Error, Equatable, Sendable {
  /// The unit's first byte claims an error in transmission.
  case forbiddenBit
  /// `nuh_temporal_id_plus1` is 0, which no unit has (H.265 §7.4.2.2).
  case noTemporalID
  /// A type that stands for no unit, or that doesn't stand where it was found (RFC 7798 §4.4).
  case unknownType(UInt8)
  /// It ends in the middle of its own headers.
  case truncated(offset: Int, size: Int)
}

/// What the headers of the NAL units in one RTP payload say (RFC 7798 §4.4), in a single stream without decoding order numbers.
///
/// Units of other layers than the base layer (`nuh_layer_id` above 0) are read over.
public struct H265Payload: Equatable, Sendable {
  /// A video parameter set is in it, and no picture that refers to others. Each key frame has one in band before it, and nothing of
  /// it stands in front of that, so that a receiver can begin here and only here.
  public var startsKeyFrame: Bool { hasVideoParameterSet && !(isPicture && sliceType < 16) }
  /// The first of a key frame's parameter sets is in it, or the first slice of any other picture; once in a picture.
  public var startsFrame = false
  /// Which sub-layer its picture is of, 0–6; of units without a picture the lowest of theirs.
  public var temporalID: UInt8 = 0
  /// Where the content of a sequence parameter set lies that is whole in it: behind its header, from the payload's first byte, and its
  /// size; 0 where there is none.
  public var parameterSetOffset = 0
  public var parameterSetSize = 0
  @usableFromInline var hasVideoParameterSet = false
  /// The type of the first slice; 255 where there is none.
  @usableFromInline var sliceType: UInt8 = 255

  /// It has slices.
  @inlinable public var isPicture: Bool { sliceType != 255 }
  /// No other picture of its sub-layer refers to its picture (H.265 table 7-1). Those of higher ones may.
  @inlinable public var isUnreferenced: Bool { sliceType < 16 && sliceType & 1 == 0 }
  /// Its picture can be decoded without any that came before (§3.62, IRAP).
  @inlinable public var isRandomAccess: Bool { (16...21).contains(sliceType) }
  /// Who gets the sub-layer below its picture's can go on to that of its picture (TSA and STSA).
  @inlinable public var isSwitchingPoint: Bool { (2...5).contains(sliceType) && temporalID > 0 }
  /// Who gets its picture can go on to every higher sub-layer behind it (TSA).
  @inlinable public var opensAbove: Bool { (2...3).contains(sliceType) && temporalID > 0 }

  /// - Parameter payload: of the RTP packet, without padding; nothing of it is kept.
  @inlinable public init(_ payload: UnsafeRawBufferPointer) throws(H265Error) {
    guard payload.count >= 2, let bytes = payload.baseAddress else {
      throw .truncated(offset: 0, size: payload.count)
    }
    var header = try Header(bytes.loadBigEndian(at: 0, as: UInt16.self))
    var start = 2
    if header.type == 50 {
      guard payload.count >= 4 else { throw .truncated(offset: 2, size: payload.count) }
      // The first bit and the type of what it carries, and the size of its own fields (RFC 7798 §4.4.4).
      let fields = bytes.loadBigEndian(at: 2, as: UInt16.self)
      guard fields & 0x8000 == 0 else { throw .forbiddenBit }
      header.type = UInt8(truncatingIfNeeded: fields >> 9 & 0x3F)
      start = 4 &+ Int(fields >> 4 & 0x1F)
      guard start <= payload.count else { throw .truncated(offset: 4, size: payload.count) }
    }
    switch header.type {
    case 0...47:
      note(header, payload, at: start, size: payload.count &- start)
      temporalID = header.temporalID
    case 48: try readUnits(of: payload, from: start)
    case 49:
      guard start &+ 1 < payload.count else { throw .truncated(offset: start, size: payload.count) }
      let fragment = bytes.byte(at: start)
      header.type = fragment & 0x3F
      guard header.type < 48 else { throw .unknownType(header.type) }
      // Only the first fragment holds the unit's beginning.
      note(header, slice: bytes.byte(at: start &+ 1), begins: fragment & 0x80 != 0)
      temporalID = header.temporalID
    default: throw .unknownType(header.type)
    }
  }

  /// The two bytes in front of each unit (H.265 §7.3.1.2).
  @usableFromInline struct Header {
    @usableFromInline var type: UInt8
    @usableFromInline let layer: UInt8
    @usableFromInline let temporalID: UInt8

    @inlinable init(_ bits: UInt16) throws(H265Error) {
      guard bits & 0x8000 == 0 else { throw .forbiddenBit }
      guard bits & 7 > 0 else { throw .noTemporalID }
      type = UInt8(truncatingIfNeeded: bits >> 9)
      layer = UInt8(truncatingIfNeeded: bits >> 3 & 0x3F)
      temporalID = UInt8(truncatingIfNeeded: bits & 7) &- 1
    }
  }

  /// Reads an aggregate (RFC 7798 §4.4.2).
  @inlinable mutating func readUnits(of payload: UnsafeRawBufferPointer, from start: Int) throws(H265Error) {
    guard let bytes = payload.baseAddress else { return }
    guard start < payload.count else { throw .truncated(offset: start, size: payload.count) }
    var offset = start
    var lowest: UInt8 = 6
    while offset < payload.count {
      guard offset &+ 2 < payload.count else { throw .truncated(offset: offset, size: payload.count) }
      let size = Int(bytes.loadBigEndian(at: offset, as: UInt16.self))
      offset &+= 2
      guard size >= 2, size <= payload.count &- offset else {
        throw .truncated(offset: offset, size: payload.count)
      }
      let header = try Header(bytes.loadBigEndian(at: offset, as: UInt16.self))
      guard header.type < 48 else { throw .unknownType(header.type) }
      let wasPicture = isPicture
      note(header, payload, at: offset &+ 2, size: size &- 2)
      lowest = min(lowest, header.temporalID)
      if isPicture, !wasPicture { temporalID = header.temporalID }
      offset &+= size
    }
    if !isPicture { temporalID = lowest }
  }

  /// Takes a whole unit, whose content lies there.
  @inlinable mutating func note(
    _ header: Header, _ payload: UnsafeRawBufferPointer, at offset: Int, size: Int
  ) {
    guard let bytes = payload.baseAddress else { return }
    note(header, slice: size > 0 ? bytes.byte(at: offset) : 0, begins: true)
    if header.type == 33, header.layer == 0, parameterSetSize == 0 {
      (parameterSetOffset, parameterSetSize) = (offset, size)
    }
  }

  /// - Parameters:
  ///   - slice: the byte behind the header; its first bit is set in the first slice of a picture (H.265 §7.3.6.1).
  ///   - begins: it is the first byte, and not of a later fragment.
  @inlinable mutating func note(_ header: Header, slice: UInt8, begins: Bool) {
    guard header.layer == 0 else { return }
    switch header.type {
    case 32 where begins:
      hasVideoParameterSet = true
      startsFrame = true
    case 0...21:
      if !isPicture { sliceType = header.type }
      // A key frame began with its parameter sets.
      if begins, slice & 0x80 != 0, header.type < 16 { startsFrame = true }
    default: break
    }
  }
}
