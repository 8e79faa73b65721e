internal import Media
internal import Model
internal import Peer
internal import Transport

extension WorkerCore {
  /// Gives a packet that a peer of this worker sent to all who want it here, and to the workers that do.
  mutating func deliver(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo, fanout index: Int) {
    deliverHere(packet, info, fanout: index)
    if fanouts.pointer(index).pointee.relays != 0 { relay(packet, info, fanout: index) }
  }

  /// Gives a track's packet to all who want it at this worker.
  @inline(__always)
  mutating func deliverHere(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo, fanout index: Int) {
    let fanout = fanouts.pointer(index)
    fanout.pointee.keep(packet, info)
    var waits = false
    for position in 0..<fanout.pointee.consumerCount {
      let consumer = fanout.pointee.consumer(position)
      if peers.pointer(Int(consumer.peer)).pointee.forward(
        packet, info, slot: Int(consumer.slot), context: &context)
      {
        waits = true
      }
    }
    // The key frame that somebody waits for was lost, or came too early for it.
    if waits, fanouts.pointer(index).pointee.mayWish(at: info.arrival) {
      wishKeyFrame(index, now: info.arrival)
    }
  }

  /// Passes on how loud a track of ours is, about ten times a second.
  @inline(__always)
  mutating func measure(_ info: PacketInfo, fanout index: Int) {
    let fanout = fanouts.pointer(index)
    if let level = fanout.pointee.meter.note(info) {
      samples.set(fanout.pointee.key, level, place: &fanout.pointee.levelPlace)
    }
  }

  private mutating func relay(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo, fanout position: Int) {
    var crossing = Crossing(kind: .packet, from: UInt8(truncatingIfNeeded: index))
    crossing.track = fanouts.pointer(position).pointee.key
    crossing.info = info
    for worker in SetBits(fanouts.pointer(position).pointee.relays) {
      let ring = exchange.ring(to: worker, from: index)
      let written = withUnsafeBytes(of: &crossing) { ring.write(header: $0.baseAddress!, payload: packet) }
      if written {
        counters.relayed &+= 1
        touched |= 1 << UInt64(worker)
      } else {
        counters.relayDropped &+= 1
      }
    }
  }

  // MARK: - Consumers

  /// Feeds a slot from a track, or from none.
  mutating func assign(_ slot: Int, sender: Int, to track: TrackKey?, now: Instant) {
    guard let kind = peers.pointer(slot).pointee.kind(ofSlot: sender),
      peers.pointer(slot).pointee.source(ofSlot: sender) != track
    else { return }
    #if PLANTED_DEFECTS
      if track == nil, PlantedDefect.isOn(.missingSubscriptionCheck) { return }
    #endif
    unsubscribe(slot, sender: sender)
    guard let track else {
      _ = peers.pointer(slot).pointee.setSource(slot: sender, nil, clock: nil)
      return
    }
    guard let fanout = fanout(for: track, kind: kind) else {
      // Over already, or of the other kind: the slot shows nothing, rather than what it showed before.
      _ = peers.pointer(slot).pointee.setSource(slot: sender, nil, clock: nil)
      return
    }
    subscribe(slot, sender: sender, fanout: fanout)
    if peers[record: slot].strayWorker >= 0 {
      post(
        .expected(peers[record: slot].key, [WantedTrack(key: track, kind: kind)]),
        to: peers[record: slot].strayWorker)
    }
    let wanted = peers.pointer(slot).pointee.setSource(
      slot: sender, track, clock: fanouts.pointer(fanout).pointee.clock)
    // Before it can be sent one, a key frame would only put off the next: the peer wishes once it is connected.
    if wanted, peers.pointer(slot).pointee.takesMedia {
      startPicture(slot, sender: sender, fanout: fanout, now: now)
    }
  }

  mutating func subscribe(_ slot: Int, sender: Int, fanout: Int) {
    fanouts.pointer(fanout).pointee.add(
      peer: slot, slot: sender, keepsHistory: peers.pointer(slot).pointee.answersNACK(slot: sender))
    peers[record: slot].sources[sender] = Int32(fanout)
  }

  mutating func unsubscribe(_ slot: Int, sender: Int) {
    let fanout = Int(peers[record: slot].sources[sender])
    guard fanout >= 0 else { return }
    peers[record: slot].sources[sender] = -1
    fanouts.pointer(fanout).pointee.remove(peer: slot, slot: sender)
    dropIfUnused(fanout)
  }

