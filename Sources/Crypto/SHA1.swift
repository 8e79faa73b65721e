internal import COpenSSL

/// The digest that RFC 6455's handshake names (FIPS 180-4 §6.1). It authenticates nothing: `HMAC` does.
public enum SHA1 {
  /// - Returns: 20 bytes.
  public static func digest(_ message: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    var size: UInt32 = 0
    let done = EVP_Digest(message, message.count, &digest, &size, EVP_sha1(), nil)
    precondition(done == 1 && size == 20, "EVP_Digest")
    return digest
  }
}

/// RFC 4648 §4, padded.
public enum Base64 {
  public static func encode(_ bytes: [UInt8]) -> String {
    // OpenSSL ends its text by a zero.
    var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
    let size = EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
    return String(decoding: text.prefix(Int(size)), as: UTF8.self)
  }
}
