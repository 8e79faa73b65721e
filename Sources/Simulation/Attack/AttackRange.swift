internal import Crypto
internal import Engine
internal import ICE
package import Model
internal import Negotiation
package import Peer
package import SyntheticPeers
internal import Wire

/// Where attacks are tried: the server's two workers on a virtual clock, a publisher of sound and pictures,
/// a bystander that gets them from the other worker and notes every gap, and attackers.
///
/// A datagram takes a millisecond; nothing is lost unless the test takes it off the cable.
package final class AttackRange {
  package struct Datagram {
    package var bytes: [UInt8]
    /// As the server sees it.
    package var path: NetworkPath
    package var toServer: Bool
    /// The test's own.
    var isInjected = false

    package var isSTUN: Bool { (bytes.first ?? 255) <= 3 }
    package var isCheck: Bool { bytes.starts(with: [0, 1]) }
    package var isAnswer: Bool { bytes.starts(with: [1, 1]) }
    package var isDTLS: Bool { (20...63).contains(bytes.first ?? 0) }
    package var isClientHello: Bool { bytes.withUnsafeBytes { DTLSRecord.isClientHello($0) } }
    package var isMedia: Bool { (128...191).contains(bytes.first ?? 0) }
    package var isRTCP: Bool { isMedia && bytes.withUnsafeBytes { RTCPPacket.matches($0) } }
    package var isRTP: Bool { isMedia && !isRTCP }
  }

  /// What was sent to an address that no member has.
  package struct Stray {
    package var datagrams = 0
    package var bytes = 0
    /// Everything was STUN.
    package var isSTUNAlone = true
  }

  package static let serverAddress = SocketAddress(ipv4: 203, 0, 113, 1, port: 7_882)

  package let server: SimulatedServer
  /// What is wrong with what the publisher and the bystander get.
  package let journal = Journal()
  package private(set) var now = Instant(nanoseconds: 1_000_000_000)
  package private(set) var members: [RangeMember] = []
  package private(set) var strays: [SocketAddress: Stray] = [:]
  /// Sees every datagram before it is delivered, the test's own aside, and may keep it: false takes it off the cable.
  package var passes: (Datagram) -> Bool = { _ in true }
  private let serverContext: DTLSContext
  private let farContext: DTLSContext
  private var random = RandomSource.seeded(state: 11)
  private var waiting: [(at: Instant, datagram: Datagram)] = []
  private var serial: UInt64 = 0
  var audit = GapAudit()

  package var publisher: RangeMember { members[0] }
  package var bystander: RangeMember { members[1] }

  /// Both are there, and media flows, when it returns.
  /// - Parameter videoSequence: of the publisher's first packet of video.
  package init(videoSequence: UInt16 = 0) throws {
    serverContext = try Self.context()
    farContext = try Self.context()
    server = SimulatedServer(
      workers: 2, address: Self.serverAddress, epoch: Epoch(ntpAtZero: NTPTime(unixNanoseconds: 0)),
      dtls: serverContext, seed: 3)
    try join(at: address(onWorker: 0, host: 10), publishes: true, videoSequence: videoSequence)
    try join(at: address(onWorker: 1, host: 11), publishes: false, watching: [publisher])
    bystander.peer.onPacket = { [unowned self] in audit.note($0) }
    run(for: .seconds(1))
    audit.begin()
  }

  private static func context() throws -> DTLSContext {
    try DTLSContext(certificate: DTLSCertificate(notBefore: 1_000_000_000, notAfter: 4_000_000_000))
  }

  /// The path of a datagram from `remote`, as the server sees it.
  package static func path(from remote: SocketAddress) -> NetworkPath {
    NetworkPath(remote: remote, local: serverAddress)
  }

  /// An address whose datagrams come in at a worker's socket.
  package func address(onWorker worker: Int, host: UInt8) -> SocketAddress {
    addresses(onWorker: worker, host: host, count: 1)[0]
  }

  /// So many of them.
  package func addresses(onWorker worker: Int, host: UInt8, count: Int) -> [SocketAddress] {
    var found: [SocketAddress] = []
    var port: UInt16 = 1_024
    while found.count < count {
      let address = SocketAddress(ipv4: 192, 0, 2, host, port: port)
      if server.worker(of: Self.path(from: address)) == worker { found.append(address) }
      port += 1
    }
    return found
  }

  // MARK: Coming and going

  /// A member comes.
  /// - Parameters:
  ///   - isHostile: what it gets is not looked at, and what it would publish by itself is not sent.
  ///   - watching: whose tracks it gets, in its own slots.
  ///   - changing: the agreement as the server has it.
  @discardableResult
  package func join(
    at address: SocketAddress, publishes: Bool = true, isHostile: Bool = false, waits: Bool = false,
    fingerprints: [Fingerprint]? = nil, watching: [RangeMember] = [], videoSequence: UInt16 = 0,
    changing: (inout AgreedMedia) -> Void = { _ in }
  ) throws -> RangeMember {
    var configuration = PeerConfiguration(number: isHostile ? 100 : members.count)
    configuration.publishesAudio = publishes
    configuration.publishesVideo = publishes
    configuration.announcesSSRCs = !isHostile
    configuration.audioReceivers = watching.count
    configuration.videoReceivers = watching.count
    configuration.waitsForHandshake = waits
    configuration.videoSequence = videoSequence
    let peer = SyntheticPeer(
      configuration, address: address, dtls: farContext, ice: .init(),
      // Not everybody's together, which would grow.
      journal: isHostile ? Journal() : journal, now: now, random: .seeded(state: random.next()))
    serial += 1
    let key = PeerKey(home: server.worker(of: Self.path(from: address)), serial: serial)
    var negotiator = Negotiator(policy: .server)
    let answer = try negotiator.answer(
      to: SessionDescription(parsing: peer.makeOffer()),
      local: LocalTransport(
        credentials: .generate(homeWorker: key.home, random: &random),
        fingerprint: serverContext.certificate.fingerprint(.sha256), candidates: [Self.serverAddress]),
      random: &random)
    guard let transport = answer.agreement.transport else { throw AttackError.noTransport }
    var media = answer.agreement.media
    changing(&media)
    var remote = transport.remote
    if let fingerprints { remote.fingerprints = fingerprints }
    let member = RangeMember(
      peer: peer, key: key, address: address, media: media, local: transport.localCredentials,
      isHostile: isHostile, negotiator: negotiator)
    members.append(member)
    server.bridge.post(
      .add(
        PeerSetup(
          key: key, local: transport.localCredentials, remote: remote, media: media,
          verification: .always, reportSSRC: 99, createdAt: now)))
    for kind in [MediaKind.audio, .video] {
      for (section, source) in zip(media.send.filter { $0.kind == kind }, watching) {
        server.bridge.post(.assign(key, slot: section.index, source.track(kind)))
      }
    }
    try peer.accept(answer.sdp, now: now)
    return member
  }

  /// ICE starts over: offer and answer, at once.
  package func restartICE(_ member: RangeMember) throws {
    let answer = try member.negotiator.answer(
      to: SessionDescription(parsing: member.peer.makeOffer(restartsICE: true)),
      local: LocalTransport(
        credentials: .generate(homeWorker: member.key.home, random: &random),
        fingerprint: serverContext.certificate.fingerprint(.sha256), candidates: [Self.serverAddress]),
      random: &random)
    guard let transport = answer.agreement.transport else { throw AttackError.noTransport }
    server.bridge.post(
      .restartICE(member.key, local: transport.localCredentials, remote: transport.remote.credentials))
    member.local = transport.localCredentials
    try member.peer.accept(answer.sdp, now: now)
  }

  /// The same, of which the far end hears nothing.
  package func restartICEUnheard(_ member: RangeMember) {
    server.bridge.post(
      .restartICE(
        member.key, local: .generate(homeWorker: member.key.home, random: &random), remote: member.remote))
  }

  /// Leaves as one should, after what it has sent has come.
  package func leave(_ member: RangeMember) {
    member.peer.close()
    run(for: .milliseconds(3))
    server.bridge.post(.close(member.key))
    run(for: .milliseconds(3))
    forget(member)
  }

  /// Is no longer on the cable.
  package func forget(_ member: RangeMember) {
    member.peer.close()
    members.removeAll { $0 === member }
  }

  /// The publisher says nothing more: what is kept of its packets would count as memory.
  package func silence() { publisher.peer.stopPublishing() }

  // MARK: The cable

  /// Puts a datagram on the cable to the server, from wherever one likes.
  package func inject(_ bytes: [UInt8], from remote: SocketAddress) {
    waiting.append(
      (now, Datagram(bytes: bytes, path: Self.path(from: remote), toServer: true, isInjected: true)))
  }

  /// Puts datagrams that were taken off the cable back on it.
  package func release(_ datagrams: [Datagram]) { waiting += datagrams.map { (now, $0) } }

  package func forgetStrays() { strays = [:] }

  package func run(for span: Duration) {
    let end = now + span
    while true {
      step()
      var next = min(server.deadline, members.map(\.peer.deadline).min() ?? .never)
      for flight in waiting { next = min(next, flight.at) }
      guard next <= end else { break }
      now = max(next, now)
    }
    now = end
  }

  private func step() {
    let due = waiting.filter { $0.at <= now }.map(\.datagram)
    waiting.removeAll { $0.at <= now }
    for datagram in due where datagram.isInjected || passes(datagram) { deliver(datagram) }
    for member in members {
      if member.isHostile { member.peer.stopPublishing() }
      if member.peer.deadline <= now { member.peer.poll(now: now) }
      for outgoing in member.peer.outgoing {
        let datagram = Datagram(
          bytes: outgoing.bytes, path: Self.path(from: outgoing.path.local), toServer: true)
        waiting.append((now + .milliseconds(1), datagram))
      }
      member.peer.outgoing.removeAll(keepingCapacity: true)
    }
    for outgoing in server.run(now: now) ?? [] {
      waiting.append(
        (now + .milliseconds(1), Datagram(bytes: outgoing.bytes, path: outgoing.path, toServer: false)))
    }
    for event in server.bridge.drainEvents() {
      guard let reason = event.closed, let member = members.first(where: { $0.key == event.peer }) else {
        continue
      }
      member.closed = reason
      member.peer.close()
    }
  }

  private func deliver(_ datagram: Datagram) {
    let member = members.first { $0.address == datagram.path.remote }
    guard !datagram.toServer else {
      if let member, datagram.isMedia { member.peer.noteHeard(datagram.bytes) }
      if let member, !member.isHostile, datagram.isMedia { member.peer.noteArrival(datagram.bytes, now: now) }
      return server.receive(datagram.bytes, path: datagram.path)
    }
    guard let member else {
      strays[datagram.path.remote, default: Stray()].datagrams += 1
      strays[datagram.path.remote]!.bytes += datagram.bytes.count
      if !datagram.isSTUN { strays[datagram.path.remote]!.isSTUNAlone = false }
      return
    }
    if datagram.isRTP { member.rtpReceived += 1 }
    if datagram.isRTCP { member.rtcpReceived += 1 }
    member.peer.receive(
      datagram.bytes, path: NetworkPath(remote: datagram.path.local, local: datagram.path.remote),
      sentAt: now, isRepeat: false, now: now)
  }
}

