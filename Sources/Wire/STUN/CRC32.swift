/// The cyclic redundancy check of ISO HDLC, Ethernet and zip, which STUN's FINGERPRINT uses (RFC 8489 §14.7).
public struct CRC32: Sendable {
  private var remainder: UInt32 = 0xFFFF_FFFF

  public init() {}

  public var value: UInt32 { ~remainder }

  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    var remainder = remainder
    for byte in bytes {
      remainder = remainder >> 8 ^ Self.table[Int((remainder ^ UInt32(byte)) & 0xFF)]
    }
    self.remainder = remainder
  }

  public static func of(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    var crc = CRC32()
    crc.update(bytes)
    return crc.value
  }

  /// The remainder of each byte by the reversed polynomial.
  private static let table: InlineArray<256, UInt32> = InlineArray { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
  }
}
