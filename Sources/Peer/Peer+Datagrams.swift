internal import Congestion
package import Crypto
internal import ICE
public import Media
public import Model
internal import Transport

/// What of a datagram is to be forwarded.
public enum ReceivedDatagram {
  case nothing
  /// Plain RTP of the track with the owner's `tag`; the bytes are valid as long as the datagram's memory.
  case media(tag: Int, UnsafeRawBufferPointer, PacketInfo)
}

extension Peer {
  /// Takes one datagram.
  /// - Parameters:
  ///   - datagram: changed in place.
  ///   - arrival: when the kernel had it; not after `now`.
  public mutating func receive(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant,
    context: inout PeerContext
  ) -> ReceivedDatagram {
    let waiting = context.transport.outbox.count
    switch transport.receive(datagram, path: path, now: now, context: &context.transport) {
    case .none:
      noteSetup(UnsafeRawBufferPointer(datagram), path: path, now: now, &context)
      noteAnswers(after: waiting, now: now, &context)
      settle(now: now, &context)
    case .rtp(let size, let isAside):
      flight.note(
        received: UnsafeRawBufferPointer(rebasing: datagram[..<size]), size: datagram.count, path, now: now,
        context.flight)
      let received = session.receive(
        rtp: UnsafeMutableRawBufferPointer(rebasing: datagram[..<size]), arrival: arrival,
        context: &context.media)
      if !context.media.streamChanges.isEmpty { changeStreams(&context) }
      guard case .media(let tag, let offset, let size, let info) = received else { break }
      if isAside { mediaCame(on: path, now: now, &context) }
      return .media(tag: tag, UnsafeRawBufferPointer(rebasing: datagram[offset..<offset &+ size]), info)
    case .rtcp(let size, let isAside):
      flight.note(
        rtcp: UnsafeRawBufferPointer(rebasing: datagram[..<size]), path, isInbound: true, now: now,
        context.flight)
      session.receive(
        rtcp: UnsafeRawBufferPointer(rebasing: datagram[..<size]), now: now, context: &context.media)
      if session.isEstimating(now: now) { takeTarget(now: now, &context) }
      if isAside { mediaCame(on: path, now: now, &context) }
    }
    return .nothing
  }

  /// A packet was new and authentic, and came on a path that is not the one in use.
  @inline(never)
  private mutating func mediaCame(on path: NetworkPath, now: Instant, _ context: inout PeerContext) {
    transport.mediaCame(on: path, now: now, context: &context.transport)
    settle(now: now, &context)
  }

  /// Goes on from what a handshake left. Tests and fuzzing, which know keys of their own, need no handshake for it.
  package mutating func connect(
    _ association: DTLSAssociation, now: Instant, context: inout PeerContext
  ) {
    transport.connect(association, context: &context.transport)
    settle(now: now, &context)
  }

  // MARK: - Time

  /// As `deadline`, for what a media packet can move: cheap enough to be asked after each.
  @inlinable @inline(__always)
  public var feedbackDeadline: Instant { session.feedbackDeadline }

  /// When `poll` wants to be called; may move forward with every datagram.
  public var deadline: Instant {
    transport.ended == nil ? min(transport.deadline, session.deadline, sendingDeadline) : .never
  }

  /// Does what is due.
  public mutating func poll(now: Instant, context: inout PeerContext) {
    guard transport.ended == nil else { return }
    let waiting = context.transport.outbox.count
    transport.poll(now: now, context: &context.transport)
    noteAnswers(after: waiting, now: now, &context)
    settle(now: now, &context)
    guard transport.ended == nil else { return }
    let isReporting = session.reports(at: now)
    if isReporting, let checked = transport.agent.roundTripTime { session.noteChecked(checked, now: now) }
    let ratesChanged = isReporting && transport.tally(now: now)
    session.poll(now: now, ratesChanged: ratesChanged, context: &context.media)
    noteCompounds(now: now, &context)
    sendCompounds(&context)
    takeTarget(now: now, &context)
    if egress.isEmpty { egress.departsAt = .never }
  }

  /// What may leave goes by what is known of the path by now, and a probe that is due begins.
  private mutating func takeTarget(now: Instant, _ context: inout PeerContext) {
    let target = session.target(now: now, heedsReports: context.media.heedsReports)
    noteTarget(target, now: now, &context)
    egress.setTarget(target, now: now)
    beginProbe(now: now, &context)
  }

  /// What waits may leave now.
  public var departs: Bool { !egress.isEmpty }

  /// Something of that feed waits in the slot.
  public func departs(slot: Int, from feed: Int) -> Bool {
    // A slot's packets leave in their order: what is of an earlier feed stands first.
    egress.queue.first(ofSlot: slot)?.track == Int32(truncatingIfNeeded: feed)
      || egress.requested.contains { $0.slot == slot && $0.packet.track == Int32(truncatingIfNeeded: feed) }
  }
}
