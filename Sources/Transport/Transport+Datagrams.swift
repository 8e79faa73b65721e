public import Crypto
public import ICE
public import Model
public import Wire

/// A packet in plain text, which lies at the beginning of its datagram.
public enum PlainPacket {
  /// Nothing for media.
  case none
  /// - `isAside`: it came on a path that is proven and not the selected one. If it is new to its track, say so by
  ///   `mediaCame(on:)`.
  case rtp(size: Int, isAside: Bool)
  case rtcp(size: Int, isAside: Bool)
}

extension Transport where Agent: ~Copyable {
  /// Takes one datagram, by its first byte (RFC 7983 §7).
  /// - Parameter datagram: changed in place.
  @inlinable
  public mutating func receive(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, now: Instant,
    context: inout TransportContext
  ) -> PlainPacket {
    guard let first = datagram.first, end == nil else { return .none }
    switch first {
    case 128...191: return receiveMedia(datagram, path: path, &context)
    case 0...3: receiveSTUN(UnsafeRawBufferPointer(datagram), path: path, now: now, &context)
    case 20...63: receiveDTLS(UnsafeRawBufferPointer(datagram), path: path, now: now, &context)
    default: context.counters.count(.unknownProtocol)
    }
    return .none
  }

  // MARK: - Media

  @inlinable @inline(__always)
  mutating func receiveMedia(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, _ context: inout TransportContext
  ) -> PlainPacket {
    #if PLANTED_DEFECTS
      let isAside = path != self.path && !PlantedDefect.isOn(.pathUnproven)
    #else
      let isAside = path != self.path
    #endif
    guard !isAside || agent.isValidated(path) else {
      context.counters.count(.unvalidatedPath)
      return .none
    }
    guard dtls.isConnected else {
      context.counters.count(.mediaBeforeHandshake)
      return .none
    }
    if RTCPPacket.matches(UnsafeRawBufferPointer(datagram)) {
      guard let size = dtls.openRTCP(datagram, &context.counters) else { return .none }
      count(datagram.count, &context)
      return .rtcp(size: size, isAside: isAside)
    }
    guard let size = dtls.openRTP(datagram, &context.counters) else { return .none }
    count(datagram.count, &context)
    return .rtp(size: size, isAside: isAside)
  }

  /// Counts what came and is authentic: anybody may send under the address of a path that is proven.
  @inlinable @inline(__always)
  mutating func count(_ bytes: Int, _ context: inout TransportContext) {
    context.counters.packetsReceived &+= 1
    context.counters.bytesReceived &+= UInt64(truncatingIfNeeded: bytes)
    traffic.cameIn(bytes)
  }

  /// A packet that came aside was new and authentic: the far end may have gone on there.
  @inlinable @inline(never)
  public mutating func mediaCame(
    on path: NetworkPath, now: Instant, context: inout TransportContext
  ) {
    guard agent.mediaCame(on: path, now: now, random: &context.random) else { return }
    pathSelected(path, now: now, &context)
    context.events.noteFollowed()
  }

  // MARK: - STUN

  @inlinable @inline(never)
  mutating func receiveSTUN(
    _ datagram: UnsafeRawBufferPointer, path: NetworkPath, now: Instant, _ context: inout TransportContext
  ) {
    let outcome = agent.receive(
      datagram, path: path, now: now, random: &context.random, output: &context.iceOutput)
    context.flushICE()
    context.wasHeeded = true
    switch outcome {
    case .ignored(let reason):
      context.wasHeeded = false
      context.iceCounters.count(reason)
    case .pending: context.events.notePaths()
    case .validated(let path): pathValidated(path, now: now, &context)
    case .selected(let path): pathSelected(path, now: now, &context)
    case .answered, .refused, .consentRefreshed: break
    }
  }

  @inlinable
  mutating func pathSelected(_ path: NetworkPath, now: Instant, _ context: inout TransportContext) {
    let before = self.path
    self.path = path
    pathValidated(path, now: now, &context)
    if before != path { context.events.noteSelection(isFirst: before == nil) }
  }

  @inlinable
  mutating func pathValidated(_ path: NetworkPath, now: Instant, _ context: inout TransportContext) {
    context.events.notePaths()
    dtls.pathValidated(path, now: now, &context)
    if dtls.hasFailed { close(.handshakeFailed, &context) }
  }

  // MARK: - DTLS

  @inlinable @inline(never)
  mutating func receiveDTLS(
    _ datagram: UnsafeRawBufferPointer, path: NetworkPath, now: Instant, _ context: inout TransportContext
  ) {
    guard agent.isValidated(path) else {
      guard agent.hasValidCheck(path) else { return context.counters.count(.unvalidatedPath) }
      context.wasHeeded = true
      return dtls.keep(datagram, path: path, now: now, &context)
    }
    context.wasHeeded = true
    dtls.receive(datagram, path: path, now: now, &context)
    if dtls.hasFailed { close(.handshakeFailed, &context) }
  }

  /// Goes on from what a handshake left. Tests and fuzzing, which know keys of their own, need no handshake for it.
  @inlinable
  public mutating func connect(_ association: DTLSAssociation, context: inout TransportContext) {
    dtls.connect(association, &context)
    if dtls.hasFailed { close(.handshakeFailed, &context) }
  }

  // MARK: - Time

  /// When `poll` wants to be called; may move forward with every datagram that isn't media.
  @inlinable
  public var deadline: Instant {
    guard end == nil else { return .never }
    let deadline = min(agent.deadline, dtls.deadline)
    return isConnected ? deadline : min(deadline, createdAt + TransportTimers.connect)
  }

  /// Does what is due.
  @inlinable
  public mutating func poll(now: Instant, context: inout TransportContext) {
    guard end == nil else { return }
    if agent.deadline <= now { pollICE(now: now, &context) }
    dtls.poll(now: now, &context)
    if dtls.hasFailed { close(.handshakeFailed, &context) }
    if !isConnected && now >= createdAt + TransportTimers.connect { close(.neverConnected, &context) }
  }

  @inlinable
  mutating func pollICE(now: Instant, _ context: inout TransportContext) {
    let outcome = agent.poll(now: now, random: &context.random, output: &context.iceOutput)
    context.flushICE()
    switch outcome {
    case .idle: break
    case .failed: close(.neverConnected, &context)
    case .expired(let path):
      context.events.notePaths()
      if path == self.path { close(.connectionLost, &context) }
    case .selected(let path):
      pathSelected(path, now: now, &context)
      context.events.noteFollowed()
    }
  }
}

extension TransportContext {
  @usableFromInline
  mutating func flushICE() {
    for index in 0..<iceOutput.count {
      let path = iceOutput.path(index)
      outbox.append(iceOutput.bytes(index), path: path)
    }
    if iceOutput.abandoned > 0 {
      counters.pathsAbandoned &+= UInt64(iceOutput.abandoned)
      events.notePaths()
    }
    iceOutput.removeAll()
  }
}
