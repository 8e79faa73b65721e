package import Crypto
internal import ICE
public import Media
public import Model
internal import Wire

/// What of a datagram is to be forwarded.
public enum ReceivedDatagram {
  case nothing
  /// Plain RTP of the track with the owner's `tag`; the bytes are valid as long as the datagram's memory.
  case media(tag: Int, UnsafeRawBufferPointer, PacketInfo)
}

extension Peer {
  /// Takes one datagram, by its first byte (RFC 7983 §7).
  /// - Parameters:
  ///   - datagram: changed in place.
  ///   - arrival: when the kernel had it; not after `now`.
  public mutating func receive(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant,
    context: inout PeerContext
  ) -> ReceivedDatagram {
    guard let first = datagram.first, closed == nil else { return .nothing }
    switch first {
    case 128...191: return receiveMedia(datagram, path: path, arrival: arrival, now: now, &context)
    case 0...3: receiveSTUN(UnsafeRawBufferPointer(datagram), path: path, now: now, &context)
    case 20...63: receiveDTLS(UnsafeRawBufferPointer(datagram), path: path, now: now, &context)
    default: context.counters.count(.unknownProtocol)
    }
    return .nothing
  }

  // MARK: - STUN

  private mutating func receiveSTUN(
    _ datagram: UnsafeRawBufferPointer, path: NetworkPath, now: Instant, _ context: inout PeerContext
  ) {
    let outcome = ice.receive(
      datagram, path: path, now: now, random: &context.random, output: &context.iceOutput)
    flushICE(&context)
    switch outcome {
    case .ignored(let reason): context.iceCounters.count(reason)
    case .pending: context.effects.notePaths()
    case .validated(let path): pathValidated(path, now: now, &context)
    case .selected(let path): pathSelected(path, now: now, &context)
    case .answered, .refused, .consentRefreshed: break
    }
  }

  func flushICE(_ context: inout PeerContext) {
    for index in 0..<context.iceOutput.count {
      let path = context.iceOutput.path(index)
      context.outbox.append(context.iceOutput.bytes(index), path: path)
    }
    if context.iceOutput.abandoned > 0 {
      context.counters.pathsAbandoned &+= UInt64(context.iceOutput.abandoned)
      context.effects.notePaths()
    }
    context.iceOutput.removeAll()
  }

  mutating func pathSelected(_ path: NetworkPath, now: Instant, _ context: inout PeerContext) {
    let before = selectedPath
    selectedPath = path
    pathValidated(path, now: now, &context)
    if before == nil {
      wishForPictures(&context)
    } else if before != path {
      sourcesMoved()
    }
  }

  private mutating func pathValidated(_ path: NetworkPath, now: Instant, _ context: inout PeerContext) {
    context.effects.notePaths()
    if handshake == nil, association == nil, role == .client {
      dtlsPath = path
      startHandshake(now: now, &context)
    }
    for datagram in held.take(path) {
      datagram.withUnsafeBytes { receiveDTLS($0, path: path, now: now, &context) }
    }
  }

  // MARK: - DTLS

