internal import Congestion
internal import Crypto
internal import ICE
internal import Media
internal import Model
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

/// Packets that show nothing, to see what the path carries: padding in a retransmission stream, which no numbers of media count.
extension Peer {
  /// When a packet of a probe is due, or what waits may leave.
  var sendingDeadline: Instant { min(egress.probe?.deadline ?? .never, egress.departsAt) }

  /// Begins a probe if one is due, and has the packets leave that are due.
  mutating func probe(now: Instant, context: inout PeerContext) {
    if egress.probe == nil, transport.takesMedia, session.target(now: now) != nil,
      let slot = session.probingSlot,
      let plan = session.takeProbe(now: now)
    {
      egress.probe = ActiveProbe(plan: plan, slot: slot, startedAt: now)
    }
    while let open = egress.probe, open.deadline <= now {
      guard let path = transport.selectedPath,
        let size = leavePadding(open, path: path, now: now, context: &context)
      else {
        egress.probe = nil
        return
      }
      egress.probe!.bytes += size
      egress.probe!.packets += 1
      if egress.probe!.isOver { egress.probe = nil }
    }
  }

  /// - Returns: bytes on the wire; nil where it can't be written.
  private mutating func leavePadding(
    _ open: ActiveProbe, path: NetworkPath, now: Instant, context: inout PeerContext
  ) -> Int? {
    let room = context.transport.outbox.reserve()
    guard let outgoing = session.writePadding(slot: open.slot, into: Self.plain(room)) else { return nil }
    let streams = egress.streams.pointer(open.slot)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.probeUnderMediaNumber) {
        guard
          let size = seal(
            outgoing, room, &streams.pointee.media, cluster: open.plan.cluster, now: now, &context)
        else { return nil }
        context.transport.outbox.commit(size: size, path: path)
        return size &+ Self.overhead
      }
    #endif
    guard
      let size = seal(outgoing, room, &streams.pointee.rtx, cluster: open.plan.cluster, now: now, &context)
    else { return nil }
    context.transport.outbox.commit(size: size, path: path)
    return size &+ Self.overhead
  }
}
