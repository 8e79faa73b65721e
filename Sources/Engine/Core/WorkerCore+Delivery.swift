internal import Media
internal import Model
internal import Peer
internal import Polling

extension WorkerCore {
  /// Gives a packet that a peer of this worker sent to all its consumers: to other workers at once, here at the turn's end.
  @inline(__always)
  mutating func deliver(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo, feed: Int, now: Instant) {
    gathering.note(info, feeds.pointer(feed).pointee.kind)
    deliverHere(packet, info, feed: feed, now: now)
    if feeds.pointer(feed).pointee.consumers.relays != 0 { feeds.relay(packet, info, feed: feed) }
  }

  // MARK: - Feedback: from a consumer to the source

  /// A consumer can't show anything without a key frame, so the source is asked for one.
  ///
  /// A slot that begins its source gets the last key frame with all that followed it, if that is little enough. A relay's
  /// worker begins pictures itself, and a sink says nothing of what it has.
  mutating func keyFrameNeeded(
    by consumer: TrackFeed.Consumer, of feed: Int, now: Instant
  ) {
    if case .here(.slot(let place, let slot)) = consumer,
      beginPicture(place, slot: slot, from: feed, now: now)
    {
      return
    }
    requestKeyFrame(of: feed, for: asker(consumer), now: now)
  }

  private func asker(_ consumer: TrackFeed.Consumer) -> KeyFrameRequest.Asker {
    switch consumer {
    case .here(.slot(let place, _)): peers.key(place).map { .subscriber($0) } ?? .server
    case .here(.sink): .server
    case .relay(let worker): .worker(worker)
    }
  }

  /// Gives a slot that begins its source the last key frame with all that followed it.
  /// - Returns: whether it needs none from the source.
  private mutating func beginPicture(
    _ place: Int, slot: Int, from feed: Int, now: Instant
  ) -> Bool {
    guard peers.pointer(place).pointee.needsKeyFrame(slot: slot),
      let recent = feeds.pointer(feed).pointee.sinceKeyFrame(),
      peers.pointer(place).pointee.beginWith(recent, slot: slot, now: now)
    else { return false }
    for sequence in recent.first...recent.last {
      replay(
        feeds.reference(sequence, of: feed), to: .slot(place: place, slot: slot),
        now: now)
    }
    feeds.counters.pictureReplays &+= 1
    return !peers.pointer(place).pointee.needsKeyFrame(slot: slot)
  }

  /// Asks a track's source for a key frame, whatever it is.
  /// - Parameter comes: a packet of it has just come.
  mutating func requestKeyFrame(
    of feed: Int, for asker: KeyFrameRequest.Asker = .server, comes: Bool = false, now: Instant
  ) {
    let entry = feeds.pointer(feed)
    guard entry.pointee.kind == .video else { return }
    switch entry.pointee.source {
    case .peer(let place):
      guard comes || feeds.groups.givesKeyFrames(entry.pointee.key) else { return }
      entry.pointee.lastRequest = KeyFrameRequest(at: now, asker: asker)
      peers.pointer(place).pointee.requestKeyFrame(
        receiver: Int(entry.pointee.key.index), encoding: Int(entry.pointee.key.encoding))
      peers.scheduleFeedback(place)
    case .relay(let worker):
      entry.pointee.lastRequest = KeyFrameRequest(at: now, asker: asker)
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
  mutating func packetMissed(
    _ sequence: Int64, by listener: TrackFeed.Listener, of feed: Int, now: Instant
  ) {
    switch listener {
    case .slot(let place, let slot):
      let peer = peers.pointer(place)
      guard
        let request = peer.pointee.retransmission(
          of: UInt16(truncatingIfNeeded: sequence), slot: slot, now: now, context: &context)
      else { return }
      // It may have been of the encoding that was shown before.
      let shown = feeds.pointer(feed).pointee.key
      let asked = TrackKey(peer: shown.peer, index: shown.index, encoding: request.encoding)
      guard let kept = shown == asked ? feed : feeds.find(asked) else {
        feeds.counters.historyMissed &+= 1
        return
      }
      let packet = feeds.reference(request.source, of: kept)
      peer.pointee.retransmit(request, slot: slot, packet: packet)
      if !isKept(packet) {
        feeds.counters.historyMissed &+= 1
      }
      depart(place, now: now)
    case .sink:
      let packet = feeds.reference(sequence, of: feed)
      if isKept(packet) {
        replay(packet, to: listener, now: now)
      } else {
        feeds.counters.historyMissed &+= 1
      }
    }
  }

  private func isKept(_ packet: PacketReference) -> Bool {
    feeds.find(packet) != nil
  }
}
