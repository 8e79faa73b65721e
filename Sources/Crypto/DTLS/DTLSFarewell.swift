internal import COpenSSL
internal import Glibc
internal import Model

/// What of DTLS is yet to be said and heard once the handshake's objects are gone: that an end closes (RFC 5246 §7.2.1).
///
/// Our own close_notify is sealed while OpenSSL is still there, and kept as bytes, so that its number is used once. The far end's
/// comes whenever it likes, and is believed only if it opens under the far end's key: anybody could make up another.
public struct DTLSFarewell: Equatable, Sendable {
  enum Suite: UInt8, Sendable {
    case aes128GCM = 0
    case aes256GCM = 1
    case chaCha20 = 2

    /// - Parameter id: of the cipher suite, as IANA has it.
    init?(id: UInt16) {
      switch id {
      case 0xC02B, 0xC02F: self = .aes128GCM
      case 0xC02C, 0xC030: self = .aes256GCM
      case 0xCCA8, 0xCCA9: self = .chaCha20
      default: return nil
      }
    }

    var keySize: Int { self == .aes128GCM ? 16 : 32 }
    /// Bytes of the nonce that the handshake gives (RFC 5288 §3, RFC 7905 §2).
    var fixedSize: Int { self == .chaCha20 ? 12 : 4 }
    /// Bytes of the nonce that each record carries.
    var explicitSize: Int { 12 - fixedSize }
    var digest: String { self == .aes256GCM ? "SHA384" : "SHA256" }

    fileprivate var cipher: OpaquePointer {
      switch self {
      case .aes128GCM: Ciphers.aes128GCM
      case .aes256GCM: Ciphers.aes256GCM
      case .chaCha20: Ciphers.chaCha20Poly1305
      }
    }
  }

  /// A datagram to be sent as the last; the same bytes however often.
  public let own: [UInt8]
  /// The far end's write key and nonce.
  private let suite: Suite
  private let key: [UInt8]
  private let fixed: [UInt8]

  private static let tagSize = 16
  /// Level and description.
  private static let alertSize = 2

  /// - Precondition: sizes as the suite says.
  init(own: [UInt8], suite: Suite, key: [UInt8], fixed: [UInt8]) {
    precondition(key.count == suite.keySize && fixed.count == suite.fixedSize)
    (self.own, self.suite, self.key, self.fixed) = (own, suite, key, fixed)
  }

  /// Whether a record is the far end's word that it closes, or a fatal alert, which ends an association as well.
  func closes(_ datagram: UnsafeRawBufferPointer, _ record: DTLSRecord) -> Bool {
    guard record.type == .alert, record.epoch == 1,
      record.payload.count == suite.explicitSize + Self.alertSize + Self.tagSize
    else { return false }
    let start = record.payload.lowerBound
    let header = UnsafeRawBufferPointer(rebasing: datagram[start - DTLSRecord.headerSize..<start])
    let explicit = datagram[start..<start + suite.explicitSize]
    var nonce = fixed + explicit
    if suite == .chaCha20 {
      // The record's number, right-aligned, over the fixed one.
      for index in 0..<8 { nonce[4 + index] ^= header[3 + index] }
    }
    let sealed = UnsafeRawBufferPointer(
      rebasing: datagram[start + suite.explicitSize..<record.payload.upperBound])
    // RFC 5246 §6.2.3.3: number, type, version, length of the plain text.
    let associated = Array(header[3..<11]) + Array(header[0..<3]) + [0, UInt8(Self.alertSize)]
    guard let alert = open(sealed, nonce: nonce, associated: associated) else { return false }
    return alert[0] == 2 || alert[1] == 0
  }

  private func open(
    _ sealed: UnsafeRawBufferPointer, nonce: [UInt8], associated: [UInt8]
  ) -> [UInt8]? {
    guard let context = EVP_CIPHER_CTX_new() else { return nil }
    defer {
      EVP_CIPHER_CTX_free(context)
      ERR_clear_error()
    }
    var text = [UInt8](repeating: 0, count: Self.alertSize)
    var tag = Array(sealed[Self.alertSize...])
    var written: Int32 = 0
    let bytes = sealed.assumingMemoryBound(to: UInt8.self).baseAddress
    guard EVP_DecryptInit_ex2(context, suite.cipher, key, nonce, nil) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagSize), &tag) == 1,
      EVP_DecryptUpdate(context, nil, &written, associated, Int32(associated.count)) == 1,
      EVP_DecryptUpdate(context, &text, &written, bytes, Int32(Self.alertSize)) == 1,
      EVP_DecryptFinal_ex(context, nil, &written) == 1
    else { return nil }
    return text
  }

  // MARK: - As bytes

  func encode(into writer: inout StateWriter) {
    writer.write(own)
    writer.write(suite.rawValue)
    writer.write(key)
    writer.write(fixed)
  }

  init(from reader: inout StateReader) throws(StateError) {
    let own = try reader.array(limit: DTLSHandshake.datagramSize)
    let start = reader.offset
    guard let suite = Suite(rawValue: try reader.integer()) else {
      throw .invalid(field: "DTLS suite", offset: start)
    }
    let (key, fixed) = (try reader.array(limit: suite.keySize), try reader.array(limit: suite.fixedSize))
    guard key.count == suite.keySize, fixed.count == suite.fixedSize else {
      throw .invalid(field: "DTLS key size", offset: start)
    }
    self.init(own: own, suite: suite, key: key, fixed: fixed)
  }
}

