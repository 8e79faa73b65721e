import Crypto
import Engine
import ICE
import Media
import Model
import Negotiation
import Peer
import Simulation
import SyntheticPeers
import Testing
import Transport
import Wire

/// A few far ends and the server's workers, with a cable between them that a test can cut, bend and listen to.
/// A datagram takes a millisecond; nothing is lost unless the test takes it.
final class SimulationRoom {
  struct Datagram: Equatable {
    var bytes: [UInt8]
    /// As the receiver sees it.
    var path: NetworkPath
    var toServer: Bool

    var isSTUN: Bool { (bytes.first ?? 255) <= 3 }
    var isDTLS: Bool { (20...63).contains(bytes.first ?? 0) }
    var isMedia: Bool { (128...191).contains(bytes.first ?? 0) }
    var isCheck: Bool { bytes.starts(with: [0, 1]) }
    var isAnswer: Bool { bytes.starts(with: [1, 1]) }
    var isClientHello: Bool { bytes.withUnsafeBytes { DTLSRecord.isClientHello($0) } }
  }

  static let serverAddress = SocketAddress(ipv4: 203, 0, 113, 1, port: 7_882)

  let server: SimulatedServer
  let journal = Journal()
  private let context: DTLSContext
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  private(set) var peers: [SyntheticPeer] = []
  private(set) var keys: [PeerKey] = []
  private var owners: [SocketAddress: Int] = [:]
  private var random = RandomSource.seeded(state: 7)
  private var waiting: [(at: Instant, datagram: Datagram)] = []
  /// How the server sees a peer's address, where a NAT is between.
  var nat: [SocketAddress: SocketAddress] = [:]
  /// Sees every datagram before it is delivered, and may keep it: false takes it off the cable.
  var passes: (Datagram) -> Bool = { _ in true }
  /// All that was delivered or went to no peer's address.
  private(set) var seen: [Datagram] = []
  private(set) var events: [PeerEvents] = []

  private let policy: NegotiationPolicy

