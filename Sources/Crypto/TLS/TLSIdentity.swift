import COpenSSL
public import Model

/// A certificate with its private key, as a TLS server shows and uses them: both in PEM form (RFC 7468).
public struct TLSIdentity: Equatable, Sendable {
  /// The server's own certificate first, then those that lead to an authority.
  public let certificates: String
  public let privateKey: String
  /// SHA-256 of the server's own certificate, as browsers show it.
  public let fingerprint: Fingerprint

  /// Makes a key and a certificate that no authority vouches for: browsers warn before they go on.
  /// - Parameters:
  ///   - addresses: what people will type; ports don't matter.
  ///   - names: DNS names that they may type instead. Letters, digits, hyphens and dots; others are left out.
  ///   - notBefore: wall time, in seconds since 1970.
  ///   - notAfter: likewise. Browsers refuse more than about a year.
  public init(
    selfSignedFor addresses: [SocketAddress], names: [String], notBefore: Int64, notAfter: Int64
  ) throws(OpenSSLError) {
    let dns = names.filter(Self.isHostName).map { "DNS:\($0)" }
    let (certificate, key) = try SelfSigned.make(
      notBefore: notBefore, notAfter: notAfter,
      names: (dns + addresses.map { "IP:\($0.host)" }).joined(separator: ","))
    defer {
      X509_free(certificate)
      EVP_PKEY_free(key)
    }
    certificates = try PEM.text("PEM_write_bio_X509") { PEM_write_bio_X509($0, certificate) }
    privateKey = try PEM.text("PEM_write_bio_PrivateKey") {
      PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil)
    }
    guard let digest = DTLSCertificate.digest(of: certificate, .sha256) else { throw .take("X509_digest") }
    fingerprint = Fingerprint(algorithm: .sha256, digest: digest)
  }

  /// Takes what an authority has signed, and sees that the parts go together.
  public init(certificates: String, privateKey: String) throws(TLSIdentityError) {
    ERR_clear_error()
    guard let certificate = PEM.read(certificates, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
      throw .noCertificate(OpenSSLError.take("PEM_read_bio_X509").reason)
    }
    defer { X509_free(certificate) }
    // A key behind a pass phrase is refused rather than asked for on the terminal.
    let read = PEM.read(privateKey) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
    guard let key = read else {
      throw .noPrivateKey(OpenSSLError.take("PEM_read_bio_PrivateKey").reason)
    }
    defer { EVP_PKEY_free(key) }
    guard X509_check_private_key(certificate, key) == 1 else {
      ERR_clear_error()
      throw .keyOfAnother
    }
    guard let digest = DTLSCertificate.digest(of: certificate, .sha256) else {
      throw .noCertificate(OpenSSLError.take("X509_digest").reason)
    }
    self.certificates = certificates
    self.privateKey = privateKey
    fingerprint = Fingerprint(algorithm: .sha256, digest: digest)
  }

  private static func isHostName(_ name: String) -> Bool {
    (1...253).contains(name.utf8.count)
      && name.utf8.allSatisfy {
        (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E
      }
  }
}

/// What is wrong with a certificate or a key that was given.
public enum TLSIdentityError: Error, Equatable, Sendable, CustomStringConvertible {
  case noCertificate(String)
  case noPrivateKey(String)
  case keyOfAnother

  public var description: String {
    switch self {
    case .noCertificate(let reason): "no PEM certificate: \(reason)"
    case .noPrivateKey(let reason): "no PEM private key, or it has a passphrase: \(reason)"
    case .keyOfAnother: "the private key doesn't match the certificate"
    }
  }
}
