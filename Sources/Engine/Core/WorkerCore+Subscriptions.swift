internal import Media
internal import Model
internal import Peer

extension WorkerCore {
  // MARK: - Slots

  /// Feeds a slot from a track, or from none.
  mutating func assign(_ place: Int, slot: Int, to track: TrackKey?, now: Instant) {
    guard let kind = peers.pointer(place).pointee.kind(ofSlot: slot),
      peers.pointer(place).pointee.source(ofSlot: slot) != track
    else { return }
    #if PLANTED_DEFECTS
      if track == nil, PlantedDefect.isOn(.missingSubscriptionCheck) { return }
    #endif
    unsubscribe(place, slot: slot)
    guard let track, let feed = feed(for: feeds.groups.first(of: track), kind: kind) else {
      // None, over already, or of the other kind: the slot shows nothing, rather than what it showed before.
      _ = peers.pointer(place).pointee.setSource(slot: slot, nil, clock: nil)
      return
    }
    let consumer = TrackFeed.Consumer.here(.slot(place: place, slot: slot))
    feeds.subscribe(consumer, to: feed)
    let needsKeyFrame = peers.pointer(place).pointee.setSource(
      slot: slot, feeds.pointer(feed).pointee.key, clock: feeds.pointer(feed).pointee.clock)
    // Before it can be sent one, a key frame would only put off the next: the peer asks once it is connected.
    if needsKeyFrame, peers.pointer(place).pointee.takesMedia {
      guard peers.pointer(place).pointee.beginsNewPicture(slot: slot, now: now) else { return }
      keyFrameNeeded(by: consumer, of: feed, now: now)
    }
  }

  mutating func unsubscribe(_ place: Int, slot: Int) {
    for feed in [feeds.feed(ofSlot: slot, at: place), feeds.nextFeed(ofSlot: slot, at: place)] {
      guard let feed else { continue }
      if let unused = feeds.unsubscribe(.here(.slot(place: place, slot: slot)), from: feed) { drop(unused) }
    }
  }

  /// After a peer came with its state: its slots are fed again as they were.
  mutating func resumeSlots(_ place: Int, now: Instant) {
    for slot in 0..<peers.pointer(place).pointee.slotCount {
      guard let kind = peers.pointer(place).pointee.kind(ofSlot: slot),
        let track = peers.pointer(place).pointee.source(ofSlot: slot)
      else { continue }
      let shown = TrackKey(
        peer: track.peer, index: track.index, encoding: peers.pointer(place).pointee.encoding(ofSlot: slot))
      if let feed = feed(for: shown, kind: kind) {
        feeds.subscribe(.here(.slot(place: place, slot: slot)), to: feed)
        resume(place, slot: slot, feed: feed, now: now)
      } else {
        _ = peers.pointer(place).pointee.setSource(slot: slot, nil, clock: nil)
      }
    }
  }

  mutating func resume(_ place: Int, slot: Int, feed: Int, now: Instant) {
    let entry = feeds.pointer(feed)
    if let clock = entry.pointee.clock {
      peers.pointer(place).pointee.setClock(slot: slot, encoding: entry.pointee.key.encoding, clock)
    }
    // What would have joined it to its next encoding was waiting, and is gone.
    if feeds.pointer(feed).pointee.kind == .video { feedAgain(place, slot: slot) }
    guard let feed = feeds.feed(ofSlot: slot, at: place) else { return }
    if peers.pointer(place).pointee.needsKeyFrame(slot: slot) { requestKeyFrame(of: feed, now: now) }
    guard let next = peers.pointer(place).pointee.nextEncoding(ofSlot: slot) else { return }
    peers.pointer(place).pointee.setNextEncoding(slot: slot, nil, clock: nil)
    goOn(place, slot: slot, to: next, isForced: true, now: now)
  }

  // MARK: - Feeds

  /// The track's feed here, made if need be; a track of another worker is asked for.
  mutating func feed(for track: TrackKey, kind: MediaKind) -> Int? {
    if let known = feeds.find(track) { return feeds.pointer(known).pointee.kind == kind ? known : nil }
    if let publisher = peers.find(track.peer) {
      // A description comes by way of the peer's home, so this word may have overtaken it. Where it is home
      // itself, or counts that far already, there never will be such a track.
      guard track.peer.home != index, Int(track.index) >= peers.pointer(publisher).pointee.receiverCount
      else { return nil }
      return feeds.expect(track, kind: kind, from: track.peer.home)
    }
    guard let asked = routing.asked(of: track.peer) else { return nil }
    feeds.post(.relayWanted(track, by: index), to: asked)
    return feeds.expect(track, kind: kind, from: asked)
  }

  /// A relayed track without consumers is asked for no longer.
  mutating func drop(_ feed: Int) {
    let track = feeds.pointer(feed).pointee.key
    if let asked = routing.asked(of: track.peer) { feeds.post(.relayUnwanted(track, by: index), to: asked) }
    feeds.remove(feed)
  }

