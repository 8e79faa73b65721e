import COpenSSL

/// The server's side of one TLS connection: ciphertext and plaintext in and out, by the owner of the sockets.
/// For one thread.
public final class TLSSession {
  public enum Reading: Equatable {
    /// So many bytes of plaintext.
    case bytes(Int)
    /// More ciphertext is needed.
    case wanting
    /// The far end has said that nothing more comes (close_notify, RFC 8446 §6.1).
    case ended
    /// What came isn't TLS, or was changed on its way. What is still to be sent says so to the far end.
    case failed
  }

  /// The largest piece of plaintext that `read` yields at once (RFC 8446 §5.1).
  public static let largestRecord = 16_384

  private let session: OpaquePointer
  private let incoming: OpaquePointer
  private let outgoing: OpaquePointer

  public init(_ context: TLSContext) throws(OpenSSLError) {
    ERR_clear_error()
    guard let session = SSL_new(context.context) else { throw .take("SSL_new") }
    guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
      SSL_free(session)
      throw .take("BIO_new")
    }
    self.session = session
    self.incoming = incoming
    self.outgoing = outgoing
    SSL_set_bio(session, incoming, outgoing)
    SSL_set_accept_state(session)
  }

  deinit { SSL_free(session) }

  /// Whether the handshake is over, so that plaintext can be written.
  public var isEstablished: Bool { SSL_is_init_finished(session) == 1 }

  /// Takes what came from the far end; `read` then does what follows from it, the handshake too.
  public func receive(_ ciphertext: UnsafeRawBufferPointer) {
    _ = BIO_write(incoming, ciphertext.baseAddress, Int32(clamping: ciphertext.count))
  }

  public func read(into buffer: UnsafeMutableRawBufferPointer) -> Reading {
    ERR_clear_error()
    let count = SSL_read(session, buffer.baseAddress, Int32(clamping: buffer.count))
    guard count <= 0 else { return .bytes(Int(count)) }
    defer { ERR_clear_error() }
    return switch SSL_get_error(session, count) {
    case SSL_ERROR_WANT_READ: .wanting
    case SSL_ERROR_ZERO_RETURN: .ended
    default: .failed
    }
  }

  /// - Parameter plaintext: not empty; only once established.
  /// - Returns: false if the session is broken.
  public func write(_ plaintext: UnsafeRawBufferPointer) -> Bool {
    ERR_clear_error()
    let count = SSL_write(session, plaintext.baseAddress, Int32(clamping: plaintext.count))
    ERR_clear_error()
    return Int(count) == plaintext.count
  }

  /// Tells the far end that nothing more comes.
  public func end() {
    _ = SSL_shutdown(session)
    ERR_clear_error()
  }

  /// Takes ciphertext that is to be sent.
  /// - Returns: bytes; 0: there is none.
  public func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    max(Int(BIO_read(outgoing, buffer.baseAddress, Int32(clamping: buffer.count))), 0)
  }
}
