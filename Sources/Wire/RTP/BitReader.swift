/// Reads numbers bit by bit, the highest first.
///
/// Behind the end there are zeros, and `isOverrun` stays true from there on: it is asked once, behind several numbers.
struct BitReader {
  private let bytes: UnsafeRawBufferPointer
  /// In bits, as `end`.
  private(set) var offset: Int
  private let end: Int

  init(_ bytes: UnsafeRawBufferPointer, offset: Int = 0) {
    self.bytes = bytes
    self.offset = offset
    end = 8 &* bytes.count
  }

  var isOverrun: Bool { offset > end }

  /// - Parameter count: at most 32.
  mutating func read(_ count: Int) -> UInt32 {
    guard count > 0, let base = bytes.baseAddress, offset &+ count <= end else {
      if count > 0 { offset = end &+ 1 }
      return 0
    }
    let last = offset &+ count &- 1
    var value: UInt64 = 0
    for index in (offset >> 3)...(last >> 3) { value = value << 8 | UInt64(base.byte(at: index)) }
    offset &+= count
    return UInt32(truncatingIfNeeded: value >> UInt64(7 &- last & 7) & (1 << UInt64(count) &- 1))
  }

  /// Goes on to the next whole byte.
  mutating func align() { offset = (offset &+ 7) & ~7 }

  mutating func flag() -> Bool { read(1) != 0 }

  /// ns(n): a number below `limit`, of which the smaller take a bit less (AV1 specification §4.10.7).
  /// - Parameter limit: 1–64.
  mutating func nonSymmetric(below limit: Int) -> Int {
    let bits = Int.bitWidth - limit.leadingZeroBitCount
    let short = 1 << bits &- limit
    let value = Int(read(bits &- 1))
    return value < short ? value : value << 1 &- short &+ Int(read(1))
  }
}
