internal import Media
public import Model
internal import Peer
internal import Wire

extension WorkerCore {
  /// Takes one datagram from the socket.
  /// - Parameters:
  ///   - datagram: changed in place.
  ///   - arrival: when the kernel had it; not after `now`.
  public mutating func receive(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant
  ) {
    if routing.isContested, let first = datagram.first, first > 3, first < 64 {
      shareHandshake(datagram, path: path, arrival: arrival, now: now)
    }
    switch routing.route(datagram, path: path, arrival: arrival, now: now) {
    case .peer(let place): receive(datagram, place: place, path: path, arrival: arrival, now: now)
    case .check(let place):
      receiveCheck(datagram, place: place, path: path, arrival: arrival, via: index, now: now)
    case .answer: receiveAnswer(datagram, path: path, arrival: arrival, now: now)
    case .worker(let worker): routing.handOver(datagram, path: path, arrival: arrival, to: worker)
    case .nowhere: break
    }
  }

  /// A datagram that another worker's socket got, handed over to the worker that has its peer.
  mutating func takeOver(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, from worker: Int,
    now: Instant
  ) {
    if let place = expecting(UnsafeRawBufferPointer(datagram), path) {
      routing.counters.takenOver &+= 1
      return receive(datagram, place: place, path: path, arrival: arrival, now: now)
    }
    switch routing.route(handedOver: datagram, path: path, arrival: arrival, now: now, from: worker) {
    case .peer(let place): receive(datagram, place: place, path: path, arrival: arrival, now: now)
    case .check(let place):
      receiveCheck(datagram, place: place, path: path, arrival: arrival, via: worker, now: now)
    case .answer, .worker, .nowhere: break
    }
  }

  /// A datagram whose peer is known and here.
  private mutating func receive(
    _ datagram: UnsafeMutableRawBufferPointer, place: Int, path: NetworkPath, arrival: Instant, now: Instant
  ) {
    // Nothing that isn't media comes between what came before it and those who get that.
    if let first = datagram.first, first < 128 { serve(now: now) }
    switch peers.pointer(place).pointee.receive(
      datagram, path: path, arrival: arrival, now: now, context: &context)
    {
    case .media(let tag, let packet, let info):
      if context.hasEffects && applyEffects(place, now: now) { return }
      if tag >= 0 {
        feeds.measure(info, feed: tag)
        deliver(packet, info, feed: tag, now: now)
      }
      peers.scheduleFeedback(place)
    case .nothing: settle(place, now: now)
    }
  }

  /// A check for a peer that is here: its path becomes the peer's if it is authentic.
  /// - Parameter via: the worker whose socket got it.
  mutating func receiveCheck(
    _ datagram: UnsafeMutableRawBufferPointer, place: Int, path: NetworkPath, arrival: Instant, via: Int,
    now: Instant
  ) {
    let key = peers.key(place)
    receive(datagram, place: place, path: path, arrival: arrival, now: now)
    guard let key, peers.key(place) == key, peers.pointer(place).pointee.knows(path) else { return }
    claim(path, place: place, via: via)
  }

  mutating func claim(_ path: NetworkPath, place: Int, via: Int, former: Int? = nil) {
    routing.claim(
      path, place: place, via: via, isProven: peers.pointer(place).pointee.hasProven(path), former: former)
  }

  /// Drops paths that ICE no longer knows, evicted or expired, and says of the others which are proven by now.
  mutating func reconcilePaths(_ place: Int) {
    for entry in routing.paths(of: place) {
      if peers.pointer(place).pointee.knows(entry.path) {
        claim(entry.path, place: place, via: entry.via)
      } else {
        routing.release(entry.path, place: place)
      }
    }
  }

  // MARK: - Contested paths

  /// DTLS on a path that several claim: a peer whose check came there keeps it until the path is proven to be its own,
  /// which is under way while its far end sends its first flight. The owner gets it as well.
  private mutating func shareHandshake(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant
  ) {
    for rival in routing.rivals(of: path) {
      switch rival {
      case .peer(let place) where peers.key(place) != nil && !peers.pointer(place).pointee.isConnected:
        receive(datagram, place: place, path: path, arrival: arrival, now: now)
      case .worker(let worker): routing.handOver(datagram, path: path, arrival: arrival, to: worker)
      case .peer: break
      }
    }
  }

  /// STUN without a user name: an answer, which belongs to the peer that asked, also on a path that another peer owns.
  private mutating func receiveAnswer(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant
  ) {
    if let place = expecting(UnsafeRawBufferPointer(datagram), path) {
      return receive(datagram, place: place, path: path, arrival: arrival, now: now)
    }
    // Other workers' peers may have asked as well: each gets a copy, and only the one that asked takes it.
    for case .worker(let worker) in routing.rivals(of: path) {
      routing.handOver(datagram, path: path, arrival: arrival, to: worker)
    }
    switch routing.route(path) {
    case .peer(let place): receive(datagram, place: place, path: path, arrival: arrival, now: now)
    case .worker(let worker): routing.handOver(datagram, path: path, arrival: arrival, to: worker)
    case .check, .answer, .nowhere: break
    }
  }

  /// The peer of this worker that awaits an answer on a path which it claims and doesn't own.
  private func expecting(_ datagram: UnsafeRawBufferPointer, _ path: NetworkPath) -> Int? {
    guard routing.isContested, let first = datagram.first, first <= 3,
      let transaction = STUNPeek.answeredTransaction(in: datagram)
    else { return nil }
    for case .peer(let place) in routing.rivals(of: path)
    where peers.key(place) != nil && peers.pointer(place).pointee.expects(transaction) { return place }
    return nil
  }
}
