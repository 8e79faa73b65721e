import COpenSSL
import Model
import Testing

@testable import Crypto

@Suite("DTLS handshake", .timeLimit(.minutes(5)))
struct DTLSHandshakeTests {
  private static func expectConnected(
    _ pair: Pair, profile: SRTPProfile, _ comment: Comment = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    guard let client = pair.client.association, let server = pair.server.association else {
      Issue.record(
        "client \(String(describing: pair.client.failure)), server \(String(describing: pair.server.failure)) \(comment)",
        sourceLocation: sourceLocation)
      return
    }
    #expect(client.profile == profile, comment, sourceLocation: sourceLocation)
    #expect(client.localKeys == server.remoteKeys, comment, sourceLocation: sourceLocation)
    #expect(client.remoteKeys == server.localKeys, comment, sourceLocation: sourceLocation)
    #expect(client.localKeys != client.remoteKeys, comment, sourceLocation: sourceLocation)
    #expect(client.role == .client && server.role == .server, sourceLocation: sourceLocation)
    #expect(
      max(pair.client.largest, pair.server.largest) <= DTLSHandshake.datagramSize,
      sourceLocation: sourceLocation)
  }

  @Test(arguments: SRTPProfile.allCases)
  func `both ends agree on the profile and hold each other's keys`(profile: SRTPProfile) throws {
    let pair = try Pair([profile])
    Pair.run([pair])
    Self.expectConnected(pair, profile: profile)
    #expect(pair.client.deadline == nil && pair.server.deadline == nil)
  }

  @Test func `AEAD_AES_128_GCM is chosen where all are offered`() throws {
    let pair = try Pair()
    Pair.run([pair])
    Self.expectConnected(pair, profile: .aeadAES128GCM)
  }

  /// What the far end offers, by its own preference, and what comes of it.
  static let offers: [(offered: [SRTPProfile], chosen: SRTPProfile)] = [
    ([.aes128CMSHA1_80, .aeadAES256GCM, .aeadAES128GCM], .aeadAES128GCM),
    ([.aes128CMSHA1_80, .aeadAES256GCM], .aeadAES256GCM),
    ([.aeadAES256GCM, .aeadAES128GCM], .aeadAES128GCM),
    ([.aes128CMSHA1_80, .aeadAES128GCM], .aeadAES128GCM),
    ([.aes128CMSHA1_80], .aes128CMSHA1_80),
  ]

  @Test(arguments: offers)
  func `of what a client offers, in whatever order, ours decides`(
    offer: (offered: [SRTPProfile], chosen: SRTPProfile)
  ) throws {
    let ours = try DTLSContext(certificate: TestCertificates.ours)
    let theirs = try DTLSContext(certificate: TestCertificates.theirs, profiles: offer.offered)
    let server = Endpoint(.server, ours, expecting: [TestCertificates.theirs.fingerprint(.sha256)])
    let client = Endpoint(.client, theirs, expecting: [TestCertificates.ours.fingerprint(.sha256)])
    client.start()
    for _ in 0..<4 {
      for datagram in client.take() { server.receive(datagram) }
      for datagram in server.take() { client.receive(datagram) }
    }
    #expect(server.association?.profile == offer.chosen && client.association?.profile == offer.chosen)
  }

  @Test func `a lossy, reordering, duplicating link is survived`() throws {
    var pairs: [(Pair, SRTPProfile)] = []
    for profile in SRTPProfile.allCases {
      for seed in 0..<15 as Range<UInt64> {
        let link = Pair.Link(loss: 25, duplication: 10, delay: 20)
        pairs.append((try Pair([profile], link: link, seed: seed * 3 + UInt64(profile.rawValue)), profile))
      }
    }
    Pair.run(pairs.map(\.0))
    for (number, (pair, profile)) in pairs.enumerated() {
      Self.expectConnected(pair, profile: profile, "pair \(number)")
    }
  }

  @Test func `flights in small fragments arrive whole`() throws {
    let pairs = try (0..<8 as Range<UInt64>).map {
      try Pair(link: .init(loss: 5, duplication: 20, delay: 10), seed: $0, datagramSize: 256)
    }
    Pair.run(pairs)
    for pair in pairs {
      Self.expectConnected(pair, profile: .aeadAES128GCM)
      #expect(max(pair.client.largest, pair.server.largest) <= 256)
    }
  }

  @Test(arguments: [[0, 1], [1, 0], [0, 0, 1], [1, 0, 1]])
  func `a ClientHello in two datagrams is understood in any order`(order: [Int]) throws {
    let ours = try DTLSContext(certificate: TestCertificates.ours)
    let theirs = try DTLSContext(certificate: TestCertificates.theirs)
    // Names of protocols make it as large as a browser's with its post-quantum share.
    let names = (0..<120).flatMap { [9] + Array("name-\(1_000 + $0)".utf8) } as [UInt8]
    #expect(SSL_CTX_set_alpn_protos(theirs.pointer, names, UInt32(names.count)) == 0)
    let server = Endpoint(.server, ours, expecting: [TestCertificates.theirs.fingerprint(.sha256)])
    let client = Endpoint(.client, theirs, expecting: [TestCertificates.ours.fingerprint(.sha256)])
    client.start()
    let hello = client.take()
    #expect(hello.count == 2 && hello.joined().count > 1_300)
    #expect(hello.allSatisfy { $0.withUnsafeBytes { DTLSRecord.isClientHello($0) } })
    for part in order { server.receive(hello[part]) }
    for _ in 0..<4 {
      for datagram in server.take() { client.receive(datagram) }
      for datagram in client.take() { server.receive(datagram) }
    }
    #expect(client.association != nil && client.association?.localKeys == server.association?.remoteKeys)
  }

  @Test func `the server repeats its last flight to a client that lost it`() throws {
    let pair = try Pair()
    let (client, server) = (pair.client, pair.server)
    client.start()
    for _ in 0..<4 where server.association == nil {
      for datagram in client.take() { server.receive(datagram) }
      if server.association == nil { for datagram in server.take() { client.receive(datagram) } }
    }
    // The last flight goes missing.
    let lost = server.take()
    #expect(!lost.isEmpty && lost == server.association?.lastFlight)
    #expect(client.association == nil)
    // The client's own time-out makes it repeat its Finished.
    Pair.run([pair], within: .seconds(5))
    Self.expectConnected(pair, profile: .aeadAES128GCM)
    #expect(server.repeats == 1)
  }

  @Test func `an unfinished handshake is given up after thirty seconds`() throws {
    let pair = try Pair()
    let start = TestClock.now
    pair.client.start()
    let deadline = try #require(pair.client.deadline)
    #expect(deadline <= TestClock.now + .milliseconds(50))
    pair.client.poll(now: start + .seconds(29))
    #expect(!pair.client.isOver)
    pair.client.poll(now: start + .seconds(31))
    #expect(pair.client.failure == .timedOut)
    #expect(pair.client.deadline == nil)
    // What comes in afterwards changes nothing.
    pair.client.receive([22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    #expect(pair.client.failure == .timedOut)
  }

  @Test func `time-outs start at 50 ms, double and are bounded`() {
    var spans: [UInt32] = [0]
    for _ in 0..<9 { spans.append(DTLSTimeout.next(after: spans.last ?? 0)) }
    #expect(
      spans.dropFirst().map { $0 / 1_000 } == [50, 100, 200, 400, 800, 1_600, 3_200, 4_000, 4_000])
  }

  @Test func `without a common SRTP profile both ends fail`() throws {
    let ours = try DTLSContext(certificate: TestCertificates.ours, profiles: [.aeadAES128GCM])
    let theirs = try DTLSContext(certificate: TestCertificates.theirs, profiles: [.aes128CMSHA1_80])
    let server = Endpoint(.server, ours, expecting: [TestCertificates.theirs.fingerprint(.sha256)])
    let client = Endpoint(.client, theirs, expecting: [TestCertificates.ours.fingerprint(.sha256)])
    client.start()
    for _ in 0..<4 {
      for datagram in client.take() { server.receive(datagram) }
      for datagram in server.take() { client.receive(datagram) }
    }
    #expect(server.failure == .noSRTPProfile)
    #expect(client.failure == .noSRTPProfile)
  }

  @Test func `garbage with and without record headers neither ends nor traps a handshake`() throws {
    let pair = try Pair()
    var random = RandomSource.seeded(state: 9)
    pair.client.start()
    let hello = pair.client.take()
    for _ in 0..<2_000 {
      let body = (0..<Int(random.next() % 80)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      pair.server.receive(body)
      // Records of a later epoch can't be checked yet and are dropped.
      let type = UInt8(20 + random.next() % 6)
      let header: [UInt8] = [type, 0xFE, 0xFD, 0, 1, 0, 0, 0, 0, 0, UInt8(random.next() & 0xFF)]
      pair.server.receive(header + bigEndian(UInt16(body.count)) + body)
    }
    #expect(!pair.server.isOver)
    for datagram in hello { pair.server.receive(datagram) }
    Pair.run([pair])
    Self.expectConnected(pair, profile: .aeadAES128GCM)
  }

  @Test func `handshake datagrams changed anywhere end in success or a typed failure`() throws {
    for seed in 0..<60 as Range<UInt64> {
      let pair = try Pair()
      var random = RandomSource.seeded(state: seed)
      pair.client.start()
      for _ in 0..<6 {
        for (from, to) in [(pair.client, pair.server), (pair.server, pair.client)] {
          for var datagram in from.take() {
            if random.next() % 3 == 0 {
              datagram[Int(random.next() % UInt64(datagram.count))] ^= UInt8(1 + random.next() % 255)
            }
            to.receive(datagram)
          }
        }
      }
      if let client = pair.client.association, let server = pair.server.association {
        #expect(client.localKeys == server.remoteKeys)
      }
    }
  }
}
