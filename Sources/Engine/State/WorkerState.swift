internal import Media
internal import Model

/// What of a worker outlives an upgrade, as a value: which peers it is home to, whose paths are whose, the peers themselves,
/// and who gets which track, with the packets that may be asked for again. Left behind are counters, checks that wait for an
/// answer, sinks, and peers in the middle of a handshake, which has no state that could be taken out: they are named.
struct WorkerState: Sendable {
  var routing = RoutingState()
  var peers: [PeerState] = []
  /// Peers that were in the middle of a handshake: the worker that goes on ends them.
  var leftBehind: [PeerKey] = []
  var feeds: [FeedState] = []

  struct PeerState: Sendable {
    var key: PeerKey
    /// As `Peer.encode` has it, with a version of its own.
    var bytes: [UInt8]
  }

  /// The parts of the bytes, each with a version, so that a build reads what the one before it wrote.
  enum Section: UInt8, CaseIterable {
    case routing = 1
    case peers = 2
    case feeds = 3

    /// What this build writes, and the newest that it reads. Since version 2 peers that are left behind are named, and so are
    /// the encodings of tracks.
    var version: UInt16 { self == .routing ? 1 : 2 }

    /// Sections from this number on say nothing that the others rest on: a build that doesn't know one goes on without it.
    static let firstOptional: UInt8 = 128
  }

  /// Of a whole worker, and of one peer.
  static let byteLimit = 1 << 30
  static let peerLimit = 1 << 24

  init() {}

  func encode() -> [UInt8] {
    var writer = StateWriter()
    for section in Section.allCases {
      var body = StateWriter()
      switch section {
      case .routing: routing.encode(into: &body)
      case .peers:
        body.write(UInt32(peers.count))
        for peer in peers {
          body.write(peer.key.rawValue)
          body.write(peer.bytes)
        }
        body.write(UInt32(leftBehind.count))
        for key in leftBehind { body.write(key.rawValue) }
      case .feeds:
        body.write(UInt32(feeds.count))
        for feed in feeds { feed.encode(into: &body) }
      }
      writer.write(section.rawValue)
      writer.write(section.version)
      writer.write(body.bytes)
    }
    return writer.bytes
  }

  /// What can only be known by the worker that is to go on from it: every worker that is named is one of so many, and
  /// nothing comes twice that is one thing.
  func check(workers count: Int) throws(StateError) {
    func once<Key: Hashable>(_ keys: [Key], _ field: String) throws(StateError) {
      guard Set(keys).count == keys.count else {
        throw .invalid(field: "\(field) that comes twice", offset: 0)
      }
    }
    try once(peers.map(\.key) + leftBehind, "peer")
    try once(routing.homes.map(\.key), "home record")
    try once(routing.peers.map(\.key), "routed peer")
    try once(routing.paths.map(\.path), "path")
    try once(feeds.map(\.key), "track")
    try once(feeds.flatMap { $0.slots.map { [$0.peer.rawValue, UInt64($0.slot)] } }, "slot")
    let named = routing.workers + feeds.flatMap(\.workers)
    guard let highest = named.max(), highest >= count else { return }
    throw .invalid(field: "worker \(highest) of \(count)", offset: 0)
  }

  /// - Throws: for bytes that no build up to this one made; `version` where a newer build wrote a section otherwise. What newer
  ///   builds add in optional sections is skipped.
  init(decoding bytes: [UInt8]) throws(StateError) {
    var reader = StateReader(bytes)
    var missing = Section.allCases[...]
    while !missing.isEmpty || !reader.isAtEnd {
      let offset = reader.offset
      let number: UInt8 = try reader.integer()
      let version: UInt16 = try reader.integer()
      let body = try reader.array(limit: Self.byteLimit)
      if number >= Section.firstOptional { continue }
      // Each comes once, in their order.
      guard let section = missing.popFirst(), section.rawValue == number else {
        throw .invalid(field: "section \(number)", offset: offset)
      }
      try read(section, version, body, at: offset)
    }
  }

  private mutating func read(
    _ section: Section, _ version: UInt16, _ bytes: [UInt8], at offset: Int
  ) throws(StateError) {
    guard (1...section.version).contains(version) else {
      throw .version(Int(version), of: "\(section)", known: 1...Int(section.version), offset: offset)
    }
    var body = StateReader(bytes)
    switch section {
    case .routing: routing = try RoutingState(from: &body)
    case .peers:
      for _ in 0..<(try body.count(limit: 1 << 20)) {
        let key = PeerKey(rawValue: try body.integer())
        peers.append(PeerState(key: key, bytes: try body.array(limit: Self.peerLimit)))
      }
      guard version >= 2 else { break }
      for _ in 0..<(try body.count(limit: 1 << 20)) {
        leftBehind.append(PeerKey(rawValue: try body.integer()))
      }
    case .feeds:
      for _ in 0..<(try body.count(limit: 1 << 22)) { feeds.append(try FeedState(from: &body, version)) }
    }
    try body.finish()
  }
}
