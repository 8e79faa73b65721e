internal import Model

/// Who a datagram without a name belongs to, by the path that it took: open addressing in fixed memory.
///
/// Strangers choose their addresses, so the hash is keyed; only paths with an authenticated check come in.
struct PathTable: ~Copyable {
  /// What a path leads to.
  enum Destination: Equatable {
    /// The place of a peer of this worker.
    case peer(place: Int)
    /// Another worker has the peer; datagrams are handed over.
    case worker(Int)
  }

  private struct Entry {
    var path: NetworkPath
    /// -1 empty; in the lower 24 bits a place or a worker, above them which of the two, and whether it is proven.
    var destination: Int32
  }

  private static let worker: Int32 = 0x100_0000
  private static let proven: Int32 = 0x200_0000

  private let entries: UnsafeMutablePointer<Entry>
  private let mask: Int
  private let limit: Int
  private let key: (UInt64, UInt64)
  private(set) var count = 0

  /// - Parameters:
  ///   - limit: the most paths that it has room for.
  ///   - random: keys the hash.
  init(limit: Int, random: inout RandomSource) {
    var size = 64
    while size < limit * 2 { size *= 2 }
    mask = size - 1
    self.limit = limit
    key = (random.next() | 1, random.next() | 1)
    entries = .allocate(capacity: size)
    let none = SocketAddress(high: 0, low: 0, port: 0)
    entries.initialize(
      repeating: Entry(path: NetworkPath(remote: none, local: none), destination: -1), count: size)
  }

  deinit { entries.deallocate() }

  /// Every path; a walk over the whole table.
  var all: [(path: NetworkPath, claim: PathClaims.Claim)] {
    (0...mask).filter { entries[$0].destination >= 0 }.map { index in
      let value = entries[index].destination
      return (
        entries[index].path,
        PathClaims.Claim(destination: decode(value), isProven: value & Self.proven != 0)
      )
    }
  }

  func find(_ path: NetworkPath) -> Destination? {
    var index = home(path)
    while entries[index].destination >= 0 {
      if entries[index].path == path { return decode(entries[index].destination) }
      index = (index &+ 1) & mask
    }
    return nil
  }

  /// As `find`, with whether the path is proven to lead there.
  func claim(_ path: NetworkPath) -> PathClaims.Claim? {
    var index = home(path)
    while entries[index].destination >= 0 {
      let value = entries[index].destination
      if entries[index].path == path {
        return PathClaims.Claim(destination: decode(value), isProven: value & Self.proven != 0)
      }
      index = (index &+ 1) & mask
    }
    return nil
  }

  /// - Returns: false when the table is full; an existing path is always updated.
  mutating func set(_ path: NetworkPath, _ claim: PathClaims.Claim) -> Bool {
    let value = encode(claim.destination) | (claim.isProven ? Self.proven : 0)
    var index = home(path)
    while entries[index].destination >= 0 {
      if entries[index].path == path {
        entries[index].destination = value
        return true
      }
      index = (index &+ 1) & mask
    }
    guard count < limit else { return false }
    entries[index] = Entry(path: path, destination: value)
    count &+= 1
    return true
  }

  mutating func remove(_ path: NetworkPath) {
    var index = home(path)
    while entries[index].path != path || entries[index].destination < 0 {
      guard entries[index].destination >= 0 else { return }
      index = (index &+ 1) & mask
    }
    count &-= 1
    // Closes the gap: an entry that was pushed beyond it moves back (no tombstones to clean up later).
    var gap = index
    var probe = (index &+ 1) & mask
    while entries[probe].destination >= 0 {
      let wanted = home(entries[probe].path)
      #if PLANTED_DEFECTS
        let isBehind =
          PlantedDefect.isOn(.pathGap) ? wanted <= gap : (probe &- wanted) & mask >= (probe &- gap) & mask
      #else
        let isBehind = (probe &- wanted) & mask >= (probe &- gap) & mask
      #endif
      if isBehind {
        entries[gap] = entries[probe]
        gap = probe
      }
      probe = (probe &+ 1) & mask
    }
    entries[gap].destination = -1
  }

  private func encode(_ destination: Destination) -> Int32 {
    switch destination {
    case .peer(let place): Int32(truncatingIfNeeded: place & 0xFF_FFFF)
    case .worker(let worker): Int32(truncatingIfNeeded: worker & 0xFF) | Self.worker
    }
  }
  @inline(__always)
  private func decode(_ value: Int32) -> Destination {
    value & Self.worker != 0 ? .worker(Int(value & 0xFF)) : .peer(place: Int(value & 0xFF_FFFF))
  }

  private func home(_ path: NetworkPath) -> Int {
    var hash = key.0
    hash = Self.mix(hash ^ path.remote.high, key.1)
    hash = Self.mix(hash ^ path.remote.low, key.1)
    hash = Self.mix(hash ^ UInt64(path.remote.port) << 32 ^ UInt64(path.remote.scope), key.1)
    hash = Self.mix(hash ^ path.local.low ^ path.local.high &* 3, key.1)
    return Int(truncatingIfNeeded: hash) & mask
  }

  private static func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
    let product = a.multipliedFullWidth(by: b)
    return product.high ^ product.low
  }
}
