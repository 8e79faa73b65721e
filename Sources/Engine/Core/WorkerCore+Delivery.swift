internal import Media
internal import Model
internal import Peer
internal import Polling

extension WorkerCore {
  /// Gives a packet that a peer of this worker sent to all its consumers, here and at other workers.
  @inline(__always)
  mutating func deliver(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo, feed: Int) {
    deliverHere(packet, info, feed: feed)
    if feeds.pointer(feed).pointee.consumers.relays != 0 { feeds.relay(packet, info, feed: feed) }
  }

  /// Gives a track's packet to its consumers at this worker.
  mutating func deliverHere(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo, feed index: Int) {
    let feed = feeds.pointer(index)
    feed.pointee.keep(packet, info)
    var waits = false
    for position in 0..<feed.pointee.consumers.count {
      switch feed.pointee.consumers[position] {
      case .slot(let place, let slot):
        if peers.pointer(place).pointee.forward(packet, info, slot: slot, context: &context) { waits = true }
      case .sink(let number): feeds.send(packet, info, feed: index, toSink: number)
      }
    }
    // The key frame that a consumer waits for was lost, or came too early for it.
    if waits, feeds.pointer(index).pointee.pace.mayRequest(at: info.arrival) {
      requestKeyFrame(of: index, now: info.arrival)
    }
  }

  /// Gives a kept packet to one consumer as if it came now.
  private mutating func replay(
    _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, feed: Int, to listener: TrackFeed.Listener
  ) {
    switch listener {
    case .slot(let place, let slot):
      _ = peers.pointer(place).pointee.forward(packet, info, slot: slot, context: &context)
    case .sink(let number): feeds.send(packet, info, feed: feed, toSink: number)
    }
  }

  // MARK: - Feedback: from a consumer to the source

  /// A consumer can't show anything without a key frame, so the source is asked for one.
  ///
  /// Who comes so soon after another that the source may not be asked again gets the last one with all that followed it.
  /// Only a stream that begins is begun so: played in haste, the past would put off what a running one shows. A relay's
  /// worker begins pictures itself, and a sink says nothing of what it has.
  /// - Parameter layer: the spatial layer that the consumer shows.
  mutating func keyFrameNeeded(
    by consumer: TrackFeed.Consumer, of feed: Int, layer: UInt8, now: Instant
  ) {
    if case .here(.slot(let place, let slot)) = consumer,
      beginPicture(place, slot: slot, from: feed, layer: layer, now: now)
    {
      return
    }
    requestKeyFrame(of: feed, now: now)
  }

  /// Gives a slot that has shown nothing yet the last key frame with all that followed it.
  /// - Returns: whether it needs none from the source.
  private mutating func beginPicture(
    _ place: Int, slot: Int, from feed: Int, layer: UInt8, now: Instant
  ) -> Bool {
    guard peers.pointer(place).pointee.awaitsFirstPicture(slot: slot), !mayAsk(feed, now: now),
      let recent = feeds.pointer(feed).pointee.sinceKeyFrame(now: now)
    else { return false }
    for sequence in recent {
      guard let kept = feeds.pointer(feed).pointee.find(sequence, layer: layer) else { continue }
      replay(kept.packet, kept.info, feed: feed, to: .slot(place: place, slot: slot))
    }
    feeds.counters.pictureReplays &+= 1
    return !peers.pointer(place).pointee.needsKeyFrame(slot: slot)
  }

  /// Whether the source could be asked for a key frame at once. Of a publisher elsewhere only its last key frame tells.
  private func mayAsk(_ feed: Int, now: Instant) -> Bool {
    let entry = feeds.pointer(feed)
    guard case .peer(let place) = entry.pointee.source else { return false }
    return peers.pointer(place).pointee.mayAskForKeyFrame(
      receiver: Int(entry.pointee.key.index), now: now)
  }

  /// Asks a track's source for a key frame, whatever it is.
  mutating func requestKeyFrame(of feed: Int, now: Instant) {
    let entry = feeds.pointer(feed)
    guard entry.pointee.kind == .video else { return }
    switch entry.pointee.source {
    case .peer(let place):
      peers.pointer(place).pointee.requestKeyFrame(receiver: Int(entry.pointee.key.index))
      peers.scheduleFeedback(place)
    case .relay(let worker):
      guard entry.pointee.pace.mayCross(at: now), worker < exchange.count else { return }
      let request = TrackMessage.keyFrameWanted(entry.pointee.key, by: index)
      if !exchange.mailboxes[worker].post(.track(request), force: !request.mayDrop) {
        routing.counters.messagesDropped &+= 1
      }
    }
  }

  /// A consumer misses a packet: it is sent again from the history, which every worker that the track comes to keeps.
  /// - Parameters:
  ///   - sequence: as the consumer has it: a slot the number that its subscriber got, a sink the source's.
  ///   - layer: the spatial layer that the consumer shows.
  mutating func packetMissed(
    _ sequence: Int64, by listener: TrackFeed.Listener, of feed: Int, layer: UInt8, now: Instant
  ) {
    switch listener {
    case .slot(let place, let slot):
      guard
        let request = peers.pointer(place).pointee.retransmission(
          slot: slot, sequence: UInt16(truncatingIfNeeded: sequence), now: now)
      else { return context.media.counters.count(.nackRefused) }
      guard let found = kept(request.source, of: feed, layer: layer) else { return }
      peers.pointer(place).pointee.retransmit(
        request, found.packet, found.info, slot: slot, context: &context)
    case .sink:
      if let found = kept(sequence, of: feed, layer: layer) {
        replay(found.packet, found.info, feed: feed, to: listener)
      }
    }
  }

  private mutating func kept(
    _ sequence: Int64, of feed: Int, layer: UInt8
  ) -> (packet: UnsafeRawBufferPointer, info: PacketInfo)? {
    let found = feeds.pointer(feed).pointee.find(sequence, layer: layer)
    if found == nil { feeds.counters.historyMissed &+= 1 }
    return found
  }
}
