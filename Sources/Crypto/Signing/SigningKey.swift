import COpenSSL

/// A key that signs by ECDSA on P-256 with SHA-256 (FIPS 186-5 §6.4). Immutable, so any thread may use it.
public final class SigningKey: @unchecked Sendable {
  /// Bytes of a signature: r and s, 32 each in network order, as JWS and browsers have it (RFC 7518 §3.4).
  public static let signatureSize = 64

  private let key: OpaquePointer
  /// As SubjectPublicKeyInfo in DER, its point not compressed (RFC 5480 §2): 91 bytes.
  public let publicKey: [UInt8]

  /// Makes a new one.
  public init() throws(OpenSSLError) {
    ERR_clear_error()
    guard let key = shim_EVP_EC_gen("P-256") else { throw .take("EVP_EC_gen") }
    guard let publicKey = SubjectPublicKeyInfo.encode(key) else {
      EVP_PKEY_free(key)
      throw .take("i2d_PUBKEY")
    }
    self.key = key
    self.publicKey = publicKey
  }

  /// Takes a private key in PEM form (RFC 5915, RFC 5958).
  public init(pem: String) throws(SigningKeyError) {
    ERR_clear_error()
    // A key behind a pass phrase is refused rather than asked for on the terminal.
    let read = PEM.read(pem) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
    guard let key = read else {
      throw .noPrivateKey(OpenSSLError.take("PEM_read_bio_PrivateKey").reason)
    }
    guard let publicKey = SubjectPublicKeyInfo.encode(key), Self.isOfP256(publicKey), Self.isPair(key) else {
      ERR_clear_error()
      EVP_PKEY_free(key)
      throw .otherKind
    }
    self.key = key
    self.publicKey = publicKey
  }

  deinit { EVP_PKEY_free(key) }

  private static func isOfP256(_ publicKey: [UInt8]) -> Bool {
    publicKey.count == SubjectPublicKeyInfo.p256.count + SubjectPublicKeyInfo.pointSize
      && publicKey.starts(with: SubjectPublicKeyInfo.p256 + [4])
  }

  /// Whether the public half is that of the private one.
  private static func isPair(_ key: OpaquePointer) -> Bool {
    guard let context = EVP_PKEY_CTX_new(key, nil) else { return false }
    defer { EVP_PKEY_CTX_free(context) }
    return EVP_PKEY_pairwise_check(context) == 1
  }

  /// The private key in PEM form, as `init(pem:)` takes it.
  public func pem() throws(OpenSSLError) -> String {
    ERR_clear_error()
    return try PEM.text("PEM_write_bio_PrivateKey") {
      PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil)
    }
  }

  /// - Returns: `signatureSize` bytes, others each time.
  public func signature(of message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
    ERR_clear_error()
    guard let context = EVP_MD_CTX_new() else { throw .take("EVP_MD_CTX_new") }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1 else {
      throw .take("EVP_DigestSignInit")
    }
    var der = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
    var size = der.count
    guard EVP_DigestSign(context, &der, &size, message, message.count) == 1 else {
      throw .take("EVP_DigestSign")
    }
    return try Self.numbers(of: Array(der.prefix(size)))
  }

  /// r and s of a signature in DER (RFC 3279 §2.2.3).
  private static func numbers(of der: [UInt8]) throws(OpenSSLError) -> [UInt8] {
    let read = der.withUnsafeBufferPointer { der -> OpaquePointer? in
      var start = der.baseAddress
      return d2i_ECDSA_SIG(nil, &start, der.count)
    }
    guard let read else { throw .take("d2i_ECDSA_SIG") }
    defer { ECDSA_SIG_free(read) }
    var (r, s) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
    guard BN_bn2binpad(ECDSA_SIG_get0_r(read), &r, 32) == 32,
      BN_bn2binpad(ECDSA_SIG_get0_s(read), &s, 32) == 32
    else { throw .take("BN_bn2binpad") }
    return r + s
  }
}

/// What is wrong with a private key that was given.
public enum SigningKeyError: Error, Equatable, Sendable, CustomStringConvertible {
  case noPrivateKey(String)
  case otherKind

  public var description: String {
    switch self {
    case .noPrivateKey(let reason): "no PEM private key, or it has a passphrase: \(reason)"
    case .otherKind:
      "no key of ECDSA on P-256 with its public half; make one by: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256"
    }
  }
}
