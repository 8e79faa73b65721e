internal import ICE
internal import Media
internal import Model
internal import Peer

/// How a peer comes to the worker whose socket the kernel gives its datagrams to: by adoption at its first valid
/// check, and later, when what it sends keeps coming in elsewhere, by following its socket.
///
///     owner O ──returned──▶ home H ──moved──▶ worker N        the peer, as bytes, with its paths and relays
///     H ──lastWord──▶ O ──lastWordHeard──▶ H                  what H had sent to O before comes back in front of it
///     O ──strayed──▶ H ──strayed──▶ N                         datagrams that are handed over to O still
///
/// Until the last word is back, what is to reach the peer waits at its home, so that nothing overtakes what went by O.
extension WorkerCore {
  // MARK: - Adoption

  /// Gives a peer of this home, which is here, to another worker.
  mutating func handOn(_ slot: Int, to worker: Int, isFollowing: Bool = false, now: Instant) {
    guard var moved = takeAway(slot, to: worker, now: now) else { return }
    moved.isFollowing = isFollowing
    homes[moved.key]!.worker = worker
    // The home keeps the fragments, to pass on checks that come in here.
    for ufrag in homes[moved.key]!.ufrags { fragments[ufrag] = moved.key }
    post(.moved(moved), to: worker)
  }

  /// A peer has come to the worker that is to have it.
  mutating func takeMoved(_ moved: MovedPeer, now: Instant) {
    for entry in moved.paths { pending.end(entry.path) }
    guard let slot = putIn(moved.state, key: moved.key, ufrags: moved.ufrags, now: now) else {
      if moved.key.home == index { forget(moved.key) } else { post(.released(moved.key), to: moved.key.home) }
      expectNoLonger(moved.key)
      for entry in moved.paths { post(.pathReleased(entry.path, by: moved.from), to: entry.via) }
      // Whoever waits for its tracks here waits in vain; other workers hear it when they ask.
      for fanout in fanouts.indices(of: moved.key) { endTrack(fanout) }
      events.note(moved.key) { $0.closed = .overloaded }
      counters.count(.overloaded)
      return
    }
    peers[record: slot].isAdopted = true
    if moved.isFollowing { peers[record: slot].followedAt = now }
    peers.pointer(slot).pointee.hasMoved()
    for entry in moved.paths {
      // Its former worker's claim was for this very peer.
      own(entry.path, slot: slot, via: entry.via, former: entry.isShared ? nil : moved.from)
    }
    for (track, workers) in moved.relays {
      for other in SetBits(workers) { startRelay(track, to: other, now: now) }
    }
    catchUp(slot, since: moved.takenAt)
    expectNoLonger(moved.key)
  }

  /// Takes a peer out with all that the next worker needs; those here who get its tracks get them relayed from there.
  /// - Returns: nil, with nothing changed, in the middle of a handshake.
  mutating func takeAway(_ slot: Int, to worker: Int, now: Instant) -> MovedPeer? {
    guard let out = takeOut(slot, keepsPaths: true) else { return nil }
    var moved = MovedPeer(
      key: out.record.key, from: index, takenAt: now, state: out.state, ufrags: out.record.ufrags,
      paths: out.record.paths)
    if out.record.strayWorker >= 0, out.record.strayWorker != worker {
      post(.unexpected(moved.key), to: out.record.strayWorker)
    }
    for position in moved.paths.indices {
      let path = moved.paths[position].path
      if case .peer = paths.find(path) { moved.paths[position].isShared = true }
      departed.note(path, of: out.record.key, now: now)
    }
    for fanout in out.record.tracks where fanout >= 0 {
      let entry = fanouts.pointer(Int(fanout))
      var relays = entry.pointee.relays
      entry.pointee.relays = 0
      entry.pointee.sourceWorker = worker
      if entry.pointee.isWanted { relays |= 1 << UInt64(index) }
      moved.relays.append((entry.pointee.key, relays))
      if !entry.pointee.isWanted { fanouts.remove(Int(fanout)) }
    }
    return moved
  }

  // MARK: - By way of the home

  /// At home: a peer that another worker had goes on to a third, or comes home.
  mutating func takeReturned(_ moved: MovedPeer, from: Int, to worker: Int, now: Instant) {
    post(.lastWord(moved.key), to: from)
    guard homes[moved.key] != nil else { return post(.unexpected(moved.key), to: worker) }
    homes[moved.key]!.worker = worker
    homes[moved.key]!.held = []
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.secondHandOver) { homes[moved.key]!.held = nil }
    #endif
    if worker == index { takeMoved(moved, now: now) } else { post(.moved(moved), to: worker) }
  }

  /// At home: all that had gone by the former owner has come back and gone its way; now what waited.
  mutating func takeLastWord(_ key: PeerKey, now: Instant) {
    guard let held = homes[key]?.held else { return }
    homes[key]!.held = nil
    #if PLANTED_DEFECTS
      let inOrder = PlantedDefect.isOn(.heldBackwards) ? held.reversed() : held
    #else
      let inOrder = held
    #endif
    for message in inOrder { take(message, now: now) }
  }

  /// Whether a message has to wait, or go back to the peer's home; if so, that is done.
  mutating func isDetained(_ message: WorkerMessage) -> Bool {
    guard let key = message.peer else { return false }
    if homes[key]?.held != nil {
      homes[key]!.held!.append(message)
      return true
    }
    guard away.contains(key), peers.find(key) == nil else { return false }
    post(.bounced(message), to: key.home)
    return true
  }

  /// The worker that is asked for a track that isn't here, and told when it is no longer wanted: always the same,
  /// so that the second word doesn't overtake the first. Nil when the peer is known to be gone.
  func askedForRelays(of peer: PeerKey) -> Int? {
    if peer.home == index { return homes[peer]?.worker }
    return peer.home < exchange.count ? peer.home : nil
  }

  /// Says something of a peer's track to the worker that is always asked for it.
  mutating func tell(_ message: WorkerMessage, of peer: PeerKey) {
    guard !isDetained(message), let asked = askedForRelays(of: peer) else { return }
    post(message, to: asked)
  }
}

extension WorkerMessage {
  /// Whom it has to reach, wherever that is; nil for what concerns workers alone.
  var peer: PeerKey? {
    switch self {
    case .command(let command): command.peer
    case .relayWanted(let track, _), .relayUnwanted(let track, _), .keyFrameWanted(let track): track.peer
    case .returned(let moved, _, _): moved.key
    default: nil
    }
  }
}
