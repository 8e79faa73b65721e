internal import Congestion
internal import Crypto
internal import ICE
public import Media
public import Model
internal import Transport

/// What became of a packet that a peer was to send.
public enum Forwarded: UInt8, BitwiseCopyable, Sendable {
  /// Nothing can be sent to the peer, or not so much (counted).
  case refused
  /// It has left, or the slot's subscriber doesn't get it.
  case done
  /// It is queued behind others.
  case waits
}

/// What leaves a peer, in two steps: `select` and `retransmit` queue what is to leave, `depart` has the first of
/// the queue leave, for as long as `nextDeparture` names one. Between them stands the owner, who keeps the packets.
///
/// Where nothing waits, `forward` takes both steps at once: a packet leaves in the turn in which it came, and is never queued.
extension Peer {
  /// Sends a track's packet if the slot's subscriber gets it: at once, or behind what waits.
  /// - Parameters:
  ///   - packet: in plain text.
  ///   - kept: where the owner keeps it.
  ///   - now: the time of sending.
  public mutating func forward(
    _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, _ kept: PacketReference, slot: Int, now: Instant,
    context: inout PeerContext
  ) -> Forwarded {
    // Audio waits for nothing, and is charged for all the same.
    #if PLANTED_DEFECTS
      let waitsForNothing = session.isAudio(slot: slot) && !PlantedDefect.isOn(.soundWaits)
    #else
      let waitsForNothing = session.isAudio(slot: slot)
    #endif
    guard waitsForNothing || egress.isEmpty && !session.isPathFull && egress.pacer.mayLeave(now),
      transport.takesMedia, let path = transport.selectedPath
    else { return select(info, kept, slot: slot, now: now, context: &context) ? .waits : .refused }
    guard let selection = session.select(info, slot: slot) else { return .done }
    if selection.joins { noteJoined(slot, &context) }
    leave(selection, packet, info, slot: slot, path: path, now: now, context: &context)
    return .done
  }

  /// Queues a track's packet if the slot's subscriber gets it.
  /// - Parameter packet: where the owner keeps it.
  /// - Returns: false when nothing can be sent to the peer, or not so much (counted).
  @discardableResult
  public mutating func select(
    _ info: PacketInfo, _ packet: PacketReference, slot: Int, now: Instant, context: inout PeerContext
  ) -> Bool {
    guard transport.takesMedia else {
      context.transport.counters.count(.sendWithoutPath)
      return false
    }
    let isLong = egress.queue.oldest.map { now - $0 > Self.longWait } ?? false
    guard let selection = session.select(info, slot: slot, sheds: isLong) else { return true }
    if selection.joins { noteJoined(slot, &context) }
    let departure = Departure(
      packet: packet, slot: Int32(truncatingIfNeeded: slot), selection: selection, since: now,
      isUrgent: session.isUrgent(info, slot: slot), frame: session.waiting(info, slot: slot))
    guard egress.queue.append(departure, priority: session.picture(ofSlot: slot).priority) else {
      drop(departure, now: now, &context)
      return false
    }
    return true
  }

  @inline(never)
  private mutating func noteJoined(_ slot: Int, _ context: inout PeerContext) {
    context.media.hasJoined = true
    session.noteJoined(slot: slot)
  }

  /// Where the packet is kept that leaves next; nil when nothing waits, or nothing may leave yet. What has waited for too
  /// long is dropped here.
  @inline(__always)
  public mutating func nextDeparture(now: Instant, context: inout PeerContext) -> PacketReference? {
    guard !egress.isEmpty else {
      egress.departsAt = .never
      return nil
    }
    dropOverdue(now: now, &context)
    // What waits goes in a probe's place, at its rate: padding is for where nothing waits.
    guard egress.pacer.mayLeave(now) || egress.isProbeDue(now) else {
      egress.departsAt = min(egress.pacer.next(now), egress.probe?.deadline ?? .never)
      return nil
    }
    guard !session.isPathFull else {
      egress.probe = nil
      egress.departsAt = now + Self.fullWait
      return nil
    }
    if !egress.requested.isEmpty { return egress.requested[0].packet }
    guard !egress.queue.isEmpty else {
      egress.departsAt = .never
      return nil
    }
    return egress.queue.first.packet
  }

