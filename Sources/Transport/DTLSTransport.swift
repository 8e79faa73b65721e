public import Crypto
public import Model

/// DTLS with one far end, and the keys for SRTP that come of it (RFC 5764).
///
/// Knows no ICE: that a path is proven is the caller's word.
public struct DTLSTransport: ~Copyable {
  public let role: DTLSRole
  let fingerprints: [Fingerprint]
  /// While it runs; afterwards only what it left.
  var handshake: DTLSHandshake?
  private var begunAt = Instant(nanoseconds: 0)
  /// What the handshake left.
  public internal(set) var association: DTLSAssociation?
  /// What the handshake was begun with, as server.
  var hello: DTLSHello?
  /// Where handshake datagrams go: the path of the last one that came.
  public internal(set) var path: NetworkPath?
  var held = HeldFlight()
  /// The handshake failed, which is for good.
  @usableFromInline var hasFailed = false
  /// There are keys. Kept apart, because to look whether there is a sealer would copy what it is in.
  @usableFromInline var isConnected = false
  @usableFromInline var opener: SRTPOpener?
  @usableFromInline var sealer: SRTPSealer?
  public internal(set) var profile: SRTPProfile?
  /// SRTCP's index: one counter for all sources of ours (RFC 3711 §3.4 asks for one per source; one for all
  /// never repeats either).
  var rtcpIndex: UInt32 = 0

  init(role: DTLSRole, fingerprints: [Fingerprint]) {
    self.role = role
    self.fingerprints = fingerprints
  }

  /// When `poll` is due.
  @usableFromInline var deadline: Instant { min(held.deadline, handshakeState.deadline) }

  /// Does what is due.
  @usableFromInline mutating func poll(now: Instant, _ context: inout TransportContext) {
    if held.deadline <= now { context.counters.count(.dtlsHeldOverflow, times: held.discard()) }
    if handshakeState.deadline <= now {
      _ = handshake?.poll(now: now)
      advance(now: now, &context)
    }
  }

  /// The path is proven: a client begins there, and what came too early on it is taken now.
  @usableFromInline
  mutating func pathValidated(_ path: NetworkPath, now: Instant, _ context: inout TransportContext) {
    if handshake == nil, association == nil, role == .client {
      self.path = path
      start(now: now, &context)
    }
    for datagram in held.take(path) {
      datagram.withUnsafeBytes { receive($0, path: path, now: now, &context) }
    }
  }

  /// Keeps a datagram of a path that isn't proven yet.
  @usableFromInline
  mutating func keep(
    _ datagram: UnsafeRawBufferPointer, path: NetworkPath, now: Instant, _ context: inout TransportContext
  ) {
    guard DTLSRecord.looksLikeRecords(datagram) else { return context.counters.count(.dtlsMalformed) }
    if !held.hold(datagram, path: path, now: now) { context.counters.count(.dtlsHeldOverflow) }
  }

  /// Takes a datagram of a proven path.
  @usableFromInline
  mutating func receive(
    _ datagram: UnsafeRawBufferPointer, path: NetworkPath, now: Instant, _ context: inout TransportContext
  ) {
    guard DTLSRecord.looksLikeRecords(datagram) else { return context.counters.count(.dtlsMalformed) }
    if association != nil { return answerLate(datagram, path: path, now: now, &context) }
    guard DTLSRecord.hasSoundFragments(datagram) else { return context.counters.count(.dtlsMalformed) }
    let fragment = DTLSHello(datagram)
    if handshake == nil {
      guard fragment != nil, role == .server else { return context.counters.count(.dtlsIgnored) }
      hello = nil
      start(now: now, &context)
    }
    // OpenSSL would take another's for the same message once more, or fail by it.
    if let fragment, !admits(fragment) { return context.counters.count(.dtlsOtherHello) }
    self.path = path
    _ = handshake?.receive(datagram, now: now)
    advance(now: now, &context)
  }

  /// Whether a fragment may belong to the ClientHello that the handshake was begun with.
  private mutating func admits(_ fragment: DTLSHello) -> Bool {
    guard role == .server else { return false }
    guard var known = hello else {
      hello = fragment
      return true
    }
    guard known.admits(fragment) else { return false }
    hello = known
    return true
  }

  /// After the handshake only a lost last flight is answered.
  private mutating func answerLate(
    _ datagram: UnsafeRawBufferPointer, path: NetworkPath, now: Instant, _ context: inout TransportContext
  ) {
    switch association?.answerToLate(datagram, now: now) {
    case .repeatLastFlight:
      for flight in association?.lastFlight ?? [] {
        flight.withUnsafeBytes { _ = context.outbox.append($0, path: path) }
      }
    case .closed: context.events.noteFarewell()
    case .ignore, nil: context.counters.count(.dtlsIgnored)
    }
  }

  /// Says to the far end that the association is over.
  func sayFarewell(on path: NetworkPath, _ context: inout TransportContext) {
    association?.farewell?.own.withUnsafeBytes { _ = context.outbox.append($0, path: path) }
  }

  private mutating func start(now: Instant, _ context: inout TransportContext) {
    handshake = DTLSHandshake(context: context.dtls, role: role, expecting: fingerprints, now: now)
    begunAt = now
    _ = handshake?.start(now: now)
    advance(now: now, &context)
  }

  /// Sends what the handshake wrote; takes its keys when it is done, and lets it go.
  private mutating func advance(now: Instant, _ context: inout TransportContext) {
    while let datagram = handshake?.nextDatagram() {
      if let path { datagram.withUnsafeBytes { _ = context.outbox.append($0, path: path) } }
    }
    switch handshakeState.progress {
    case .inProgress, nil: break
    case .failed(let error):
      handshake = nil
      context.counters.count(HandshakeFailure(error))
      hasFailed = true
    case .connected(let association):
      handshake = nil
      context.handshakes.note(now - begunAt)
      connect(association, &context)
    }
  }

  /// Where a running handshake stands, and when it wants to be polled.
  private var handshakeState: (progress: DTLSHandshake.Progress?, deadline: Instant) {
    switch handshake {
    case .some(let running): (running.progress, running.deadline ?? .never)
    case .none: (nil, .never)
    }
  }

  /// Goes on from what a handshake left.
  @usableFromInline
  mutating func connect(_ association: DTLSAssociation, _ context: inout TransportContext) {
    self.association = association
    do throws(SRTPError) {
      opener = try SRTPOpener(keys: association.remoteKeys, mappedLimit: SRTPOpener.mappedCapacity)
    } catch {
      context.counters.count(HandshakeFailure.refused)
      hasFailed = true
      return
    }
    sealer = SRTPSealer(keys: association.localKeys)
    profile = association.profile
    isConnected = true
    context.events.noteConnected(association.profile)
  }
}
