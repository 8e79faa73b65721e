import COpenSSL

/// A private key that signs by ES256 (RFC 7518 §3.4): ECDSA on the curve P-256, with SHA-256.
public final class ES256Key: @unchecked Sendable {
  // Unchecked because of the pointer alone: what it points to is only read.

  /// Bytes of a signature.
  public static let signatureSize = 64

  private let key: OpaquePointer

  /// - Parameter pem: the key in PEM form, as PKCS#8 (`BEGIN PRIVATE KEY`) or as SEC 1 has it (`BEGIN EC PRIVATE KEY`).
  public init(pem: String) throws(ES256KeyError) {
    ERR_clear_error()
    // A key behind a pass phrase is refused rather than asked for on the terminal.
    let read = PEM.read(pem) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
    guard let key = read else { throw .noPrivateKey(OpenSSLError.take("PEM_read_bio_PrivateKey").reason) }
    guard Self.isP256(key) else {
      EVP_PKEY_free(key)
      ERR_clear_error()
      throw .otherKind
    }
    self.key = key
  }

  deinit { EVP_PKEY_free(key) }

  private static func isP256(_ key: OpaquePointer) -> Bool {
    var name = [CChar](repeating: 0, count: 64)
    var size = 0
    guard EVP_PKEY_is_a(key, "EC") == 1, EVP_PKEY_get_group_name(key, &name, name.count, &size) == 1 else {
      return false
    }
    return name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }.elementsEqual("prime256v1".utf8)
  }

  /// - Returns: r and s, 32 bytes each, as JWS wants them; others each time.
  public func sign(_ message: [UInt8]) -> [UInt8] {
    guard let context = EVP_MD_CTX_new() else { fatalError("EVP_MD_CTX_new: out of memory") }
    defer { EVP_MD_CTX_free(context) }
    var encoded = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
    var size = encoded.count
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
      EVP_DigestSign(context, &encoded, &size, message, message.count) == 1,
      let signature = Self.plain(encoded.prefix(size))
    else { fatalError("no signature: \(OpenSSLError.take("EVP_DigestSign"))") }
    return signature
  }

  /// OpenSSL's DER form as plain numbers.
  private static func plain(_ encoded: ArraySlice<UInt8>) -> [UInt8]? {
    encoded.withUnsafeBufferPointer { encoded in
      var start = encoded.baseAddress
      guard let pair = d2i_ECDSA_SIG(nil, &start, encoded.count) else { return nil }
      defer { ECDSA_SIG_free(pair) }
      var (r, s) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32))
      guard BN_bn2binpad(ECDSA_SIG_get0_r(pair), &r, 32) == 32,
        BN_bn2binpad(ECDSA_SIG_get0_s(pair), &s, 32) == 32
      else { return nil }
      return r + s
    }
  }
}

/// Why a text is no key for ES256.
public enum ES256KeyError: Error, Equatable, Sendable, CustomStringConvertible {
  case noPrivateKey(String)
  /// It is a key of another kind, or on another curve than P-256.
  case otherKind

  public var description: String {
    switch self {
    case .noPrivateKey(let reason): "no PEM private key, or it has a passphrase: \(reason)"
    case .otherKind: "the private key is none on the curve P-256"
    }
  }
}
