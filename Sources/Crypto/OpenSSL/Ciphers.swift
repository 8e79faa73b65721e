import COpenSSL

/// Ciphers fetched once: a fetch takes locks and allocates. Never freed, so safe to share between threads.
enum Ciphers {
  nonisolated(unsafe) static let aes128GCM = fetch("AES-128-GCM")
  nonisolated(unsafe) static let aes256GCM = fetch("AES-256-GCM")
  nonisolated(unsafe) static let chaCha20Poly1305 = fetch("ChaCha20-Poly1305")
  nonisolated(unsafe) static let aes128CTR = fetch("AES-128-CTR")
  nonisolated(unsafe) static let aes256CTR = fetch("AES-256-CTR")

  private static func fetch(_ name: String) -> OpaquePointer {
    guard let cipher = EVP_CIPHER_fetch(nil, name, nil) else {
      fatalError("OpenSSL has no \(name): \(OpenSSLError.take("EVP_CIPHER_fetch"))")
    }
    return cipher
  }

  /// A context that holds `key` and waits for an IV per use; the caller frees it.
  static func encryptor(_ cipher: OpaquePointer, key: [UInt8]) -> OpaquePointer {
    precondition(key.count == Int(EVP_CIPHER_get_key_length(cipher)))
    guard let context = EVP_CIPHER_CTX_new(), EVP_EncryptInit_ex2(context, cipher, key, nil, nil) == 1 else {
      fatalError("no cipher context: \(OpenSSLError.take("EVP_EncryptInit_ex2"))")
    }
    return context
  }
}