extension DTLSFarewell: CustomStringConvertible {
  /// Keys never reach a log.
  public var description: String { "DTLSFarewell(\(suite))" }
}

// MARK: - From a finished handshake

extension DTLSFarewell {
  /// Takes the far end's keys out of a finished handshake (RFC 5246 §6.3).
  /// - Parameter own: our close_notify.
  /// - Returns: nil where OpenSSL doesn't give them: then the far end's word isn't understood, and silence ends it.
  init?(_ ssl: OpaquePointer, role: DTLSRole, own: [UInt8]) {
    guard let session = SSL_get_session(ssl), let cipher = SSL_get_current_cipher(ssl),
      let suite = Suite(id: UInt16(truncatingIfNeeded: SSL_CIPHER_get_id(cipher)))
    else { return nil }
    var master = [UInt8](repeating: 0, count: 48)
    var seed = Array("key expansion".utf8)
    defer { OPENSSL_cleanse(&master, master.count) }
    guard SSL_SESSION_get_master_key(session, &master, master.count) == master.count else { return nil }
    for random in [SSL_get_server_random, SSL_get_client_random] {
      var bytes = [UInt8](repeating: 0, count: 32)
      guard random(ssl, &bytes, bytes.count) == bytes.count else { return nil }
      seed += bytes
    }
    let size = 2 * (suite.keySize + suite.fixedSize)
    guard var block = Self.expand(master, seed, suite.digest, size) else { return nil }
    defer { OPENSSL_cleanse(&block, block.count) }
    // The client's key, the server's, the client's nonce, the server's.
    let isClients = role == .server
    let (key, fixed) = (isClients ? 0 : suite.keySize, 2 * suite.keySize + (isClients ? 0 : suite.fixedSize))
    self.init(
      own: own, suite: suite, key: Array(block[key..<key + suite.keySize]),
      fixed: Array(block[fixed..<fixed + suite.fixedSize]))
  }

  /// OSSL_PARAM keeps a pointer to its name: one for all. Never freed.
  private nonisolated(unsafe) static let digestName = strdup(OSSL_KDF_PARAM_DIGEST)
  private nonisolated(unsafe) static let secretName = strdup(OSSL_KDF_PARAM_SECRET)
  private nonisolated(unsafe) static let seedName = strdup(OSSL_KDF_PARAM_SEED)

  /// The pseudorandom function of TLS 1.2 (RFC 5246 §5).
  private static func expand(
    _ secret: [UInt8], _ seed: [UInt8], _ digest: String, _ size: Int
  ) -> [UInt8]? {
    guard let function = EVP_KDF_fetch(nil, "TLS1-PRF", nil) else { return nil }
    defer { EVP_KDF_free(function) }
    guard let context = EVP_KDF_CTX_new(function) else { return nil }
    defer { EVP_KDF_CTX_free(context) }
    var (secret, seed, output) = (secret, seed, [UInt8](repeating: 0, count: size))
    defer { OPENSSL_cleanse(&secret, secret.count) }
    var name: [CChar] = Array(digest.utf8CString)
    let result = name.withUnsafeMutableBufferPointer { name in
      secret.withUnsafeMutableBytes { secret in
        seed.withUnsafeMutableBytes { seed in
          let parameters = [
            OSSL_PARAM_construct_utf8_string(Self.digestName, name.baseAddress, 0),
            OSSL_PARAM_construct_octet_string(Self.secretName, secret.baseAddress, secret.count),
            OSSL_PARAM_construct_octet_string(Self.seedName, seed.baseAddress, seed.count),
            OSSL_PARAM_construct_end(),
          ]
          return EVP_KDF_derive(context, &output, size, parameters)
        }
      }
    }
    guard result == 1 else {
      ERR_clear_error()
      return nil
    }
    return output
  }
}
