import COpenSSL

/// Public keys that others bring: whether they are what they are said to be, at a price that is bounded by their size.
public enum PublicKeys {
  /// Bits of an RSA modulus.
  public static let modulusBits = 2_048...8_192

  /// Sees that bytes are a point of P-256, not compressed (SEC 1 §2.3.3): 4, and two coordinates of 32 bytes.
  public static func checkPoint(_ point: [UInt8]) throws(PublicKeyError) {
    defer { ERR_clear_error() }
    guard point.count == SubjectPublicKeyInfo.pointSize, point[0] == 4,
      let key = SubjectPublicKeyInfo.decode(SubjectPublicKeyInfo.p256 + point)
    else { throw .noPoint }
    defer { EVP_PKEY_free(key) }
    guard let context = EVP_PKEY_CTX_new(key, nil) else { throw .noPoint }
    defer { EVP_PKEY_CTX_free(context) }
    guard EVP_PKEY_public_check(context) == 1 else { throw .noPoint }
  }

  /// Sees that bytes are an RSA key, as SubjectPublicKeyInfo in DER (RFC 8017 §A.1.1), with a modulus of `modulusBits`.
  ///
  /// That the modulus has two factors isn't looked at: to refuse a large prime takes seconds, and a key that is none harms
  /// its owner alone.
  public static func checkRSA(_ info: [UInt8]) throws(PublicKeyError) {
    defer { ERR_clear_error() }
    guard let key = SubjectPublicKeyInfo.decode(info) else { throw .noRSAKey }
    defer { EVP_PKEY_free(key) }
    guard EVP_PKEY_is_a(key, "RSA") == 1 else { throw .noRSAKey }
    let bits = Int(EVP_PKEY_get_bits(key))
    guard modulusBits.contains(bits) else { throw .modulusBits(bits) }
    guard let modulus = number(OSSL_PKEY_PARAM_RSA_N, of: key), modulus.isOdd,
      let exponent = number(OSSL_PKEY_PARAM_RSA_E, of: key), exponent.isOdd,
      exponent.bits <= 32, exponent.bits >= 2
    else { throw .noRSAKey }
  }

  /// What of a number is looked at.
  private static func number(_ name: String, of key: OpaquePointer) -> (isOdd: Bool, bits: Int)? {
    var number: OpaquePointer?
    guard EVP_PKEY_get_bn_param(key, name, &number) == 1, let number else { return nil }
    defer { BN_free(number) }
    return (BN_is_odd(number) == 1, Int(BN_num_bits(number)))
  }
}

/// Why bytes are no key of their kind.
public enum PublicKeyError: Error, Equatable, Sendable, CustomStringConvertible {
  case noPoint
  case noRSAKey
  /// The size that it has.
  case modulusBits(Int)

  public var description: String {
    switch self {
    case .noPoint: "no point of P-256: expected are 65 bytes, of which the first is 4"
    case .noRSAKey:
      "no RSA key: expected is SubjectPublicKeyInfo in DER, with an odd exponent from 3 to 32 bits"
    case .modulusBits(let bits):
      "an RSA key of \(bits) bits: expected are \(PublicKeys.modulusBits.lowerBound) to \(PublicKeys.modulusBits.upperBound)"
    }
  }
}
