internal import Model
internal import Peer

/// A path that a peer claims.
struct ClaimedPath: Sendable {
  let path: NetworkPath
  /// The worker whose socket gets it.
  let via: Int
  /// As the tables have it.
  var isProven: Bool
  /// The worker that the peer has come from claims it for another peer as well.
  var isShared = false
}

/// What a worker knows of a peer beside the peer itself.
struct PeerRecord {
  var key: PeerKey
  /// Fragments under which it is found, the newest last; two while an ICE restart is under way.
  var ufrags: [UfragKey]
  /// Paths that it claims.
  var paths: [ClaimedPath] = []
  /// By receiver and by slot: indices of fan-outs, -1 for none.
  var tracks: [Int32] = []
  var sources: [Int32] = []
  /// A valid check came: the peer is at the worker that got it, and stays.
  var isAdopted = false
}

/// The peers of one worker, in memory taken at start; a peer is an index.
struct PeerSlab: ~Copyable {
  private let peers: UnsafeMutablePointer<Peer>
  private var records: [PeerRecord?]
  private var free: [Int32]
  private var slots: [PeerKey: Int] = [:]
  let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    peers = .allocate(capacity: capacity)
    records = Array(repeating: nil, count: capacity)
    free = (0..<Int32(capacity)).reversed()
  }

  deinit {
    for index in 0..<capacity where records[index] != nil { (peers + index).deinitialize(count: 1) }
    peers.deallocate()
  }

  var count: Int { slots.count }
  var isFull: Bool { free.isEmpty }

  func find(_ key: PeerKey) -> Int? { slots[key] }

  /// The peer's place; it must be occupied.
  @inline(__always)
  func pointer(_ slot: Int) -> UnsafeMutablePointer<Peer> { peers + slot }

  func isOccupied(_ slot: Int) -> Bool { slot >= 0 && slot < capacity && records[slot] != nil }

  subscript(record slot: Int) -> PeerRecord {
    get { records[slot].unsafelyUnwrapped }
    set { records[slot] = newValue }
  }

  /// - Precondition: not full.
  mutating func insert(_ peer: consuming Peer, _ record: PeerRecord) -> Int {
    let slot = Int(free.removeLast())
    (peers + slot).initialize(to: peer)
    records[slot] = record
    slots[record.key] = slot
    return slot
  }

  /// Frees a peer and puts the one that its bytes describe in its place, under the same record.
  /// - Returns: false for bytes that are no peer's; then the place is empty.
  mutating func replace(_ slot: Int, from state: [UInt8]) -> Bool {
    (peers + slot).deinitialize(count: 1)
    guard let peer = try? Peer.decode(state) else {
      if let key = records[slot]?.key { slots[key] = nil }
      records[slot] = nil
      return false
    }
    (peers + slot).initialize(to: peer)
    return true
  }

  mutating func remove(_ slot: Int) {
    guard let record = records[slot] else { return }
    (peers + slot).deinitialize(count: 1)
    records[slot] = nil
    slots[record.key] = nil
    free.append(Int32(slot))
  }

  /// Slots in use, in order.
  var occupied: [Int] { (0..<capacity).filter { records[$0] != nil } }
}
