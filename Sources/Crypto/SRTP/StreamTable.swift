import Model

/// The SSRCs that a peer's packets were authenticated with, each with its windows of received indices.
///
/// A fixed number of places, found by a scan over the SSRCs alone. Those that a track is mapped to stay; the
/// others share `unmappedLimit` places, of which the least recently used is given up for a newcomer.
struct StreamTable: ~Copyable {
  static let unmappedLimit = 32

  struct Stream {
    var ssrc: UInt32
    var mapped: Bool
    /// The table's tick when a packet last came in.
    var lastUsed: UInt64 = 0
    var rtp = IndexWindow()
    var rtcp = IndexWindow()
    /// libsrtp has not seen this stream's highest index and must be given the rollover counter.
    var needsRollover = false
  }

  let mappedLimit: Int
  private(set) var count = 0
  private(set) var mappedCount = 0
  private var tick: UInt64 = 0
  private let ssrcs: UnsafeMutablePointer<UInt32>
  private let streams: UnsafeMutablePointer<Stream>
  private var lastFound = 0

  init(mappedLimit: Int) {
    self.mappedLimit = mappedLimit
    ssrcs = .allocate(capacity: mappedLimit + Self.unmappedLimit)
    streams = .allocate(capacity: mappedLimit + Self.unmappedLimit)
  }

  deinit {
    // Both hold plain values only.
    ssrcs.deallocate()
    streams.deallocate()
  }

  var unmappedCount: Int { count &- mappedCount }

  mutating func find(_ ssrc: UInt32) -> Int? {
    if lastFound < count, ssrcs[lastFound] == ssrc { return lastFound }
    for place in 0..<count where ssrcs[place] == ssrc {
      lastFound = place
      return place
    }
    return nil
  }

  /// The stream at `place`, below `count`; good until the table changes.
  func stream(_ place: Int) -> UnsafeMutablePointer<Stream> { streams + place }

  mutating func touch(_ place: Int) {
    tick &+= 1
    streams[place].lastUsed = tick
  }

  /// Adds `ssrc`, which is not in the table, as unmapped.
  /// - Returns: its place, and the SSRC that it pushed out.
  mutating func insertUnmapped(_ ssrc: UInt32) -> (place: Int, evicted: UInt32?) {
    let evicted = makeRoomForUnmapped()
    append(Stream(ssrc: ssrc, mapped: false))
    touch(count &- 1)
    return (count &- 1, evicted)
  }

  /// - Returns: whether the SSRC is mapped now; false when `mappedLimit` are.
  mutating func map(_ ssrc: UInt32) -> Bool {
    let place = find(ssrc)
    if let place, streams[place].mapped { return true }
    guard mappedCount < mappedLimit else { return false }
    if let place {
      streams[place].mapped = true
    } else {
      append(Stream(ssrc: ssrc, mapped: true))
    }
    mappedCount &+= 1
    return true
  }

  /// Turns a mapped SSRC into an unmapped one.
  /// - Returns: the SSRC that had to go for it.
  mutating func unmap(_ ssrc: UInt32) -> UInt32? {
    guard let place = find(ssrc), streams[place].mapped else { return nil }
    let evicted = makeRoomForUnmapped()
    // Eviction moves the last stream into the gap.
    guard let place = find(ssrc) else { return evicted }
    streams[place].mapped = false
    mappedCount &-= 1
    touch(place)
    return evicted
  }

  /// For rebuilding: false where the table or one of its parts is full, or the SSRC is there already.
  mutating func restore(_ stream: Stream) -> Bool {
    guard find(stream.ssrc) == nil,
      stream.mapped ? mappedCount < mappedLimit : unmappedCount < Self.unmappedLimit
    else { return false }
    append(stream)
    if stream.mapped { mappedCount &+= 1 }
    tick = max(tick, stream.lastUsed)
    return true
  }

  private mutating func append(_ stream: Stream) {
    ssrcs[count] = stream.ssrc
    (streams + count).initialize(to: stream)
    count &+= 1
  }

  private mutating func makeRoomForUnmapped() -> UInt32? {
    guard unmappedCount >= Self.unmappedLimit else { return nil }
    var oldest: Int?
    for place in 0..<count where !streams[place].mapped {
      if oldest.map({ streams[place].lastUsed < streams[$0].lastUsed }) ?? true { oldest = place }
    }
    guard let oldest else { return nil }
    let evicted = ssrcs[oldest]
    count &-= 1
    ssrcs[oldest] = ssrcs[count]
    streams[oldest] = streams[count]
    return evicted
  }
}
