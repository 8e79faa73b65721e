internal import Model

/// Peers by key, since their places are another worker's.
struct RoutingState: Sendable {
  struct Home: Sendable {
    var key: PeerKey
    var worker: UInt8
    var ufrags: [UfragKey]
  }

  struct RoutedPeer: Sendable {
    var key: PeerKey
    var ufrags: [UfragKey]
    var isAdopted: Bool
    var paths: [ClaimedPath]
  }

  enum Destination: Sendable {
    case peer(PeerKey)
    case worker(UInt8)
  }

  struct Claim: Sendable {
    var destination: Destination
    var isProven: Bool
  }

  struct Path: Sendable {
    var path: NetworkPath
    var owner: Claim
    var rivals: [Claim]
  }

  var homes: [Home] = []
  var peers: [RoutedPeer] = []
  var paths: [Path] = []

  init() {}

  /// All that are named.
  var workers: [Int] {
    let claims = paths.flatMap { [$0.owner] + $0.rivals }
    return homes.map { Int($0.worker) } + peers.flatMap { $0.paths.map(\.via) }
      + claims.compactMap {
        if case .worker(let worker) = $0.destination { Int(worker) } else { nil }
      }
  }

  func encode(into writer: inout StateWriter) {
    writer.write(UInt32(homes.count))
    for home in homes {
      writer.write(home.key.rawValue)
      writer.write(home.worker)
      Self.write(home.ufrags, &writer)
    }
    writer.write(UInt32(peers.count))
    for peer in peers {
      writer.write(peer.key.rawValue)
      Self.write(peer.ufrags, &writer)
      writer.write(peer.isAdopted)
      writer.write(UInt32(peer.paths.count))
      for entry in peer.paths {
        writer.write(entry.path)
        writer.write(UInt8(truncatingIfNeeded: entry.via))
        writer.write(entry.isProven)
      }
    }
    writer.write(UInt32(paths.count))
    for entry in paths {
      writer.write(entry.path)
      Self.write(entry.owner, &writer)
      writer.write(UInt32(entry.rivals.count))
      for rival in entry.rivals { Self.write(rival, &writer) }
    }
  }

  init(from reader: inout StateReader) throws(StateError) {
    for _ in 0..<(try reader.count(limit: 1 << 20)) {
      homes.append(
        Home(
          key: PeerKey(rawValue: try reader.integer()), worker: try reader.integer(),
          ufrags: try Self.ufrags(&reader)))
    }
    for _ in 0..<(try reader.count(limit: 1 << 20)) {
      var peer = RoutedPeer(
        key: PeerKey(rawValue: try reader.integer()), ufrags: try Self.ufrags(&reader),
        isAdopted: try reader.bool(), paths: [])
      for _ in 0..<(try reader.count(limit: 1_024)) {
        peer.paths.append(
          ClaimedPath(
            path: try reader.path(), via: Int(try reader.integer(UInt8.self)), isProven: try reader.bool()))
      }
      peers.append(peer)
    }
    for _ in 0..<(try reader.count(limit: 1 << 22)) {
      var entry = Path(path: try reader.path(), owner: try Self.claim(&reader), rivals: [])
      for _ in 0..<(try reader.count(limit: PathClaims.rivalLimit)) {
        entry.rivals.append(try Self.claim(&reader))
      }
      paths.append(entry)
    }
  }

  private static func write(_ ufrags: [UfragKey], _ writer: inout StateWriter) {
    writer.write(UInt32(ufrags.count))
    for ufrag in ufrags {
      writer.write(ufrag.high)
      writer.write(ufrag.low)
    }
  }

  private static func ufrags(_ reader: inout StateReader) throws(StateError) -> [UfragKey] {
    var ufrags: [UfragKey] = []
    for _ in 0..<(try reader.count(limit: 64)) {
      ufrags.append(UfragKey(high: try reader.integer(), low: try reader.integer()))
    }
    return ufrags
  }

  private static func write(_ claim: Claim, _ writer: inout StateWriter) {
    writer.write(claim.isProven)
    switch claim.destination {
    case .peer(let key):
      writer.write(true)
      writer.write(key.rawValue)
    case .worker(let worker):
      writer.write(false)
      writer.write(worker)
    }
  }

  private static func claim(_ reader: inout StateReader) throws(StateError) -> Claim {
    let isProven = try reader.bool()
    let destination: Destination =
      try reader.bool() ? .peer(PeerKey(rawValue: try reader.integer())) : .worker(try reader.integer())
    return Claim(destination: destination, isProven: isProven)
  }
}

extension PeerRouting {
  /// - Parameter kept: the peers that are here and go along; the others are left behind with all that is said of them.
  func state(of kept: Set<PeerKey>) -> RoutingState {
    var state = RoutingState()
    for key in homes.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard let home = homes[key], home.worker != index || kept.contains(key) else { continue }
      state.homes.append(.init(key: key, worker: UInt8(truncatingIfNeeded: home.worker), ufrags: home.ufrags))
    }
    for case let entry? in entries where kept.contains(entry.key) {
      state.peers.append(
        .init(key: entry.key, ufrags: entry.ufrags, isAdopted: entry.isAdopted, paths: entry.paths))
    }
    for entry in claims.all {
      var all = ([entry.owner] + entry.rivals).compactMap { claim($0, of: kept) }
      // Where its owner is left behind, who has proven it comes next, else who claimed it last.
      let isLeft = claim(entry.owner, of: kept) == nil
      let owner = isLeft ? all.lastIndex(where: \.isProven) ?? all.count - 1 : 0
      guard all.indices.contains(owner) else { continue }
      let first = all.remove(at: owner)
      state.paths.append(.init(path: entry.path, owner: first, rivals: all))
    }
    return state
  }

  private func claim(_ claim: PathClaims.Claim, of kept: Set<PeerKey>) -> RoutingState.Claim? {
    switch claim.destination {
    case .peer(let place):
      entries[place].flatMap {
        kept.contains($0.key)
          ? RoutingState.Claim(destination: .peer($0.key), isProven: claim.isProven) : nil
      }
    case .worker(let worker):
      RoutingState.Claim(
        destination: .worker(UInt8(truncatingIfNeeded: worker)), isProven: claim.isProven)
    }
  }

  /// Puts all of it in where nothing is yet.
  /// - Parameter here: the places of peers that are here; others of the state didn't come.
  mutating func restore(_ state: RoutingState, places here: [PeerKey: Int]) {
    for home in state.homes {
      homes[home.key] = Home(worker: Int(home.worker), ufrags: home.ufrags)
      for ufrag in home.ufrags {
        fragments[ufrag] = home.key
        exchange.insert(ufrag)
      }
    }
    for peer in state.peers {
      guard let place = here[peer.key] else { continue }
      entries[place] = RoutedPeer(
        key: peer.key, ufrags: peer.ufrags, paths: peer.paths, isAdopted: peer.isAdopted)
      places[peer.key] = place
      for ufrag in peer.ufrags { fragments[ufrag] = peer.key }
    }
    for entry in state.paths {
      let all = ([entry.owner] + entry.rivals).compactMap { claim -> PathClaims.Claim? in
        switch claim.destination {
        case .peer(let key):
          here[key].map { .init(destination: .peer(place: $0), isProven: claim.isProven) }
        case .worker(let worker): .init(destination: .worker(Int(worker)), isProven: claim.isProven)
        }
      }
      if let owner = all.first { claims.restore(entry.path, owner: owner, rivals: Array(all.dropFirst())) }
    }
  }
}
