import COpenSSL

/// What the TLS sessions of a server have in common: who it is, and TLS 1.2 or 1.3. Any thread may make sessions.
public final class TLSContext: @unchecked Sendable {
  let context: OpaquePointer

  public init(_ identity: TLSIdentity) throws(OpenSSLError) {
    ERR_clear_error()
    guard let context = SSL_CTX_new(TLS_server_method()) else { throw .take("SSL_CTX_new") }
    self.context = context
    shim_SSL_CTX_set_tls_options(context)
    let chain = Self.certificates(in: identity.certificates)
    defer { for certificate in chain { X509_free(certificate) } }
    let key = PEM.read(identity.privateKey) { PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in -1 }, nil) }
    defer { EVP_PKEY_free(key) }
    guard let own = chain.first, SSL_CTX_use_certificate(context, own) == 1 else {
      throw .take("SSL_CTX_use_certificate")
    }
    guard SSL_CTX_use_PrivateKey(context, key) == 1 else { throw .take("SSL_CTX_use_PrivateKey") }
    for certificate in chain.dropFirst() where shim_SSL_CTX_add_chain_certificate(context, certificate) != 1 {
      throw .take("SSL_CTX_add1_chain_cert")
    }
  }

  deinit { SSL_CTX_free(context) }

  private static func certificates(in text: String) -> [OpaquePointer] {
    var found: [OpaquePointer] = []
    _ = PEM.read(text) { stream in
      while let certificate = PEM_read_bio_X509(stream, nil, nil, nil) { found.append(certificate) }
      return nil
    }
    // The end of the text is an error of its own.
    ERR_clear_error()
    return found
  }
}
