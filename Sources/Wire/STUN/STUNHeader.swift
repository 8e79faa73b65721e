/// The 20 bytes that start every STUN message (RFC 8489 §5).
public struct STUNHeader: Equatable, Sendable {
  public static let size = 20
  public static let cookie: UInt32 = 0x2112_A442

  /// Method and class, as on the wire; the top two bits are zero.
  public var type: UInt16
  /// Bytes after the header.
  public var length: Int
  public var transaction: STUNTransactionID

  /// - Parameter datagram: the whole datagram; nothing of it is kept.
  public init(_ datagram: UnsafeRawBufferPointer) throws(STUNError) {
    guard datagram.count >= Self.size else { throw .tooShort(bytes: datagram.count) }
    guard datagram[0] & 0b1100_0000 == 0 else { throw .notSTUN(firstByte: datagram[0]) }
    let cookie = datagram.stunUInt32(at: 4)
    guard cookie == Self.cookie else { throw .wrongCookie(cookie) }

    type = datagram.stunUInt16(at: 0)
    length = Int(datagram.stunUInt16(at: 2))
    transaction = STUNTransactionID(high: datagram.stunUInt32(at: 8), low: datagram.stunUInt64(at: 12))
    guard length % 4 == 0, length == datagram.count - Self.size else {
      throw .wrongLength(field: length, datagram: datagram.count)
    }
  }

  public var messageClass: STUNClass {
    STUNClass(rawValue: UInt8(truncatingIfNeeded: (type >> 4 & 1) | (type >> 7 & 2))) ?? .request
  }
  /// 12 bits that are interleaved with the class; Binding is 1.
  public var method: UInt16 { (type & 0xF) | (type >> 1 & 0x70) | (type >> 2 & 0xF80) }

  /// Whether the first byte is in STUN's range of a port shared with DTLS and RTP (RFC 7983 §7).
  @inlinable public static func mayBegin(with byte: UInt8) -> Bool { byte <= 3 }
}

/// What a message is for (RFC 8489 §5).
public enum STUNClass: UInt8, Sendable, CaseIterable {
  case request = 0
  case indication = 1
  case success = 2
  case failure = 3
}

/// The 96 bits that tie an answer to its request.
public struct STUNTransactionID: Hashable, Sendable {
  public var high: UInt32
  public var low: UInt64

  public init(high: UInt32, low: UInt64) {
    self.high = high
    self.low = low
  }
}

extension UnsafeRawBufferPointer {
  // Bounds are the caller's, who has compared the attribute's length already.
  func stunUInt16(at offset: Int) -> UInt16 {
    UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }
  func stunUInt32(at offset: Int) -> UInt32 {
    UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
  func stunUInt64(at offset: Int) -> UInt64 {
    UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
