internal import Media
internal import Model

/// What came in a turn and is yet to be served, by where it is kept: a chain for each track, so that a turn serves consumer
/// by consumer, and what leaves for one subscriber lies together.
struct FreshPackets: ~Copyable {
  /// At most so many wait; then they are served in the middle of the turn. Fewer than any history keeps, so that what is
  /// served is still there.
  static let limit = 64

  /// One track's packets, in the order in which they came: places in here, -1 for none.
  struct Chain: BitwiseCopyable {
    var first: Int32 = -1
    var last: Int32 = -1
    /// Of all of them.
    var bytes: Int32 = 0
  }

  private struct Entry: BitwiseCopyable {
    var sequence: Int64
    var next: Int32
  }

  private let entries: UnsafeMutablePointer<Entry>
  private let feeds: UnsafeMutablePointer<Int32>
  private(set) var count = 0
  /// Tracks that have some, in the order of their first.
  private(set) var feedCount = 0

  init() {
    entries = .allocate(capacity: Self.limit)
    feeds = .allocate(capacity: Self.limit)
  }

  deinit {
    entries.deallocate()
    feeds.deallocate()
  }

  var isFull: Bool { count == Self.limit }

  /// - Precondition: not full.
  @inline(__always)
  mutating func append(_ info: PacketInfo, size: Int, feed: Int, to chain: inout Chain) {
    let place = Int32(truncatingIfNeeded: count)
    (entries + count).initialize(
      to: Entry(sequence: info.extendedSequence, next: -1))
    count &+= 1
    chain.bytes &+= Int32(truncatingIfNeeded: size)
    if chain.first < 0 {
      chain.first = place
      (feeds + feedCount).initialize(to: Int32(truncatingIfNeeded: feed))
      feedCount &+= 1
    } else {
      entries[Int(chain.last)].next = place
    }
    chain.last = place
  }

  /// A track that has some; `position` is below `feedCount`.
  func feed(_ position: Int) -> Int { Int(feeds[position]) }

  /// - Parameters:
  ///   - place: of a chain, not negative.
  ///   - feed: whose chain it is, with its serial number.
  @inline(__always)
  func reference(_ place: Int32, feed: Int, serial: UInt32) -> PacketReference {
    PacketReference(track: feed, serial: serial, sequence: entries[Int(place)].sequence)
  }

  /// The place behind one in its chain; -1 at the end.
  @inline(__always)
  func next(_ place: Int32) -> Int32 { entries[Int(place)].next }

  mutating func removeAll() {
    count = 0
    feedCount = 0
  }
}
