import COpenSSL

/// PEM texts in and out of OpenSSL's memory streams.
enum PEM {
  /// What `write` leaves in the stream.
  static func text(
    _ operation: String, _ write: (OpaquePointer) -> Int32
  ) throws(OpenSSLError) -> String {
    guard let stream = BIO_new(BIO_s_mem()) else { throw .take("BIO_new") }
    defer { BIO_free(stream) }
    guard write(stream) == 1 else { throw .take(operation) }
    var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(stream))
    let count = BIO_read(stream, &bytes, Int32(clamping: bytes.count))
    return String(decoding: bytes.prefix(max(Int(count), 0)), as: UTF8.self)
  }

  /// What `parse` finds first; its errors stay in the queue.
  static func read(_ text: String, _ parse: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    let bytes = Array(text.utf8)
    return bytes.withUnsafeBytes { bytes in
      guard let stream = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
      defer { BIO_free(stream) }
      return parse(stream)
    }
  }
}
