/// Why a payload is no H.264 that we accept. The reason is counted, never answered.
public enum H264Error: Error, Equatable, Sendable {
  case empty
  /// The unit's first byte claims an error in transmission.
  case forbiddenBit
  /// A type that packetization modes 0 and 1 don't have (RFC 6184 §5.2, §6).
  case unknownType(UInt8)
  /// An aggregate or a fragment that ends in the middle of its own headers.
  case truncated(offset: Int, size: Int)
}

/// What the headers of the NAL units in one RTP payload say (RFC 6184 §5).
public struct H264Payload: Equatable, Sendable {
  /// A sequence parameter set is in it. Each key frame has one in band before it (RFC 7742 §6.2), so that a
  /// receiver can begin here and only here.
  public var startsKeyFrame = false
  /// A unit in it is the first of an access unit, as far as its headers tell.
  public var startsFrame = false
  /// No other frame refers to any of its units.
  public var isDiscardable = true

  /// - Parameter payload: of the RTP packet, without padding; nothing of it is kept.
  @inlinable public init(_ payload: UnsafeRawBufferPointer) throws(H264Error) {
    guard payload.count > 0, let bytes = payload.baseAddress else { throw .empty }
    let first = bytes.byte(at: 0)
    guard first & 0x80 == 0 else { throw .forbiddenBit }
    switch first & 0x1F {
    case 1...23: note(first, slice: payload.count > 1 ? bytes.byte(at: 1) : 0)
    case 24:
      var offset = 1
      while offset < payload.count {
        guard offset &+ 2 < payload.count else { throw .truncated(offset: offset, size: payload.count) }
        let size = Int(bytes.loadBigEndian(at: offset, as: UInt16.self))
        offset &+= 2
        guard size > 0, size <= payload.count &- offset else {
          throw .truncated(offset: offset, size: payload.count)
        }
        note(bytes.byte(at: offset), slice: size > 1 ? bytes.byte(at: offset &+ 1) : 0)
        offset &+= size
      }
      guard offset > 1 else { throw .truncated(offset: 1, size: payload.count) }
    case 28:
      guard payload.count > 2 else { throw .truncated(offset: 1, size: payload.count) }
      let fragment = bytes.byte(at: 1)
      // Only the first fragment holds the unit's beginning.
      note(first & 0x60 | fragment & 0x1F, slice: fragment & 0x80 != 0 ? bytes.byte(at: 2) : 0)
      if fragment & 0x80 == 0 {
        startsFrame = false
        startsKeyFrame = false
      }
    default: throw .unknownType(first & 0x1F)
    }
  }

  /// - Parameters:
  ///   - header: of the unit.
  ///   - slice: the byte behind it; its first bit is set where a slice begins with the picture's first macroblock.
  @inlinable mutating func note(_ header: UInt8, slice: UInt8) {
    if header & 0x60 != 0 { isDiscardable = false }
    switch header & 0x1F {
    case 7:
      startsKeyFrame = true
      startsFrame = true
    case 9: startsFrame = true
    // A key frame began with its parameter sets.
    case 1, 2: if slice & 0x80 != 0 { startsFrame = true }
    default: break
    }
  }
}
