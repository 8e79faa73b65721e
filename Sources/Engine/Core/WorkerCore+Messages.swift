internal import ICE
internal import Media
public import Model
internal import Peer
internal import Transport

extension WorkerCore {
  /// Takes what other threads left: messages first, then packets and datagrams.
  public mutating func takeMessages(now: Instant) {
    for message in exchange.mailboxes[index].take() { take(message, now: now) }
    for worker in 0..<exchange.count where worker != index { drain(from: worker, now: now) }
  }

  /// At most as many records as one batch, so that a busy neighbour doesn't starve the socket.
  private static let drainLimit = 512

  private mutating func drain(from worker: Int, now: Instant) {
    let ring = exchange.ring(to: index, from: worker)
    for _ in 0..<Self.drainLimit {
      guard let record = ring.peek() else { return }
      let crossing = record.header.load(as: Crossing.self)
      switch crossing.kind {
      case .packet:
        counters.relayReceived &+= 1
        if let fanout = fanouts.find(crossing.track) {
          fanouts.pointer(fanout).pointee.sourceWorker = worker
          // Its publisher may have come here since: what its former worker sent, that one has sent to all.
          deliverHere(UnsafeRawBufferPointer(record.payload), crossing.info, fanout: fanout)
        }
      case .datagram:
        takeOver(record.payload, path: crossing.path, arrival: crossing.arrival, from: worker, now: now)
      }
      ring.advance(past: record)
    }
    // More is there: come back after the socket had its turn.
    exchange.mailboxes[index].poke()
  }

  mutating func take(_ message: WorkerMessage, now: Instant) {
    if !isDetained(message) { obey(message, now: now) }
  }

  private mutating func obey(_ message: WorkerMessage, now: Instant) {
    switch message {
    case .command(let command): run(command, now: now)
    case .report(let answer):
      pending.expire(now: now)
      answer(report())
    case .check(let ufrag, let datagram, let path, let arrival, let from):
      takeCheck(ufrag, datagram, path: path, arrival: arrival, from: from, now: now)
    case .moved(let moved): takeMoved(moved, now: now)
    case .returned(let moved, let from, let worker): takeReturned(moved, from: from, to: worker, now: now)
    case .lastWord(let key):
      away.remove(key)
      post(.lastWordHeard(key), to: key.home)
    case .lastWordHeard(let key): takeLastWord(key, now: now)
    case .bounced(let message): obey(message, now: now)
    case .strayed(let key, let datagram, let path, let arrival, let via):
      takeStrayed(key, datagram, path: path, arrival: arrival, via: via, now: now)
    case .expected(let key, let tracks): expect(key, tracks)
    case .unexpected(let key): expectNoLonger(key)
    case .pathOwned(let path, let worker, let isProven, let former):
      pending.end(path)
      claim(path, .worker(worker), isProven: isProven)
      if let former { paths.leave(path, .worker(former)) }
    case .pathReleased(let path, let worker): paths.leave(path, .worker(worker))
    case .released(let key): forget(key)
    case .relayWanted(let track, let worker): startRelay(track, to: worker, now: now)
    case .relayUnwanted(let track, let worker): stopRelay(track, to: worker)
    case .keyFrameWanted(let track):
      if let fanout = fanouts.find(track), fanouts.pointer(fanout).pointee.publisher >= 0 {
        wishKeyFrame(fanout, now: now)
      } else if let owner = owner(of: track.peer) {
        post(message, to: owner)
      }
    case .trackClock(let track, let mapping, let from):
      guard let fanout = fanouts.find(track), fanouts.pointer(fanout).pointee.publisher < 0 else { return }
      fanouts.pointer(fanout).pointee.sourceWorker = from
      setClock(fanout, mapping)
    case .trackHeld(let track, let life):
      if let fanout = fanouts.find(track), fanouts.pointer(fanout).pointee.publisher < 0 {
        fanouts.pointer(fanout).pointee.hold(life)
      }
    case .trackEnded(let track):
      if let fanout = fanouts.find(track), fanouts.pointer(fanout).pointee.publisher < 0 { endTrack(fanout) }
    }
  }

  /// At its home: the other worker that has the peer. Nil where it isn't home, or the peer is here or gone.
  private func owner(of key: PeerKey) -> Int? {
    guard key.home == index, let record = homes[key], record.worker != index else { return nil }
    return record.worker
  }

  // MARK: - Commands

  private mutating func run(_ command: Command, now: Instant) {
    if case .add(let setup) = command { return add(setup, now: now) }
    guard let slot = peers.find(command.peer) else {
      // Of who is gone no fragment is kept: nothing would ever take it out again.
      if case .restartICE(let key, let local, _) = command, homes[key] != nil {
        addFragment(local.ufrag, of: key)
      }
      // Adopted elsewhere: passed on. Gone: its `closed` is on the way.
      if let owner = owner(of: command.peer) { post(.command(command), to: owner) }
      return
    }
    switch command {
    case .add: break
    case .apply(_, let media):
      peers.pointer(slot).pointee.apply(media, context: &context)
      linkTracks(slot)
    case .restartICE(let key, let local, let remote):
      peers.pointer(slot).pointee.restartICE(local: local, remote: remote)
      addFragment(local.ufrag, of: key)
      counters.iceRestarts &+= 1
    case .assign(_, let sender, let track): assign(slot, sender: Int(sender), to: track, now: now)
    case .mute(let track, let muted):
      peers.pointer(slot).pointee.setMuted(receiver: Int(track.index), muted)
      if muted { hideHeld(slot, receiver: Int(track.index)) }
    case .close: return remove(slot, reason: .requested)
    }
    settle(slot, now: now)
  }

