import COpenSSL
import Model
import Testing

@testable import Crypto

@Suite("DTLS fingerprints", .timeLimit(.minutes(5)))
struct DTLSFingerprintTests {
  private let wrong = Fingerprint(algorithm: .sha256, digest: [UInt8](repeating: 7, count: 32))
  /// RFC 5246 §7.2.2.
  private let badCertificate: UInt8 = 42

  @Test func `a client with the wrong certificate is refused with an alert`() throws {
    let pair = try Pair(serverExpects: [wrong])
    Pair.run([pair])
    #expect(pair.server.failure == .wrongFingerprint)
    #expect(pair.client.failure == .alertReceived(badCertificate))
    #expect(pair.server.association == nil && pair.client.association == nil)
  }

  @Test func `a server with the wrong certificate is refused with an alert`() throws {
    let pair = try Pair(clientExpects: [wrong])
    Pair.run([pair])
    #expect(pair.client.failure == .wrongFingerprint)
    #expect(pair.server.failure == .alertReceived(badCertificate))
  }

  @Test func `without any expected fingerprint no peer is let in`() throws {
    let pair = try Pair(serverExpects: [])
    Pair.run([pair])
    #expect(pair.server.failure == .wrongFingerprint)
  }

  @Test(arguments: Fingerprint.Algorithm.allCases)
  func `any one right fingerprint among wrong ones will do`(algorithm: Fingerprint.Algorithm) throws {
    let right = TestCertificates.theirs.fingerprint(algorithm)
    let pair = try Pair(serverExpects: [wrong, right, wrong])
    Pair.run([pair])
    #expect(pair.server.association != nil)
  }

  @Test func `a digest counts only under its own algorithm and at full length`() throws {
    let digest = TestCertificates.theirs.fingerprint(.sha256).digest
    let certificate = TestCertificates.theirs.certificate
    let matches = { DTLSCertificate.matches(certificate, anyOf: [$0]) }
    #expect(matches(Fingerprint(algorithm: .sha256, digest: digest)))
    #expect(!matches(Fingerprint(algorithm: .sha384, digest: digest)))
    #expect(!matches(Fingerprint(algorithm: .sha256, digest: Array(digest.dropLast()))))
    #expect(!matches(Fingerprint(algorithm: .sha256, digest: [])))
    for place in digest.indices {
      var other = digest
      other[place] ^= 1
      #expect(!matches(Fingerprint(algorithm: .sha256, digest: other)))
    }
  }

  @Test func `each certificate has a key and fingerprints of its own`() {
    for algorithm in Fingerprint.Algorithm.allCases {
      let (a, b) = (
        TestCertificates.ours.fingerprint(algorithm), TestCertificates.theirs.fingerprint(algorithm)
      )
      #expect(a != b)
      #expect(a.algorithm == algorithm && a.digest.count == algorithm.size)
    }
  }

  @Test func `the validity handed in is what the certificate says`() throws {
    let certificate = try DTLSCertificate(notBefore: 1_000_000_000, notAfter: 4_200_000_000)
    #expect(ASN1_TIME_cmp_time_t(X509_get0_notBefore(certificate.certificate), 1_000_000_000) == 0)
    #expect(ASN1_TIME_cmp_time_t(X509_get0_notAfter(certificate.certificate), 4_200_000_000) == 0)
  }
}