  init(workers: Int = 1, policy: NegotiationPolicy = .server) throws {
    self.policy = policy
    context = try DTLSContext(certificate: DTLSCertificate(notBefore: 1_000_000_000, notAfter: 4_000_000_000))
    server = SimulatedServer(
      workers: workers, address: Self.serverAddress,
      epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 0)), dtls: context, heedsReports: false, seed: 3)
  }

  /// The path of a datagram from `remote`, as the server sees it.
  static func path(from remote: SocketAddress) -> NetworkPath {
    NetworkPath(remote: remote, local: serverAddress)
  }

  /// An address whose datagrams come in at a worker's socket.
  func address(onWorker worker: Int, host: UInt8) -> SocketAddress {
    var port: UInt16 = 20_000
    while server.worker(of: Self.path(from: SocketAddress(ipv4: 192, 0, 2, host, port: port))) != worker {
      port += 1
    }
    return SocketAddress(ipv4: 192, 0, 2, host, port: port)
  }

  /// A peer comes that publishes, or that hears and sees all that came before.
  @discardableResult
  func join(
    at address: SocketAddress, home: Int = 0, publishes: Bool, fingerprints: [Fingerprint]? = nil,
    ice: ControllingAgent.Configuration = .init(), verification: ICEVerification = .always,
    setUp: (inout PeerConfiguration) -> Void = { _ in }
  ) throws -> SyntheticPeer {
    var configuration = PeerConfiguration(number: peers.count)
    configuration.publishesAudio = publishes
    configuration.publishesVideo = publishes
    configuration.audioReceivers = publishes ? 0 : peers.count
    configuration.videoReceivers = publishes ? 0 : peers.count
    setUp(&configuration)
    let peer = SyntheticPeer(
      configuration, address: address,
      dtls: try DTLSContext(
        certificate: DTLSCertificate(notBefore: 1_000_000_000, notAfter: 4_000_000_000)),
      ice: ice, journal: journal, now: now,
      random: .seeded(state: random.next()))
    owners[address] = peers.count
    let key = PeerKey(home: home, serial: UInt64(peers.count + 1))
    peers.append(peer)
    keys.append(key)

    var negotiator = Negotiator(policy: policy)
    let answer = try negotiator.answer(
      to: SessionDescription(parsing: peer.makeOffer()),
      local: LocalTransport(
        credentials: .generate(homeWorker: home, random: &random),
        fingerprint: context.certificate.fingerprint(.sha256), candidates: [Self.serverAddress]),
      random: &random)
    let transport = try #require(answer.agreement.transport)
    var remote = transport.remote
    if let fingerprints { remote.fingerprints = fingerprints }
    server.bridge.post(
      .add(
        PeerSetup(
          key: key, local: transport.localCredentials, remote: remote, media: answer.agreement.media,
          verification: verification, reportSSRC: 99, createdAt: now)))
    for section in answer.agreement.media.send {
      let number = answer.agreement.media.send.filter { $0.kind == section.kind && $0.index < section.index }
        .count
      let index: UInt16 = section.kind == .audio ? 0 : 1
      server.bridge.post(
        .assign(key, slot: section.index, TrackKey(peer: keys[number], index: index)))
    }
    try peer.accept(answer.sdp, now: now)
    return peer
  }

  /// An address of a peer beside its first.
  func own(_ address: SocketAddress, by peer: SyntheticPeer) { owners[address] = peer.number }

  /// Puts a datagram on the cable to the server, from wherever one likes.
  func inject(_ bytes: [UInt8], from remote: SocketAddress) {
    waiting.append((now, Datagram(bytes: bytes, path: Self.path(from: remote), toServer: true)))
  }

  /// Puts a datagram that was taken off the cable back on it.
  func release(_ datagrams: [Datagram]) { waiting += datagrams.map { (now, $0) } }

  func run(for span: Duration) {
    let end = now + span
    while true {
      step()
      var next = min(server.deadline, peers.map(\.deadline).min() ?? .never)
      for flight in waiting { next = min(next, flight.at) }
      guard next <= end else { break }
      now = max(next, now)
    }
    now = end
  }

  private func step() {
    let due = waiting.filter { $0.at <= now }.map(\.datagram)
    waiting.removeAll { $0.at <= now }
    for datagram in due where passes(datagram) { deliver(datagram) }
    for peer in peers {
      if peer.deadline <= now { peer.poll(now: now) }
      for outgoing in peer.outgoing {
        let datagram = Datagram(
          bytes: outgoing.bytes, path: Self.path(from: nat[outgoing.path.local] ?? outgoing.path.local),
          toServer: true)
        waiting.append((now + .milliseconds(1), datagram))
      }
      peer.outgoing.removeAll()
    }
    for outgoing in server.run(now: now) ?? [] {
      let path = NetworkPath(remote: outgoing.path.local, local: outgoing.path.remote)
      waiting.append(
        (now + .milliseconds(1), Datagram(bytes: outgoing.bytes, path: path, toServer: false)))
    }
    events += server.bridge.drainEvents()
  }

  private func deliver(_ datagram: Datagram) {
    seen.append(datagram)
    guard !datagram.toServer else {
      if datagram.isMedia, let owner = owners[inside(datagram.path.remote)] {
        peers[owner].noteArrival(datagram.bytes, now: now)
        peers[owner].noteHeard(datagram.bytes)
      }
      return server.receive(datagram.bytes, path: datagram.path)
    }
    let address = inside(datagram.path.local)
    guard (nat[address] ?? address) == datagram.path.local, let owner = owners[address] else { return }
    peers[owner].receive(
      datagram.bytes, path: NetworkPath(remote: datagram.path.remote, local: address), sentAt: now,
      isRepeat: false, now: now)
  }

  private func inside(_ outside: SocketAddress) -> SocketAddress {
    nat.first { $0.value == outside }?.key ?? outside
  }

  /// What was delivered to an address.
  func sent(to address: SocketAddress) -> [Datagram] {
    seen.filter { !$0.toServer && $0.path.local == address }
  }

  func dropped(_ reason: TransportDrop) -> UInt64 { dropped(.transport(reason)) }
  func dropped(_ reason: SessionDrop) -> UInt64 { dropped(.media(reason)) }
  private func dropped(_ reason: PeerDrop) -> UInt64 {
    server.reports(now: now).reduce(0) { $0 + $1.counters[reason] }
  }

  func closeReason(_ peer: SyntheticPeer) -> PeerCloseReason? {
    events.last { $0.peer == keys[peer.number] && $0.closed != nil }?.closed
  }
}
