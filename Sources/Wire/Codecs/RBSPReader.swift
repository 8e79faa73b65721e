/// Reads a parameter set of H.264 or H.265 bit by bit, without the bytes that keep start codes out of it (H.264 §7.3.1, §9.1).
///
/// Behind the end there are zeros, and `isOverrun` stays true from there on.
struct RBSPReader {
  private let bytes: UnsafeRawBufferPointer
  private var offset: Int
  private var bit = 8
  private var zeros = 0
  private(set) var isOverrun = false

  /// - Parameter start: behind the unit's header.
  init(_ bytes: UnsafeRawBufferPointer, from start: Int) {
    self.bytes = bytes
    offset = start &- 1
  }

  private mutating func nextByte() {
    offset &+= 1
    bit = 0
    guard offset < bytes.count else {
      isOverrun = true
      return
    }
    if zeros >= 2, bytes[offset] == 3 {
      zeros = 0
      offset &+= 1
      guard offset < bytes.count else {
        isOverrun = true
        return
      }
    }
    zeros = bytes[offset] == 0 ? zeros &+ 1 : 0
  }

  mutating func flag() -> Bool {
    if bit == 8, !isOverrun { nextByte() }
    guard !isOverrun else { return false }
    defer { bit &+= 1 }
    return bytes[offset] >> UInt8(7 &- bit) & 1 != 0
  }

  /// - Parameter count: at most 32.
  mutating func read(_ count: Int) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<count { value = value << 1 | (flag() ? 1 : 0) }
    return value
  }

  mutating func skip(_ count: Int) { for _ in 0..<count where !isOverrun { _ = flag() } }

  /// ue(v), at most 32 bits of it; the largest number where there are more.
  mutating func unsigned() -> UInt32 {
    var zeros = 0
    while !flag() {
      zeros &+= 1
      guard zeros < 32, !isOverrun else {
        isOverrun = true
        return .max
      }
    }
    return (1 << UInt32(zeros)) &- 1 &+ read(zeros)
  }

  /// se(v).
  mutating func signed() -> Int32 {
    let number = unsigned()
    let half = Int32(truncatingIfNeeded: number >> 1)
    return number & 1 == 0 ? 0 &- half : half &+ 1
  }
}
