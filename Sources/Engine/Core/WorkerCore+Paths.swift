internal import Model
internal import Peer
internal import Wire

/// Which peer a path leads to: by the checks that came on it, and by who has proven it.
extension WorkerCore {
  /// A peer claims a path, by an authenticated check or by what it brought along.
  /// - Parameter former: the worker that the peer has come from, if it claims the path for no other.
  mutating func own(_ path: NetworkPath, slot: Int, via: Int, former: Int? = nil) {
    let isProven = peers.pointer(slot).pointee.hasProven(path)
    peers[record: slot].isAdopted = true
    if let known = peers[record: slot].paths.first(where: { $0.path == path && $0.via == via }),
      known.isProven == isProven, paths.holds(path, .peer(slot: slot))
    {
      return
    }
    peers[record: slot].paths.removeAll { $0.path == path }
    guard claim(path, .peer(slot: slot), isProven: isProven) else { return }
    if let former { paths.leave(path, .worker(former)) }
    peers[record: slot].paths.append(ClaimedPath(path: path, via: via, isProven: isProven))
    if via != index { post(.pathOwned(path, by: index, isProven: isProven, former: former), to: via) }
  }

  @discardableResult
  mutating func claim(_ path: NetworkPath, _ destination: PathTable.Destination, isProven: Bool) -> Bool {
    let hasRoom = paths.enter(path, PathClaims.Claim(destination: destination, isProven: isProven))
    if !hasRoom { counters.pathTableFull &+= 1 }
    return hasRoom
  }

  /// Forgets a path that a peer claimed; it goes back to the peer that had it before.
  /// - Parameter isMoving: the peer goes to another worker, which will say that the path is its own.
  mutating func release(_ path: NetworkPath, slot: Int, isMoving: Bool = false) {
    guard let entry = peers[record: slot].paths.first(where: { $0.path == path }) else { return }
    peers[record: slot].paths.removeAll { $0.path == path }
    paths.leave(path, .peer(slot: slot))
    guard entry.via != index else { return }
    if case .peer(let other) = paths.find(path) {
      // It is another peer's of this worker.
      let isProven = peers.pointer(other).pointee.hasProven(path)
      post(.pathOwned(path, by: index, isProven: isProven, former: nil), to: entry.via)
    } else if !isMoving {
      post(.pathReleased(path, by: index), to: entry.via)
    }
  }

  /// Drops paths that ICE no longer knows, evicted or expired, and says of the others which are proven by now.
  mutating func reconcilePaths(_ slot: Int) {
    for entry in peers[record: slot].paths {
      if peers.pointer(slot).pointee.knows(entry.path) {
        own(entry.path, slot: slot, via: entry.via)
      } else {
        release(entry.path, slot: slot)
      }
    }
  }

  // MARK: - Handshakes

  /// DTLS on a path that several claim: a peer whose check came there holds it until the path is proven to be its own,
  /// which is under way while its far end sends its first flight. The owner gets it as well.
  mutating func shareHandshake(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant
  ) {
    for rival in paths.rivals(of: path) {
      switch rival.destination {
      case .peer(let slot) where peers.isOccupied(slot) && !peers.pointer(slot).pointee.isConnected:
        receive(datagram, slot: slot, path: path, arrival: arrival, now: now)
      case .worker(let worker): handOver(datagram, path: path, arrival: arrival, to: worker)
      case .peer: break
      }
    }
  }

  // MARK: - Answers

  /// STUN without a user name: an answer, which belongs to the peer that asked, also on a path that another peer owns.
  mutating func receiveAnswer(
    _ datagram: UnsafeMutableRawBufferPointer, path: NetworkPath, arrival: Instant, now: Instant
  ) {
    if let slot = expecting(UnsafeRawBufferPointer(datagram), path) {
      return receive(datagram, slot: slot, path: path, arrival: arrival, now: now)
    }
    // Other workers' peers may have asked as well: each gets a copy, and only the one that asked takes it.
    for case .worker(let worker) in paths.rivals(of: path).map(\.destination) {
      handOver(datagram, path: path, arrival: arrival, to: worker)
    }
    switch paths.find(path) {
    case .peer(let slot): receive(datagram, slot: slot, path: path, arrival: arrival, now: now)
    case .worker(let worker): handOver(datagram, path: path, arrival: arrival, to: worker)
    case nil: counters.unknownPath &+= 1
    }
  }

  /// The peer of this worker that awaits an answer on a path which it claims and doesn't own.
  func expecting(_ datagram: UnsafeRawBufferPointer, _ path: NetworkPath) -> Int? {
    guard paths.contestedCount > 0, let first = datagram.first, first <= 3,
      let transaction = STUNPeek.answeredTransaction(in: datagram)
    else { return nil }
    for case .peer(let slot) in paths.rivals(of: path).map(\.destination)
    where peers.isOccupied(slot) && peers.pointer(slot).pointee.expects(transaction) { return slot }
    return nil
  }
}
