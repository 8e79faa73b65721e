import Crypto
import Engine
import Model
import Peer
import Simulation
import SyntheticPeers
import Testing
import Transport

@Suite("Handshakes out of turn", .timeLimit(.minutes(2)))
struct SimulationHandshakeTests {
  private static let home = SimulationAddressTests.home
  private static let other = SimulationAddressTests.other

  @Test(arguments: [false, true])
  func `media flows whichever side begins the handshake`(waits: Bool) throws {
    let room = try SimulationRoom()
    let publisher = try room.join(at: Self.home, publishes: true) { $0.waitsForHandshake = waits }
    let subscriber = try room.join(at: Self.other, publishes: false) { $0.waitsForHandshake = waits }
    room.run(for: .seconds(2))
    #expect(publisher.isConnected && subscriber.isConnected)
    #expect(subscriber.packetsReceived(of: 0) > 150)
    #expect(room.journal.violations == [])
  }

  @Test func `a late second ClientHello is ignored`() throws {
    let room = try SimulationRoom()
    var hellos: [SimulationRoom.Datagram] = []
    room.passes = { datagram in
      if datagram.isClientHello { hellos.append(datagram) }
      return true
    }
    let publisher = try room.join(at: Self.home, publishes: true)
    let subscriber = try room.join(at: Self.other, publishes: false)
    room.run(for: .seconds(1))
    let answers = room.sent(to: Self.home).count { $0.isDTLS }
    let own = hellos.filter { $0.path.remote == Self.home }
    try #require(!own.isEmpty)
    for hello in own { room.inject(hello.bytes, from: Self.home) }
    let before = subscriber.packetsReceived(of: 0)
    room.run(for: .seconds(1))
    #expect(room.sent(to: Self.home).count { $0.isDTLS } == answers)
    #expect(room.dropped(.dtlsIgnored) >= UInt64(own.count))
    #expect(subscriber.packetsReceived(of: 0) - before > 90)
    #expect(publisher.isConnected)
  }

  @Test func `media before the handshake is dropped`() throws {
    let room = try SimulationRoom()
    room.passes = { !$0.isDTLS }
    try room.join(at: Self.home, publishes: true)
    room.run(for: .seconds(1))
    #expect(room.dropped(.mediaBeforeHandshake) == 0)
    let packet: [UInt8] = [0x80, 111, 0, 1] + Array(repeating: 7, count: 60)
    room.inject(packet, from: Self.home)
    room.run(for: .milliseconds(10))
    #expect(room.dropped(.mediaBeforeHandshake) == 1)
    #expect(room.sent(to: Self.home).allSatisfy { $0.isSTUN })
  }

  @Test func `a wrong fingerprint ends the peer`() throws {
    let room = try SimulationRoom()
    let wrong = Fingerprint(algorithm: .sha256, digest: Array(repeating: 1, count: 32))
    let peer = try room.join(at: Self.home, publishes: true, fingerprints: [wrong])
    room.run(for: .seconds(1))
    #expect(room.closeReason(peer) == .handshakeFailed)
    // Alert 42, bad_certificate (RFC 5763 §5).
    #expect(peer.failure == .alertReceived(42))
    let report = room.server.reports(now: room.now)[0]
    #expect(report.peers == 0 && report.paths == 0 && report.fragments == 0 && report.tracks == 0)
  }
}
