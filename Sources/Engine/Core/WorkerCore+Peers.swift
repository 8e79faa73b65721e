internal import Media
public import Model
internal import Peer

extension WorkerCore {
  /// Acts on what a call to a peer changed.
  /// - Returns: true when the peer is gone.
  mutating func applyEffects(_ place: Int, now: Instant) -> Bool {
    serve(now: now)
    let (effects, media) = context.takeEffects()
    guard let key = peers.key(place) else { return true }
    if let profile = effects.connected { events.note(key) { $0.connected = profile } }
    if effects.saidFarewell { events.note(key) { $0.saidFarewell = true } }
    for word in 0..<16 {
      for bit in SetBits(media.started[word]) {
        guard let format = peers.pointer(place).pointee.format(ofReceiver: word * 64 + bit) else { continue }
        events.note(key) { $0.startedTracks[UInt16(word * 64 + bit)] = format }
      }
      for bit in SetBits(media.clocks[word]) { publishClock(place, receiver: word * 64 + bit, now: now) }
      for bit in SetBits(media.keyFrameRequests[word]) {
        let slot = word * 64 + bit
        note(.keyFrameNeeded(slot: slot), place, now: now)
        if let feed = feeds.feed(ofSlot: slot, at: place) {
          keyFrameNeeded(
            by: .here(.slot(place: place, slot: slot)), of: feed, now: now)
        }
      }
    }
    for index in 0..<media.nackCount {
      let wanted = media.nack(index)
      let slot = Int(wanted.slot)
      if let feed = feeds.feed(ofSlot: slot, at: place) {
        packetMissed(
          Int64(wanted.sequence), by: .slot(place: place, slot: slot), of: feed, now: now)
      } else {
        context.media.counters.count(.nackRefused)
      }
    }
    if let reason = effects.closed {
      remove(place, reason: reason, now: now)
      return true
    }
    // A handshake proves its path as well.
    if effects.pathsChanged || effects.connected != nil { reconcilePaths(place) }
    if media.qualityMeasured {
      samples.set(key, peers.pointer(place).pointee.quality)
      measureLosses(place, now: now)
    }
    return false
  }

  // MARK: - Coming and going

  /// A new peer, at its home.
  mutating func add(_ setup: PeerSetup, now: Instant) {
    guard !routing.isHome(of: setup.key), let ufrag = UfragKey(setup.local.ufrag) else { return }
    guard !peers.isFull else { return refuse(setup.key) }
    let peer = Peer(setup, context: &context)
    let place = peers.insert(peer, key: setup.key)
    routing.add(setup.key, ufrag: ufrag, at: place)
    linkTracks(place, now: now)
    settle(place, now: now)
  }

  private mutating func refuse(_ key: PeerKey) {
    events.note(key) { $0.closed = .overloaded }
    routing.counters.count(.overloaded)
  }

  /// Ends a peer that is here.
  /// - Parameter isSaid: its goodbye is said.
  mutating func remove(_ place: Int, reason: PeerCloseReason, isSaid: Bool = false, now: Instant) {
    guard let key = peers.key(place) else { return }
    if reason == .requested, !isSaid { peers.pointer(place).pointee.sayGoodbye(context: &context) }
    let recording = recordingOfFailed(place, reason, now: now)
    for feed in feeds.feedsOfTracks(at: place) { end(feed, now: now) }
    unsubscribeAll(place)
    routing.remove(place)
    peers.remove(place)
    samples.remove(key)
    events.note(key) {
      $0.closed = reason
      $0.recording = recording
    }
    routing.counters.count(reason)
  }

  /// Ends a peer that is here, and has its far end hear of it, last of all.
  mutating func dismiss(_ place: Int, now: Instant) {
    peers.pointer(place).pointee.sayGoodbye(context: &context)
    peers.pointer(place).pointee.sayFarewell(context: &context)
    remove(place, reason: .requested, isSaid: true, now: now)
  }

  /// Nothing is forwarded to the peer any more, and no feed knows its place.
  private mutating func unsubscribeAll(_ place: Int) {
    for slot in 0..<feeds.slotCount(at: place) { unsubscribe(place, slot: slot) }
    feeds.leave(place)
  }

