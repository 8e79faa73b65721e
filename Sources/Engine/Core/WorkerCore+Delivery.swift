internal import Media
internal import Model
internal import Peer
internal import Polling

extension WorkerCore {
  /// Gives a packet that a peer of this worker sent to all its consumers: to other workers at once, here at the turn's end.
  @inline(__always)
  mutating func deliver(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo, feed: Int, now: Instant) {
    deliverHere(packet, info, feed: feed, now: now)
    if feeds.pointer(feed).pointee.consumers.relays != 0 { feeds.relay(packet, info, feed: feed) }
  }

  // MARK: - Feedback: from a consumer to the source

  /// A consumer can't show anything without a key frame, so the source is asked for one.
  ///
  /// One that comes so soon after another that the source may not be asked again gets the last one with all that followed it.
  /// Only a stream that begins is begun so: played in haste, the past would put off what a running one shows.
  mutating func keyFrameNeeded(by consumer: TrackFeed.Consumer, of feed: Int, now: Instant) {
    if awaitsFirstPicture(consumer), !mayAsk(feed, now: now),
      let recent = feeds.pointer(feed).pointee.sinceKeyFrame(now: now)
    {
      for sequence in recent {
        replay(PacketReference(track: feed, layer: 0, sequence: sequence), to: consumer, now: now)
      }
      feeds.counters.pictureReplays &+= 1
      if !needsKeyFrame(consumer) { return }
    }
    requestKeyFrame(of: feed, now: now)
  }

  /// A relay's worker begins pictures itself, and a sink says nothing of what it has.
  private func awaitsFirstPicture(_ consumer: TrackFeed.Consumer) -> Bool {
    guard case .slot(let place, let slot) = consumer else { return false }
    return peers.pointer(place).pointee.awaitsFirstPicture(slot: slot)
  }

  private func needsKeyFrame(_ consumer: TrackFeed.Consumer) -> Bool {
    guard case .slot(let place, let slot) = consumer else { return true }
    return peers.pointer(place).pointee.needsKeyFrame(slot: slot)
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
      let request = TrackMessage.keyFrameWanted(entry.pointee.key)
      if !exchange.mailboxes[worker].post(.track(request), force: !request.mayDrop) {
        routing.counters.messagesDropped &+= 1
      }
    }
  }

  /// A consumer misses a packet: it is sent again from the history, which every worker that the track comes to keeps.
  /// - Parameter sequence: as the consumer has it: a slot the number that its subscriber got, a sink the source's.
  mutating func packetMissed(
    _ sequence: Int64, by consumer: TrackFeed.Consumer, of feed: Int, now: Instant
  ) {
    switch consumer {
    case .slot(let place, let slot):
      peers.pointer(place).pointee.retransmit(
        UInt16(truncatingIfNeeded: sequence), slot: slot, track: feed, now: now, context: &context)
      if let packet = peers.pointer(place).pointee.nextDeparture(), !isKept(packet) {
        feeds.counters.historyMissed &+= 1
      }
      depart(place, now: now)
    case .sink:
      let packet = PacketReference(track: feed, layer: 0, sequence: sequence)
      if isKept(packet) {
        replay(packet, to: consumer, now: now)
      } else {
        feeds.counters.historyMissed &+= 1
      }
    case .relay: break
    }
  }

  private func isKept(_ packet: PacketReference) -> Bool {
    feeds.pointer(Int(packet.track)).pointee.find(packet.sequence, layer: packet.layer) != nil
  }
}
