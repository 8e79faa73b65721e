internal import Model

/// What workers tell each other of whose a path and a peer are.
enum RoutingMessage: Sendable {
  /// A check for a peer of yours came in here: adopt it to me if it is valid and no worker has it.
  case check(FirstCheck)
  /// Here is a peer whose datagrams come in at your socket.
  case adopted(AdoptedPeer)
  /// A peer of mine claims this path, and may have proven it: if it is mine by that, hand its datagrams over. It has
  /// come from `former`, whose claim this replaces.
  case pathOwned(NetworkPath, by: Int, isProven: Bool, former: Int?)
  /// Nothing of mine is behind this path any more.
  case pathReleased(NetworkPath, by: Int)
  /// A peer that you are home to ended here.
  case released(PeerKey)

  /// Checks are strangers' and repeated; the others are state, bounded by peers and paths.
  var mayDrop: Bool {
    if case .check = self { true } else { false }
  }
}

/// A check on its way to the worker that has its peer.
struct FirstCheck: Sendable {
  var ufrag: UfragKey
  var datagram: [UInt8]
  var path: NetworkPath
  var arrival: Instant
  /// The worker whose socket got it.
  var from: Int
}

/// A path that a peer claims.
struct ClaimedPath: Sendable {
  let path: NetworkPath
  /// The worker whose socket gets it.
  let via: Int
  /// As the tables have it.
  var isProven: Bool
  /// The peer's home claims it for another peer as well.
  var isShared = false
}

/// A peer on its way from its home to the worker that adopts it.
struct AdoptedPeer: Sendable {
  var key: PeerKey
  var state: [UInt8]
  var ufrags: [UfragKey]
  var paths: [ClaimedPath]
  /// Its tracks, each with the workers that get it, a bit each.
  var relays: [(TrackKey, UInt64)] = []
}