  /// Where the path is full, what waits is looked at again then, for want of feedback before.
  private static var fullWait: Duration { .milliseconds(5) }
  /// Where something has waited so long, frames that no other refers to are left out before they are begun, those that wait first.
  static var longWait: Duration { .milliseconds(100) }

  /// A slot whose stream was cut, and goes on with a key frame alone; each is named once.
  public mutating func takeCut() -> Int? { egress.cut.popLast() }

  /// The first of the queue leaves: it is numbered, written, stamped with the time and sealed.
  /// - Parameter packet: the one that `nextDeparture` names, in plain text.
  public mutating func depart(
    _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, now: Instant, context: inout PeerContext
  ) {
    if !egress.requested.isEmpty {
      return departAgain(egress.requested.removeFirst(), packet, info, now: now, context: &context)
    }
    let departure = egress.queue.first
    egress.queue.removeFirst()
    let slot = Int(departure.slot)
    guard let path = transport.selectedPath else { return drop(departure, now: now, &context) }
    leave(departure.selection, packet, info, slot: slot, path: path, now: now, context: &context)
  }

  /// A selected packet is numbered, written, sealed and put into the outbox.
  @inline(__always)
  private mutating func leave(
    _ selection: Selection, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, slot: Int,
    path: NetworkPath, now: Instant, context: inout PeerContext
  ) {
    let room = context.transport.outbox.reserve()
    let streams = egress.streams.pointer(slot)
    guard
      let outgoing = session.depart(
        selection, packet, info, slot: slot, now: now, into: Self.plain(room),
        context: &context.media),
      let size = seal(
        outgoing, room, &streams.pointee.media, cluster: leavingCluster, now: now, &context)
    else { return }
    egress.left &+= UInt64(size &+ egress.overhead)
    if egress.probe != nil { countForProbe(size &+ egress.overhead) }
    if streams.pointee.kept != nil {
      streams.pointee.kept!.store(
        UnsafeRawBufferPointer(rebasing: room[..<size]), info, sequence: Int64(bitPattern: outgoing.index))
    }
    context.transport.outbox.commit(size: size, path: path)
  }

  /// The first of the queue can't leave: its owner no longer keeps it.
  public mutating func dropDeparture(now: Instant, context: inout PeerContext) {
    if !egress.requested.isEmpty {
      _ = egress.requested.removeFirst()
      return
    }
    let departure = egress.queue.first
    egress.queue.removeFirst()
    if !goesOn(without: departure, now: now, &context) { cutOff(departure, now: now, &context) }
  }

