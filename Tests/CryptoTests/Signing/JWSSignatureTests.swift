import COpenSSL
import Crypto
import Testing

@Suite("ES256, RFC 7518 section 3.4", .timeLimit(.minutes(5)))
struct JWSSignatureTests {
  /// The key of RFC 7515, appendix A.3.
  private static let pkcs8 = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff
    H1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v20t7WAczNXvp
    7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt
    -----END PRIVATE KEY-----
    """
  private static let sec1 = """
    -----BEGIN EC PRIVATE KEY-----
    MHcCAQEEII6bEJ5xkJi/mASH3x9dd+nLKWBuvtImO19XwhPfhPSyoAoGCCqGSM49
    AwEHoUQDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEXH8UTNG72b
    focs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
    -----END EC PRIVATE KEY-----
    """
  private static let publicKey = """
    -----BEGIN PUBLIC KEY-----
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7
    6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==
    -----END PUBLIC KEY-----
    """
  /// One on P-384.
  private static let wider = """
    -----BEGIN PRIVATE KEY-----
    MIG2AgEAMBAGByqGSM49AgEGBSuBBAAiBIGeMIGbAgEBBDAAAAAAAAAAAAAAAAAA
    AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAMDmhZANiAAToa5leNQ5N
    MSqVprfV2M3NtGgvWIgAoc1sly4dyypaw42QBGlRsDzLOxeaif2oixtIW58sH0Sw
    3UHObjw6aQu/qr7B4f9K77JGH92mYpvsvUPPdME9jBoWJWEiQ/AEYUg=
    -----END PRIVATE KEY-----
    """

  /// By OpenSSL, with the public key alone.
  private func isValid(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
    let pem = Array(Self.publicKey.utf8)
    let stream = try #require(BIO_new_mem_buf(pem, Int32(pem.count)))
    defer { BIO_free(stream) }
    let key = try #require(PEM_read_bio_PUBKEY(stream, nil, nil, nil))
    defer { EVP_PKEY_free(key) }
    guard signature.count == SigningKey.signatureSize else { return false }
    let pair = try #require(ECDSA_SIG_new())
    defer { ECDSA_SIG_free(pair) }
    ECDSA_SIG_set0(
      pair, BN_bin2bn(Array(signature.prefix(32)), 32, nil), BN_bin2bn(Array(signature.suffix(32)), 32, nil))
    var encoded = [UInt8](repeating: 0, count: 80)
    let size = encoded.withUnsafeMutableBufferPointer { buffer in
      var start = buffer.baseAddress
      return Int(i2d_ECDSA_SIG(pair, &start))
    }
    let context = try #require(EVP_MD_CTX_new())
    defer { EVP_MD_CTX_free(context) }
    try #require(EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1)
    let result = EVP_DigestVerify(context, encoded, size, message, message.count)
    ERR_clear_error()
    return result == 1
  }

  @Test func `what judges signatures here takes that of RFC 7515, and no other`() throws {
    let message =
      "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
    let signature: [UInt8] = [
      14, 209, 33, 83, 121, 99, 108, 72, 60, 47, 127, 21, 88, 7, 212, 2, 163, 178, 40, 3, 58, 249, 124, 126,
      23, 129, 154, 195, 22, 158, 166, 101, 197, 10, 7, 211, 140, 60, 112, 229, 216, 241, 45, 175, 8, 74, 84,
      128, 166, 101, 144, 197, 242, 147, 80, 154, 143, 63, 127, 138, 131, 163, 84, 213,
    ]
    #expect(try isValid(signature, of: Array(message.utf8)))
    for place in [0, 31, 32, 63] {
      var other = signature
      other[place] ^= 1
      #expect(try !isValid(other, of: Array(message.utf8)))
    }
    #expect(try !isValid(signature, of: Array(message.dropLast().utf8)))
  }

  @Test(arguments: [pkcs8, sec1]) func `a key in either form signs, whatever the message`(pem: String) throws
  {
    let key = try SigningKey(pem: pem)
    // Often enough that some numbers begin with a zero.
    for size in 0..<600 {
      let message = Random.bytes(size)
      let signature = try key.signature(of: message)
      try #require(signature.count == 64)
      try #require(try isValid(signature, of: message), "\(size) bytes")
      try #require(try !isValid(signature, of: message + [0]))
    }
    #expect(try key.signature(of: [1]) != key.signature(of: [1]))
  }

  @Test func `what is no private key on P-256 is refused by name`() throws {
    #expect(throws: SigningKeyError.otherKind) { try SigningKey(pem: Self.wider) }
    for text in ["", "no key", Self.publicKey, String(Self.pkcs8.dropLast(60))] {
      let error = #expect(throws: SigningKeyError.self) { try SigningKey(pem: text) }
      guard case .noPrivateKey(let reason) = error else {
        Issue.record("\(error.debugDescription)")
        continue
      }
      #expect(!reason.isEmpty)
    }
  }

  @Test func `one key signs for several threads at once`() async throws {
    let key = try SigningKey(pem: Self.pkcs8)
    let message: [UInt8] = [1, 2, 3]
    let signatures = try await withThrowingTaskGroup(of: [[UInt8]].self) { group in
      for _ in 0..<4 { group.addTask { try (0..<50).map { _ in try key.signature(of: message) } } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(Set(signatures).count == 200)
    for signature in signatures { try #require(try isValid(signature, of: message)) }
  }
}
