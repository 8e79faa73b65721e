internal import Crypto
public import ICE
public import Media
public import Model
public import Transport

/// One remote peer: its transport, what it publishes and gets, and what leaves for it.
///
/// Sans-I/O: datagrams and the time come in, datagrams go to the context's outbox, what others must know to its
/// effects. All of it is a value that can be taken out as bytes and put back (`encode`, `decode`), except in
/// the middle of a handshake.
///
///     datagrams ──▶ Transport ──plain──▶ MediaSession ──▶ to be forwarded
///     datagrams ◀── Transport ◀─sealed── Egress ◀──plain── MediaSession ◀── a track's packets
public struct Peer: ~Copyable {
  public let key: PeerKey
  public internal(set) var transport: Transport<ServerAgent>
  public internal(set) var session: MediaSession
  var egress = Egress()
  /// Its last headers and decisions.
  var flight = FlightRing()
  /// Sources that its slots get, each of which begins with a key frame that all pay for who get the track. No state: it begins again.
  var newPictures = RateLimit(rate: 1, burst: 192)

  public init(_ setup: PeerSetup, context: inout PeerContext) {
    var ice = ServerAgent(local: setup.local, verify: setup.verification, now: setup.createdAt)
    ice.setRemote(setup.remote.credentials)
    self.init(
      key: setup.key,
      transport: Transport(
        agent: ice, role: setup.remote.role, fingerprints: setup.remote.fingerprints,
        createdAt: setup.createdAt),
      session: MediaSession(reportSSRC: setup.reportSSRC))
    apply(setup.media, context: &context)
  }

  init(
    key: PeerKey, transport: consuming Transport<ServerAgent>, session: consuming MediaSession
  ) {
    self.key = key
    self.transport = transport
    self.session = session
  }

  /// Takes what was agreed on. A track or slot is its section's index: sections that are still there keep
  /// their streams, those that are gone fall silent for good, new ones are added.
  public mutating func apply(_ agreed: AgreedMedia, context: inout PeerContext) {
    let gone = session.apply(agreed, random: &context.transport.random, context: &context.media)
    egress.apply(agreed.send, gone: gone)
    sendGoodbyes(&context)
    changeStreams(&context)
  }

  /// ICE starts over (RFC 8445 §9); the old credentials serve until the new ones lead to a selected path.
  public mutating func restartICE(local: ICECredentials, remote: ICECredentials) {
    transport.agent.restart(local: local, remote: remote)
  }

  /// The peer is about to be closed.
  public mutating func sayGoodbye(context: inout PeerContext) {
    session.sayGoodbye(context: &context.media)
    sendGoodbyes(&context)
  }

  /// The same of its transport: the far end need not wait for what doesn't come.
  public func sayFarewell(context: inout PeerContext) { transport.sayFarewell(context: &context.transport) }

  // MARK: - Between the three

  /// Sends the compounds that the session wrote.
  mutating func sendCompounds(_ context: inout PeerContext) {
    for index in 0..<context.media.output.count {
      transport.send(
        rtcp: context.media.output.bytes(index), source: context.media.output.source(index),
        context: &context.transport)
    }
    context.media.output.removeAll()
  }

  /// As `sendCompounds`; before anything was sent nothing has ended.
  private mutating func sendGoodbyes(_ context: inout PeerContext) {
    if transport.takesMedia { sendCompounds(&context) } else { context.media.output.removeAll() }
  }

  /// The replay windows follow the streams that are tracks'.
  mutating func changeStreams(_ context: inout PeerContext) {
    for change in context.media.streamChanges {
      if change.isMapped {
        transport.keepStream(change.ssrc)
      } else {
        transport.forgetStream(change.ssrc)
      }
    }
    context.media.streamChanges.removeAll(keepingCapacity: true)
  }

  /// What happened to the transport concerns the session, and the owner.
  mutating func settle(now: Instant, _ context: inout PeerContext) {
    let events = context.transport.events
    guard !events.isEmpty else { return }
    context.transport.events.clear()
    note(events, now: now, &context)
    if events.connected != nil {
      session.transportConnected(now: now, context: &context.media)
      changeStreams(&context)
    }
    if transport.takesMedia, events.connected != nil || events.selection == .first {
      session.requestAwaitedPictures(context: &context.media)
    }
    if events.selection == .changed { session.peerMoved() }
    if events.wasFollowed, transport.isConnected { session.mendPictures(now: now, context: &context.media) }
    context.effects.note(events)
  }
}
