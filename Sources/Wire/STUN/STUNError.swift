/// Why a datagram is no STUN message that we accept. The reason is counted, never answered.
public enum STUNError: Error, Equatable, Sendable {
  case tooShort(bytes: Int)
  case notSTUN(firstByte: UInt8)
  case wrongCookie(UInt32)
  /// The length field disagrees with the datagram, or is no multiple of four (RFC 8489 §5).
  case wrongLength(field: Int, datagram: Int)
  case attributeOverruns(type: UInt16, offset: Int)
  /// The attribute is of a kind whose value cannot have this many bytes.
  case wrongAttributeLength(type: UInt16, offset: Int, length: Int)
  /// An address that is neither IPv4 (1) nor IPv6 (2).
  case unknownFamily(UInt8, offset: Int)
  /// The class of an ERROR-CODE is outside 3–6 or its number above 99 (RFC 8489 §14.8).
  case wrongErrorCode(class: UInt8, number: UInt8, offset: Int)
  /// FINGERPRINT is the last attribute of a message (RFC 8489 §14.7).
  case attributeAfterFingerprint(offset: Int)
}
