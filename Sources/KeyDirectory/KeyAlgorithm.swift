internal import Crypto

/// What the key of a call is wrapped with for a device. Its number is part of a leaf's bytes.
public enum KeyAlgorithm: UInt8, CaseIterable, Sendable {
  /// ECDH on P-256, HKDF-SHA-256, AES-256-GCM. The key is a point that isn't compressed (SEC 1 §2.3.3): 65 bytes.
  case p256 = 1
  /// RSA-OAEP with SHA-256 (RFC 8017 §7.1). The key is SubjectPublicKeyInfo in DER, its modulus of 2,048 to 8,192 bits.
  case rsaOAEP256 = 2

  /// As requests and answers have it.
  public var name: String {
    switch self {
    case .p256: "p256"
    case .rsaOAEP256: "rsa-oaep-256"
    }
  }

  /// - Returns: nil of a name that is none of these.
  public init?(name: String) {
    guard let known = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = known
  }

  func check(_ key: [UInt8]) throws(PublicKeyError) {
    switch self {
    case .p256: try PublicKeys.checkPoint(key)
    case .rsaOAEP256: try PublicKeys.checkRSA(key)
    }
  }
}
