import COpenSSL

/// Judges signatures of ECDSA on P-256 with SHA-256 by OpenSSL's own verification, which has nothing in common with what makes them.
public enum SignatureVerifier {
  /// - Parameters:
  ///   - signature: r and s, 32 bytes each.
  ///   - publicKey: SubjectPublicKeyInfo in DER.
  public static func holds(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
    defer { ERR_clear_error() }
    guard signature.count == 64, let der = der(of: signature) else { return false }
    let read = publicKey.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var start = bytes.baseAddress
      return d2i_PUBKEY(nil, &start, bytes.count)
    }
    guard let key = read else { return false }
    defer { EVP_PKEY_free(key) }
    guard let context = EVP_MD_CTX_new() else { return false }
    defer { EVP_MD_CTX_free(context) }
    guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
    return EVP_DigestVerify(context, der, der.count, message, message.count) == 1
  }

  /// SEQUENCE of two INTEGERs, each without zeros in front but for one before a high bit.
  private static func der(of signature: [UInt8]) -> [UInt8]? {
    let numbers = [signature.prefix(32), signature.suffix(32)].map { number -> [UInt8] in
      var bytes = Array(number.drop { $0 == 0 })
      if bytes.isEmpty || bytes[0] > 0x7F { bytes.insert(0, at: 0) }
      return [0x02, UInt8(bytes.count)] + bytes
    }
    let body = numbers[0] + numbers[1]
    return body.count < 0x80 ? [0x30, UInt8(body.count)] + body : nil
  }
}
