package import Crypto
internal import ICE
public import Model
internal import Negotiation

extension SyntheticPeer {
  func pollTransport(now: Instant) {
    if session != nil, transport.nextWatch <= now { transport.missServer(now: now) }
    transport.poll(now: now, random: &random)
    advanceTransport(now: now)
  }

  /// Sends what the transport wrote, and begins with media once there are keys.
  func advanceTransport(now: Instant) {
    for datagram in transport.outgoing {
      outgoing.append(Outgoing(bytes: datagram.bytes, path: datagram.path, tag: 0))
    }
    transport.outgoing.removeAll(keepingCapacity: true)
    if session == nil, let association = transport.association { connect(association, now: now) }
  }

  private func connect(_ association: DTLSAssociation, now: Instant) {
    do {
      session = try SRTPSession(association)
    } catch {
      return journal.violation(now, "peer \(number) can't start libsrtp: \(error.status)")
    }
    transport.lastHeard = now
    connectedAt = now
    feedback.nextReports = now.advanced(byNanoseconds: 200_000_000)
    openTracks(now: now)
  }

  /// No section is left, and so no transport: the next offer begins another.
  func endTransport(now: Instant) {
    for index in sources.indices { sources[index].stop() }
    for source in encoded.sources { source.stop() }
    session = nil
    connectedAt = .never
    feedback.nextReports = .never
    feedback.log = TransportLog()
    descriptions.negotiator.endTransport()
    transport = transport.successor(now: now, random: &random)
  }

  /// When the server last showed that this peer is in: by media, reports, or the answer to a check. `never`: not yet.
  package var lastHeard: Instant {
    transport.lastHeard == .never ? .never : max(transport.lastHeard, transport.answeredAt)
  }
  package var association: DTLSAssociation? { transport.association }
  /// Why the handshake failed.
  package var failure: DTLSError? { transport.failure }
  package var credentials: ICECredentials { transport.credentials }
  /// Of the offer on its way.
  package var pendingCredentials: ICECredentials { transport.pendingCredentials }
  /// Whether silence, or another address by a NAT, leads to a new nomination.
  package var nominatesAgain: Bool { transport.nominatesAgain }

  // MARK: What happens to it

  /// Its network interface got another address, which it knows.
  public func move(to new: SocketAddress) { transport.move(to: new) }

  /// It has a second address, which may be used as well.
  public func addAddress(_ new: SocketAddress) { transport.addAddress(new) }

  /// Goes over to another of its addresses as soon as that has proved itself; media stays where it is until then.
  public func prefer(_ local: SocketAddress, to remote: SocketAddress) { transport.prefer(local, to: remote) }
}
