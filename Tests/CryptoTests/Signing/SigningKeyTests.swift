import COpenSSL
import TestProofs
import Testing

@testable import Crypto

@Suite("Keys that sign", .timeLimit(.minutes(1)))
struct SigningKeyTests {
  /// A key of OpenSSL's own making, written by it.
  private func pem(
    of key: OpaquePointer?, _ write: (OpaquePointer, OpaquePointer) -> Int32
  ) throws -> String {
    let key = try #require(key)
    defer { EVP_PKEY_free(key) }
    return try PEM.text("PEM_write_bio") { write($0, key) }
  }

  private func made(_ name: String) -> OpaquePointer? {
    let context = EVP_PKEY_CTX_new_from_name(nil, name, nil)
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_generate(context, &key) == 1 else { return nil }
    return key
  }

  @Test func `what is signed holds by OpenSSL's verification, and for nothing else`() throws {
    let (key, other) = (try SigningKey(), try SigningKey())
    #expect(key.publicKey.count == 91 && key.publicKey != other.publicKey)
    for number in 0..<200 {
      let message = Array("message \(number)".utf8)
      let signature = try key.signature(of: message)
      #expect(signature.count == SigningKey.signatureSize)
      #expect(SignatureVerifier.holds(signature, of: message, by: key.publicKey))
      #expect(!SignatureVerifier.holds(signature, of: message + [0], by: key.publicKey))
      #expect(!SignatureVerifier.holds(signature, of: message, by: other.publicKey))
      var changed = signature
      changed[number % 64] ^= 1
      #expect(!SignatureVerifier.holds(changed, of: message, by: key.publicKey))
    }
    #expect(try key.signature(of: []) != key.signature(of: []))
  }

  @Test func `a key goes through its text, in either form that OpenSSL writes`() throws {
    let key = try SigningKey()
    let again = try SigningKey(pem: key.pem())
    #expect(again.publicKey == key.publicKey)
    #expect(SignatureVerifier.holds(try again.signature(of: [7]), of: [7], by: key.publicKey))
    let traditional = try pem(of: shim_EVP_EC_gen("P-256")) {
      PEM_write_bio_PrivateKey_traditional($0, $1, nil, nil, 0, nil, nil)
    }
    #expect(traditional.contains("BEGIN EC PRIVATE KEY"))
    let read = try SigningKey(pem: traditional)
    #expect(SignatureVerifier.holds(try read.signature(of: [7]), of: [7], by: read.publicKey))
  }

  @Test func `keys of other kinds are refused`() throws {
    for key in [shim_EVP_EC_gen("P-384"), shim_EVP_EC_gen("secp256k1"), made("ED25519"), made("X25519")] {
      let text = try pem(of: key) { PEM_write_bio_PrivateKey($0, $1, nil, nil, 0, nil, nil) }
      #expect(throws: SigningKeyError.otherKind) { try SigningKey(pem: text) }
    }
  }

  @Test func `a private key with another's public half is refused`() throws {
    // RFC 5915: the number 2, and the curve's base point, which is of the number 1.
    let der =
      hex("30770201010420") + [UInt8](repeating: 0, count: 31) + [2]
      + hex("a00a06082a8648ce3d030107a144034200") + P256.basePoint
    let text = "-----BEGIN EC PRIVATE KEY-----\n\(Base64.encode(der))\n-----END EC PRIVATE KEY-----\n"
    #expect(throws: SigningKeyError.otherKind) { try SigningKey(pem: text) }
  }

  @Test func `what is no private key is refused, and one with a pass phrase isn't asked for`() throws {
    let key = try SigningKey().pem()
    let locked = try pem(of: shim_EVP_EC_gen("P-256")) {
      PEM_write_bio_PrivateKey($0, $1, EVP_aes_128_cbc(), Array("secret".utf8), 6, nil, nil)
    }
    let open = try pem(of: shim_EVP_EC_gen("P-256")) { PEM_write_bio_PUBKEY($0, $1) }
    for text in ["", "key", String(key.dropLast(60)), String(key.dropFirst(8)), locked, open] {
      #expect { try SigningKey(pem: text) } throws: {
        if case .noPrivateKey? = $0 as? SigningKeyError { true } else { false }
      }
    }
  }
}
