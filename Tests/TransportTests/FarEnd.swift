import Crypto
import ICE
import Model

@testable import Transport

/// One end of a transport with what it sends in its own outbox: a far end, or a server, by its agent.
final class End<Agent: ICEAgent & ~Copyable> {
  var context: TransportContext
  var transport: Transport<Agent>

  init(_ agent: consuming Agent, role: DTLSRole, dtls: DTLSContext, expecting other: DTLSCertificate) {
    context = TransportContext(
      dtls: dtls, random: .seeded(state: 1), outbox: Outbox(datagrams: 64) { $0.removeAll() })
    transport = Transport(
      agent: agent, role: role, fingerprints: [other.fingerprint(.sha256)], createdAt: Pair.start)
  }

  func receive(_ datagram: [UInt8], _ path: NetworkPath, at now: Instant) -> PlainPacket {
    var bytes = datagram
    return bytes.withUnsafeMutableBytes {
      transport.receive($0, path: path, now: now, context: &context)
    }
  }

  func poll(_ now: Instant) { transport.poll(now: now, context: &context) }

  /// What it wants sent.
  func take() -> [(bytes: [UInt8], path: NetworkPath)] {
    defer { context.outbox.removeAll() }
    return (0..<context.outbox.count).map {
      (Array(context.outbox.bytes(context.outbox[$0])), context.outbox[$0].path)
    }
  }

  /// Puts the transport out and back in as bytes.
  /// - Returns: them; nil where it has none.
  func rebuild() throws -> [UInt8]? {
    var writer = StateWriter()
    guard transport.encode(into: &writer) else { return nil }
    var reader = StateReader(writer.bytes)
    transport = try Transport(from: &reader)
    try reader.finish()
    return writer.bytes
  }
}

/// A server's transport and a far end's, with a cable between them.
final class Pair {
  static let start = Instant(nanoseconds: 1_000_000_000)
  let server: End<ServerAgent>
  let far: End<ControllingAgent>
  var now = Pair.start
  /// Called with each datagram on its way; false loses it.
  var passes: (_ toServer: Bool, [UInt8]) -> Bool = { _, _ in true }

  init(farRole: DTLSRole = .client) throws {
    let here = SocketAddress(ipv4: 10, 0, 0, 1, port: 1)
    let there = SocketAddress(ipv4: 192, 0, 2, 1, port: 5_000)
    let (ours, theirs) = (
      ICECredentials(ufrag: "a01serverserver", password: "serverserverserverserver"),
      ICECredentials(ufrag: "far", password: "farfarfarfarfarfarfarfar")
    )
    let (certificate, other) = (
      try DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000),
      try DTLSCertificate(notBefore: 0, notAfter: 4_000_000_000)
    )
    var lite = ServerAgent(local: ours, now: now)
    lite.setRemote(theirs)
    server = End(
      lite, role: farRole == .client ? .server : .client, dtls: try DTLSContext(certificate: certificate),
      expecting: other)
    // The far end, all of it.
    var random = RandomSource.seeded(state: 7)
    var agent = ControllingAgent(local: theirs, remote: ours, now: now, random: &random)
    agent.addLocal(there)
    agent.addRemote(here, priority: 1)
    far = End(agent, role: farRole, dtls: try DTLSContext(certificate: other), expecting: certificate)
  }

  /// Lets time pass in which what is sent arrives at once.
  func run(milliseconds: Int) {
    for _ in 0..<milliseconds {
      now = now + .milliseconds(1)
      if far.transport.deadline <= now { far.poll(now) }
      if server.transport.deadline <= now { server.poll(now) }
      for _ in 0..<8 { exchange() }
    }
  }

  private func exchange() {
    for (bytes, path) in far.take() where passes(true, bytes) {
      _ = server.receive(bytes, NetworkPath(remote: path.local, local: path.remote), at: now)
    }
    for (bytes, path) in server.take() where passes(false, bytes) {
      _ = far.receive(bytes, NetworkPath(remote: path.local, local: path.remote), at: now)
    }
  }
}
