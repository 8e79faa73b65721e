import COpenSSL

/// Sealing with AES-GCM (RFC 7714): one key, one reused context.
///
/// The sequence of calls was chosen by measuring OpenSSL 3.0. The tag is asked for by `EVP_CIPHER_CTX_get_params` with a standing
/// parameter instead of `EVP_CIPHER_CTX_ctrl`, which builds one each time (30 of 300 ns at 100 bytes). The IV is set as the
/// fixed field of TLS is, whose length of -1 stands for the whole IV, as libssl restores it: `EVP_EncryptInit_ex2`
/// asks the cipher for the length of its IV each time, by names, which takes 560 of 3,900 instructions of a packet of 100 bytes.
/// An OpenSSL without that rule refuses, since a context whose tag was taken seals nothing before it has an IV.
struct GCMTransform: ~Copyable {
  private static let tagSize = 16

  private let context: OpaquePointer
  /// The session salt as two numbers: bytes 0–7 and 8–11.
  private let saltHigh: UInt64
  private let saltLow: UInt32
  /// 12 bytes of IV, and 12 of SRTCP's associated data from byte 16 on.
  private let scratch: UnsafeMutableRawPointer
  /// The request for the tag, behind the scratch in the same memory; only its address changes.
  private let tagRequest: UnsafeMutablePointer<OSSL_PARAM>
  /// The standing order for an IV, which is read from the scratch.
  private let newIV: UnsafeMutablePointer<OSSL_PARAM>
  /// OSSL_PARAM keeps a pointer to its name: one for all. Never freed.
  nonisolated(unsafe) private static let tagName = strdup(OSSL_CIPHER_PARAM_AEAD_TAG)
  nonisolated(unsafe) private static let ivName = strdup(OSSL_CIPHER_PARAM_AEAD_TLS1_IV_FIXED)

  /// - Parameters:
  ///   - key: the session key, 16 or 32 bytes.
  ///   - salt: the session salt, 12 bytes.
  init(key: [UInt8], salt: [UInt8]) {
    precondition(salt.count == 12)
    context = Ciphers.encryptor(key.count == 32 ? Ciphers.aes256GCM : Ciphers.aes128GCM, key: key)
    saltHigh = salt.withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    saltLow = salt.withUnsafeBytes { UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt32.self)) }
    scratch = .allocate(byteCount: 32 + 4 * MemoryLayout<OSSL_PARAM>.stride, alignment: 64)
    tagRequest = (scratch + 32).bindMemory(to: OSSL_PARAM.self, capacity: 4)
    tagRequest.initialize(to: OSSL_PARAM_construct_octet_string(Self.tagName, scratch, Self.tagSize))
    (tagRequest + 1).initialize(to: OSSL_PARAM_construct_end())
    newIV = tagRequest + 2
    newIV.initialize(to: OSSL_PARAM_construct_octet_string(Self.ivName, scratch, -1))
    (newIV + 1).initialize(to: OSSL_PARAM_construct_end())
  }

  deinit {
    EVP_CIPHER_CTX_free(context)
    scratch.deallocate()
  }

  func sealRTP(
    _ packet: UnsafeMutableRawPointer, headerSize: Int, size: Int, ssrc: UInt32, index: UInt64
  ) throws(SRTPError) {
    setIV(ssrc: ssrc, index: index)
    let payload = packet + headerSize
    try seal(
      payload, size &- headerSize, associated: packet, associatedSize: headerSize,
      tag: payload + (size &- headerSize))
  }

  func sealRTCP(_ packet: UnsafeMutableRawPointer, size: Int, ssrc: UInt32, index: UInt32) throws(SRTPError) {
    setIV(ssrc: ssrc, index: UInt64(index))
    // RFC 7714 §9.2: the associated data is the first eight bytes and the trailing word, which stand apart.
    let associated = scratch + 16
    let word = (index | 0x8000_0000).bigEndian
    associated.storeBytes(of: packet.loadUnaligned(as: UInt64.self), as: UInt64.self)
    associated.storeBytes(of: word, toByteOffset: 8, as: UInt32.self)
    try seal(packet + 8, size &- 8, associated: associated, associatedSize: 12, tag: packet + size)
    (packet + size + Self.tagSize).storeBytes(of: word, as: UInt32.self)
  }

  /// RFC 7714 §8.1 and §9.1: two zero bytes, SSRC and index, right-aligned, XOR salt.
  private func setIV(ssrc: UInt32, index: UInt64) {
    let high = saltHigh ^ (UInt64(ssrc) << 16 | index >> 32)
    let low = saltLow ^ UInt32(truncatingIfNeeded: index)
    scratch.storeBytes(of: high.bigEndian, as: UInt64.self)
    scratch.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt32.self)
  }

  private func seal(
    _ text: UnsafeMutableRawPointer, _ size: Int, associated: UnsafeMutableRawPointer, associatedSize: Int,
    tag: UnsafeMutableRawPointer
  ) throws(SRTPError) {
    let text = text.assumingMemoryBound(to: UInt8.self)
    let tag = tag.assumingMemoryBound(to: UInt8.self)
    var written: Int32 = 0
    tagRequest.pointee.data = UnsafeMutableRawPointer(tag)
    guard
      EVP_CIPHER_CTX_set_params(context, newIV) == 1,
      EVP_EncryptUpdate(
        context, nil, &written, associated.assumingMemoryBound(to: UInt8.self),
        Int32(truncatingIfNeeded: associatedSize)) == 1,
      size == 0
        || EVP_EncryptUpdate(context, text, &written, text, Int32(truncatingIfNeeded: size)) == 1,
      EVP_EncryptFinal_ex(context, tag, &written) == 1,
      EVP_CIPHER_CTX_get_params(context, tagRequest) == 1
    else {
      ERR_clear_error()
      throw .library(status: 0)
    }
  }
}
