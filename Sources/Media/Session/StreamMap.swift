internal import Model

/// Which encoding of which section an incoming SSRC belongs to: open addressing in fixed memory, at most 512 streams.
struct StreamMap: ~Copyable {
  struct Stream: BitwiseCopyable {
    var section: UInt16
    var encoding: UInt8
    var isRTX: Bool
  }
  private struct Entry {
    var ssrc: UInt32 = 0
    var used = false
    var stream = Stream(section: 0, encoding: 0, isRTX: false)
  }

  static let limit = 512
  private static let mask = 1_023
  private let entries: UnsafeMutablePointer<Entry>
  private(set) var count = 0

  init() {
    entries = .allocate(capacity: Self.mask + 1)
    entries.initialize(repeating: Entry(), count: Self.mask + 1)
  }

  deinit { entries.deallocate() }

  @inline(__always)
  func find(_ ssrc: UInt32) -> Stream? {
    var index = Self.home(ssrc)
    while entries[index].used {
      if entries[index].ssrc == ssrc { return entries[index].stream }
      index = (index &+ 1) & Self.mask
    }
    return nil
  }

  /// - Returns: false when full.
  mutating func set(_ ssrc: UInt32, _ stream: Stream) -> Bool {
    var index = Self.home(ssrc)
    while entries[index].used && entries[index].ssrc != ssrc { index = (index &+ 1) & Self.mask }
    if !entries[index].used {
      guard count < Self.limit else { return false }
      count &+= 1
    }
    entries[index] = Entry(ssrc: ssrc, used: true, stream: stream)
    return true
  }

  /// Its sender may have it done ten times a second for each section.
  mutating func remove(_ ssrc: UInt32) {
    var gap = Self.home(ssrc)
    while entries[gap].used && entries[gap].ssrc != ssrc { gap = (gap &+ 1) & Self.mask }
    guard entries[gap].used else { return }
    count &-= 1
    // Closes the gap: an entry that was pushed beyond it moves back.
    var probe = (gap &+ 1) & Self.mask
    while entries[probe].used {
      let distance = (probe &- Self.home(entries[probe].ssrc)) & Self.mask
      if distance >= (probe &- gap) & Self.mask {
        entries[gap] = entries[probe]
        gap = probe
      }
      probe = (probe &+ 1) & Self.mask
    }
    entries[gap] = Entry()
  }

  mutating func removeAll() {
    entries.update(repeating: Entry(), count: Self.mask + 1)
    count = 0
  }

  /// Every stream, in no order.
  var all: [(ssrc: UInt32, stream: Stream)] {
    (0...Self.mask).filter { entries[$0].used }.map { (entries[$0].ssrc, entries[$0].stream) }
  }

  private static func home(_ ssrc: UInt32) -> Int {
    Int(truncatingIfNeeded: (ssrc &* 0x9E37_79B1) >> 22) & mask
  }
}