  /// A track is over: its consumers fall silent, and other workers hear of it.
  mutating func end(_ feed: Int, now: Instant) {
    let track = feeds.pointer(feed).pointee.key
    for (place, slot, wasShown) in feeds.end(feed) {
      guard wasShown else {
        peers.pointer(place).pointee.setNextEncoding(slot: slot, nil, clock: nil)
        continue
      }
      unsubscribe(place, slot: slot)
      _ = peers.pointer(place).pointee.setSource(slot: slot, nil, clock: nil)
      // The others go on.
      if track.encoding > 0, feeds.find(track.track) != nil {
        assign(place, slot: slot, to: track.track, now: now)
      }
    }
  }

  // MARK: - A peer's own tracks

  /// Ties a peer's tracks to feeds, making those that aren't there; ends those whose sections are gone.
  mutating func linkTracks(_ place: Int, now: Instant) {
    guard let key = peers.key(place) else { return }
    let peer = peers.pointer(place)
    let (tracks, slots) = (peer.pointee.receiverCount, peer.pointee.slotCount)
    feeds.enter(place, tracks: tracks, slots: slots)
    linkGroups(place, now: now)
    for receiver in 0..<tracks { linkTrack(key, receiver, place, now: now) }
    // A slot that began as another stream has no source, either.
    for slot in 0..<slots
    where peer.pointee.kind(ofSlot: slot) == nil || peer.pointee.source(ofSlot: slot) == nil {
      unsubscribe(place, slot: slot)
    }
  }

  /// Has the encodings of a peer's tracks looked at, of which nothing is state.
  mutating func linkGroups(_ place: Int, now: Instant) {
    guard let key = peers.key(place) else { return }
    let peer = peers.pointer(place)
    for receiver in 0..<peer.pointee.receiverCount where peer.pointee.kind(ofReceiver: receiver) == .video {
      let track = TrackKey(peer: key, index: UInt16(receiver))
      feeds.groups.publish(track, encodings: peer.pointee.encodingCount(ofReceiver: receiver), now: now)
      feeds.groups.describe(track, peer.pointee.traits(ofReceiver: receiver))
      feeds.groups.mute(track, peer.pointee.isMuted(receiver: receiver))
    }
  }

  private mutating func linkTrack(_ key: PeerKey, _ receiver: Int, _ place: Int, now: Instant) {
    let kind = peers.pointer(place).pointee.kind(ofReceiver: receiver)
    let count = peers.pointer(place).pointee.encodingCount(ofReceiver: receiver)
    for encoding in 0..<ReceiveSection.mostEncodings {
      let linked = feeds.feed(ofTrack: receiver, encoding: encoding, at: place)
      if encoding < count, let kind {
        let track = TrackKey(peer: key, index: UInt16(receiver), encoding: UInt8(encoding))
        let feed = linked ?? feeds.publish(track, kind: kind, at: place)
        peers.pointer(place).pointee.setTag(receiver: receiver, encoding: encoding, feed)
      } else if let linked {
        peers.pointer(place).pointee.setTag(receiver: receiver, encoding: encoding, -1)
        end(linked, now: now)
      }
    }
  }

  /// A track of ours is muted: who comes while it is, or after it, isn't shown what it showed before.
  mutating func hideMuted(_ place: Int, receiver: Int) {
    for encoding in 0..<peers.pointer(place).pointee.encodingCount(ofReceiver: receiver) {
      guard let feed = feeds.feed(ofTrack: receiver, encoding: encoding, at: place),
        let incarnation = peers.pointer(place).pointee.incarnation(ofReceiver: receiver, encoding: encoding)
      else { continue }
      feeds.mute(feed, incarnation: incarnation)
    }
  }

  // MARK: - Clocks

  /// Passes on where a track's timestamps stand: to its slots here, and to the workers that get it.
  mutating func publishClock(_ place: Int, receiver: Int, now: Instant) {
    for encoding in 0..<peers.pointer(place).pointee.encodingCount(ofReceiver: receiver) {
      guard let feed = feeds.feed(ofTrack: receiver, encoding: encoding, at: place),
        let mapping = peers.pointer(place).pointee.clock(
          receiver: receiver, encoding: encoding, epoch: context.media.epoch)
      else { continue }
      setClock(feed, mapping)
      feeds.sendClock(feed, now: now)
    }
  }

  mutating func setClock(_ feed: Int, _ mapping: ClockMapping) {
    let entry = feeds.pointer(feed)
    entry.pointee.clock = mapping
    for position in 0..<entry.pointee.consumers.count {
      switch entry.pointee.consumers[position] {
      case .slot(let place, let slot):
        peers.pointer(place).pointee.setClock(slot: slot, encoding: entry.pointee.key.encoding, mapping)
      case .sink(let number): feeds.sinks.setClock(mapping, of: number)
      }
    }
  }
}