  /// A restart's fragment, at its home and where the peer is; those that no longer serve are forgotten.
  private mutating func addFragment(_ text: String, of key: PeerKey) {
    guard let ufrag = UfragKey(text) else { return }
    fragments[ufrag] = key
    let slot = peers.find(key)
    let served = slot.map { peers.pointer($0).pointee.servedFragments.compactMap { UfragKey($0) } }
    if homes[key] != nil, !homes[key]!.ufrags.contains(ufrag) {
      homes[key]!.ufrags.append(ufrag)
      exchange.insert(ufrag)
      for old in Self.obsolete(homes[key]!.ufrags, served: served) {
        homes[key]!.ufrags.removeAll { $0 == old }
        fragments[old] = nil
        exchange.remove(old)
      }
    }
    guard let slot, !peers[record: slot].ufrags.contains(ufrag) else { return }
    peers[record: slot].ufrags.append(ufrag)
    for old in Self.obsolete(peers[record: slot].ufrags, served: served) {
      peers[record: slot].ufrags.removeAll { $0 == old }
      fragments[old] = nil
    }
  }

  /// After many restarts in a row the fragment in use may be the oldest; where the peer isn't, nobody knows, and all
  /// but the last two go.
  private static func obsolete(_ ufrags: [UfragKey], served: [UfragKey]?) -> [UfragKey] {
    guard let served else { return Array(ufrags.dropLast(2)) }
    return ufrags.filter { !served.contains($0) }
  }

  // MARK: - Adoption

  /// At home: another worker's socket got a check for a peer of ours.
  private mutating func takeCheck(
    _ ufrag: UfragKey, _ datagram: [UInt8], path: NetworkPath, arrival: Instant, from: Int, now: Instant
  ) {
    var datagram = datagram
    guard let key = fragments[ufrag] else {
      counters.unknownFragment &+= 1
      return
    }
    guard let slot = peers.find(key) else {
      guard let owner = owner(of: key) else {
        counters.unknownFragment &+= 1
        return
      }
      // The owner answers, and tells the asking worker that the path is its own.
      post(.check(ufrag: ufrag, datagram: datagram, path: path, arrival: arrival, from: from), to: owner)
      return
    }
    let wasAdopted = peers[record: slot].isAdopted
    datagram.withUnsafeMutableBytes {
      receiveCheck($0, slot: slot, path: path, arrival: arrival, via: from, now: now)
    }
    // The first valid check: the worker that got it takes the peer, so that the kernel brings it the rest.
    guard !wasAdopted, peers.isOccupied(slot), peers[record: slot].key == key,
      peers[record: slot].isAdopted, key.home == index
    else { return }
    handOn(slot, to: from, now: now)
    if peers.find(key) == nil { counters.adopted &+= 1 }
  }

  // MARK: - Relays

  mutating func startRelay(_ track: TrackKey, to worker: Int, now: Instant) {
    if let fanout = fanouts.find(track), fanouts.pointer(fanout).pointee.publisher >= 0 {
      guard worker != index else { return }
      fanouts.pointer(fanout).pointee.relays |= 1 << UInt64(worker)
      sendClock(fanout, to: worker)
      return
    }
    if let owner = owner(of: track.peer) {
      post(.relayWanted(track, by: worker), to: owner)
    } else {
      post(.trackEnded(track), to: worker)
    }
  }

  private mutating func stopRelay(_ track: TrackKey, to worker: Int) {
    if let fanout = fanouts.find(track), fanouts.pointer(fanout).pointee.publisher >= 0 {
      fanouts.pointer(fanout).pointee.relays &= ~(1 << UInt64(worker))
    } else if let owner = owner(of: track.peer) {
      post(.relayUnwanted(track, by: worker), to: owner)
    }
  }

  // MARK: - Report

  func report() -> WorkerReport {
    var report = WorkerReport()
    report.worker = index
    report.peers = peers.count
    report.connectedPeers = peers.occupied.count { peers.pointer($0).pointee.isConnected }
    report.tracks = fanouts.count
    report.audioTracks = fanouts.publishedCount(.audio)
    report.videoTracks = fanouts.publishedCount(.video)
    report.paths = paths.count
    report.timers = timers.count
    report.homeRecords = homes.count
    report.fragments = fragments.count
    report.pendingChecks = pending.count
    report.consumers = fanouts.consumerCount
    for slot in peers.occupied {
      report.pairs += peers.pointer(slot).pointee.pairCount
      report.streams += peers.pointer(slot).pointee.streamCount
      report.authenticatedStreams += peers.pointer(slot).pointee.authenticatedStreamCount
    }
    report.movesUnderWay = away.count + expected.count + homes.values.count { $0.held != nil }
    report.counters = context.counters
    report.routing = counters
    report.sending = sending
    report.niceness = niceness
    report.iceDrops = context.transport.iceCounters
    return report
  }
}