  private mutating func receiveDTLS(
    _ datagram: UnsafeRawBufferPointer, path: NetworkPath, now: Instant, _ context: inout PeerContext
  ) {
    guard ice.isValidated(path) else {
      guard ice.hasValidCheck(path) else { return context.counters.count(.unvalidatedPath) }
      guard DTLSRecord.looksLikeRecords(datagram) else { return context.counters.count(.dtlsMalformed) }
      if !held.hold(datagram, path: path, now: now) { context.counters.count(.dtlsHeldOverflow) }
      return
    }
    guard DTLSRecord.looksLikeRecords(datagram) else { return context.counters.count(.dtlsMalformed) }
    if association != nil { return answerLate(datagram, path: path, now: now, &context) }
    guard DTLSRecord.hasSoundFragments(datagram) else { return context.counters.count(.dtlsMalformed) }
    let fragment = DTLSHello(datagram)
    if handshake == nil {
      guard fragment != nil, role == .server else { return context.counters.count(.dtlsIgnored) }
      hello = nil
      startHandshake(now: now, &context)
    }
    // OpenSSL would take another's for the same message once more, or fail by it.
    if let fragment, !admits(fragment) { return context.counters.count(.dtlsOtherHello) }
    dtlsPath = path
    _ = handshake?.receive(datagram, now: now)
    advanceHandshake(now: now, &context)
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
    _ datagram: UnsafeRawBufferPointer, path: NetworkPath, now: Instant, _ context: inout PeerContext
  ) {
    guard case .repeatLastFlight? = association?.answerToLate(datagram, now: now) else {
      return context.counters.count(.dtlsIgnored)
    }
    for flight in association?.lastFlight ?? [] {
      flight.withUnsafeBytes { _ = context.outbox.append($0, path: path) }
    }
  }

  private mutating func startHandshake(now: Instant, _ context: inout PeerContext) {
    handshake = DTLSHandshake(context: context.dtls, role: role, expecting: fingerprints, now: now)
    _ = handshake?.start(now: now)
    advanceHandshake(now: now, &context)
  }

  /// Sends what the handshake wrote; takes its keys when it is done, and lets it go.
  mutating func advanceHandshake(now: Instant, _ context: inout PeerContext) {
    while let datagram = handshake?.nextDatagram() {
      if let dtlsPath { datagram.withUnsafeBytes { _ = context.outbox.append($0, path: dtlsPath) } }
    }
    switch handshakeState.progress {
    case .inProgress, nil: break
    case .failed(let error):
      handshake = nil
      context.counters.count(HandshakeFailure(error))
      close(.handshakeFailed, &context)
    case .connected(let association):
      handshake = nil
      connect(association, now: now, context: &context)
    }
  }

  /// Where a running handshake stands, and when it wants to be polled.
  var handshakeState: (progress: DTLSHandshake.Progress?, deadline: Instant) {
    switch handshake {
    case .some(let running): (running.progress, running.deadline ?? .never)
    case .none: (nil, .never)
    }
  }

  /// Goes on from what a handshake left. Tests and fuzzing, which know keys of their own, need no handshake for it.
  package mutating func connect(
    _ association: DTLSAssociation, now: Instant, context: inout PeerContext
  ) {
    self.association = association
    do throws(SRTPError) {
      opener = try SRTPOpener(keys: association.remoteKeys, mappedLimit: SRTPOpener.mappedCapacity)
    } catch {
      context.counters.count(HandshakeFailure.refused)
      return close(.handshakeFailed, &context)
    }
    sealer = SRTPSealer(keys: association.localKeys)
    profile = association.profile
    for index in 0..<receiving.count where receiving.pointer(index).pointee.isAgreed { bind(index) }
    reportsDue = now + Self.firstReport
    context.effects.noteConnected(association.profile)
    wishForPictures(&context)
  }

  /// The peer has moved, and for a while all pictures went to where it was before.
  mutating func mendPictures(_ context: inout PeerContext) {
    guard sealer != nil else { return }
    for slot in 0..<senders.count where hasSlot[slot] && kind(ofSlot: slot) == .video {
      context.effects.noteWish(slot)
    }
  }

  /// What was asked of the peer went to where it was before, and what it sent meanwhile is lost.
  private mutating func sourcesMoved() {
    for index in 0..<receiving.count where receiving.pointer(index).pointee.isAgreed {
      receiving.pointer(index).pointee.receiver.moved()
      scheduleFeedback(receiving.pointer(index).pointee.receiver.deadline)
    }
  }

  /// As soon as media can be sent: the key frames that were asked for before are gone.
  private func wishForPictures(_ context: inout PeerContext) {
    guard takesMedia else { return }
    for slot in 0..<senders.count where needsKeyFrame(slot: slot) { context.effects.noteWish(slot) }
  }
}
