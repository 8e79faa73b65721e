internal import Media
internal import Model
internal import Peer
internal import Wire

/// When a peer goes after its socket, and how nothing is lost on the way.
///
///     connected, and what is selected comes in elsewhere ──▶ it goes at once: no media flows yet
///     a second of media that came in elsewhere ──expected──▶ its tracks flow there, too ──another second──▶ it goes
///
/// What comes in where it was is sent after it; what its slots show is found in the histories of the worker where it
/// comes, and whatever it had got already is refused by the guards of its streams.
extension WorkerCore {
  /// Datagrams of a second that make following worth its price: somebody who mostly receives stays, since what
  /// is sent to him leaves by this worker's own socket anyway.
  static let strayLimit: UInt32 = 40
  /// How far back a slot looks for what it hasn't sent yet: far more than a packet is under way between workers.
  static let lookBack = Duration.seconds(1)
  static let lookBackPackets: Int64 = 512

  /// Where the selected path's datagrams come in, if that is another worker.
  private func strayedTo(_ slot: Int) -> Int? {
    guard peers[record: slot].isAdopted, let path = peers.pointer(slot).pointee.selectedPath,
      let via = peers[record: slot].paths.first(where: { $0.path == path })?.via, via != index,
      via < exchange.count
    else { return nil }
    return via
  }

  /// Once the keys are there: the first valid check may not have been that of the pair that is used.
  /// - Returns: true when it has gone.
  mutating func goToSocket(_ slot: Int, now: Instant) -> Bool {
    guard let via = strayedTo(slot) else { return false }
    return go(slot, to: via, now: now)
  }

  /// Once a second: a peer whose media keeps coming in at another worker's socket goes there.
  /// - Returns: true when it has gone.
  mutating func followSocket(_ slot: Int, now: Instant) -> Bool {
    let record = peers[record: slot]
    peers[record: slot].strayDatagrams = 0
    let via = record.strayDatagrams >= Self.strayLimit ? strayedTo(slot) ?? -1 : -1
    // Twice in a row: a change of address that is taken back at once moves nothing.
    if via >= 0, via == record.strayWorker { return go(slot, to: via, now: now) }
    if record.strayWorker >= 0, record.strayWorker != via {
      post(.unexpected(record.key), to: record.strayWorker)
    }
    peers[record: slot].strayWorker = via
    if via >= 0 { post(.expected(record.key, wantedTracks(slot)), to: via) }
    return false
  }

  private func wantedTracks(_ slot: Int) -> [WantedTrack] {
    peers[record: slot].sources.filter { $0 >= 0 }.map { fanout in
      let entry = fanouts.pointer(Int(fanout))
      return WantedTrack(key: entry.pointee.key, kind: entry.pointee.kind)
    }
  }

  private mutating func go(_ slot: Int, to worker: Int, now: Instant) -> Bool {
    let key = peers[record: slot].key
    if key.home == index {
      handOn(slot, to: worker, now: now)
    } else if let moved = takeAway(slot, to: worker, now: now) {
      away.insert(key)
      post(.returned(moved, from: index, to: worker), to: key.home)
    }
    return peers.find(key) == nil
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
