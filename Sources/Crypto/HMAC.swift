internal import COpenSSL

#if PLANTED_DEFECTS
  internal import Model
#endif

/// A keyed digest (RFC 2104), ready for any number of messages under one key.
///
/// The key is scheduled once; each message is `begin`, any number of `update`, `finish`.
public struct HMAC: ~Copyable, @unchecked Sendable {
  // Unchecked because of the pointer alone: the value is its only owner.

  public enum Algorithm: UInt8, Sendable {
    case sha1 = 0
    case sha256 = 1

    /// Bytes of the code.
    public var size: Int { self == .sha1 ? 20 : 32 }
  }

  public let algorithm: Algorithm
  private let context: OpaquePointer

  /// - Parameter key: any length, also none; it is copied.
  public init(_ algorithm: Algorithm, key: UnsafeRawBufferPointer) {
    self.algorithm = algorithm
    context = Self.makeContext(algorithm, key)
  }

  public init(_ algorithm: Algorithm, key: [UInt8]) {
    self.algorithm = algorithm
    context = key.withUnsafeBytes { Self.makeContext(algorithm, $0) }
  }

  private static func makeContext(_ algorithm: Algorithm, _ key: UnsafeRawBufferPointer) -> OpaquePointer {
    let template = algorithm == .sha1 ? Template.sha1 : Template.sha256
    guard let context = EVP_MAC_CTX_dup(template.context) else {
      fatalError("EVP_MAC_CTX_dup: out of memory")
    }
    // A null key would mean "the same as before", so that an empty one needs an address as well.
    let ready = withUnsafePointer(to: 0 as UInt8) { none in
      EVP_MAC_init(context, key.assumingMemoryBound(to: UInt8.self).baseAddress ?? none, key.count, nil)
    }
    precondition(ready == 1, "EVP_MAC_init")
    return context
  }

  deinit { EVP_MAC_CTX_free(context) }

  /// Starts a message; what was fed and not finished is forgotten.
  public mutating func begin() {
    let ready = EVP_MAC_init(context, nil, 0, nil)
    precondition(ready == 1, "EVP_MAC_init")
  }

  public mutating func update(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.assumingMemoryBound(to: UInt8.self).baseAddress else { return }
    let taken = EVP_MAC_update(context, start, bytes.count)
    precondition(taken == 1, "EVP_MAC_update")
  }

  /// Ends the message.
  /// - Parameter code: at least `algorithm.size` bytes; that many are written.
  public mutating func finish(into code: UnsafeMutableRawBufferPointer) {
    precondition(code.count >= algorithm.size)
    var written = 0
    let done = EVP_MAC_final(
      context, code.assumingMemoryBound(to: UInt8.self).baseAddress, &written, code.count)
    precondition(done == 1 && written == algorithm.size, "EVP_MAC_final")
  }

  /// The code of one message under a key that is used once.
  public static func code(_ algorithm: Algorithm, key: [UInt8], message: [UInt8]) -> [UInt8] {
    var hmac = HMAC(algorithm, key: key)
    hmac.begin()
    message.withUnsafeBytes { hmac.update($0) }
    var code = [UInt8](repeating: 0, count: algorithm.size)
    code.withUnsafeMutableBytes { hmac.finish(into: $0) }
    return code
  }

  /// Whether two codes are the same, in a time that depends on their length alone.
  public static func isEqual(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.codePrefix), let first = a.baseAddress, let second = b.baseAddress {
        return CRYPTO_memcmp(first, second, min(a.count, b.count)) == 0
      }
    #endif
    guard a.count == b.count else { return false }
    guard let first = a.baseAddress, let second = b.baseAddress else { return true }
    return CRYPTO_memcmp(first, second, a.count) == 0
  }

  public static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.withUnsafeBytes { a in b.withUnsafeBytes { b in isEqual(a, b) } }
  }
}

/// A context of each digest, made once for the process and copied for each key. To look the digest up by its name each
/// time would take OpenSSL's locks, and now and then fails while other threads look something up for the first time.
private struct Template: @unchecked Sendable {
  // Unchecked because of the pointer alone: what it points to is only read.

  let context: OpaquePointer

  static let sha1 = Template("SHA1")
  static let sha256 = Template("SHA256")

  private init(_ digest: String) {
    guard let mac = EVP_MAC_fetch(nil, "HMAC", nil), let context = EVP_MAC_CTX_new(mac) else {
      fatalError("OpenSSL has no HMAC")
    }
    var name: [CChar] = Array(digest.utf8CString)
    let ready = name.withUnsafeMutableBufferPointer { name in
      let parameters = [
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name.baseAddress, 0),
        OSSL_PARAM_construct_end(),
      ]
      // A context without a key can't be copied.
      return withUnsafePointer(to: 0 as UInt8) { EVP_MAC_init(context, $0, 1, parameters) }
    }
    guard ready == 1 else { fatalError("OpenSSL has no HMAC with \(digest)") }
    self.context = context
  }
}
