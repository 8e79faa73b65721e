internal import Media
public import Model
internal import Peer
internal import Transport

extension WorkerCore {
  /// Acts on what a call to a peer changed.
  /// - Returns: true when the peer is gone.
  mutating func applyEffects(_ slot: Int, now: Instant) -> Bool {
    let (effects, media) = context.takeEffects()
    let key = peers[record: slot].key
    if let profile = effects.connected { events.note(key) { $0.connected = profile } }
    for word in 0..<16 {
      for bit in SetBits(media.started[word]) {
        guard let format = peers.pointer(slot).pointee.format(ofReceiver: word * 64 + bit) else { continue }
        events.note(key) { $0.startedTracks[UInt16(word * 64 + bit)] = format }
      }
      for bit in SetBits(media.clocks[word]) { publishClock(slot, receiver: word * 64 + bit, now: now) }
      for bit in SetBits(media.keyFrameRequests[word]) {
        let fanout = Int(peers[record: slot].sources[word * 64 + bit])
        if fanout >= 0 { startPicture(slot, sender: word * 64 + bit, fanout: fanout, now: now) }
      }
    }
    for index in 0..<media.nackCount { retransmit(slot, media.nack(index), now: now) }
    if let reason = effects.closed {
      remove(slot, reason: reason)
      return true
    }
    if effects.pathsChanged { reconcilePaths(slot) }
    if media.qualityMeasured {
      samples.set(key, peers.pointer(slot).pointee.quality)
      return followSocket(slot, now: now)
    }
    return effects.connected != nil && goToSocket(slot, now: now)
  }

  // MARK: - Coming and going

  /// A new peer, at its home.
  mutating func add(_ setup: PeerSetup, now: Instant) {
    guard homes[setup.key] == nil, let ufrag = UfragKey(setup.local.ufrag) else { return }
    guard !peers.isFull else {
      events.note(setup.key) { $0.closed = .overloaded }
      counters.count(.overloaded)
      return
    }
    homes[setup.key] = HomeRecord(worker: index, ufrags: [ufrag])
    let peer = Peer(setup, context: &context)
    let slot = peers.insert(peer, PeerRecord(key: setup.key, ufrags: [ufrag]))
    fragments[ufrag] = setup.key
    exchange.insert(ufrag)
    linkTracks(slot)
    settle(slot, now: now)
  }

