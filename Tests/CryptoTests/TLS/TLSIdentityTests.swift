import COpenSSL
import Model
import Testing

@testable import Crypto

@Suite("TLS identities", .timeLimit(.minutes(5)))
struct TLSIdentityTests {
  private func made(
    _ addresses: [SocketAddress] = [SocketAddress(ipv4: 192, 0, 2, 1, port: 7880)],
    names: [String] = ["relay.local"]
  ) throws -> TLSIdentity {
    try TLSIdentity(
      selfSignedFor: addresses, names: names, notBefore: 1_790_000_000, notAfter: 1_790_086_400)
  }

  private func withCertificate<T>(_ identity: TLSIdentity, _ body: (OpaquePointer) throws -> T) throws -> T {
    let certificate = try #require(PEM.read(identity.certificates) { PEM_read_bio_X509($0, nil, nil, nil) })
    defer { X509_free(certificate) }
    return try body(certificate)
  }

  @Test func `a self-signed certificate covers its own addresses and names, and no others`() throws {
    let addresses = [
      SocketAddress(ipv4: 192, 0, 2, 1, port: 7880),
      try #require(SocketAddress(host: "2001:db8::1", port: 7880)),
    ]
    try withCertificate(made(addresses)) { certificate in
      for host in ["192.0.2.1", "2001:db8::1"] { #expect(X509_check_ip_asc(certificate, host, 0) == 1) }
      #expect(X509_check_ip_asc(certificate, "192.0.2.2", 0) == 0)
      #expect(X509_check_host(certificate, "relay.local", 0, 0, nil) == 1)
      #expect(X509_check_host(certificate, "other.local", 0, 0, nil) == 0)
      #expect(X509_verify(certificate, X509_get0_pubkey(certificate)) == 1)
    }
  }

  @Test func `a name that would be more than a name is left out`() throws {
    try withCertificate(made(names: ["good", "a,IP:192.0.2.9", "b\nDNS:c", "", "*.x"])) { certificate in
      #expect(X509_check_host(certificate, "good", 0, 0, nil) == 1)
      #expect(X509_check_ip_asc(certificate, "192.0.2.9", 0) == 0)
    }
  }

  @Test func `each has a key of its own, and texts make the same identity again`() throws {
    let (one, other) = (try made(), try made())
    #expect(one.privateKey != other.privateKey && one.fingerprint != other.fingerprint)
    let again = try TLSIdentity(certificates: one.certificates, privateKey: one.privateKey)
    #expect(again == one)
    _ = try TLSContext(again)
    // Behind a chain, too.
    _ = try TLSContext(
      TLSIdentity(certificates: one.certificates + other.certificates, privateKey: one.privateKey))
  }

  @Test func `texts that don't go together are refused by name`() throws {
    let (one, other) = (try made(), try made())
    #expect(throws: TLSIdentityError.keyOfAnother) {
      try TLSIdentity(certificates: one.certificates, privateKey: other.privateKey)
    }
    #expect {
      try TLSIdentity(certificates: one.privateKey, privateKey: one.privateKey)
    } throws: { if case .noCertificate? = $0 as? TLSIdentityError { true } else { false } }
    for key in ["", one.certificates, String(one.privateKey.dropLast(60)), "-----BEGIN PRIVATE KEY-----\n"] {
      #expect {
        try TLSIdentity(certificates: one.certificates, privateKey: key)
      } throws: { if case .noPrivateKey? = $0 as? TLSIdentityError { true } else { false } }
    }
  }

  @Test func `a key behind a pass phrase is refused, not asked for`() throws {
    let identity = try made()
    let key = try #require(
      PEM.read(identity.privateKey) { PEM_read_bio_PrivateKey($0, nil, nil, nil) })
    defer { EVP_PKEY_free(key) }
    let locked = try PEM.text("PEM_write_bio_PrivateKey") {
      PEM_write_bio_PrivateKey($0, key, EVP_aes_128_cbc(), Array("secret".utf8), 6, nil, nil)
    }
    #expect {
      try TLSIdentity(certificates: identity.certificates, privateKey: locked)
    } throws: { if case .noPrivateKey? = $0 as? TLSIdentityError { true } else { false } }
  }
}
