internal import Media
internal import Model
internal import Peer
internal import Wire

/// When a peer goes after its socket, and how nothing is lost on the way.
///
///     connected by datagrams that came in elsewhere ──▶ it goes at once: no media flows yet
///     media that comes in elsewhere ──expected──▶ its tracks flow there, too ──more of it──▶ it goes
///
/// What comes in where it was is sent after it; what its slots show is found in the histories of the worker where it
/// comes, and whatever it had got already is left out.
extension WorkerCore {
  /// Datagrams between two looks, a second apart, that make following worth its price: somebody who mostly receives
  /// stays, since what is sent to him leaves by this worker's own socket anyway.
  static let strayLimit: UInt32 = 30
  /// So many of them, and it isn't looked for a second time.
  static let strayCertainty: UInt32 = 60
  /// How long its tracks flow there at least before it goes: more than a batch takes to cross.
  static let expectation = Duration.milliseconds(100)
  /// Whoever followed its socket goes on only after two looks.
  static let rest = Duration.seconds(2)
  /// How far back a slot looks for what it hasn't sent yet: far more than a packet is under way between workers.
  static let lookBack = Duration.seconds(1)
  static let lookBackPackets: Int64 = 512

  /// Once the keys are there: the first valid check may not have been that of the pair that is used.
  /// - Returns: true when it has gone.
  mutating func goToSocket(_ slot: Int, now: Instant) -> Bool {
    guard peers[record: slot].isAdopted, let path = peers.pointer(slot).pointee.handshakePath,
      let via = peers[record: slot].paths.first(where: { $0.path == path })?.via, via != index
    else { return false }
    return go(slot, to: via, isFollowing: false, now: now)
  }

  /// A datagram of the peer's, on a path that it has proven, came in at another worker's socket.
  /// - Returns: true when that was one too many, and the peer has gone there.
  mutating func noteStray(_ slot: Int, from worker: Int, now: Instant) -> Bool {
    let isMore = peers[record: slot].straySource == worker
    peers[record: slot].straySource = worker
    peers[record: slot].strayDatagrams = isMore ? peers[record: slot].strayDatagrams &+ 1 : 1
    let record = peers[record: slot]
    guard record.strayDatagrams >= Self.strayLimit else { return false }
    if record.strayWorker != worker { announce(slot, to: worker, now: now) }
    guard record.strayDatagrams >= Self.strayCertainty, record.strayWorker == worker,
      now - record.expectedSince >= Self.expectation, now - record.followedAt >= Self.rest
    else { return false }
    return go(slot, to: worker, isFollowing: true, now: now)
  }

  /// Once a second: a peer that sends steadily, but not much, goes after two looks.
  /// - Returns: true when it has gone.
  mutating func followSocket(_ slot: Int, now: Instant) -> Bool {
    let record = peers[record: slot]
    peers[record: slot].strayDatagrams = 0
    guard record.strayWorker >= 0 else { return false }
    guard record.strayDatagrams >= Self.strayLimit else {
      announce(slot, to: -1, now: now)
      return false
    }
    guard record.strayWorker == record.straySource, now - record.expectedSince >= .seconds(1) else {
      return false
    }
    return go(slot, to: record.strayWorker, isFollowing: true, now: now)
  }

  /// Tells a worker that the peer may come, and the one that was told so before that it won't.
  /// - Parameter worker: -1 for none.
  private mutating func announce(_ slot: Int, to worker: Int, now: Instant) {
    let key = peers[record: slot].key
    if peers[record: slot].strayWorker >= 0 { post(.unexpected(key), to: peers[record: slot].strayWorker) }
    peers[record: slot].strayWorker = worker
    peers[record: slot].expectedSince = now
    if worker >= 0 { post(.expected(key, wantedTracks(slot)), to: worker) }
  }

  private func wantedTracks(_ slot: Int) -> [WantedTrack] {
    peers[record: slot].sources.filter { $0 >= 0 }.map { fanout in
      let entry = fanouts.pointer(Int(fanout))
      return WantedTrack(key: entry.pointee.key, kind: entry.pointee.kind)
    }
  }

