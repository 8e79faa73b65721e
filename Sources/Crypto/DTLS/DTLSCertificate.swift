import COpenSSL
public import Model

/// A self-signed ECDSA P-256 certificate with its private key. Immutable, so any thread may use it.
///
/// Nobody checks its chain, name or dates: what counts is the fingerprint in the description (RFC 8122 §5).
public final class DTLSCertificate: @unchecked Sendable {
  let certificate: OpaquePointer
  let key: OpaquePointer
  private let fingerprints: [Fingerprint]

  /// Makes a new key and signs a certificate for it.
  /// - Parameters:
  ///   - notBefore: wall time, in seconds since 1970.
  ///   - notAfter: likewise, later than `notBefore`.
  public init(notBefore: Int64, notAfter: Int64) throws(OpenSSLError) {
    ERR_clear_error()
    guard let key = shim_EVP_EC_gen("P-256") else { throw .take("EVP_EC_gen") }
    guard let certificate = X509_new() else {
      EVP_PKEY_free(key)
      throw .take("X509_new")
    }
    do throws(OpenSSLError) {
      try Self.fill(certificate, key: key, notBefore: notBefore, notAfter: notAfter)
      fingerprints = try Fingerprint.Algorithm.allCases.map { algorithm throws(OpenSSLError) in
        guard let digest = Self.digest(of: certificate, algorithm) else { throw .take("X509_digest") }
        return Fingerprint(algorithm: algorithm, digest: digest)
      }
    } catch {
      X509_free(certificate)
      EVP_PKEY_free(key)
      throw error
    }
    self.key = key
    self.certificate = certificate
  }

  deinit {
    X509_free(certificate)
    EVP_PKEY_free(key)
  }

  /// What our descriptions carry.
  public func fingerprint(_ algorithm: Fingerprint.Algorithm) -> Fingerprint {
    fingerprints[Int(algorithm.rawValue)]
  }

  private static func fill(
    _ certificate: OpaquePointer, key: OpaquePointer, notBefore: Int64, notAfter: Int64
  ) throws(OpenSSLError) {
    guard X509_set_version(certificate, 2) == 1 else { throw .take("X509_set_version") }
    // RFC 5280 §4.1.2.2 wants a positive number.
    let serial = Random.integer(UInt64.self) >> 1 | 1
    guard ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1 else {
      throw .take("ASN1_INTEGER_set_uint64")
    }
    guard ASN1_TIME_set(X509_getm_notBefore(certificate), Int(notBefore)) != nil,
      ASN1_TIME_set(X509_getm_notAfter(certificate), Int(notAfter)) != nil
    else { throw .take("ASN1_TIME_set") }
    let name = X509_get_subject_name(certificate)
    guard X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, "roost", -1, -1, 0) == 1,
      X509_set_issuer_name(certificate, name) == 1
    else { throw .take("X509_set_issuer_name") }
    guard X509_set_pubkey(certificate, key) == 1 else { throw .take("X509_set_pubkey") }
    guard X509_sign(certificate, key, EVP_sha256()) > 0 else { throw .take("X509_sign") }
  }

  /// The digest of the certificate's DER form.
  static func digest(of certificate: OpaquePointer, _ algorithm: Fingerprint.Algorithm) -> [UInt8]? {
    let method =
      switch algorithm {
      case .sha256: EVP_sha256()
      case .sha384: EVP_sha384()
      case .sha512: EVP_sha512()
      }
    var digest = [UInt8](repeating: 0, count: algorithm.size)
    var size: UInt32 = 0
    guard X509_digest(certificate, method, &digest, &size) == 1, Int(size) == algorithm.size else {
      return nil
    }
    return digest
  }

  /// Whether `certificate` has any of the fingerprints; takes the same time wherever they differ.
  static func matches(_ certificate: OpaquePointer, anyOf expected: [Fingerprint]) -> Bool {
    var found = false
    for fingerprint in expected {
      guard let digest = digest(of: certificate, fingerprint.algorithm),
        digest.count == fingerprint.digest.count
      else { continue }
      if CRYPTO_memcmp(digest, fingerprint.digest, digest.count) == 0 { found = true }
    }
    return found
  }
}
