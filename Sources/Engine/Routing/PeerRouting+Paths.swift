internal import Model

/// Which peer a path leads to: by the checks that came on it, and by who has proven it.
extension PeerRouting {
  @inline(__always)
  func find(_ path: NetworkPath) -> PathTable.Destination? { claims.find(path) }

  /// Some path has more than one claim.
  var isContested: Bool { claims.contestedCount > 0 }

  func paths(of place: Int) -> [ClaimedPath] { entries[place]?.paths ?? [] }

  /// A peer claims a path, by an authenticated check or by what it brought along.
  /// - Parameters:
  ///   - via: the worker whose socket gets it.
  ///   - former: the worker that the peer has come from, if that claims the path for no other.
  mutating func claim(_ path: NetworkPath, place: Int, via: Int, isProven: Bool, former: Int? = nil) {
    entries[place]!.isAdopted = true
    if let known = entries[place]!.paths.first(where: { $0.path == path && $0.via == via }),
      known.isProven == isProven, claims.holds(path, .peer(place: place))
    {
      return
    }
    entries[place]!.paths.removeAll { $0.path == path }
    guard enter(path, .peer(place: place), isProven: isProven) else { return }
    if let former { claims.leave(path, .worker(former)) }
    entries[place]!.paths.append(ClaimedPath(path: path, via: via, isProven: isProven))
    guard via != index else { return }
    post(.pathOwned(path, by: index, isProven: isProvenHere(path) ?? isProven, former: former), to: via)
  }

  /// Whether the peer of this worker that has the path has proven it; nil where no peer of this worker has it.
  ///
  /// Another worker keeps one claim for all peers of this one. What a peer without proof claims beside one that has
  /// proven the path must not take that proof away there.
  private func isProvenHere(_ path: NetworkPath) -> Bool? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.proofOverwritten) { return nil }
    #endif
    guard let claim = claims.claim(path), case .peer = claim.destination else { return nil }
    return claim.isProven
  }

  @discardableResult
  private mutating func enter(
    _ path: NetworkPath, _ destination: PathTable.Destination, isProven: Bool
  ) -> Bool {
    let hasRoom = claims.enter(path, PathClaims.Claim(destination: destination, isProven: isProven))
    if !hasRoom { counters.pathTableFull &+= 1 }
    return hasRoom
  }

  /// Forgets a path that a peer claimed; it goes back to the peer that had it before.
  /// - Parameter isMoving: the peer goes to another worker, which will say that the path is its own.
  mutating func release(_ path: NetworkPath, place: Int, isMoving: Bool = false) {
    guard let entry = entries[place]?.paths.first(where: { $0.path == path }) else { return }
    entries[place]!.paths.removeAll { $0.path == path }
    claims.leave(path, .peer(place: place))
    guard entry.via != index else { return }
    if let claim = claims.claim(path), case .peer = claim.destination {
      // It is another peer's of this worker.
      post(.pathOwned(path, by: index, isProven: claim.isProven, former: nil), to: entry.via)
    } else if !isMoving {
      post(.pathReleased(path, by: index), to: entry.via)
    }
  }

  /// What another worker says of its peers' paths.
  mutating func take(
    pathOwned path: NetworkPath, by worker: Int, isProven: Bool, former: Int?
  ) {
    pending.end(path)
    enter(path, .worker(worker), isProven: isProven)
    if let former { claims.leave(path, .worker(former)) }
  }

  mutating func take(pathReleased path: NetworkPath, by worker: Int) { claims.leave(path, .worker(worker)) }
}
