internal import Crypto
internal import ICE
public import Model

extension SyntheticPeer {
  func pollTransport(now: Instant) {
    if session != nil, nextWatch <= now { missServer(now: now) }
    while agentDeadline <= now {
      let event = agent.poll(now: now, random: &random, output: &iceOutput)
      flushICE()
      agentDeadline = agent.deadline
      if case .idle = event { break }
    }
    if handshakeDeadline <= now {
      _ = handshake?.poll(now: now)
      advanceHandshake(now: now)
    }
  }

  /// Nothing came for a while: the path is checked and nominated anew, from whatever address the NAT gives now.
  private func missServer(now: Instant) {
    lastHeard = now
    if let selected = agent.selected { agent.nominate(selected) }
    agentDeadline = agent.deadline
  }

  func receiveSTUN(_ bytes: [UInt8], path: NetworkPath, now: Instant) {
    let outcome = bytes.withUnsafeBytes {
      agent.receive($0, path: path, now: now, random: &random, output: &iceOutput)
    }
    flushICE()
    switch outcome {
    case .validated(let path), .selected(let path): beginHandshake(path, now: now)
    default: break
    }
    agentDeadline = agent.deadline
  }

  private func flushICE() {
    for index in 0..<iceOutput.count {
      outgoing.append(Outgoing(bytes: Array(iceOutput.bytes(index)), path: iceOutput.path(index), tag: 0))
    }
    iceOutput.removeAll()
  }

  private func beginHandshake(_ path: NetworkPath, now: Instant) {
    guard handshake == nil, association == nil, let remoteTransport else { return }
    handshakePath = path
    handshake = DTLSHandshake(
      context: dtls, role: remoteTransport.role, expecting: remoteTransport.fingerprints, now: now)
    _ = handshake?.start(now: now)
    advanceHandshake(now: now)
  }

  func receiveDTLS(_ bytes: [UInt8], path: NetworkPath, now: Instant) {
    if association != nil {
      let answer = bytes.withUnsafeBytes { association?.answerToLate($0, now: now) }
      guard answer == .repeatLastFlight else { return }
      for datagram in association?.lastFlight ?? [] {
        outgoing.append(Outgoing(bytes: datagram, path: path, tag: 0))
      }
      return
    }
    guard handshake != nil else { return }
    handshakePath = path
    bytes.withUnsafeBytes { _ = handshake?.receive($0, now: now) }
    advanceHandshake(now: now)
  }

  private func advanceHandshake(now: Instant) {
    while let datagram = handshake?.nextDatagram() {
      if let path = agent.selected ?? handshakePath {
        outgoing.append(Outgoing(bytes: datagram, path: path, tag: 0))
      }
    }
    let (progress, deadline) = handshakeState
    handshakeDeadline = deadline
    switch progress {
    case .connected(let finished)?:
      handshake = nil
      handshakeDeadline = .never
      association = finished
      connect(finished, now: now)
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

  private func connect(_ association: DTLSAssociation, now: Instant) {
    do {
      session = try SRTPSession(association)
    } catch {
      return journal.violation(now, "peer \(number) can't start libsrtp: \(error.status)")
    }
    lastHeard = now
    connectedAt = now
    nextReports = now.advanced(byNanoseconds: 200_000_000)
    openTracks(now: now)
  }

  // MARK: What happens to it

  /// Its network interface got another address, which it knows.
  public func move(to new: SocketAddress) {
    agent.localAddressChanged(from: address, to: new)
    address = new
    agentDeadline = agent.deadline
  }

  /// It has a second address, which may be used as well.
  public func addAddress(_ new: SocketAddress) {
    agent.addLocal(new)
    agentDeadline = agent.deadline
  }

  /// Goes over to another of its addresses as soon as that has proved itself; media stays where it is until then.
  public func prefer(_ local: SocketAddress, to remote: SocketAddress) {
    agent.nominate(NetworkPath(remote: remote, local: local))
    agentDeadline = agent.deadline
  }

  /// Where media goes.
  var mediaPath: NetworkPath? { agent.selected ?? handshakePath.map { moved($0) } }

  /// Until a new pair is selected, media goes on from where we are now.
  private func moved(_ path: NetworkPath) -> NetworkPath {
    NetworkPath(remote: path.remote, local: address)
  }
}
