import COpenSSL
public import Model

/// A self-signed ECDSA P-256 certificate with its private key. Immutable, so any thread may use it.
///
/// No end checks its chain, name or dates: what counts is the fingerprint in the description (RFC 8122 §5).
public final class DTLSCertificate: @unchecked Sendable {
  let certificate: OpaquePointer
  let key: OpaquePointer
  private let fingerprints: [Fingerprint]

  /// Makes a new key and signs a certificate for it.
  /// - Parameters:
  ///   - notBefore: wall time, in seconds since 1970.
  ///   - notAfter: likewise, later than `notBefore`.
  public init(notBefore: Int64, notAfter: Int64) throws(OpenSSLError) {
    let (certificate, key) = try SelfSigned.make(notBefore: notBefore, notAfter: notAfter)
    do throws(OpenSSLError) {
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
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.lastFingerprint) { found = false }
      #endif
      if CRYPTO_memcmp(digest, fingerprint.digest, digest.count) == 0 { found = true }
    }
    return found
  }
}
