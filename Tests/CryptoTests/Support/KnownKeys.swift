enum P256 {
  /// SP 800-186 §3.2.1.3: 4, x, y.
  static let basePoint = hex(
    """
    04 6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296
    4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5
    """)
}

/// RSA keys as SubjectPublicKeyInfo.
enum RSAInfo {
  /// By `openssl genpkey -algorithm RSA`.
  static let made = hex(
    """
    30820122300d06092a864886f70d01010105000382010f003082010a0282010100cfdc99c067ad55f6137c580731d483
    856c8f9d4ffd047087959405ef972a559448fed9f18574266e61b50c85f618c9915d450754eaeb38bedc1963ed859384
    c0bce90578aa4dd1f75222238f6999fa0ba20121a19e2309394df3b76cc9687f9308ba8300101f1b4976d0b7f1fa3d32
    7cf4ae69ea89de524615c4b8a206e9961d926f9fc0a7a527088bd44ccc2aeab7ad21647551062846581057e06c47c738
    f24c082ee000f30e1bd1377c5053a95599d4828452d1806f3de522c0da6703914edba21a03a6ee87c76d7d2c2761227f
    b6ad077b4a06cb97b7ae187367f902f3ed29cc9fbf57255fd5d81156eb76bd65b89492c6db3ef0fdb58226b64fa3f571
    150203010001
    """)

  /// A modulus of that many bits, which is no product of two primes.
  /// - Parameters:
  ///   - exponent: as it stands there, without a zero in front that keeps it positive.
  ///   - algorithm: the last arc of PKCS #1's object identifiers; 1 is rsaEncryption.
  static func with(
    bits: Int, lastByte: UInt8 = 0xFF, exponent: [UInt8] = [1, 0, 1], algorithm: UInt8 = 1,
    parameters: [UInt8] = [5, 0]
  ) -> [UInt8] {
    var modulus = [UInt8](repeating: 0xA5, count: (bits + 7) / 8)
    modulus[0] = 1 << UInt8((bits + 7) % 8)
    modulus[modulus.count - 1] = lastByte
    let key = der(0x30, number(modulus) + number(exponent))
    let identifier = der(6, hex("2a864886f70d0101") + [algorithm])
    return der(0x30, der(0x30, identifier + parameters) + der(3, [0] + key))
  }

  private static func number(_ bytes: [UInt8]) -> [UInt8] {
    der(2, bytes.isEmpty ? [0] : bytes[0] > 0x7F ? [0] + bytes : bytes)
  }

  private static func der(_ tag: UInt8, _ body: [UInt8]) -> [UInt8] {
    switch body.count {
    case ..<0x80: [tag, UInt8(body.count)] + body
    case ..<0x100: [tag, 0x81, UInt8(body.count)] + body
    default: [tag, 0x82, UInt8(body.count >> 8), UInt8(body.count & 0xFF)] + body
    }
  }
}
