internal import Crypto
internal import ICE
public import Media
public import Model
internal import Transport

extension Peer {
  /// Sends a track's packet in a slot, as its subscriber gets it.
  /// - Returns: true when it was left out for want of a key frame.
  public mutating func forward(
    _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, slot: Int, context: inout PeerContext
  ) -> Bool {
    guard let path = transport.selectedPath, transport.isConnected else {
      context.transport.counters.count(.sendWithoutPath)
      return false
    }
    guard let selection = session.select(info, slot: slot) else {
      return session.waitsForKeyFrame(slot: slot)
    }
    depart(selection, packet, info, slot: slot, path: path, &context)
    return false
  }

  /// Numbers, writes and seals a selected packet, and sends it.
  @inline(__always)
  private mutating func depart(
    _ selection: Selection, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, slot: Int,
    path: NetworkPath, _ context: inout PeerContext
  ) {
    let room = context.transport.outbox.reserve()
    let streams = egress.streams.pointer(slot)
    guard
      let outgoing = session.depart(
        selection, packet, info, slot: slot, into: Self.plain(room), context: &context.media),
      let size = seal(outgoing, room, &streams.pointee.media, &context)
    else { return }
    if streams.pointee.kept != nil {
      streams.pointee.kept!.store(
        UnsafeRawBufferPointer(rebasing: room[..<size]), info, sequence: Int64(bitPattern: outgoing.index))
    }
    context.transport.outbox.commit(size: size, path: path)
  }

  /// The part of a datagram's room that leaves enough for what sealing adds.
  @inline(__always)
  private static func plain(_ room: UnsafeMutableRawBufferPointer) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: room.baseAddress, count: Outbox.plainSize)
  }

  @inline(__always)
  private mutating func seal(
    _ outgoing: OutgoingPacket, _ room: UnsafeMutableRawBufferPointer, _ admitted: inout SealGuard,
    _ context: inout PeerContext
  ) -> Int? {
    transport.sealRTP(
      room, headerSize: outgoing.headerSize, size: outgoing.size, ssrc: outgoing.ssrc, index: outgoing.index,
      &admitted, context: &context.transport)
  }

  // MARK: - Retransmission

  /// Which packet of the source a NACK means; to be found in the source's history and given to `retransmit`.
  public mutating func retransmission(slot: Int, sequence: UInt16, now: Instant) -> RetransmissionRequest? {
    session.retransmission(slot: slot, sequence: sequence, now: now)
  }

  /// Sends a packet once more: in the retransmission stream, or where the subscriber has none, its sealed bytes.
  public mutating func retransmit(
    _ request: RetransmissionRequest, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, slot: Int,
    context: inout PeerContext
  ) {
    guard let path = transport.selectedPath, transport.isConnected else {
      return context.transport.counters.count(.sendWithoutPath)
    }
    switch session.repetition(of: info, slot: slot) {
    case .refused: context.media.counters.count(.nackRefused)
    case .sealed: repeatSealed(request, slot: slot, path: path, &context)
    case .rewritten:
      let room = context.transport.outbox.reserve()
      guard
        let outgoing = session.rewriteRetransmission(
          request, packet, info, slot: slot, into: Self.plain(room))
      else { return context.media.counters.count(.nackRefused) }
      let streams = egress.streams.pointer(slot)
      guard let size = seal(outgoing, room, &streams.pointee.rtx, &context) else { return }
      context.transport.outbox.commit(size: size, path: path)
      context.media.counters.retransmissionsSent &+= 1
    }
  }

  private mutating func repeatSealed(
    _ request: RetransmissionRequest, slot: Int, path: NetworkPath, _ context: inout PeerContext
  ) {
    let found = egress.streams.pointer(slot).pointee.kept?.find(request.outgoing)?.packet
    session.noteRepeated(found != nil, slot: slot)
    guard let found else { return context.media.counters.count(.nackRefused) }
    context.transport.outbox.append(found, path: path)
    context.media.counters.retransmissionsSent &+= 1
  }
}
