internal import Model

/// The last packets of one stream, to be sent again: a ring of bytes and a table by sequence number.
///
/// The bound is both a number of packets and of bytes; the oldest give way. Memory is taken once.
public struct PacketHistory: ~Copyable {
  @usableFromInline struct Entry {
    @usableFromInline var sequence: Int64 = .min
    /// Counts all bytes ever stored; the bytes stand at `position` modulo the ring's size.
    @usableFromInline var position: Int = 0
    @usableFromInline var size: Int = 0
    @usableFromInline var info = PacketInfo()
  }

  @usableFromInline let bytes: UnsafeMutableRawPointer
  @usableFromInline let byteCapacity: Int
  @usableFromInline let entries: UnsafeMutablePointer<Entry>
  @usableFromInline let entryMask: Int
  @usableFromInline var written = 0

  /// - Parameters:
  ///   - packets: rounded up to a power of two.
  ///   - bytes: at least 4,096; rounded up to a power of two, too.
  public init(packets: Int, bytes capacity: Int) {
    var count = 16
    while count < packets { count *= 2 }
    entryMask = count - 1
    var size = 4_096
    while size < capacity { size *= 2 }
    byteCapacity = size
    bytes = .allocate(byteCount: byteCapacity, alignment: 64)
    entries = .allocate(capacity: count)
    entries.initialize(repeating: Entry(), count: count)
  }

  deinit {
    bytes.deallocate()
    entries.deallocate()
  }

  /// Keeps a copy; a packet larger than a quarter of the ring is not kept, nor a late one in a newer one's place.
  public mutating func store(_ packet: UnsafeRawBufferPointer, _ info: PacketInfo, sequence: Int64) {
    let entry = entries + (Int(truncatingIfNeeded: sequence) & entryMask)
    guard let base = packet.baseAddress, packet.count <= byteCapacity / 4, entry.pointee.sequence <= sequence
    else { return }
    var start = written & (byteCapacity &- 1)
    if start &+ packet.count > byteCapacity {
      written &+= byteCapacity &- start
      start = 0
    }
    (bytes + start).copyMemory(from: base, byteCount: packet.count)
    entry.pointee.sequence = sequence
    entry.pointee.position = written
    entry.pointee.size = packet.count
    entry.pointee.info = info
    written &+= packet.count
  }

  #if PLANTED_DEFECTS
    @usableFromInline static var sendsTooLate: Bool { PlantedDefect.isOn(.tooLateSent) }
  #endif

  /// A kept packet; the bytes are valid until the next `store`.
  @inlinable @inline(__always)
  public func find(_ sequence: Int64) -> (packet: UnsafeRawBufferPointer, info: PacketInfo)? {
    let entry = entries + (Int(truncatingIfNeeded: sequence) & entryMask)
    #if PLANTED_DEFECTS
      let isIt = entry.pointee.sequence == sequence || Self.sendsTooLate
    #else
      let isIt = entry.pointee.sequence == sequence
    #endif
    guard isIt, entry.pointee.size > 0, written &- entry.pointee.position <= byteCapacity else { return nil }
    let start = bytes + (entry.pointee.position & (byteCapacity &- 1))
    return (UnsafeRawBufferPointer(start: start, count: entry.pointee.size), entry.pointee.info)
  }
}
