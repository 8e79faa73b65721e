import Crypto
import Testing

@Suite("HMAC, RFC 2202 and RFC 4231", .timeLimit(.minutes(5)))
struct HMACTests {
  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test(arguments: [
    ([UInt8](repeating: 0x0B, count: 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
    (Array("Jefe".utf8), "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
    (
      [UInt8](repeating: 0xAA, count: 80), "Test Using Larger Than Block-Size Key - Hash Key First",
      "aa4ae5e15272d00e95705637ce8a3b55ed402112"
    ),
    ([], "", "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d"),
  ])
  func `SHA-1 codes are those of RFC 2202`(key: [UInt8], message: String, code: String) {
    #expect(hex(HMAC.code(.sha1, key: key, message: Array(message.utf8))) == code)
  }

  @Test(arguments: [
    (
      [UInt8](repeating: 0x0B, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ])
  func `SHA-256 codes are those of RFC 4231`(key: [UInt8], message: String, code: String) {
    #expect(hex(HMAC.code(.sha256, key: key, message: Array(message.utf8))) == code)
  }

  @Test func `one key serves message after message, fed in any pieces`() {
    let message = Array("what do ya want for nothing?".utf8)
    var hmac = HMAC(.sha1, key: Array("Jefe".utf8))
    for cut in 0...message.count {
      var code = [UInt8](repeating: 0, count: 20)
      hmac.begin()
      message[..<cut].withUnsafeBytes { hmac.update($0) }
      message[cut...].withUnsafeBytes { hmac.update($0) }
      code.withUnsafeMutableBytes { hmac.finish(into: $0) }
      #expect(hex(code) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
    }
  }

  @Test func `a message that was begun and not finished leaves no trace`() {
    var hmac = HMAC(.sha1, key: Array("Jefe".utf8))
    var code = [UInt8](repeating: 0, count: 20)
    hmac.begin()
    [1, 2, 3].withUnsafeBytes { hmac.update($0) }
    hmac.begin()
    Array("what do ya want for nothing?".utf8).withUnsafeBytes { hmac.update($0) }
    code.withUnsafeMutableBytes { hmac.finish(into: $0) }
    #expect(hex(code) == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
  }

  @Test func `codes that differ in one bit, or in length, are not equal`() {
    let code = HMAC.code(.sha256, key: [1], message: [2])
    #expect(HMAC.isEqual(code, code))
    #expect(HMAC.isEqual([UInt8](), []))
    #expect(!HMAC.isEqual(code, Array(code.dropLast())))
    for bit in 0..<256 {
      var other = code
      other[bit / 8] ^= 1 << (bit % 8)
      #expect(!HMAC.isEqual(code, other))
    }
  }

  @Test func `many codes made at once, beside other users of OpenSSL, equal those made one by one`()
    async throws
  {
    @Sendable func code(_ number: Int) -> [UInt8] {
      HMAC.code(.sha256, key: Array("key \(number % 7)".utf8), message: Array("message".utf8))
    }
    let expected = (0..<7).map(code)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for number in 0..<500 where code(number) != expected[number % 7] { return false }
          for _ in 0..<5 { _ = try DTLSContext(certificate: DTLSCertificate(notBefore: 0, notAfter: 9)) }
          return true
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
  }
}