  // MARK: - Adoption

  /// Another worker's socket got a check for a peer that is here, or whose home this is.
  ///
  ///     worker N ──check──▶ home H ──adopted──▶ N        the peer, as bytes, with its paths and relays
  ///
  /// The worker that gets the first valid check takes the peer, so that the kernel brings it the rest. What comes in at
  /// another worker's socket later, because the client uses another address or a NAT another port, is handed over for
  /// good; docs/performance.md, "What handing over costs", has the figures.
  mutating func takeCheck(_ check: FirstCheck, now: Instant) {
    guard case .check(let place) = routing.route(check), let key = peers.key(place) else { return }
    let wasAdopted = routing.isAdopted(place)
    var datagram = check.datagram
    datagram.withUnsafeMutableBytes {
      receiveCheck($0, place: place, path: check.path, arrival: check.arrival, via: check.from, now: now)
    }
    guard !wasAdopted, peers.key(place) == key, routing.isAdopted(place), key.home == index else { return }
    handOn(place, to: check.from)
  }

  /// Gives a peer of this home, which is here, to another worker; those here who get its tracks get them relayed from
  /// there. In the middle of a handshake it stays: it has no state that could be taken out.
  mutating func handOn(_ place: Int, to worker: Int) {
    guard let state = peers.pointer(place).pointee.encode() else { return }
    for slot in 0..<feeds.slotCount(at: place) { unsubscribe(place, slot: slot) }
    guard var peer = routing.handOn(place, state: state, to: worker) else { return }
    peer.relays = feeds.handOn(place, to: worker)
    feeds.leave(place)
    peers.remove(place)
    routing.post(.adopted(peer), to: worker)
  }

  /// A peer has come to the worker that is to have it.
  mutating func adopt(_ moved: AdoptedPeer, now: Instant) {
    for entry in moved.paths { routing.pending.end(entry.path) }
    guard !peers.isFull, let peer = try? Peer.decode(moved.state) else {
      routing.refuse(moved)
      // Consumers here wait for its tracks in vain; other workers hear it when they ask.
      for feed in feeds.table.indices(of: moved.key) { end(feed, now: now) }
      return refuse(moved.key)
    }
    let place = peers.insert(peer, key: moved.key)
    routing.adopt(moved, at: place)
    linkTracks(place, now: now)
    resumeSlots(place, now: now)
    settle(place, now: now)
    guard peers.key(place) == moved.key else { return }
    for entry in moved.paths {
      // Its home's claim was for this very peer.
      claim(entry.path, place: place, via: entry.via, former: entry.isShared ? nil : moved.key.home)
    }
    for (track, workers) in moved.relays {
      for other in SetBits(workers) { startRelay(track, to: other) }
    }
  }

  // MARK: - State out and in

  /// Replaces a peer by one rebuilt from its bytes, the old one freed first: what a simulation does in
  /// mid-conference to show that nothing of a peer lives outside of them.
  /// - Returns: false, with nothing changed, in the middle of a handshake or if the peer isn't here.
  public mutating func rebuild(_ key: PeerKey, now: Instant) -> Bool {
    serve(now: now)
    guard let place = peers.find(key), let state = peers.pointer(place).pointee.encode() else { return false }
    guard peers.replace(place, from: state) else {
      preconditionFailure("state of peer \(key) does not read back")
    }
    resumePeer(place, now: now)
    settle(place, now: now)
    return true
  }

  /// What a peer doesn't know by its bytes: which feeds its tracks are, and where those of its slots stand.
  mutating func resumePeer(_ place: Int, now: Instant) {
    linkGroups(place, now: now)
    for feed in feeds.feedsOfTracks(at: place) {
      let key = feeds.pointer(feed).pointee.key
      peers.pointer(place).pointee.setTag(receiver: Int(key.index), encoding: Int(key.encoding), feed)
    }
    for slot in 0..<feeds.slotCount(at: place) {
      guard let feed = feeds.feed(ofSlot: slot, at: place) else { continue }
      resume(place, slot: slot, feed: feed, now: now)
    }
  }
}
