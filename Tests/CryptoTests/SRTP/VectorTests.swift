import Model
import Testing

@testable import Crypto

@Suite("SRTP vectors, RFC 3711 appendix B", .timeLimit(.minutes(5)))
struct CounterModeVectorTests {
  @Test(arguments: [
    (
      0x0000,
      "E03EAD0935C95E80E166B16DD92B4EB4 D23513162B02D0F72A43A2FE4A5F97AB 41E95B3BB0A2E8DD477901E4FCA894C0"
    ),
    (
      0xFEFF,
      "EC8CDF7398607CB0F2D21675EA9EA1E4 362B7C3C6773516318A077D7FC5073AE 6A2CC3787889374FBEB4C81B17BA6C44"
    ),
  ])
  func `B.2, AES-CM key stream`(block: Int, expected: String) {
    var counter = hex("F0F1F2F3F4F5F6F7F8F9FAFBFCFD0000")
    counter[14] = UInt8(block >> 8)
    counter[15] = UInt8(block & 0xFF)
    let stream = SRTPKeyDerivation.keystream(
      key: hex("2B7E151628AED2A6ABF7158809CF4F3C"), counter: counter, 48)
    #expect(stream == hex(expected))
  }

  @Test func `B.3, key derivation`() {
    let keys = SRTPKeys(
      profile: .aes128CMSHA1_80, masterKey: hex("E1F97A0D3E018BE0D64FA32C06DE4139"),
      masterSalt: hex("0EC675AD498AFEEBB6960B3AABE6"))
    #expect(
      SRTPKeyDerivation.derive(.rtpEncryption, 16, from: keys) == hex("C61E7A93744F39EE10734AFE3FF7A087"))
    #expect(SRTPKeyDerivation.derive(.rtpSalt, 14, from: keys) == hex("30CBBC08863D8C85D49DB34A9AE1"))
    #expect(
      SRTPKeyDerivation.derive(.rtpAuthentication, 94, from: keys)
        == hex(
          """
          CEBE321F6FF7716B6FD4AB49AF256A15 6D38BAA48F0A0ACF3C34E2359E6CDBCE E049646C43D9327AD175578EF7227098
          6371C10C9A369AC2F94A8C5FBCDDDC25 6D6E919A48B610EF17C2041E47403576 6B68642C59BBFC2F34DB60DBDFB2
          """))
  }
}

@Suite("SRTP vectors, RFC 7714 sections 16 and 17", .timeLimit(.minutes(5)))
struct GCMVectorTests {
  static let key128 = hex("000102030405060708090A0B0C0D0E0F")
  static let key256 = hex("000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F")
  static let salt = hex("517569642070726F2071756F")

  @Test(arguments: [
    (
      key128,
      """
      8040f17b 8041f8d3 5501a0b2 f24de3a3 fb34de6c acba861c 9d7e4bca be633bd5 0d294e6f 42a5f47a 51c7d19b
      36de3adf 8833899d 7f27beb1 6a9152cf 765ee439 0cce
      """
    ),
    (
      key256,
      """
      8040f17b 8041f8d3 5501a0b2 32b1de78 a822fe12 ef9f78fa 332e33aa b1801238 9a58e2f3 b50b2a02 76ffae0f
      1ba63799 b87b7aa3 db36dfff d6b0f9bb 7878d7a7 6c13
      """
    ),
  ])
  func `section 16, RTP`(key: [UInt8], expected: String) throws {
    let plain = hex(
      """
      8040f17b 8041f8d3 5501a0b2 47616c6c 69612065 7374206f 6d6e6973 20646976 69736120 696e2070 61727465
      73207472 6573
      """)
    let gcm = GCMTransform(key: key, salt: Self.salt)
    var packet = plain + [UInt8](repeating: 0, count: 16)
    try packet.withUnsafeMutableBytes {
      try gcm.sealRTP($0.baseAddress!, headerSize: 12, size: plain.count, ssrc: 0x5501_A0B2, index: 0xF17B)
    }
    #expect(packet == hex(expected))
  }

  @Test(arguments: [
    (
      key128,
      """
      81c8000d 4d617273 63e94885 dcdab67c a727d766 2f6b7e99 7ff5c0f7 6c06f32d c676a5f1 730d6fda 4ce09b46
      86303ded 0bb9275b c84aa458 96cf4d2f c5abf872 45d9eade 800005d4
      """
    ),
    (
      key256,
      """
      81c8000d 4d617273 d50ae4d1 f5ce5d30 4ba297e4 7d470c28 2c3ece5d bffe0a50 a2eaa5c1 110555be 8415f658
      c61de047 6f1b6fad 1d1eb30c 4446839f 57ff6f6c b26ac3be 800005d4
      """
    ),
  ])
  func `section 17, RTCP`(key: [UInt8], expected: String) throws {
    let plain = hex(
      """
      81c8000d 4d617273 4e545031 4e545032 52545020 0000042a 0000e930 4c756e61 deadbeef deadbeef deadbeef
      deadbeef deadbeef
      """)
    let gcm = GCMTransform(key: key, salt: Self.salt)
    var packet = plain + [UInt8](repeating: 0, count: 20)
    try packet.withUnsafeMutableBytes {
      try gcm.sealRTCP($0.baseAddress!, size: plain.count, ssrc: 0x4D61_7273, index: 0x5D4)
    }
    #expect(packet == hex(expected))
  }
}
