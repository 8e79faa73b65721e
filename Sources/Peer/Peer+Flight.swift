internal import Congestion
internal import Media
public import Model
internal import Transport

/// What is noted for those who ask later why a peer got what it got.
extension Peer {
  /// What its flight recorder has.
  public func recording(now: Instant) -> FlightRecording {
    FlightRecording(peer: key, cells: flight.copy(), paths: flight.paths.all, takenAt: now)
  }

  /// Whether any packet of it was noted: of one that never sent any there is nothing to see.
  public var hasFlown: Bool { !flight.paths.all.isEmpty }

  /// Notes what was decided about what it gets.
  public mutating func note(_ decision: FlightDecision, now: Instant, context: inout PeerContext) {
    flight.note(decision, now: now, context.flight)
  }

  /// Media leaves by a path of which its record and its charges don't know yet.
  @inline(never)
  mutating func lookUpPath() {
    guard let path = transport.selectedPath else { return }
    flight.paths.selected = flight.paths.outbound(path)
    egress.overhead = path.remote.isIPv4 ? 28 : 48
  }

  /// Notes the compounds that are about to leave.
  mutating func noteCompounds(now: Instant, _ context: inout PeerContext) {
    guard context.media.output.count > 0, let path = transport.selectedPath else { return }
    for index in 0..<context.media.output.count {
      flight.note(
        rtcp: context.media.output.bytes(index), path, isInbound: false, now: now, context.flight)
    }
  }

  /// Notes a datagram that was neither RTP nor RTCP, if it was heeded: what strangers send under the peer's address would
  /// else push out what is of use.
  mutating func noteSetup(
    _ datagram: UnsafeRawBufferPointer, path: NetworkPath, now: Instant, _ context: inout PeerContext
  ) {
    guard context.transport.wasHeeded else { return }
    context.transport.wasHeeded = false
    flight.note(setup: datagram, path, isInbound: true, now: now, context.flight)
  }

  /// Notes what ICE and the handshake have put into the outbox.
  /// - Parameter first: datagrams that were there before.
  mutating func noteAnswers(after first: Int, now: Instant, _ context: inout PeerContext) {
    // Emptied in between: what is there is of this call.
    let first = first <= context.transport.outbox.count ? first : 0
    for index in first..<context.transport.outbox.count {
      let entry = context.transport.outbox[index]
      flight.note(
        setup: context.transport.outbox.bytes(entry), entry.path, isInbound: false, now: now, context.flight)
    }
  }

  /// Notes what the transport has become.
  mutating func note(_ events: TransportEvents, now: Instant, _ context: inout PeerContext) {
    if events.selection != .unchanged { flight.paths.selected = nil }
    if events.selection != .unchanged, let path = transport.selectedPath {
      flight.note(.pathSelected, path: path, now: now, context.flight)
    }
    if events.connected != nil { flight.note(.connected, now: now, context.flight) }
    if let end = events.closed { flight.note(.closed(PeerCloseReason(end)), now: now, context.flight) }
  }

  /// Notes what may be sent, and what a probe has shown.
  mutating func noteTarget(_ target: Double?, now: Instant, _ context: inout PeerContext) {
    guard let target else { return }
    if flight.isProbing, session.estimator.lastProbe?.isOpen != true {
      flight.isProbing = false
      flight.note(.probed(target), now: now, context.flight)
      flight.target = (target, now)
    }
    flight.note(target: target, now: now, context.flight)
  }
}
