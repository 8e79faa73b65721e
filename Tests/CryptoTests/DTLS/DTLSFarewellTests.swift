import COpenSSL
import Model
import Testing

@testable import Crypto

@Suite("How DTLS ends", .timeLimit(.minutes(1)))
struct DTLSFarewellTests {
  /// Both ends of a finished handshake under a suite of the client's choice; nil: the server's.
  private static func ends(_ suite: String? = nil) throws -> (client: Endpoint, server: Endpoint) {
    let ours = try DTLSContext(certificate: TestCertificates.ours)
    let theirs = try DTLSContext(certificate: TestCertificates.theirs)
    if let suite { #expect(SSL_CTX_set_cipher_list(theirs.pointer, suite) == 1) }
    let server = Endpoint(.server, ours, expecting: [TestCertificates.theirs.fingerprint(.sha256)])
    let client = Endpoint(.client, theirs, expecting: [TestCertificates.ours.fingerprint(.sha256)])
    client.start()
    for _ in 0..<4 {
      for datagram in client.take() { server.receive(datagram) }
      for datagram in server.take() { client.receive(datagram) }
    }
    return (client, server)
  }

  @Test(
    arguments: [
      "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305",
    ])
  func `each end understands the other's close_notify, which OpenSSL has sealed`(suite: String) throws {
    let (client, server) = try Self.ends(suite)
    let own = try #require(client.association?.farewell?.own)
    let others = try #require(server.association?.farewell?.own)
    #expect(own != others && own.withUnsafeBytes { DTLSRecord($0, at: 0)?.type } == .alert)
    server.receive(own)
    client.receive(others)
    #expect(server.isClosed && client.isClosed)
    // However often it comes.
    server.receive(own)
    #expect(server.ignored.isEmpty)
  }

  @Test func `what was not sealed by the far end closes nothing`() throws {
    let (client, server) = try Self.ends()
    let (other, _) = try Self.ends()
    let own = try #require(client.association?.farewell?.own)
    for index in own.indices where index != 0 && index != 11 && index != 12 {
      var changed = own
      changed[index] ^= 1
      server.receive(changed)
      #expect(!server.isClosed, "byte \(index)")
    }
    server.receive(try #require(other.association?.farewell?.own))
    server.receive(try #require(server.association?.farewell?.own))
    // In clear, and too short.
    server.receive([21, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 9, 0, 2, 1, 0])
    server.receive([21, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, 9, 0, 2, 1, 0])
    server.receive(Array(own.dropLast()))
    #expect(!server.isClosed)
    server.receive(own)
    #expect(server.isClosed)
  }

  @Test func `nothing of it leaves before it is to be said`() throws {
    let (client, server) = try Self.ends()
    #expect(client.take().isEmpty && server.take().isEmpty && !server.isClosed && !client.isClosed)
    #expect(server.association?.lastFlight.contains { $0.first == 21 } == false)
  }

  @Test func `it is the same after its state went through bytes, and of an earlier layout there is none`()
    throws
  {
    let (client, server) = try Self.ends()
    let association = try #require(server.association)
    var writer = StateWriter()
    association.encode(into: &writer)
    var reader = StateReader(writer.bytes)
    var again = try DTLSAssociation(from: &reader)
    let own = try #require(client.association?.farewell?.own)
    let now = TestClock.now
    #expect(own.withUnsafeBytes { again.answerToLate($0, now: now) } == .closed)
    let bare = DTLSAssociation(
      role: .server, localKeys: association.localKeys, remoteKeys: association.remoteKeys,
      lastFlight: association.lastFlight)
    writer = StateWriter()
    bare.encode(into: &writer)
    // The first version ended before.
    var bytes = Array(writer.bytes.dropLast())
    bytes[0] = 1
    reader = StateReader(bytes)
    var old = try DTLSAssociation(from: &reader)
    try reader.finish()
    #expect(old.farewell == nil)
    #expect(own.withUnsafeBytes { old.answerToLate($0, now: now) } == .ignore(.alert))
    #expect("\(try #require(association.farewell))" == "DTLSFarewell(aes128GCM)")
  }
}
