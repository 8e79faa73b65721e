import COpenSSL

/// A public key with its algorithm, in DER (RFC 5280 §4.1).
enum SubjectPublicKeyInfo {
  /// What stands before a P-256 point that isn't compressed (RFC 5480 §2).
  static let p256: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01,
    0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]
  /// Bytes of such a point: 4, and two coordinates.
  static let pointSize = 65

  /// - Returns: the caller's to free; nil of anything else than one key, or of one that is written in another way
  ///   than DER has it. Errors stay in the queue.
  static func decode(_ bytes: [UInt8]) -> OpaquePointer? {
    let key = bytes.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var start = bytes.baseAddress
      return d2i_PUBKEY(nil, &start, bytes.count)
    }
    guard let key else { return nil }
    // A key has one form, so that two entries with the same key have the same bytes.
    guard encode(key) == bytes else {
      EVP_PKEY_free(key)
      return nil
    }
    return key
  }

  /// - Returns: nil where OpenSSL can't; its error stays in the queue.
  static func encode(_ key: OpaquePointer) -> [UInt8]? {
    let size = Int(i2d_PUBKEY(key, nil))
    guard size > 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: size)
    let written = bytes.withUnsafeMutableBufferPointer { bytes -> Int in
      var start = bytes.baseAddress
      return Int(i2d_PUBKEY(key, &start))
    }
    return written == size ? bytes : nil
  }
}
