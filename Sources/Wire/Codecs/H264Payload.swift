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
  /// It has slices, and no other frame refers to any of them.
  public var isDiscardable = false
  /// As the unit before a slice says (H.264 §G.7.3.1.1); nil where none does.
  public var temporalID: UInt8?
  /// Where a sequence parameter set lies that is whole in it: from the payload's first byte, and its size; 0 where there is none.
  public var parameterSetOffset = 0
  public var parameterSetSize = 0
  @usableFromInline var hasReferences = false

  /// - Parameter payload: of the RTP packet, without padding; nothing of it is kept.
  @inlinable public init(_ payload: UnsafeRawBufferPointer) throws(H264Error) {
    guard payload.count > 0, let bytes = payload.baseAddress else { throw .empty }
    let first = bytes.byte(at: 0)
    guard first & 0x80 == 0 else { throw .forbiddenBit }
    switch first & 0x1F {
    case 1...23: note(payload, at: 0, size: payload.count)
    case 24:
      var offset = 1
      while offset < payload.count {
        guard offset &+ 2 < payload.count else { throw .truncated(offset: offset, size: payload.count) }
        let size = Int(bytes.loadBigEndian(at: offset, as: UInt16.self))
        offset &+= 2
        guard size > 0, size <= payload.count &- offset else {
          throw .truncated(offset: offset, size: payload.count)
        }
        note(payload, at: offset, size: size)
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

  /// Takes a whole unit.
  @inlinable mutating func note(_ payload: UnsafeRawBufferPointer, at offset: Int, size: Int) {
    guard let bytes = payload.baseAddress else { return }
    let header = bytes.byte(at: offset)
    note(header, slice: size > 1 ? bytes.byte(at: offset &+ 1) : 0)
    switch header & 0x1F {
    case 7 where parameterSetSize == 0: (parameterSetOffset, parameterSetSize) = (offset, size)
    // The prefix of a slice, and a slice with its own: three more bytes, in the last of which the temporal layer is.
    case 14 where size > 3, 20 where size > 3: temporalID = bytes.byte(at: offset &+ 3) >> 5
    default: break
    }
  }

  /// - Parameters:
  ///   - header: of the unit.
  ///   - slice: the byte behind it; its first bit is set where a slice begins with the picture's first macroblock.
  @inlinable mutating func note(_ header: UInt8, slice: UInt8) {
    let type = header & 0x1F
    if header & 0x60 != 0 {
      hasReferences = true
      isDiscardable = false
    } else if (1...5).contains(type) {
      isDiscardable = !hasReferences
    }
    switch type {
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
