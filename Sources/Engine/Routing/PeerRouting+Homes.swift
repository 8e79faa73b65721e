internal import Model

extension PeerRouting {
  func isHome(of key: PeerKey) -> Bool { homes[key] != nil }

  /// At its home: the other worker that has the peer. Nil where it isn't home, or the peer is here or gone.
  func owner(of key: PeerKey) -> Int? {
    guard key.home == index, let home = homes[key], home.worker != index else { return nil }
    return home.worker
  }

  /// The worker that is asked for a peer's track that isn't here, and hears when it is no longer wanted: always the same,
  /// so that the second word doesn't overtake the first. Nil when the peer is known to be gone.
  func asked(of key: PeerKey) -> Int? {
    if key.home == index { return homes[key]?.worker }
    return key.home < exchange.count ? key.home : nil
  }

  /// The home's last word on a peer.
  mutating func forget(_ key: PeerKey) {
    guard let home = homes.removeValue(forKey: key) else { return }
    for ufrag in home.ufrags {
      fragments[ufrag] = nil
      exchange.remove(ufrag)
    }
  }

  /// A restart's fragment, at its home and where the peer is; those that no longer serve are forgotten.
  /// - Parameter served: by the peer, where it is here.
  mutating func addFragment(_ text: String, of key: PeerKey, served: [String]?) {
    guard let ufrag = UfragKey(text) else { return }
    fragments[ufrag] = key
    let served = served.map { $0.compactMap { UfragKey($0) } }
    if homes[key] != nil, !homes[key]!.ufrags.contains(ufrag) {
      homes[key]!.ufrags.append(ufrag)
      exchange.insert(ufrag)
      for old in Self.obsolete(homes[key]!.ufrags, served: served) {
        homes[key]!.ufrags.removeAll { $0 == old }
        fragments[old] = nil
        exchange.remove(old)
      }
    }
    guard let place = places[key], !entries[place]!.ufrags.contains(ufrag) else { return }
    entries[place]!.ufrags.append(ufrag)
    for old in Self.obsolete(entries[place]!.ufrags, served: served) {
      entries[place]!.ufrags.removeAll { $0 == old }
      fragments[old] = nil
    }
  }

  /// After many restarts in a row the fragment in use may be the oldest; where the peer isn't, that can't be seen, and all
  /// but the last two go.
  private static func obsolete(_ ufrags: [UfragKey], served: [UfragKey]?) -> [UfragKey] {
    guard let served else { return Array(ufrags.dropLast(2)) }
    return ufrags.filter { !served.contains($0) }
  }
}
