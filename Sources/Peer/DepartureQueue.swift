internal import Media
internal import Model

/// A packet that is to leave in a slot, by where it is kept. It becomes a packet of the slot's stream at its departure.
struct Departure: BitwiseCopyable {
  var packet: PacketReference
  var slot: Int32
  var selection: Selection
  /// Since when it waits.
  var since: Instant
}

/// A packet that a slot's subscriber asks for again.
struct RequestedDeparture: BitwiseCopyable {
  var packet: PacketReference
  var slot: Int
  var request: RetransmissionRequest
}

/// What is to leave a peer, in order: references into the histories of tracks, so that what waits costs no copies, and what
/// is dropped costs nothing.
///
/// Memory is taken with the first packet and grows to the bound.
struct DepartureQueue: ~Copyable {
  /// More than a turn brings to one peer; the owner lets some leave before it is full.
  static let limit = 1_024

  private var entries: UnsafeMutablePointer<Departure>?
  private var capacity = 0
  private var head = 0
  private(set) var count = 0

  init() {}

  deinit { entries?.deallocate() }

  var isEmpty: Bool { count == 0 }

  /// The one that leaves next; the queue must not be empty.
  @inline(__always)
  var first: Departure { entries![head] }

  /// - Returns: false when it is full.
  @inline(__always)
  mutating func append(_ departure: Departure) -> Bool {
    if head &+ count == capacity, !makeRoom() { return false }
    (entries! + (head &+ count)).initialize(to: departure)
    count &+= 1
    return true
  }

  @inline(__always)
  mutating func removeFirst() {
    head &+= 1
    count &-= 1
    if count == 0 { head = 0 }
  }

  /// Nothing of the slot's source leaves any more.
  mutating func remove(slot: Int) {
    guard let entries, count > 0 else { return }
    var kept = 0
    for position in head..<head + count where entries[position].slot != Int32(slot) {
      entries[head + kept] = entries[position]
      kept += 1
    }
    count = kept
    if count == 0 { head = 0 }
  }

  @inline(never)
  private mutating func makeRoom() -> Bool {
    if let entries, head > 0 {
      entries.update(from: entries + head, count: count)
      head = 0
      return true
    }
    guard count < Self.limit else { return false }
    let grown = min(max(capacity * 2, 16), Self.limit)
    let new = UnsafeMutablePointer<Departure>.allocate(capacity: grown)
    if let entries {
      new.update(from: entries, count: count)
      entries.deallocate()
    }
    (entries, capacity) = (new, grown)
    return true
  }
}
