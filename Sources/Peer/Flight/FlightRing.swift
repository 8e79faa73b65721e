internal import Model

/// The last headers and decisions of one peer, always on: blocks of pieces, the oldest first, which are taken as they are needed.
///
/// A record is a few stores; nothing is allocated once the recorder has its share of the worker's memory. Blocks of more than a minute ago
/// are given back, so one whose peer sends little has little. It isn't state: where a peer is rebuilt from its bytes, its record begins
/// again.
struct FlightRing: ~Copyable {
  /// At the beginning of a block, in the place of its first piece.
  private struct Head: BitwiseCopyable {
    var next: UnsafeMutableRawPointer?
    /// When it was full.
    var filledAt: Instant
  }

  /// What is shown at most.
  static let span = Duration.seconds(60)
  static let cellSize = MemoryLayout<FlightCell>.stride
  /// Pieces of a block; the head takes the place of one.
  static let cellsOfBlock = FlightMemory.blockSize / cellSize - 1

  private var oldest: UnsafeMutableRawPointer?
  private var newest: UnsafeMutableRawPointer?
  private var blocks = 0
  /// Where the next piece goes, and how many go there before the block is full.
  private var next: UnsafeMutableRawPointer?
  private var free = 0
  private var memory: FlightMemory?
  var paths = FlightPaths()
  /// What was noted last of what may be sent, and when.
  var target = (rate: 0.0, at: Instant(nanoseconds: .min / 2))
  /// A probe was noted whose end wasn't.
  var isProbing = false
  /// Of DTLS, which anybody may send under the address of a proven path.
  var handshakes = RateLimit(rate: 10, burst: 64)

  init() {}

  deinit {
    var block = oldest
    while let one = block {
      block = one.load(as: Head.self).next
      memory?.give(one)
    }
    memory?.leave()
  }

  /// Adds a record.
  /// - Parameters:
  ///   - kept: of it as much as its kind allows.
  ///   - size: of the whole.
  @inline(never)
  mutating func add(
    _ kind: FlightCell.Kind, _ kept: UnsafeRawBufferPointer, size: Int, path: UInt8, cluster: UInt16 = 0,
    now: Instant, _ memory: FlightMemory
  ) {
    guard let head = place(now, memory), let source = kept.baseAddress else { return }
    let count = min(kept.count, kind.most)
    head.storeBytes(
      of: FlightCell(
        kind: kind, path: path, size: UInt16(clamping: size), kept: UInt16(truncatingIfNeeded: count),
        cluster: cluster, at: now.nanoseconds),
      as: FlightCell.self)
    (head + FlightCell.first).copyMemory(from: source, byteCount: min(count, FlightCell.first))
    var offset = FlightCell.first
    while offset < count, let piece = place(now, memory) {
      piece.storeBytes(of: FlightCell.Kind.more.rawValue, as: UInt8.self)
      (piece + 1).copyMemory(from: source + offset, byteCount: min(count &- offset, FlightCell.further))
      offset &+= FlightCell.further
    }
  }

  /// As `add`, of a packet of RTP, which most records are: without loops and calls where its header takes one piece or two.
  /// - Parameter header: bytes of the packet that are kept.
  @inline(__always)
  mutating func add(
    _ kind: FlightCell.Kind, header: Int, of packet: UnsafeRawBufferPointer, size: Int, path: UInt8,
    cluster: UInt16, now: Instant, _ memory: FlightMemory
  ) {
    // A header is of whole words (RFC 3550 §5.1).
    guard header >= FlightCell.first, header <= FlightCell.first + FlightCell.further, header & 3 == 0,
      free >= 2, let head = next, let source = packet.baseAddress
    else {
      return add(
        kind, UnsafeRawBufferPointer(rebasing: packet[..<header]), size: size, path: path, cluster: cluster,
        now: now, memory)
    }
    head.storeBytes(
      of: FlightCell(
        kind: kind, path: path, size: UInt16(truncatingIfNeeded: size),
        kept: UInt16(truncatingIfNeeded: header), cluster: cluster, at: now.nanoseconds,
        bytes: source.loadUnaligned(as: (UInt64, UInt64).self)),
      as: FlightCell.self)
    free &-= 1
    next = head + Self.cellSize
    guard header > FlightCell.first else { return }
    let piece = head + Self.cellSize
    piece.storeBytes(of: FlightCell.Kind.more.rawValue, as: UInt8.self)
    let to = piece + 1 - FlightCell.first
    var offset = FlightCell.first
    while offset < header {
      (to + offset).storeBytes(
        of: source.loadUnaligned(fromByteOffset: offset, as: UInt32.self), as: UInt32.self)
      offset &+= 4
    }
    free &-= 1
    next = piece + Self.cellSize
  }

