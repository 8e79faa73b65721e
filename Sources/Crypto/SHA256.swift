internal import COpenSSL

/// FIPS 180-4 §6.2.
public enum SHA256 {
  /// - Returns: 32 bytes.
  public static func digest(_ message: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    var size: UInt32 = 0
    let done = EVP_Digest(message, message.count, &digest, &size, EVP_sha256(), nil)
    precondition(done == 1 && size == 32, "EVP_Digest")
    return digest
  }
}
