internal import ICE
internal import Media
public import Model
internal import Peer
internal import Transport
internal import Wire

extension WorkerCore {
  /// Takes one datagram from the socket.
  /// - Parameters:
  ///   - datagram: changed in place.
  ///   - arrival: when the kernel had it; not after `now`.
  public mutating func receive(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant
  ) {
    counters.received &+= 1
    guard let first = datagram.first else {
      counters.noProtocol &+= 1
      return
    }
    guard first > 3 else { return receiveSTUN(datagram, path: path, arrival: arrival, now: now) }
    if paths.contestedCount > 0, first < 64 {
      shareHandshake(datagram, path: path, arrival: arrival, now: now)
    }
    switch paths.find(path) {
    case .peer(let slot): receive(datagram, slot: slot, path: path, arrival: arrival, now: now)
    case .worker(let worker): handOver(datagram, path: path, arrival: arrival, to: worker)
    case nil:
      if !sendAfter(datagram, path: path, arrival: arrival, via: index, now: now) {
        counters.unknownPath &+= 1
      }
    }
  }

  /// A datagram whose peer is known and here.
  mutating func receive(
    _ datagram: UnsafeMutableRawBufferPointer, slot: Int, path: NetworkPath, arrival: Instant, now: Instant
  ) {
    let peer = peers.pointer(slot)
    switch peer.pointee.receive(datagram, path: path, arrival: arrival, now: now, context: &context) {
    case .media(let tag, let packet, let info):
      if context.hasEffects && applyEffects(slot, now: now) { return }
      if tag >= 0 {
        measure(info, fanout: tag)
        deliver(packet, info, fanout: tag)
      }
      if peer.pointee.feedbackDeadline < timers.deadline(of: slot) {
        timers.set(slot, to: peer.pointee.feedbackDeadline)
      }
    case .nothing: settle(slot, now: now)
    }
  }

  /// STUN finds its peer by the fragment that a request names, an answer by its path.
  private mutating func receiveSTUN(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant
  ) {
    let bytes = UnsafeRawBufferPointer(datagram)
    guard let range = STUNPeek.localUfrag(in: bytes) else {
      return receiveAnswer(datagram, path: path, arrival: arrival, now: now)
    }
    let fragment = UnsafeRawBufferPointer(rebasing: bytes[range])
    guard let home = ICECredentials.homeWorker(ofUfrag: fragment), home < exchange.count,
      let ufrag = UfragKey(fragment)
    else {
      counters.unknownFragment &+= 1
      return
    }
    if let key = fragments[ufrag], let slot = peers.find(key) {
      return receiveCheck(datagram, slot: slot, path: path, arrival: arrival, via: index, now: now)
    }
    if case .worker(let worker) = paths.find(path) {
      // Known to be another's: without asking again.
      return handOver(datagram, path: path, arrival: arrival, to: worker)
    }
    if home == index {
      guard let key = fragments[ufrag], let record = homes[key] else {
        counters.unknownFragment &+= 1
        return
      }
      return handOver(datagram, path: path, arrival: arrival, to: record.worker)
    }
    guard exchange.isKnown(ufrag) else {
      counters.unknownFragment &+= 1
      return
    }
    switch pending.begin(path, ufrag, now: now, limit: limits.pendingChecks) {
    case .asks: counters.checksAsked &+= 1
    case .repeated:
      counters.checksRepeated &+= 1
      return
    case .fragmentFull:
      counters.checksOfOnePeer &+= 1
      return
    case .full:
      counters.checksDropped &+= 1
      return
    }
    post(
      .check(ufrag: ufrag, datagram: Array(bytes), path: path, arrival: arrival, from: index), to: home)
  }

  /// A check for a peer that is here.
  /// - Parameter via: the worker whose socket got it.
  mutating func receiveCheck(
    _ datagram: UnsafeMutableRawBufferPointer, slot: Int, path: NetworkPath, arrival: Instant, via: Int,
    now: Instant
  ) {
    receive(datagram, slot: slot, path: path, arrival: arrival, now: now)
    guard peers.isOccupied(slot), peers.pointer(slot).pointee.knows(path) else { return }
    own(path, slot: slot, via: via)
  }

  /// Gives a datagram to the worker that has its peer.
  mutating func handOver(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, to worker: Int
  ) {
    guard worker != index, worker < exchange.count else {
      counters.unknownPath &+= 1
      return
    }
    var crossing = Crossing(kind: .datagram, from: UInt8(truncatingIfNeeded: index))
    crossing.path = path
    crossing.arrival = arrival
    let ring = exchange.ring(to: worker, from: index)
    guard
      withUnsafeBytes(
        of: &crossing,
        { head in
          ring.write(header: head.baseAddress!, payload: UnsafeRawBufferPointer(datagram))
        })
    else {
      counters.handoverDropped &+= 1
      return
    }
    counters.handedOver &+= 1
    touched |= 1 << UInt64(worker)
  }

  /// A datagram that came in at another worker's socket.
  mutating func takeOver(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, from worker: Int,
    now: Instant
  ) {
    counters.takenOver &+= 1
    if let first = datagram.first, first <= 3 {
      let bytes = UnsafeRawBufferPointer(datagram)
      if let range = STUNPeek.localUfrag(in: bytes) {
        guard let ufrag = UfragKey(UnsafeRawBufferPointer(rebasing: bytes[range])),
          let key = fragments[ufrag], let slot = peers.find(key)
        else {
          if sendAfter(datagram, path: path, arrival: arrival, via: worker, now: now) { return }
          counters.unknownFragment &+= 1
          return
        }
        return receiveCheck(datagram, slot: slot, path: path, arrival: arrival, via: worker, now: now)
      }
    }
    if let slot = expecting(UnsafeRawBufferPointer(datagram), path) {
      return receive(datagram, slot: slot, path: path, arrival: arrival, now: now)
    }
    // What leads away from here again is dropped: no datagram goes round in a circle.
    guard case .peer(let slot) = paths.find(path) else {
      if !sendAfter(datagram, path: path, arrival: arrival, via: worker, now: now) {
        counters.unknownPath &+= 1
      }
      return
    }
    if noteStray(slot, from: worker, now: now) {
      // It goes the way that its peer went.
      _ = sendAfter(datagram, path: path, arrival: arrival, via: worker, now: now)
      return
    }
    receive(datagram, slot: slot, path: path, arrival: arrival, now: now)
  }
}