package enum AttackError: Error {
  case noTransport
  case notConnected
}

/// A member of the range.
package final class RangeMember {
  package let peer: SyntheticPeer
  package let key: PeerKey
  package let address: SocketAddress
  /// As the server has it.
  package let media: AgreedMedia
  /// The server's credentials towards it.
  package internal(set) var local: ICECredentials
  package let isHostile: Bool
  package internal(set) var closed: PeerCloseReason?
  /// What was delivered to it.
  package internal(set) var rtpReceived = 0
  package internal(set) var rtcpReceived = 0
  var negotiator: Negotiator

  init(
    peer: SyntheticPeer, key: PeerKey, address: SocketAddress, media: AgreedMedia, local: ICECredentials,
    isHostile: Bool, negotiator: Negotiator
  ) {
    self.peer = peer
    self.key = key
    self.address = address
    self.media = media
    self.local = local
    self.isHostile = isHostile
    self.negotiator = negotiator
  }

  /// Its own, which the server checks answers by.
  package var remote: ICECredentials { peer.credentials }

  /// The section of a kind in which it publishes, as the server has it.
  package func section(_ kind: MediaKind) -> ReceiveSection? { media.receive.first { $0.kind == kind } }
  package func track(_ kind: MediaKind) -> TrackKey? {
    section(kind).map { TrackKey(peer: key, index: $0.index) }
  }
  /// The slot of a kind in which it receives.
  package func slot(_ kind: MediaKind) -> SendSection? { media.send.first { $0.kind == kind } }
}
