import COpenSSL

/// Sealing with AES in counter mode and HMAC-SHA1 (RFC 3711 §4.1.1, §4.2.1), tags of 80 bits.
///
/// HMAC's two padded key blocks are hashed once; a packet costs two copies of a hash state and no allocation.
struct CounterTransform: ~Copyable {
  private static let tagSize = 10

  private let context: OpaquePointer
  /// The session salt as two numbers: bytes 0–7, and 8–13 above two zero bytes.
  private let saltHigh: UInt64
  private let saltLow: UInt64
  private let inner: SHA_CTX
  private let outer: SHA_CTX
  /// 16 bytes of IV, 20 of digest from byte 16 on, 4 of rollover counter from byte 40 on.
  private let scratch: UnsafeMutableRawPointer

  /// - Parameters:
  ///   - key: the session encryption key, 16 bytes.
  ///   - authentication: the session authentication key, 20 bytes.
  ///   - salt: the session salt, 14 bytes.
  init(key: [UInt8], authentication: [UInt8], salt: [UInt8]) {
    precondition(authentication.count == 20 && salt.count == 14)
    let salt = salt + [0, 0]
    context = Ciphers.encryptor(Ciphers.aes128CTR, key: key)
    saltHigh = salt.withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    saltLow = salt.withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) }
    inner = Self.hashed(authentication, padding: 0x36)
    outer = Self.hashed(authentication, padding: 0x5C)
    scratch = .allocate(byteCount: 48, alignment: 16)
  }

  deinit {
    EVP_CIPHER_CTX_free(context)
    scratch.deallocate()
  }

  /// SHA-1 after the key block XOR `padding` (RFC 2104 §2).
  private static func hashed(_ key: [UInt8], padding: UInt8) -> SHA_CTX {
    let block = (key + [UInt8](repeating: 0, count: 64 - key.count)).map { $0 ^ padding }
    var state = SHA_CTX()
    SHA1_Init(&state)
    SHA1_Update(&state, block, block.count)
    return state
  }

  func sealRTP(
    _ packet: UnsafeMutableRawPointer, headerSize: Int, size: Int, ssrc: UInt32, index: UInt64
  ) throws(SRTPError) {
    try encrypt(packet + headerSize, size &- headerSize, ssrc: ssrc, index: index)
    // RFC 3711 §4.2: authenticated is the packet followed by the rollover counter, which isn't sent.
    let rollover = UInt32(truncatingIfNeeded: index >> 16).bigEndian
    authenticate(packet, size, then: rollover, tag: packet + size)
  }

  func sealRTCP(_ packet: UnsafeMutableRawPointer, size: Int, ssrc: UInt32, index: UInt32) throws(SRTPError) {
    try encrypt(packet + 8, size &- 8, ssrc: ssrc, index: UInt64(index))
    let word = (index | 0x8000_0000).bigEndian
    (packet + size).storeBytes(of: word, as: UInt32.self)
    authenticate(packet, size, then: word, tag: packet + (size &+ 4))
  }

  /// RFC 3711 §4.1.1: IV = salt · 2^16 XOR SSRC · 2^64 XOR index · 2^16.
  private func encrypt(
    _ text: UnsafeMutableRawPointer, _ size: Int, ssrc: UInt32, index: UInt64
  ) throws(SRTPError) {
    guard size > 0 else { return }
    scratch.storeBytes(of: (saltHigh ^ UInt64(ssrc)).bigEndian, as: UInt64.self)
    scratch.storeBytes(of: (saltLow ^ index << 16).bigEndian, toByteOffset: 8, as: UInt64.self)
    let text = text.assumingMemoryBound(to: UInt8.self)
    var written: Int32 = 0
    guard EVP_EncryptInit_ex2(context, nil, nil, scratch.assumingMemoryBound(to: UInt8.self), nil) == 1,
      EVP_EncryptUpdate(context, text, &written, text, Int32(truncatingIfNeeded: size)) == 1
    else {
      ERR_clear_error()
      throw .library(status: 0)
    }
  }

  private func authenticate(
    _ packet: UnsafeMutableRawPointer, _ size: Int, then word: UInt32, tag: UnsafeMutableRawPointer
  ) {
    let digest = scratch + 16
    scratch.storeBytes(of: word, toByteOffset: 40, as: UInt32.self)
    var state = inner
    SHA1_Update(&state, packet, size)
    SHA1_Update(&state, scratch + 40, 4)
    SHA1_Final(digest.assumingMemoryBound(to: UInt8.self), &state)
    state = outer
    SHA1_Update(&state, digest, 20)
    SHA1_Final(digest.assumingMemoryBound(to: UInt8.self), &state)
    tag.copyMemory(from: digest, byteCount: Self.tagSize)
  }
}