  private mutating func go(_ slot: Int, to worker: Int, isFollowing: Bool, now: Instant) -> Bool {
    let key = peers[record: slot].key
    if key.home == index {
      handOn(slot, to: worker, isFollowing: isFollowing, now: now)
    } else if var moved = takeAway(slot, to: worker, now: now) {
      moved.isFollowing = isFollowing
      away.insert(key)
      post(.returned(moved, from: index, to: worker), to: key.home)
    }
    guard peers.find(key) == nil else { return false }
    counters.moved &+= 1
    return true
  }

  // MARK: - What came in where it was

  /// Sends a datagram after a peer that was here until a moment ago, by the way that its state took.
  /// - Returns: false when nobody went from here who used the path.
  mutating func sendAfter(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, via: Int, now: Instant
  ) -> Bool {
    guard let key = departed.find(path, now: now) else { return false }
    let worker = key.home == index ? homes[key]?.worker : key.home
    guard let worker, worker != index else { return false }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.lostAtHandover) { return true }
    #endif
    post(.strayed(key, datagram: Array(datagram), path: path, arrival: arrival, via: via), to: worker)
    return true
  }

  /// A datagram on its way after its peer: at its home, or where it is by now.
  mutating func takeStrayed(
    _ key: PeerKey, _ datagram: [UInt8], path: NetworkPath, arrival: Instant, via: Int, now: Instant
  ) {
    guard let slot = peers.find(key) else {
      // It may be on its way once more; only its home knows.
      let worker = key.home == index ? homes[key]?.worker : away.contains(key) ? key.home : nil
      guard let worker, worker != index else {
        counters.unknownPath &+= 1
        return
      }
      return post(.strayed(key, datagram: datagram, path: path, arrival: arrival, via: via), to: worker)
    }
    counters.takenOver &+= 1
    var datagram = datagram
    datagram.withUnsafeMutableBytes { bytes in
      let isRequest =
        (bytes.first ?? 255) <= 3 && STUNPeek.localUfrag(in: UnsafeRawBufferPointer(bytes)) != nil
      if isRequest {
        receiveCheck(bytes, slot: slot, path: path, arrival: arrival, via: via, now: now)
      } else if paths.find(path) == .peer(slot: slot) {
        receive(bytes, slot: slot, path: path, arrival: arrival, now: now)
      } else {
        counters.unknownPath &+= 1
      }
    }
  }

  // MARK: - What its slots show

  /// Lets the tracks flow here, with history, before somebody comes who gets them.
  mutating func expect(_ key: PeerKey, _ tracks: [WantedTrack]) {
    for track in tracks where expected[key]?.contains(track.key) != true {
      guard let fanout = fanout(for: track.key, kind: track.kind) else { continue }
      fanouts.pointer(fanout).pointee.pins += 1
      fanouts.pointer(fanout).pointee.keepHistory()
      expected[key, default: []].append(track.key)
    }
  }

  /// It has come, or won't: what nobody else wants is asked for no longer.
  mutating func expectNoLonger(_ key: PeerKey) {
    for track in expected.removeValue(forKey: key) ?? [] {
      guard let fanout = fanouts.find(track) else { continue }
      fanouts.pointer(fanout).pointee.pins = max(fanouts.pointer(fanout).pointee.pins - 1, 0)
      dropIfUnused(fanout)
    }
  }

  /// Sends in each slot what came here of its track while the peer was on its way, or before it came there.
  mutating func catchUp(_ slot: Int, since moment: Instant) {
    for sender in 0..<peers[record: slot].sources.count {
      let fanout = Int(peers[record: slot].sources[sender])
      guard fanout >= 0 else { continue }
      let newest = fanouts.pointer(fanout).pointee.newestSequence
      guard newest > 0 else { continue }
      for sequence in max(newest - Self.lookBackPackets, 0)...newest {
        guard let kept = fanouts.pointer(fanout).pointee.find(sequence),
          peers.pointer(slot).pointee.continues(kept.info, slot: sender)
            ? kept.info.arrival + Self.lookBack >= moment : kept.info.arrival >= moment
        else { continue }
        _ = peers.pointer(slot).pointee.forward(kept.packet, kept.info, slot: sender, context: &context)
      }
    }
  }
}