  /// Ends a peer that is here.
  mutating func remove(_ slot: Int, reason: PeerCloseReason) {
    let key = peers[record: slot].key
    if peers[record: slot].strayWorker >= 0 { post(.unexpected(key), to: peers[record: slot].strayWorker) }
    if reason == .requested { peers.pointer(slot).pointee.sayGoodbye(context: &context) }
    endTracks(slot)
    detach(slot)
    timers.remove(slot)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.timerLeak) { timers.set(slot, to: Instant(nanoseconds: .max / 2)) }
    #endif
    for ufrag in peers[record: slot].ufrags { fragments[ufrag] = nil }
    peers.remove(slot)
    samples.remove(key)
    if key.home == index {
      forget(key)
    } else {
      post(.released(key), to: key.home)
    }
    events.note(key) { $0.closed = reason }
    counters.count(reason)
  }

  /// The home's last word on a peer.
  mutating func forget(_ key: PeerKey) {
    guard let record = homes.removeValue(forKey: key) else { return }
    for ufrag in record.ufrags {
      fragments[ufrag] = nil
      exchange.remove(ufrag)
    }
    // Who waited for its tracks hears that there are none.
    for case .relayWanted(let track, let worker) in record.held ?? [] { post(.trackEnded(track), to: worker) }
  }

  /// Undoes what ties a peer to this worker's tables, apart from its own tracks.
  /// - Parameter keepsPaths: others go on handing over what comes in on them.
  private mutating func detach(_ slot: Int, keepsPaths: Bool = false) {
    for sender in 0..<peers[record: slot].sources.count { unsubscribe(slot, sender: sender) }
    for entry in peers[record: slot].paths { release(entry.path, slot: slot, isMoving: keepsPaths) }
  }

  // MARK: - State out and in

  /// Takes a peer out as bytes; nothing of it is left here but the fan-outs of its tracks, without source.
  /// - Parameter keepsPaths: its paths are another worker's from now on, which will say so.
  /// - Returns: nil, with nothing changed, in the middle of a handshake.
  mutating func takeOut(_ slot: Int, keepsPaths: Bool = false) -> (state: [UInt8], record: PeerRecord)? {
    guard let state = peers.pointer(slot).pointee.encode() else { return nil }
    let record = peers[record: slot]
    // Its tracks stay its own until then, also one that it shows itself.
    detach(slot, keepsPaths: keepsPaths)
    for fanout in record.tracks where fanout >= 0 { fanouts.pointer(Int(fanout)).pointee.publisher = -1 }
    timers.remove(slot)
    for ufrag in record.ufrags { fragments[ufrag] = nil }
    peers.remove(slot)
    return (state, record)
  }

  /// Puts a peer back from its bytes.
  /// - Returns: its slot; nil for bytes that are no peer's, or when there is no place.
  mutating func putIn(_ state: [UInt8], key: PeerKey, ufrags: [UfragKey], now: Instant) -> Int? {
    guard !peers.isFull, let peer = try? Peer.decode(state) else { return nil }
    let slot = peers.insert(peer, PeerRecord(key: key, ufrags: ufrags))
    for ufrag in ufrags { fragments[ufrag] = key }
    linkTracks(slot)
    for sender in 0..<peers.pointer(slot).pointee.slotCount {
      guard let kind = peers.pointer(slot).pointee.kind(ofSlot: sender),
        let track = peers.pointer(slot).pointee.source(ofSlot: sender)
      else { continue }
      if let fanout = fanout(for: track, kind: kind) {
        subscribe(slot, sender: sender, fanout: fanout)
        if let clock = fanouts.pointer(fanout).pointee.clock {
          peers.pointer(slot).pointee.setClock(slot: sender, clock)
        }
        if peers.pointer(slot).pointee.needsKeyFrame(slot: sender) { wishKeyFrame(fanout, now: now) }
      } else {
        _ = peers.pointer(slot).pointee.setSource(slot: sender, nil, clock: nil)
      }
    }
    settle(slot, now: now)
    return slot
  }

  /// Replaces a peer by one rebuilt from its bytes, the old one freed first: what a simulation does in
  /// mid-conference to show that nothing of a peer lives outside of them.
  /// - Returns: false, with nothing changed, in the middle of a handshake or if the peer isn't here.
  public mutating func rebuild(_ key: PeerKey, now: Instant) -> Bool {
    guard let slot = peers.find(key) else { return false }
    // Packets kept for others' requests are the track's, not the peer's: without a consumer for this moment its
    // fan-out stays.
    let sources = peers[record: slot].sources.filter { $0 >= 0 }
    keepsUnused = true
    let taken = takeOut(slot)
    guard let out = taken else {
      keepsUnused = false
      return false
    }
    guard let rebuilt = putIn(out.state, key: key, ufrags: out.record.ufrags, now: now) else {
      preconditionFailure("state of peer \(key) does not read back")
    }
    keepsUnused = false
    for fanout in sources { dropIfUnused(Int(fanout)) }
    peers[record: rebuilt].isAdopted = out.record.isAdopted
    peers[record: rebuilt].strayDatagrams = out.record.strayDatagrams
    peers[record: rebuilt].straySource = out.record.straySource
    peers[record: rebuilt].strayWorker = out.record.strayWorker
    peers[record: rebuilt].expectedSince = out.record.expectedSince
    peers[record: rebuilt].followedAt = out.record.followedAt
    for entry in out.record.paths {
      own(entry.path, slot: rebuilt, via: entry.via)
    }
    return true
  }
}