  /// The part of a datagram's room that leaves enough for what sealing adds.
  @inline(__always)
  static func plain(_ room: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: room.baseAddress, count: Outbox.plainSize)
  }

  @inline(__always)
  mutating func seal(
    _ outgoing: OutgoingPacket, _ room: UnsafeMutableRawBufferPointer, _ admitted: inout SealGuard,
    cluster: UInt16 = 0, now: Instant, _ context: inout PeerContext
  ) -> Int? {
    if outgoing.numberOffset != 0 {
      room.storeBytes(
        of: session.nextNumber.bigEndian, toByteOffset: outgoing.numberOffset, as: UInt16.self)
    }
    guard
      let size = transport.sealRTP(
        room, headerSize: outgoing.headerSize, size: outgoing.size, ssrc: outgoing.ssrc,
        index: outgoing.index,
        &admitted, context: &context.transport)
    else { return nil }
    if flight.paths.selected == nil { lookUpPath() }
    egress.pacer.charge(size &+ egress.overhead)
    flight.note(
      leaving: UnsafeRawBufferPointer(rebasing: room[..<size]), header: outgoing.headerSize, cluster: cluster,
      now: now, context.flight)
    if outgoing.numberOffset != 0 {
      session.left(size: size &+ egress.overhead, cluster: cluster, now: now)
    } else if session.hearsStreams {
      session.left(
        ssrc: outgoing.ssrc, sequence: UInt16(truncatingIfNeeded: outgoing.index),
        size: size &+ egress.overhead,
        cluster: cluster, now: now)
    }
    return size
  }

  // MARK: - Retransmission

  /// A subscriber asks for a packet again.
  /// - Parameter sequence: as the subscriber names it.
  /// - Returns: which one of the present source's it is; nil, and counted, for none of them, or one too many.
  public mutating func retransmission(
    of sequence: UInt16, slot: Int, now: Instant, context: inout PeerContext
  ) -> RetransmissionRequest? {
    guard egress.requested.count < MediaEffects.nackCapacity,
      let request = session.retransmission(slot: slot, sequence: sequence, now: now)
    else {
      context.media.counters.count(.nackRefused)
      return nil
    }
    return request
  }

  /// Queues a packet that is to be sent again, before all else.
  /// - Parameter packet: where the owner keeps what the request asks for.
  public mutating func retransmit(_ request: RetransmissionRequest, slot: Int, packet: PacketReference) {
    egress.requested.append(RequestedDeparture(packet: packet, slot: slot, request: request))
  }

  /// Sends a packet once more: in the retransmission stream, or where the subscriber has none, its sealed bytes.
  @inline(never)
  private mutating func departAgain(
    _ departure: RequestedDeparture, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, now: Instant,
    context: inout PeerContext
  ) {
    guard let path = transport.selectedPath, transport.isConnected else {
      return context.transport.counters.count(.sendWithoutPath)
    }
    guard egress.repairs.mayLeave(now) else { return context.media.counters.count(.nackRefused) }
    egress.repairs.charge(packet.count &+ egress.overhead)
    // It leaves now, however long it has waited: what it says of when it was sent is what its journey is measured by.
    var request = departure.request
    request.now = now
    egress.repaired &+= UInt64(packet.count &+ egress.overhead)
    let slot = departure.slot
    switch session.repetition(of: info, slot: slot) {
    case .refused: context.media.counters.count(.nackRefused)
    case .sealed:
      repeatSealed(request, slot: slot, path: path, &context)
    case .rewritten:
      let room = context.transport.outbox.reserve()
      guard
        let outgoing = session.rewriteRetransmission(
          request, packet, info, slot: slot, into: Self.plain(room))
      else { return context.media.counters.count(.nackRefused) }
      let streams = egress.streams.pointer(slot)
      guard
        let size = seal(
          outgoing, room, &streams.pointee.rtx, cluster: leavingCluster, now: now, &context)
      else { return }
      countForProbe(size &+ egress.overhead)
      context.transport.outbox.commit(size: size, path: path)
      context.media.counters.retransmissionsSent &+= 1
    }
  }

  /// Sealing again under the same index would give the key away: the kept bytes leave as they are.
  private mutating func repeatSealed(
    _ request: RetransmissionRequest, slot: Int, path: NetworkPath, _ context: inout PeerContext
  ) {
    let found = egress.streams.pointer(slot).pointee.kept?.find(request.outgoing)?.packet
    session.noteRepeated(found != nil, slot: slot)
    guard let found else { return context.media.counters.count(.nackRefused) }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.keptSealedAgain) {
        let room = context.transport.outbox.reserve()
        room.copyMemory(from: found)
        var admitted = SealGuard(traps: false)
        let size = transport.sealRTP(
          room, headerSize: 12, size: found.count, ssrc: 0, index: UInt64(bitPattern: request.outgoing),
          &admitted, context: &context.transport)
        if let size {
          context.transport.outbox.commit(size: size, path: path)
        }
        return
      }
    #endif
    context.transport.outbox.append(found, path: path)
    if flight.paths.selected == nil { lookUpPath() }
    egress.pacer.charge(found.count &+ egress.overhead)
    flight.note(
      leaving: found, header: FlightRing.headerSize(found), cluster: 0, now: request.now, context.flight)
    context.media.counters.retransmissionsSent &+= 1
  }
}
