internal import ICE
internal import Media
internal import Model
internal import Peer

/// How a peer comes to the worker whose socket the kernel gives its datagrams to: once, at its first valid check.
///
///     worker N ──check──▶ home H ──moved──▶ N        the peer, as bytes, with its paths and relays
///
/// What comes in at another worker's socket later, because the client uses another address or a NAT another port, is
/// handed over for good; docs/performance.md, "What handing over costs", has the figures.
extension WorkerCore {
  /// Gives a peer of this home, which is here, to another worker.
  mutating func handOn(_ slot: Int, to worker: Int, now: Instant) {
    guard let moved = takeAway(slot, to: worker) else { return }
    homes[moved.key]!.worker = worker
    // The home keeps the fragments, to pass on checks that come in here.
    for ufrag in homes[moved.key]!.ufrags { fragments[ufrag] = moved.key }
    post(.moved(moved), to: worker)
  }

  /// A peer has come to the worker that is to have it.
  mutating func takeMoved(_ moved: MovedPeer, now: Instant) {
    for entry in moved.paths { pending.end(entry.path) }
    guard let slot = putIn(moved.state, key: moved.key, ufrags: moved.ufrags, now: now) else {
      post(.released(moved.key), to: moved.key.home)
      for entry in moved.paths { post(.pathReleased(entry.path, by: moved.key.home), to: entry.via) }
      // Whoever waits for its tracks here waits in vain; other workers hear it when they ask.
      for fanout in fanouts.indices(of: moved.key) { endTrack(fanout) }
      events.note(moved.key) { $0.closed = .overloaded }
      counters.count(.overloaded)
      return
    }
    peers[record: slot].isAdopted = true
    for entry in moved.paths {
      // Its home's claim was for this very peer.
      own(entry.path, slot: slot, via: entry.via, former: entry.isShared ? nil : moved.key.home)
    }
    for (track, workers) in moved.relays {
      for other in SetBits(workers) { startRelay(track, to: other, now: now) }
    }
  }

  /// Takes a peer out with all that the next worker needs; those here who get its tracks get them relayed from there.
  /// - Returns: nil, with nothing changed, in the middle of a handshake.
  private mutating func takeAway(_ slot: Int, to worker: Int) -> MovedPeer? {
    guard let out = takeOut(slot) else { return nil }
    var moved = MovedPeer(
      key: out.record.key, state: out.state, ufrags: out.record.ufrags, paths: out.record.paths)
    for position in moved.paths.indices {
      if case .peer = paths.find(moved.paths[position].path) { moved.paths[position].isShared = true }
    }
    for fanout in out.record.tracks where fanout >= 0 {
      let entry = fanouts.pointer(Int(fanout))
      var relays = entry.pointee.relays
      entry.pointee.relays = 0
      entry.pointee.sourceWorker = worker
      let isWanted = entry.pointee.consumerCount > 0
      if isWanted { relays |= 1 << UInt64(index) }
      moved.relays.append((entry.pointee.key, relays))
      if !isWanted { fanouts.remove(Int(fanout)) }
    }
    return moved
  }

  // MARK: - By way of the home

  /// The worker that is asked for a track that isn't here, and told when it is no longer wanted: always the same,
  /// so that the second word doesn't overtake the first. Nil when the peer is known to be gone.
  func askedForRelays(of peer: PeerKey) -> Int? {
    if peer.home == index { return homes[peer]?.worker }
    return peer.home < exchange.count ? peer.home : nil
  }

  /// Says something of a peer's track to the worker that is always asked for it.
  mutating func tell(_ message: WorkerMessage, of peer: PeerKey) {
    if let asked = askedForRelays(of: peer) { post(message, to: asked) }
  }
}
