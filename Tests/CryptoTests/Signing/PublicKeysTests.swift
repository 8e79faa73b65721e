import Crypto
import Testing

@Suite("Public keys that others bring", .timeLimit(.minutes(1)))
struct PublicKeysTests {
  private func refusal(_ check: ([UInt8]) throws(PublicKeyError) -> Void, _ key: [UInt8]) -> PublicKeyError? {
    do throws(PublicKeyError) {
      try check(key)
      return nil
    } catch { return error }
  }

  private func point(_ key: [UInt8]) -> PublicKeyError? { refusal(PublicKeys.checkPoint, key) }
  private func rsa(_ key: [UInt8]) -> PublicKeyError? { refusal(PublicKeys.checkRSA, key) }

  // MARK: - Points

  @Test func `a point of the curve is taken`() throws {
    #expect(point(P256.basePoint) == nil)
    for _ in 0..<20 { #expect(point(Array(try SigningKey().publicKey.suffix(65))) == nil) }
  }

  @Test func `a point that isn't on the curve is refused, whichever bit of it is another`() {
    for bit in 8..<65 * 8 {
      var changed = P256.basePoint
      changed[bit / 8] ^= 0x80 >> UInt8(bit % 8)
      #expect(point(changed) == .noPoint, "bit \(bit)")
    }
    // Numbers beyond the field.
    #expect(point([4] + [UInt8](repeating: 0xFF, count: 64)) == .noPoint)
    #expect(point([4] + [UInt8](repeating: 0, count: 64)) == .noPoint)
  }

  @Test func `a point has one form`() {
    let (x, isOdd) = (P256.basePoint[1...32], P256.basePoint[64] & 1)
    #expect(point([2 + isOdd] + x) == .noPoint, "compressed")
    #expect(point([6 + isOdd] + P256.basePoint.dropFirst()) == .noPoint, "both at once")
    #expect(point([0]) == .noPoint, "infinity")
    #expect(point(P256.basePoint + [0]) == .noPoint)
    for count in 0..<65 { #expect(point(Array(P256.basePoint.prefix(count))) == .noPoint) }
  }

  // MARK: - RSA

  @Test func `an RSA key that OpenSSL has made is taken, and none that is cut or longer`() {
    #expect(RSAInfo.made.count == 294 && rsa(RSAInfo.made) == nil)
    for count in 0..<RSAInfo.made.count { #expect(rsa(Array(RSAInfo.made.prefix(count))) == .noRSAKey) }
    #expect(rsa(RSAInfo.made + [0]) == .noRSAKey)
  }

  @Test func `whatever byte of an RSA key is another, it is refused or another key, and nothing traps`() {
    for place in RSAInfo.made.indices {
      for flip in [1, 0x80, 0xFF] as [UInt8] {
        var changed = RSAInfo.made
        changed[place] ^= flip
        _ = rsa(changed)
      }
    }
  }

  @Test func `a modulus has 2,048 to 8,192 bits`() {
    for bits in [2_048, 2_049, 3_072, 4_096, 8_192] { #expect(rsa(RSAInfo.with(bits: bits)) == nil) }
    for bits in [512, 1_024, 2_047, 8_193, 16_384, 30_000] {
      #expect(rsa(RSAInfo.with(bits: bits)) == .modulusBits(bits))
    }
  }

  @Test func `numbers that no RSA key has are refused`() {
    #expect(rsa(RSAInfo.with(bits: 2_048, lastByte: 0xFE)) == .noRSAKey, "an even modulus")
    for exponent in [[], [1], [2], [4], [1, 0, 0], [1, 0, 0, 0, 1]] as [[UInt8]] {
      #expect(rsa(RSAInfo.with(bits: 2_048, exponent: exponent)) == .noRSAKey, "\(exponent)")
    }
    for exponent in [[3], [17], [1, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]] {
      #expect(rsa(RSAInfo.with(bits: 2_048, exponent: exponent)) == nil, "\(exponent)")
    }
  }

  @Test func `an RSA key has one form`() {
    let fine = RSAInfo.with(bits: 2_048)
    #expect(rsa(fine) == nil)
    // The outer length in one more byte than it needs.
    #expect(rsa([0x30, 0x83, 0x00] + fine.dropFirst(2)) == .noRSAKey)
    #expect(rsa(RSAInfo.with(bits: 2_048, parameters: [])) == .noRSAKey, "without the NULL")
    #expect(rsa(RSAInfo.with(bits: 2_048, exponent: [0, 3])) == .noRSAKey, "a zero in front")
  }

  @Test func `keys of other algorithms are none`() throws {
    #expect(rsa(try SigningKey().publicKey) == .noRSAKey)
    // RSASSA-PSS (RFC 4055).
    #expect(rsa(RSAInfo.with(bits: 2_048, algorithm: 10, parameters: [])) == .noRSAKey)
    #expect(point(RSAInfo.made) == .noPoint)
  }
}
