import COpenSSL
import Glibc

/// A client's side of TLS on a blocking socket, by OpenSSL: the server's is GnuTLS. It trusts any server.
final class TestTLS {
  enum Failure: Error { case handshake }

  private let session: OpaquePointer

  /// - Parameter version: the only one that is offered; nil: all that OpenSSL has.
  init(_ descriptor: Int32, version: Int32?) throws {
    guard let context = SSL_CTX_new(TLS_client_method()), let session = SSL_new(context) else {
      throw Failure.handshake
    }
    SSL_CTX_free(context)
    self.session = session
    if let version {
      // Versions that are old enough need a level at which OpenSSL still has ciphers for them.
      SSL_set_security_level(session, 0)
      shim_SSL_set_version(session, version)
    }
    SSL_set_fd(session, descriptor)
    guard SSL_connect(session) == 1 else { throw Failure.handshake }
  }

  deinit {
    SSL_free(session)
    ERR_clear_error()
  }

  var version: String { String(cString: SSL_get_version(session)) }

  /// SHA-256 of the certificate that the server showed.
  var fingerprint: [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    let certificate = SSL_get1_peer_certificate(session)
    X509_digest(certificate, EVP_sha256(), &digest, nil)
    X509_free(certificate)
    return digest
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Int {
    Int(SSL_write(session, bytes.baseAddress, Int32(clamping: bytes.count)))
  }

  /// As `recv` has it: -1 with EAGAIN when nothing came in time, 0 at the end.
  func read(_ chunk: inout [UInt8]) -> Int {
    let count = SSL_read(session, &chunk, Int32(clamping: chunk.count))
    guard count <= 0 else { return Int(count) }
    let reason = SSL_get_error(session, count)
    ERR_clear_error()
    if reason == SSL_ERROR_WANT_READ { errno = EAGAIN }
    return reason == SSL_ERROR_WANT_READ ? -1 : 0
  }
}