  /// The track's fan-out here, made if need be; a track of another worker is asked for.
  mutating func fanout(for track: TrackKey, kind: MediaKind) -> Int? {
    if let known = fanouts.find(track) { return fanouts.pointer(known).pointee.kind == kind ? known : nil }
    if let publisher = peers.find(track.peer) {
      // A description comes by way of the peer's home, so this word may have overtaken it. Where it is home
      // itself, or counts that far already, there never will be such a track.
      guard track.peer.home != index, Int(track.index) >= peers.pointer(publisher).pointee.receiverCount
      else {
        return nil
      }
      return fanouts.insert(Fanout(key: track, kind: kind))
    }
    guard let asked = askedForRelays(of: track.peer) else { return nil }
    let made = fanouts.insert(Fanout(key: track, kind: kind))
    fanouts.pointer(made).pointee.sourceWorker = asked
    tell(.relayWanted(track, by: index), of: track.peer)
    return made
  }

  /// A relayed track without consumers is asked for no longer.
  mutating func dropIfUnused(_ fanout: Int) {
    let entry = fanouts.pointer(fanout)
    guard !keepsUnused, entry.pointee.publisher < 0, !entry.pointee.isWanted
    else { return }
    let track = entry.pointee.key
    tell(.relayUnwanted(track, by: index), of: track.peer)
    fanouts.remove(fanout)
  }

  // MARK: - Feedback towards the source

  /// A subscriber can't show anything without a key frame, so the publisher is asked for one.
  ///
  /// Who comes so soon after another that it may not be asked again gets the last one with all that followed it.
  /// Only a stream that begins is begun so: played in haste, the past would put off what a running one shows.
  mutating func startPicture(_ slot: Int, sender: Int, fanout: Int, now: Instant) {
    if peers.pointer(slot).pointee.awaitsFirstPicture(slot: sender), !mayAsk(fanout, now: now),
      let recent = fanouts.pointer(fanout).pointee.sinceKeyFrame(now: now)
    {
      for sequence in recent {
        guard let kept = fanouts.pointer(fanout).pointee.find(sequence) else { continue }
        _ = peers.pointer(slot).pointee.forward(kept.packet, kept.info, slot: sender, context: &context)
      }
      counters.pictureReplays &+= 1
      if !peers.pointer(slot).pointee.needsKeyFrame(slot: sender) { return }
    }
    wishKeyFrame(fanout, now: now)
  }

  /// Whether a key frame could be asked for at once. Of a publisher elsewhere only its last key frame tells.
  private func mayAsk(_ fanout: Int, now: Instant) -> Bool {
    let entry = fanouts.pointer(fanout)
    guard entry.pointee.publisher >= 0 else { return false }
    return peers.pointer(entry.pointee.publisher).pointee.mayAskForKeyFrame(
      receiver: Int(entry.pointee.key.index), now: now)
  }

  mutating func wishKeyFrame(_ fanout: Int, now: Instant) {
    let entry = fanouts.pointer(fanout)
    guard entry.pointee.kind == .video else { return }
    guard entry.pointee.publisher >= 0 else {
      if entry.pointee.mayCross(at: now) {
        post(.keyFrameWanted(entry.pointee.key), to: entry.pointee.sourceWorker)
      }
      return
    }
    let slot = entry.pointee.publisher
    peers.pointer(slot).pointee.requestKeyFrame(receiver: Int(entry.pointee.key.index))
    timers.set(slot, to: min(timers.deadline(of: slot), peers.pointer(slot).pointee.feedbackDeadline))
  }

  mutating func retransmit(_ slot: Int, _ wanted: MediaEffects.NACK, now: Instant) {
    let sender = Int(wanted.slot)
    let fanout = Int(peers[record: slot].sources[sender])
    guard fanout >= 0,
      let request = peers.pointer(slot).pointee.retransmission(
        slot: sender, sequence: wanted.sequence, now: now)
    else { return context.media.counters.count(.nackRefused) }
    guard let found = fanouts.pointer(fanout).pointee.find(request.source) else {
      counters.historyMissed &+= 1
      return
    }
    peers.pointer(slot).pointee.retransmit(request, found.packet, found.info, slot: sender, context: &context)
  }

  // MARK: - Clocks

