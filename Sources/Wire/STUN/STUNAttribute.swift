/// The number of an attribute (RFC 8489 §18.3); below 0x8000 the receiver has to understand it.
public struct STUNAttributeType: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let mappedAddress = Self(rawValue: 0x0001)
  public static let username = Self(rawValue: 0x0006)
  public static let messageIntegrity = Self(rawValue: 0x0008)
  public static let errorCode = Self(rawValue: 0x0009)
  public static let unknownAttributes = Self(rawValue: 0x000A)
  public static let messageIntegritySHA256 = Self(rawValue: 0x001C)
  public static let xorMappedAddress = Self(rawValue: 0x0020)
  /// RFC 8445 §16.1, as are the next three.
  public static let priority = Self(rawValue: 0x0024)
  public static let useCandidate = Self(rawValue: 0x0025)
  public static let software = Self(rawValue: 0x8022)
  public static let fingerprint = Self(rawValue: 0x8028)
  public static let iceControlled = Self(rawValue: 0x8029)
  public static let iceControlling = Self(rawValue: 0x802A)
  /// draft-thatcher-ice-renomination: the number that browsers use for it.
  public static let nomination = Self(rawValue: 0xC001)

  public var isComprehensionRequired: Bool { rawValue < 0x8000 }
}

/// One attribute of a message: its number and where its value lies in the datagram, without padding.
public struct STUNAttribute: Equatable, Sendable {
  public var type: STUNAttributeType
  public var value: Range<Int>

  /// Where the attribute's own four bytes begin.
  public var offset: Int { value.lowerBound - 4 }
  /// Where the next attribute begins: values are padded to four bytes (RFC 8489 §14).
  public var end: Int { (value.upperBound + 3) & ~3 }
}

/// Walks over the attributes of a message in their order on the wire.
public struct STUNAttributes: Sendable {
  public private(set) var offset = STUNHeader.size

  public init() {}

  /// - Parameter datagram: the same at every call, and accepted by `STUNHeader`.
  /// - Returns: nil after the last attribute.
  public mutating func next(in datagram: UnsafeRawBufferPointer) throws(STUNError) -> STUNAttribute? {
    guard offset < datagram.count else { return nil }
    // The header's length is a multiple of four, so that at least four bytes are left.
    guard datagram.count - offset >= 4 else { throw .attributeOverruns(type: 0, offset: offset) }
    let type = STUNAttributeType(rawValue: datagram.stunUInt16(at: offset))
    let start = offset + 4
    let attribute = STUNAttribute(
      type: type, value: start..<start + Int(datagram.stunUInt16(at: offset + 2)))
    guard attribute.end <= datagram.count else {
      throw .attributeOverruns(type: type.rawValue, offset: offset)
    }
    offset = attribute.end
    return attribute
  }
}