  /// The place of the next piece; nil where there is no memory at all.
  @inline(__always)
  private mutating func place(_ now: Instant, _ memory: FlightMemory) -> UnsafeMutableRawPointer? {
    if free == 0, !turn(now, memory) { return nil }
    free &-= 1
    defer { next = next.unsafelyUnwrapped + Self.cellSize }
    return next
  }

  /// A block is full: there is another one, or the oldest is overwritten.
  /// - Returns: false where there is none.
  @inline(never)
  private mutating func turn(_ now: Instant, _ memory: FlightMemory) -> Bool {
    if self.memory == nil {
      self.memory = memory
      memory.join()
    }
    if let newest { newest.storeBytes(of: Head(next: nil, filledAt: now), as: Head.self) }
    let share = memory.share
    while blocks > 1, let oldest, blocks > share || now - oldest.load(as: Head.self).filledAt > Self.span {
      dropOldest(memory)
    }
    guard let block = blocks < share ? memory.take() ?? reuse() : reuse() else {
      return false
    }
    block.storeBytes(of: Head(next: nil, filledAt: now), as: Head.self)
    if let newest {
      newest.storeBytes(of: Head(next: block, filledAt: now), as: Head.self)
    } else {
      oldest = block
    }
    newest = block
    blocks &+= 1
    next = block + Self.cellSize
    free = Self.cellsOfBlock
    return true
  }

  /// The oldest block, for something new.
  private mutating func reuse() -> UnsafeMutableRawPointer? {
    guard let block = oldest else { return nil }
    oldest = block.load(as: Head.self).next
    if oldest == nil { newest = nil }
    blocks &-= 1
    return block
  }

  private mutating func dropOldest(_ memory: FlightMemory) {
    guard let block = reuse() else { return }
    memory.give(block)
  }

  /// All pieces, the oldest first.
  func copy() -> [FlightCell] {
    let count = max(blocks * Self.cellsOfBlock - free, 0)
    return Array(unsafeUninitializedCapacity: count) { cells, copied in
      var block = oldest
      while let one = block, let base = cells.baseAddress {
        let part = min(count - copied, Self.cellsOfBlock)
        (base + copied).initialize(
          from: (one + Self.cellSize).assumingMemoryBound(to: FlightCell.self), count: part)
        copied += part
        block = one.load(as: Head.self).next
      }
    }
  }
}

/// Paths that packets came and went on; a record names one by its place.
struct FlightPaths {
  /// Of the path that media leaves by; nil: it is to be looked up, since another was selected.
  var selected: UInt8?

  static let most = 64
  /// Of packets beyond these, and of what has none.
  static let unknown: UInt8 = 255

  private(set) var all: [NetworkPath] = []
  private var lastIn: NetworkPath?
  private var lastOut: NetworkPath?
  private var placeIn = FlightPaths.unknown
  private var placeOut = FlightPaths.unknown

  init() {}

  @inline(__always)
  mutating func inbound(_ path: NetworkPath) -> UInt8 {
    if lastIn != path { (placeIn, lastIn) = (find(path), path) }
    return placeIn
  }

  @inline(__always)
  mutating func outbound(_ path: NetworkPath) -> UInt8 {
    if lastOut != path { (placeOut, lastOut) = (find(path), path) }
    return placeOut
  }

  @inline(never)
  private mutating func find(_ path: NetworkPath) -> UInt8 {
    if let known = all.firstIndex(of: path) { return UInt8(known) }
    guard all.count < Self.most else { return Self.unknown }
    all.append(path)
    return UInt8(all.count - 1)
  }
}
