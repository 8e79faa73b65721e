internal import Congestion
internal import Crypto
internal import ICE
public import Media
public import Model
internal import Transport

/// A probe that is leaving.
struct ActiveProbe: BitwiseCopyable {
  var plan: ProbePlan
  var slot: Int
  var startedAt: Instant
  var bytes = 0
  var packets = 0

  /// When its next packet is due.
  var deadline: Instant { startedAt + .nanoseconds(Int64(Double(bytes) * 8e9 / plan.rate)) }
  var isOver: Bool { bytes >= plan.bytes && packets >= plan.packets }
}

/// Packets that show nothing new, to see what the path carries: in a retransmission stream, which no numbers of media count. What was
/// sent lately is sent again, since it may have been lost; where there is nothing of the kind, padding is.
extension Peer {
  /// When a packet of a probe is due, or what waits may leave.
  var sendingDeadline: Instant { min(egress.probe?.deadline ?? .never, egress.departsAt) }

  /// Begins a probe if one is due. What waits shows by itself what the path carries.
  mutating func beginProbe(now: Instant, _ context: inout PeerContext) {
    guard egress.probe == nil, egress.isEmpty, transport.takesMedia, session.target(now: now) != nil,
      let slot = session.probingSlot, let plan = session.takeProbe(now: now)
    else { return }
    egress.probe = ActiveProbe(plan: plan, slot: slot, startedAt: now)
    flight.isProbing = true
    flight.note(.probe(plan.rate, cluster: plan.cluster), now: now, context.flight)
  }

  /// The slot and the packet that a probe sends next; to be followed by `probe`.
  /// - Returns: nil while none is due, and while something waits, which leaves in its place. A request of nil: there is nothing to send
  /// again.
  public mutating func nextProbe(now: Instant) -> (slot: Int, again: RetransmissionRequest?)? {
    #if PLANTED_DEFECTS
      let isLast = egress.isEmpty || PlantedDefect.isOn(.paddingFirst)
    #else
      let isLast = egress.isEmpty
    #endif
    guard let open = egress.probe, open.deadline <= now, isLast else { return nil }
    guard open.plan.rate >= Self.leastRateOfMedia else { return (open.slot, nil) }
    return (open.slot, session.sentLately(slot: open.slot, back: Int64(open.packets), now: now))
  }

  /// Bits per second: below, the few packets that a probe has to have would be more bytes than it needs.
  private static var leastRateOfMedia: Double { 1_000_000 }

  /// Has the packet of a probe leave that is due.
  /// - Parameter again: what `nextProbe` named, as its owner keeps it; nil: it doesn't, and padding leaves.
  public mutating func probe(
    _ again: (request: RetransmissionRequest, packet: UnsafeRawBufferPointer, info: PacketInfo)?,
    now: Instant, context: inout PeerContext
  ) {
    guard let open = egress.probe else { return }
    guard let path = transport.selectedPath,
      let size = leaveProbe(open, again, path: path, now: now, context: &context)
    else {
      egress.probe = nil
      return
    }
    countForProbe(size)
  }

  /// The probe that what leaves now belongs to; 0: none. Media that leaves meanwhile takes of the path as well: it is of the
  /// probe, which needs so much less that shows nothing.
  @inline(__always)
  var leavingCluster: UInt16 { egress.probe?.plan.cluster ?? 0 }

  /// - Parameter size: on the wire, with UDP and IP.
  mutating func countForProbe(_ size: Int) {
    guard egress.probe != nil else { return }
    egress.probe!.bytes += size
    egress.probe!.packets += 1
    if egress.probe!.isOver { egress.probe = nil }
  }

  /// - Returns: bytes on the wire; nil where it can't be written.
  private mutating func leaveProbe(
    _ open: ActiveProbe,
    _ again: (request: RetransmissionRequest, packet: UnsafeRawBufferPointer, info: PacketInfo)?,
    path: NetworkPath, now: Instant, context: inout PeerContext
  ) -> Int? {
    let room = context.transport.outbox.reserve()
    var written: OutgoingPacket?
    if let again {
      written = session.rewriteRetransmission(
        again.request, again.packet, again.info, slot: open.slot, probes: true, into: Self.plain(room))
    }
    written = written ?? session.writePadding(slot: open.slot, into: Self.plain(room))
    guard let written else { return nil }
    let streams = egress.streams.pointer(open.slot)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.probeUnderMediaNumber) {
        guard
          let size = seal(
            written, room, &streams.pointee.media, cluster: open.plan.cluster, now: now, &context)
        else { return nil }
        context.transport.outbox.commit(size: size, path: path)
        return size &+ egress.overhead
      }
    #endif
    guard
      let size = seal(written, room, &streams.pointee.rtx, cluster: open.plan.cluster, now: now, &context)
    else { return nil }
    context.transport.outbox.commit(size: size, path: path)
    return size &+ egress.overhead
  }
}
