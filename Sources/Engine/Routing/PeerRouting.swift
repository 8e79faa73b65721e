internal import Model
internal import Peer
internal import Polling

/// Whose a datagram is: the peer at a place of this worker, or another worker's.
///
/// Every peer has a home, which its ICE user name names, and is at one worker: there until its first valid check, then at the
/// worker whose socket got that. The home passes on what is said to the peer, and the checks that name it.
///
///     datagram ──path──▶ place | worker            media, handshakes, answers
///     check ──user name──▶ place | home | worker   and from then on its path is known
///
/// It knows peers by key and place alone, and says what is to be done; its owner does that.
struct PeerRouting: ~Copyable {
  let index: Int
  let exchange: Exchange
  let pendingLimit: Int
  var claims: PathClaims
  var homes: [PeerKey: Home] = [:]
  /// Fragments of peers that are here, and of those whose home this is.
  var fragments: [UfragKey: PeerKey] = [:]
  var pending = PendingChecks()
  var counters = RoutingCounters()
  /// Workers that got datagrams in this batch and are yet to be woken.
  var touched: UInt64 = 0
  var places: [PeerKey: Int] = [:]
  /// By place.
  var entries: [RoutedPeer?]

  /// Where a peer of this home is.
  struct Home {
    /// This worker or the one that adopted it.
    var worker: Int
    var ufrags: [UfragKey]
  }

  /// A peer that is here.
  struct RoutedPeer {
    var key: PeerKey
    /// Fragments under which it is found, the newest last; two while an ICE restart is under way.
    var ufrags: [UfragKey]
    /// Paths that it claims.
    var paths: [ClaimedPath] = []
    /// A valid check came: the peer is at the worker that got it, and stays.
    var isAdopted = false
  }

  /// - Parameters:
  ///   - places: the most peers that are here.
  ///   - pendingLimit: checks that wait for an answer from their home.
  ///   - random: keys the hash of paths.
  init(index: Int, places: Int, pendingLimit: Int, exchange: Exchange, random: inout RandomSource) {
    self.index = index
    self.exchange = exchange
    self.pendingLimit = pendingLimit
    entries = Array(repeating: nil, count: places)
    // Eight pairs a peer, here or handed over.
    claims = PathClaims(limit: max(places * 8, 64), random: &random)
  }

  mutating func post(_ message: RoutingMessage, to worker: Int) {
    guard worker >= 0 && worker < exchange.count else { return }
    if !exchange.mailboxes[worker].post(.routing(message), force: !message.mayDrop) {
      counters.messagesDropped &+= 1
    }
  }

  // MARK: - Peers that are here

  /// A new peer, at its home.
  mutating func add(_ key: PeerKey, ufrag: UfragKey, at place: Int) {
    homes[key] = Home(worker: index, ufrags: [ufrag])
    exchange.insert(ufrag)
    enter(key, ufrags: [ufrag], at: place)
  }

  private mutating func enter(_ key: PeerKey, ufrags: [UfragKey], at place: Int) {
    entries[place] = RoutedPeer(key: key, ufrags: ufrags)
    places[key] = place
    for ufrag in ufrags { fragments[ufrag] = key }
  }

  /// A peer ends here; the last word on it is its home's.
  mutating func remove(_ place: Int) {
    guard let key = entries[place]?.key else { return }
    _ = leave(place, isMoving: false)
    if key.home == index { forget(key) } else { post(.released(key), to: key.home) }
  }

  private mutating func leave(_ place: Int, isMoving: Bool) -> RoutedPeer? {
    guard let entry = entries[place] else { return nil }
    for claimed in entry.paths { release(claimed.path, place: place, isMoving: isMoving) }
    for ufrag in entry.ufrags { fragments[ufrag] = nil }
    places[entry.key] = nil
    entries[place] = nil
    return entry
  }

  // MARK: - Adoption

  /// Gives a peer of this home, which is here, to another worker.
  /// - Returns: what that worker is to be sent, its tracks aside.
  mutating func handOn(_ place: Int, state: [UInt8], to worker: Int) -> AdoptedPeer? {
    guard var entry = leave(place, isMoving: true) else { return nil }
    for position in entry.paths.indices {
      if case .peer = claims.find(entry.paths[position].path) { entry.paths[position].isShared = true }
    }
    homes[entry.key]?.worker = worker
    // The home keeps the fragments, to pass on checks that come in here.
    for ufrag in homes[entry.key]?.ufrags ?? [] { fragments[ufrag] = entry.key }
    counters.adopted &+= 1
    return AdoptedPeer(key: entry.key, state: state, ufrags: entry.ufrags, paths: entry.paths)
  }

  /// A peer has come to the worker that adopts it.
  mutating func adopt(_ peer: AdoptedPeer, at place: Int) {
    enter(peer.key, ufrags: peer.ufrags, at: place)
    entries[place]!.isAdopted = true
  }

  /// A peer has come for which there is no place: its home, and who hands datagrams over, hear of it.
  mutating func refuse(_ peer: AdoptedPeer) {
    post(.released(peer.key), to: peer.key.home)
    // A path that the home claims for another peer as well stays the home's.
    for entry in peer.paths where !entry.isShared {
      post(.pathReleased(entry.path, by: peer.key.home), to: entry.via)
    }
  }

  func isAdopted(_ place: Int) -> Bool { entries[place]?.isAdopted ?? false }
}
