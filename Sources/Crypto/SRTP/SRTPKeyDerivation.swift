import COpenSSL

/// Session keys from master key and salt, with a key derivation rate of zero (RFC 3711 §4.3, RFC 7714 §11).
enum SRTPKeyDerivation {
  /// What a session key is for (RFC 3711 §4.3.1 and §4.3.2).
  enum Label: UInt8 {
    case rtpEncryption = 0
    case rtpAuthentication = 1
    case rtpSalt = 2
    case rtcpEncryption = 3
    case rtcpAuthentication = 4
    case rtcpSalt = 5
  }

  /// - Parameter count: bytes wanted.
  static func derive(_ label: Label, _ count: Int, from keys: SRTPKeys) -> [UInt8] {
    // x = label ‖ 0^48 XOR salt, then two zero bytes for the block counter; a 96-bit salt is padded on the right.
    var block = keys.masterSalt + [UInt8](repeating: 0, count: 16 - keys.masterSalt.count)
    block[7] ^= label.rawValue
    return keystream(key: keys.masterKey, counter: block, count)
  }

  /// The first bytes of AES in counter mode from `counter` on (RFC 3711 §4.1.1).
  static func keystream(key: [UInt8], counter: [UInt8], _ count: Int) -> [UInt8] {
    let cipher = key.count == 32 ? Ciphers.aes256CTR : Ciphers.aes128CTR
    let context = Ciphers.encryptor(cipher, key: key)
    defer { EVP_CIPHER_CTX_free(context) }
    var stream = [UInt8](repeating: 0, count: count)
    var written: Int32 = 0
    let done = stream.withUnsafeMutableBufferPointer {
      EVP_EncryptInit_ex2(context, nil, nil, counter, nil) == 1
        && EVP_EncryptUpdate(context, $0.baseAddress, &written, $0.baseAddress, Int32(count)) == 1
    }
    guard done, Int(written) == count else {
      fatalError("no SRTP session key: \(OpenSSLError.take("EVP_EncryptUpdate"))")
    }
    return stream
  }
}