  /// Tells everybody whom it concerns where a track's timestamps stand.
  mutating func publishClock(_ slot: Int, receiver: Int, now: Instant) {
    let fanout = Int(peers[record: slot].tracks[receiver])
    guard fanout >= 0,
      let mapping = peers.pointer(slot).pointee.clock(receiver: receiver, epoch: context.media.epoch)
    else { return }
    setClock(fanout, mapping)
    guard fanouts.pointer(fanout).pointee.relays != 0, fanouts.pointer(fanout).pointee.mayTellClock(at: now)
    else { return }
    for worker in SetBits(fanouts.pointer(fanout).pointee.relays) { sendClock(fanout, to: worker) }
  }

  mutating func setClock(_ fanout: Int, _ mapping: ClockMapping) {
    let entry = fanouts.pointer(fanout)
    entry.pointee.clock = mapping
    for position in 0..<entry.pointee.consumerCount {
      let consumer = entry.pointee.consumer(position)
      peers.pointer(Int(consumer.peer)).pointee.setClock(slot: Int(consumer.slot), mapping)
    }
  }

  mutating func sendClock(_ fanout: Int, to worker: Int) {
    let entry = fanouts.pointer(fanout)
    guard let clock = entry.pointee.clock else { return }
    post(.trackClock(entry.pointee.key, clock, from: index), to: worker)
  }

  // MARK: - A peer's own tracks

  /// Ties a peer's tracks to fan-outs, making those that aren't there; ends those whose sections are gone.
  mutating func linkTracks(_ slot: Int) {
    let key = peers[record: slot].key
    let count = peers.pointer(slot).pointee.receiverCount
    while peers[record: slot].tracks.count < count { peers[record: slot].tracks.append(-1) }
    for receiver in 0..<count {
      let linked = Int(peers[record: slot].tracks[receiver])
      guard let kind = peers.pointer(slot).pointee.kind(ofReceiver: receiver) else {
        if linked >= 0 {
          peers[record: slot].tracks[receiver] = -1
          peers.pointer(slot).pointee.setTag(receiver: receiver, -1)
          endTrack(linked)
        }
        continue
      }
      guard linked < 0 else { continue }
      let track = TrackKey(peer: key, index: UInt16(receiver))
      let fanout = fanouts.find(track) ?? fanouts.insert(Fanout(key: track, kind: kind))
      fanouts.pointer(fanout).pointee.publisher = slot
      fanouts.pointer(fanout).pointee.sourceWorker = index
      peers[record: slot].tracks[receiver] = Int32(fanout)
      peers.pointer(slot).pointee.setTag(receiver: receiver, fanout)
    }
    let slots = peers.pointer(slot).pointee.slotCount
    while peers[record: slot].sources.count < slots { peers[record: slot].sources.append(-1) }
    for sender in 0..<slots where peers.pointer(slot).pointee.kind(ofSlot: sender) == nil {
      unsubscribe(slot, sender: sender)
    }
  }

  /// The peer ended: whoever had its tracks is told.
  mutating func endTracks(_ slot: Int) {
    for fanout in peers[record: slot].tracks where fanout >= 0 { endTrack(Int(fanout)) }
    peers[record: slot].tracks = []
  }

  /// A track of ours is held: who comes while it is, or after it, isn't shown what it showed before.
  mutating func hideHeld(_ slot: Int, receiver: Int) {
    guard peers[record: slot].tracks.indices.contains(receiver),
      let life = peers.pointer(slot).pointee.incarnation(ofReceiver: receiver)
    else { return }
    let fanout = Int(peers[record: slot].tracks[receiver])
    guard fanout >= 0 else { return }
    let entry = fanouts.pointer(fanout)
    entry.pointee.hold(life)
    for worker in SetBits(entry.pointee.relays) {
      post(.trackHeld(entry.pointee.key, life: life), to: worker)
    }
  }

  /// A track is over: its consumers fall silent, and it is told on.
  mutating func endTrack(_ fanout: Int) {
    let entry = fanouts.pointer(fanout)
    for position in 0..<entry.pointee.consumerCount {
      let consumer = entry.pointee.consumer(position)
      _ = peers.pointer(Int(consumer.peer)).pointee.setSource(slot: Int(consumer.slot), nil, clock: nil)
      peers[record: Int(consumer.peer)].sources[Int(consumer.slot)] = -1
    }
    if entry.pointee.publisher >= 0 { samples.remove(entry.pointee.key) }
    for worker in SetBits(entry.pointee.relays) { post(.trackEnded(entry.pointee.key), to: worker) }
    fanouts.remove(fanout)
  }
}
