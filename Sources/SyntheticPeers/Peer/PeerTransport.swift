internal import Crypto
internal import ICE
internal import Model
internal import Negotiation

/// A far end's way to the server: ICE, and the handshake that gives the keys for SRTP.
///
/// Sans-I/O: datagrams that it sends wait in `outgoing`.
final class PeerTransport {
  private let dtls: DTLSContext
  private let configuration: ControllingAgent.Configuration
  private var agent: ControllingAgent
  private var agentDeadline = Instant.never
  private var iceOutput = ICEOutput()
  private var handshake: DTLSHandshake?
  private var handshakeDeadline = Instant.never
  private var handshakePath: NetworkPath?
  /// What the handshake left.
  private(set) var association: DTLSAssociation?
  /// Why the handshake failed.
  private(set) var failure: DTLSError?
  private(set) var address: SocketAddress
  private(set) var credentials: ICECredentials
  /// Of the offer on its way.
  var pendingCredentials: ICECredentials
  /// As the server's answers describe it.
  private(set) var remote: RemoteTransport?
  /// When media or its reports last came from the server.
  var lastHeard = Instant.never
  /// When the server last answered a check, which it does for those alone who are in (RFC 7675).
  private(set) var answeredAt = Instant(nanoseconds: 0)
  /// When its silence was last noticed.
  private var missedAt = Instant(nanoseconds: 0)
  var outgoing: [(bytes: [UInt8], path: NetworkPath)] = []

  /// A browser sends checks this soon when nothing comes any more.
  private static let silence: Int64 = 600_000_000

  init(
    _ configuration: ControllingAgent.Configuration, address: SocketAddress, dtls: DTLSContext, now: Instant,
    random: inout RandomSource
  ) {
    self.configuration = configuration
    self.dtls = dtls
    self.address = address
    credentials = ICECredentials(ufrag: random.alphanumeric(8), password: random.alphanumeric(24))
    pendingCredentials = credentials
    agent = ControllingAgent(local: credentials, configuration: configuration, now: now, random: &random)
    agent.addLocal(address)
  }

  /// Another after it, under credentials of its own.
  func successor(now: Instant, random: inout RandomSource) -> PeerTransport {
    PeerTransport(configuration, address: address, dtls: dtls, now: now, random: &random)
  }

  // MARK: - Descriptions

  /// What the next offer says of it.
  func describe(restartsICE: Bool, random: inout RandomSource) -> LocalTransport {
    pendingCredentials =
      restartsICE
      ? ICECredentials(ufrag: random.alphanumeric(8), password: random.alphanumeric(24)) : credentials
    return LocalTransport(
      credentials: pendingCredentials, fingerprint: dtls.certificate.fingerprint(.sha256),
      candidates: [address], isLite: false)
  }

  /// The server has answered.
  func accept(_ transport: AgreedTransport) {
    credentials = pendingCredentials
    if remote == nil {
      agent.setRemote(transport.remote.credentials)
    } else if transport.restartsICE {
      agent.restart(local: credentials, remote: transport.remote.credentials)
    }
    remote = transport.remote
    for (rank, candidate) in transport.remoteCandidates.enumerated() {
      agent.addRemote(
        candidate, priority: ICEPriority.candidate(.host, localPreference: .max - UInt16(rank)))
    }
    agentDeadline = agent.deadline
  }

  // MARK: - Time

  /// When `poll` wants to be called.
  var deadline: Instant { min(agentDeadline, handshakeDeadline) }

  func poll(now: Instant, random: inout RandomSource) {
    while agentDeadline <= now {
      let event = agent.poll(now: now, random: &random, output: &iceOutput)
      flushICE()
      agentDeadline = agent.deadline
      if case .idle = event { break }
    }
    if handshakeDeadline <= now {
      _ = handshake?.poll(now: now)
      advanceHandshake()
    }
  }

  /// Whether silence, or another address by a NAT, leads to a new nomination.
  var nominatesAgain: Bool { configuration.nominatesAgain }

  /// When the watch over silence is due.
  var nextWatch: Instant {
    lastHeard == .never || !nominatesAgain
      ? .never : max(lastHeard, missedAt).advanced(byNanoseconds: Self.silence)
  }

  /// Nothing came for a while: the path is checked and nominated again, from whatever address the NAT gives now.
  func missServer(now: Instant) {
    missedAt = now
    if let selected = agent.selected { agent.nominate(selected) }
    agentDeadline = agent.deadline
  }

  /// Falls silent.
  func stop() { handshake = nil }

  // MARK: - Datagrams

  func receiveSTUN(_ bytes: [UInt8], path: NetworkPath, now: Instant, random: inout RandomSource) {
    let outcome = bytes.withUnsafeBytes {
      agent.receive($0, path: path, now: now, random: &random, output: &iceOutput)
    }
    flushICE()
    switch outcome {
    case .validated(let path), .selected(let path):
      answeredAt = now
      beginHandshake(path, now: now)
    case .consentRefreshed: answeredAt = now
    default: break
    }
    agentDeadline = agent.deadline
  }

  func receiveDTLS(_ bytes: [UInt8], path: NetworkPath, now: Instant) {
    if association != nil {
      let answer = bytes.withUnsafeBytes { association?.answerToLate($0, now: now) }
      guard answer == .repeatLastFlight else { return }
      for datagram in association?.lastFlight ?? [] { outgoing.append((datagram, path)) }
      return
    }
    guard handshake != nil else { return }
    handshakePath = path
    bytes.withUnsafeBytes { _ = handshake?.receive($0, now: now) }
    advanceHandshake()
  }

  private func flushICE() {
    for index in 0..<iceOutput.count {
      outgoing.append((Array(iceOutput.bytes(index)), iceOutput.path(index)))
    }
    iceOutput.removeAll()
  }

  private func beginHandshake(_ path: NetworkPath, now: Instant) {
    guard handshake == nil, association == nil, let remote else { return }
    handshakePath = path
    handshake = DTLSHandshake(context: dtls, role: remote.role, expecting: remote.fingerprints, now: now)
    _ = handshake?.start(now: now)
    advanceHandshake()
  }

  private func advanceHandshake() {
    while let datagram = handshake?.nextDatagram() {
      if let path = agent.selected ?? handshakePath { outgoing.append((datagram, path)) }
    }
    let (progress, deadline) = handshakeState
    handshakeDeadline = deadline
    switch progress {
    case .connected(let finished)?:
      handshake = nil
      handshakeDeadline = .never
      association = finished
    case .failed(let error)?:
      handshake = nil
      handshakeDeadline = .never
      failure = error
    case .inProgress?, nil: break
    }
  }

  private var handshakeState: (DTLSHandshake.Progress?, Instant) {
    switch handshake {
    case .some(let running): (running.progress, running.deadline ?? .never)
    case .none: (nil, .never)
    }
  }

  // MARK: - Addresses

  func move(to new: SocketAddress) {
    agent.localAddressChanged(from: address, to: new)
    address = new
    agentDeadline = agent.deadline
  }

  func addAddress(_ new: SocketAddress) {
    agent.addLocal(new)
    agentDeadline = agent.deadline
  }

  func prefer(_ local: SocketAddress, to remote: SocketAddress) {
    agent.nominate(NetworkPath(remote: remote, local: local))
    agentDeadline = agent.deadline
  }

  /// Where media goes: until a new pair is selected, from where we are now.
  var mediaPath: NetworkPath? {
    agent.selected ?? handshakePath.map { NetworkPath(remote: $0.remote, local: address) }
  }
}
