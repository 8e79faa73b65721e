internal import Media
internal import Model

/// The feeds of one worker: an index each, which stays as long as the feed.
struct TrackFeedTable: ~Copyable {
  private var base: UnsafeMutablePointer<TrackFeed>
  private var capacity = 16
  private var used: [Bool] = Array(repeating: false, count: 16)
  private var free: [Int32] = (0..<16).reversed()
  private var indices: [TrackKey: Int] = [:]
  private var lastSerial: UInt32 = 0

  init() { base = .allocate(capacity: 16) }

  deinit {
    for index in 0..<capacity where used[index] { (base + index).deinitialize(count: 1) }
    base.deallocate()
  }

  var count: Int { indices.count }
  /// Tracks of that kind whose publisher is here; a walk.
  func publishedCount(_ kind: MediaKind) -> Int {
    indices.values.count { base[$0].kind == kind && base[$0].publisher != nil }
  }
  /// Memory of the histories; a walk.
  var historyBytes: Int { indices.values.reduce(0) { $0 + base[$1].historyBytes } }
  /// Slots and sinks of all tracks; a walk.
  var consumerCount: Int { indices.values.reduce(0) { $0 + base[$1].consumers.count } }
  func find(_ key: TrackKey) -> Int? { indices[key] }
  /// Every feed, in the order of indices; a walk.
  var all: [Int] { indices.values.sorted() }
  /// Of all tracks of a peer; a walk.
  func indices(of peer: PeerKey) -> [Int] { indices.filter { $0.key.peer == peer }.map(\.value).sorted() }

  @inline(__always)
  func pointer(_ index: Int) -> UnsafeMutablePointer<TrackFeed> { base + index }

  /// The packet, as long as its feed is there and keeps it.
  @inline(__always)
  func find(_ packet: PacketReference) -> (packet: UnsafeRawBufferPointer, info: PacketInfo)? {
    let index = Int(packet.track)
    guard index < capacity, used[index], base[index].serial == packet.serial else { return nil }
    return base[index].find(packet.sequence)
  }

  /// Indices stay; pointers don't outlive this call.
  mutating func insert(_ feed: consuming TrackFeed) -> Int {
    if free.isEmpty { grow() }
    let index = Int(free.removeLast())
    indices[feed.key] = index
    used[index] = true
    (base + index).initialize(to: feed)
    lastSerial &+= 1
    base[index].serial = lastSerial
    return index
  }

  mutating func remove(_ index: Int) {
    guard used[index] else { return }
    indices[base[index].key] = nil
    (base + index).deinitialize(count: 1)
    used[index] = false
    free.append(Int32(index))
  }

  private mutating func grow() {
    let grown = UnsafeMutablePointer<TrackFeed>.allocate(capacity: capacity * 2)
    // Full: every place is used.
    grown.moveInitialize(from: base, count: capacity)
    base.deallocate()
    base = grown
    free = (Int32(capacity)..<Int32(capacity * 2)).reversed()
    used += Array(repeating: false, count: capacity)
    capacity *= 2
  }
}
