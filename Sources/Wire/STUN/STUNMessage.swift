public import Model

/// A STUN message of ICE's kind, read once: values where they are small, places where they are not.
///
/// Of an attribute that comes twice the first counts, and after MESSAGE-INTEGRITY only FINGERPRINT does
/// (RFC 8489 §14.5). Nothing here is authenticated yet.
public struct STUNMessage: Sendable {
  /// Which end of the session the sender thinks it is, with its tie-breaker (RFC 8445 §7.1.3).
  public enum Role: Equatable, Sendable {
    case controlling(tieBreaker: UInt64)
    case controlled(tieBreaker: UInt64)
  }

  public static let binding: UInt16 = 1
  /// Longest USERNAME (RFC 8489 §14.3).
  public static let usernameLimit = 513
  /// Of attributes that we would have to understand and don't, so many are named in the answer.
  public static let unknownLimit = 8

  public let header: STUNHeader
  /// Bytes of USERNAME in the datagram.
  public private(set) var username: Range<Int>?
  /// Where the MESSAGE-INTEGRITY attribute begins: the code covers what comes before it.
  public private(set) var integrityOffset: Int?
  /// Where the FINGERPRINT attribute begins; it is the last one.
  public private(set) var fingerprintOffset: Int?
  public private(set) var mappedAddress: SocketAddress?
  /// 300–699.
  public private(set) var errorCode: Int?
  public private(set) var priority: UInt32?
  public private(set) var useCandidate = false
  public private(set) var nomination: UInt32?
  public private(set) var role: Role?
  /// How many attributes we would have to understand and don't; the first `unknownLimit` are in `unknown`.
  public private(set) var unknownCount = 0
  public private(set) var unknown: InlineArray<8, UInt16> = InlineArray(repeating: 0)

  public var messageClass: STUNClass { header.messageClass }
  public var method: UInt16 { header.method }
  public var transaction: STUNTransactionID { header.transaction }

  /// - Parameter datagram: the whole datagram; nothing of it is kept.
  public init(_ datagram: UnsafeRawBufferPointer) throws(STUNError) {
    header = try STUNHeader(datagram)
    var attributes = STUNAttributes()
    while let attribute = try attributes.next(in: datagram) {
      guard fingerprintOffset == nil else { throw .attributeAfterFingerprint(offset: attribute.offset) }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.afterIntegrity), integrityOffset != nil { try take(attribute, of: datagram) }
      #endif
      if integrityOffset == nil || attribute.type == .fingerprint { try take(attribute, of: datagram) }
    }
  }

  private mutating func take(
    _ attribute: STUNAttribute, of datagram: UnsafeRawBufferPointer
  ) throws(STUNError) {
    let start = attribute.value.lowerBound
    switch attribute.type {
    case .username where username == nil:
      try attribute.check(1...Self.usernameLimit)
      username = attribute.value
    case .messageIntegrity:
      try attribute.check(20...20)
      integrityOffset = attribute.offset
    case .fingerprint:
      try attribute.check(4...4)
      fingerprintOffset = attribute.offset
    case .xorMappedAddress where mappedAddress == nil:
      mappedAddress = try attribute.xorAddress(of: datagram, header.transaction)
    case .errorCode where errorCode == nil:
      try attribute.check(4...Int(UInt16.max))
      let (hundreds, number) = (datagram[start + 2] & 7, datagram[start + 3])
      guard (3...6).contains(hundreds), number < 100 else {
        throw .wrongErrorCode(class: hundreds, number: number, offset: attribute.offset)
      }
      errorCode = Int(hundreds) * 100 + Int(number)
    case .priority where priority == nil:
      try attribute.check(4...4)
      priority = datagram.stunUInt32(at: start)
    case .useCandidate:
      try attribute.check(0...0)
      useCandidate = true
    case .nomination where nomination == nil:
      try attribute.check(4...4)
      nomination = datagram.stunUInt32(at: start)
    case .iceControlling where role == nil:
      try attribute.check(8...8)
      role = .controlling(tieBreaker: datagram.stunUInt64(at: start))
    case .iceControlled where role == nil:
      try attribute.check(8...8)
      role = .controlled(tieBreaker: datagram.stunUInt64(at: start))
    case .username, .xorMappedAddress, .errorCode, .priority, .mappedAddress, .unknownAttributes,
      .messageIntegritySHA256:
      break
    default:
      guard attribute.type.isComprehensionRequired else { break }
      if unknownCount < Self.unknownLimit { unknown[unknownCount] = attribute.type.rawValue }
      unknownCount += 1
    }
  }

  /// Whether FINGERPRINT is there and right (RFC 8489 §14.7).
  /// - Parameter datagram: the one that this message was read from.
  public func hasValidFingerprint(in datagram: UnsafeRawBufferPointer) -> Bool {
    guard let offset = fingerprintOffset, offset + 8 == datagram.count else { return false }
    let covered = UnsafeRawBufferPointer(rebasing: datagram[..<offset])
    return datagram.stunUInt32(at: offset + 4) == STUNFingerprint.of(covered)
  }
}

/// The value of the FINGERPRINT attribute (RFC 8489 §14.7).
public enum STUNFingerprint {
  /// - Parameter bytes: the message up to the attribute, its length field counting the attribute.
  public static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 { CRC32.of(bytes) ^ 0x5354_554E }
}

extension STUNAttribute {
  func check(_ allowed: ClosedRange<Int>) throws(STUNError) {
    guard allowed.contains(value.count) else {
      throw .wrongAttributeLength(type: type.rawValue, offset: offset, length: value.count)
    }
  }

  /// The value of XOR-MAPPED-ADDRESS (RFC 8489 §14.2).
  func xorAddress(
    of datagram: UnsafeRawBufferPointer, _ transaction: STUNTransactionID
  ) throws(STUNError) -> SocketAddress {
    let start = value.lowerBound
    try check(8...20)
    let port = datagram.stunUInt16(at: start + 2) ^ UInt16(STUNHeader.cookie >> 16)
    switch datagram[start + 1] {
    case 1:
      try check(8...8)
      let address = datagram.stunUInt32(at: start + 4) ^ STUNHeader.cookie
      return SocketAddress(high: 0, low: 0xFFFF_0000_0000 | UInt64(address), port: port)
    case 2:
      try check(20...20)
      let high = datagram.stunUInt64(at: start + 4) ^ transaction.addressMask
      let low = datagram.stunUInt64(at: start + 12) ^ transaction.low
      return SocketAddress(high: high, low: low, port: port)
    case let family:
      throw .unknownFamily(family, offset: offset)
    }
  }
}

extension STUNTransactionID {
  /// What the first eight bytes of an IPv6 address are combined with.
  var addressMask: UInt64 { UInt64(STUNHeader.cookie) << 32 | UInt64(high) }
}
