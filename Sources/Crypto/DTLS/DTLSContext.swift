import COpenSSL
public import Model

/// What all handshakes of a server have in common: certificate, suites, groups, SRTP profiles.
///
/// Any number of threads may start handshakes from one context.
public final class DTLSContext: @unchecked Sendable {
  /// The suites with ephemeral keys and AEAD that browsers offer.
  private static let suites = [
    "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384",
    "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
  ]
  private static let groups = "X25519:P-256:P-384"
  /// The most bytes of certificates that the far end may send; browsers' have about 300.
  private static let certificateLimit = 8_192

  let pointer: OpaquePointer
  public let certificate: DTLSCertificate

  /// - Parameter profiles: what is offered and accepted, best first. Not empty.
  public init(
    certificate: DTLSCertificate, profiles: [SRTPProfile] = SRTPProfile.preferred
  ) throws(OpenSSLError) {
    precondition(!profiles.isEmpty)
    ERR_clear_error()
    guard let context = SSL_CTX_new(DTLS_method()) else { throw .take("SSL_CTX_new") }
    do throws(OpenSSLError) {
      try Self.configure(context, certificate: certificate, profiles: profiles)
    } catch {
      SSL_CTX_free(context)
      throw error
    }
    pointer = context
    self.certificate = certificate
  }

  deinit { SSL_CTX_free(pointer) }

  private static func configure(
    _ context: OpaquePointer, certificate: DTLSCertificate, profiles: [SRTPProfile]
  ) throws(OpenSSLError) {
    guard shim_SSL_CTX_set_version(context, DTLS1_2_VERSION) == 1 else { throw .take("set_proto_version") }
    guard SSL_CTX_set_cipher_list(context, suites.joined(separator: ":")) == 1 else {
      throw .take("SSL_CTX_set_cipher_list")
    }
    guard shim_SSL_CTX_set_groups(context, groups) == 1 else { throw .take("SSL_CTX_set1_groups_list") }
    // This one answers 0 when it is content.
    let names = profiles.map(\.opensslName).joined(separator: ":")
    guard SSL_CTX_set_tlsext_use_srtp(context, names) == 0 else {
      throw .take("SSL_CTX_set_tlsext_use_srtp")
    }
    guard SSL_CTX_use_certificate(context, certificate.certificate) == 1,
      SSL_CTX_use_PrivateKey(context, certificate.key) == 1
    else { throw .take("SSL_CTX_use_certificate") }

    shim_SSL_CTX_set_dtls_options(context)
    shim_SSL_CTX_disable_session_cache(context)
    shim_SSL_CTX_set_max_cert_list(context, certificateLimit)
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    SSL_CTX_set_cert_verify_callback(context, verifyFingerprint, nil)
  }
}

extension SRTPProfile {
  fileprivate var opensslName: String { "SRTP_" + name }
}

/// Takes the place of OpenSSL's chain verification: the fingerprint decides, so that a wrong certificate ends
/// the handshake with an alert.
private func verifyFingerprint(_ store: OpaquePointer?, _ argument: UnsafeMutableRawPointer?) -> Int32 {
  guard let store else { return 0 }
  guard let ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
    let owner = SSL_get_ex_data(OpaquePointer(ssl), 0),
    let certificate = X509_STORE_CTX_get0_cert(store)
  else {
    X509_STORE_CTX_set_error(store, X509_V_ERR_UNSPECIFIED)
    return 0
  }
  let link = Unmanaged<DTLSLink>.fromOpaque(owner).takeUnretainedValue()
  guard DTLSCertificate.matches(certificate, anyOf: link.expected) else {
    link.verdict = .refused
    // Becomes the alert bad_certificate (RFC 5763 §5).
    X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
    return 0
  }
  link.verdict = .accepted
  X509_STORE_CTX_set_error(store, X509_V_OK)
  return 1
}
