internal import Media
public import Model
internal import Peer

/// The end of a turn: what came in it goes to its consumers.
extension WorkerCore {
  /// A packet of a track came: it is kept, and served at the end of the turn.
  @inline(__always)
  mutating func deliverHere(
    _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, feed index: Int, now: Instant
  ) {
    let feed = feeds.pointer(index)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.turnCutShort), fresh.isFull { return }
    #endif
    if fresh.isFull || feed.pointee.hasMuchFresh { serve(now: now) }
    feed.pointee.keep(packet, info)
    guard !feed.pointee.consumers.isEmptyHere else { return }
    fresh.append(info, size: packet.count, feed: index, to: &feed.pointee.fresh)
  }

  /// Gives what came since the last call to its consumers. Called at the end of a turn, and before anything that changes who
  /// gets what: nothing that came earlier is judged by what came later.
  public mutating func serve(now: Instant) {
    guard fresh.count > 0 else { return }
    for position in 0..<fresh.feedCount { serve(feed: fresh.feed(position), now: now) }
    fresh.removeAll()
  }

  private mutating func serve(feed index: Int, now: Instant) {
    let feed = feeds.pointer(index)
    let chain = feed.pointee.fresh
    feed.pointee.fresh = FreshPackets.Chain()
    var waits = false
    for position in 0..<feed.pointee.consumers.count {
      switch feed.pointee.consumers[position] {
      case .slot(let place, let slot):
        if serve(chain, feed: index, place: place, slot: slot, now: now) { waits = true }
      case .sink(let number):
        var next = chain.first
        while next >= 0 {
          send(fresh.reference(next, feed: index, serial: feed.pointee.serial), toSink: number)
          next = fresh.next(next)
        }
      }
    }
    // The key frame that a consumer waits for was lost, or came too early for it.
    if waits, feeds.pointer(index).pointee.pace.mayRequest(at: now) {
      requestKeyFrame(of: index, for: feed.pointee.awaitedBy ?? .server, comes: true, now: now)
    }
  }

  /// - Returns: true when the slot can't go on without a key frame.
  @inline(__always)
  private mutating func serve(
    _ chain: FreshPackets.Chain, feed: Int, place: Int, slot: Int, now: Instant
  ) -> Bool {
    let peer = peers.pointer(place)
    let track = feeds.pointer(feed)
    var last = Forwarded.refused
    var waits = false
    var next = chain.first
    while next >= 0 {
      let packet = fresh.reference(next, feed: feed, serial: track.pointee.serial)
      if let kept = track.pointee.find(packet.sequence) {
        last = peer.pointee.forward(
          kept.packet, kept.info, packet, slot: slot, now: now, context: &context)
        if last == .waits { waits = true }
      } else {
        context.media.counters.count(.tooLateToLeave)
      }
      next = fresh.next(next)
    }
    if waits {
      depart(place, now: now)
      if peer.pointee.departs { peers.schedule(place) }
    }
    if context.media.hasJoined { noteJoined(place, slot) }
    return last != .refused && peer.pointee.waitsForKeyFrame(slot: slot, encoding: track.pointee.key.encoding)
  }

  @inline(never)
  private mutating func noteJoined(_ place: Int, _ slot: Int) {
    context.media.hasJoined = false
    joined.append((place, slot))
  }

  /// Gives a kept packet to one consumer as if it came now.
  mutating func replay(_ packet: PacketReference, to listener: TrackFeed.Listener, now: Instant) {
    switch listener {
    case .slot(let place, let slot):
      guard let kept = find(packet) else { return }
      let became = peers.pointer(place).pointee.forward(
        kept.packet, kept.info, packet, slot: slot, now: now, context: &context)
      if became == .waits { depart(place, now: now) }
      if context.media.hasJoined { noteJoined(place, slot) }
    case .sink(let number): send(packet, toSink: number)
    }
  }

  /// Has what waits for a peer leave, as far as its path has room.
  @inline(__always)
  mutating func depart(_ place: Int, now: Instant) {
    let peer = peers.pointer(place)
    while let packet = peer.pointee.nextDeparture(now: now, context: &context) {
      if let kept = find(packet) {
        peer.pointee.depart(kept.packet, kept.info, now: now, context: &context)
      } else {
        peer.pointee.dropDeparture(now: now, context: &context)
      }
    }
    while let slot = peer.pointee.takeCut() { mendCut(place, slot: slot, now: now) }
  }

  /// A slot's stream was cut for want of room, and goes on with a key frame, which all pay for who get the track.
  @inline(never)
  private mutating func mendCut(_ place: Int, slot: Int, now: Instant) {
    guard let feed = feeds.feed(ofSlot: slot, at: place) else { return }
    let peer = peers.pointer(place)
    let known = peer.pointee.capacity(now: now, heedsReports: context.heedsReports) ?? .infinity
    guard peer.pointee.mendsCut(slot: slot, target: budget(place, of: known), now: now) else { return }
    requestKeyFrame(of: feed, now: now)
  }

  /// Has the packets of a probe leave that are due.
  mutating func probe(_ place: Int, now: Instant) {
    let peer = peers.pointer(place)
    while let due = peer.pointee.nextProbe(now: now) {
      guard let request = due.again, let shown = feeds.feed(ofSlot: due.slot, at: place),
        feeds.pointer(shown).pointee.key.encoding == request.encoding,
        let kept = find(feeds.reference(request.source, of: shown))
      else {
        peer.pointee.probe(nil, now: now, context: &context)
        continue
      }
      peer.pointee.probe((request, kept.packet, kept.info), now: now, context: &context)
    }
  }

  @inline(__always)
  private func find(_ packet: PacketReference) -> (packet: UnsafeRawBufferPointer, info: PacketInfo)? {
    feeds.find(packet)
  }

  private mutating func send(_ packet: PacketReference, toSink number: Int) {
    guard let kept = find(packet) else { return context.media.counters.count(.tooLateToLeave) }
    feeds.send(kept.packet, kept.info, feed: Int(packet.track), toSink: number)
  }
}
