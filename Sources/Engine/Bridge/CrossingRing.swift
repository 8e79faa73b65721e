internal import Model
internal import Synchronization

/// Datagrams and packets from one worker to one other: a ring of bytes with one writer and one reader, without
/// locks or allocation. Full means dropped, and counted by the writer.
struct CrossingRing: @unchecked Sendable {
  /// What a record has. The header is the caller's; the ring moves bytes.
  struct Record {
    var header: UnsafeRawPointer
    var payload: UnsafeMutableRawBufferPointer
  }

  private let memory: UnsafeMutableRawPointer
  private let size: Int
  private let headerSize: Int
  /// As the header is in the ring, on a multiple of eight bytes.
  private let headerSpace: Int
  /// Bytes ever written and read; on cache lines of their own.
  private let written: UnsafeMutablePointer<Atomic<Int>>
  private let read: UnsafeMutablePointer<Atomic<Int>>
  private static let lengthSize = 8
  /// In place of a length: the rest of the ring is unused, go on at its start.
  private static let skip: UInt64 = .max

  /// - Parameters:
  ///   - size: bytes; rounded up to a power of two. Never freed before the process's workers end: the owner
  ///     calls `deallocate`.
  ///   - headerSize: bytes of each record's header.
  init(size: Int, headerSize: Int) {
    var rounded = 4_096
    while rounded < size { rounded *= 2 }
    self.size = rounded
    self.headerSize = headerSize
    headerSpace = (headerSize + 7) & ~7
    memory = .allocate(byteCount: rounded, alignment: 64)
    let line = UnsafeMutableRawPointer.allocate(byteCount: 192, alignment: 64)
    written = (line + 0).bindMemory(to: Atomic<Int>.self, capacity: 1)
    read = (line + 128).bindMemory(to: Atomic<Int>.self, capacity: 1)
    written.initialize(to: Atomic(0))
    read.initialize(to: Atomic(0))
  }

  func deallocate() {
    memory.deallocate()
    UnsafeMutableRawPointer(written).deallocate()
  }

  var isEmpty: Bool {
    read.pointee.load(ordering: .acquiring) == written.pointee.load(ordering: .acquiring)
  }

  /// Writer's side. `header` must have `headerSize` bytes.
  /// - Returns: false when there is no room.
  func write(header: UnsafeRawPointer, payload: UnsafeRawBufferPointer) -> Bool {
    let needed = Self.lengthSize &+ headerSpace &+ (payload.count &+ 7) & ~7
    var position = written.pointee.load(ordering: .relaxed)
    let free = size &- (position &- read.pointee.load(ordering: .acquiring))
    let tail = size &- position & (size &- 1)
    let skipped = tail < needed ? tail : 0
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.ringOverrun), skipped > 0, needed > free { return false }
      guard PlantedDefect.isOn(.ringOverrun) || needed &+ skipped <= free else { return false }
    #else
      guard needed &+ skipped <= free else { return false }
    #endif
    if skipped > 0 {
      memory.storeBytes(of: Self.skip, toByteOffset: position & (size &- 1), as: UInt64.self)
      position &+= skipped
    }
    let start = memory + (position & (size &- 1))
    start.storeBytes(of: UInt64(payload.count), as: UInt64.self)
    (start + Self.lengthSize).copyMemory(from: header, byteCount: headerSize)
    if let base = payload.baseAddress {
      (start + Self.lengthSize + headerSpace).copyMemory(from: base, byteCount: payload.count)
    }
    written.pointee.store(position &+ needed, ordering: .releasing)
    return true
  }

  /// Reader's side: the oldest record, in place until `advance`.
  func peek() -> Record? {
    var position = read.pointee.load(ordering: .relaxed)
    let end = written.pointee.load(ordering: .acquiring)
    guard position != end else { return nil }
    var start = memory + (position & (size &- 1))
    var length = start.load(as: UInt64.self)
    if length == Self.skip {
      position &+= size &- position & (size &- 1)
      read.pointee.store(position, ordering: .releasing)
      start = memory
      length = start.load(as: UInt64.self)
    }
    return Record(
      header: UnsafeRawPointer(start + Self.lengthSize),
      payload: UnsafeMutableRawBufferPointer(
        start: start + Self.lengthSize + headerSpace, count: Int(truncatingIfNeeded: length)))
  }

  /// Gives the room of the record last peeked back.
  func advance(past record: Record) {
    let used = Self.lengthSize &+ headerSpace &+ (record.payload.count &+ 7) & ~7
    let position = read.pointee.load(ordering: .relaxed)
    read.pointee.store(position &+ used, ordering: .releasing)
  }
}
