/// The positions of the bits that are set in a word, lowest first: small sets of indices without memory.
struct SetBits: Sequence, IteratorProtocol {
  private var bits: UInt64

  @inline(__always)
  init(_ bits: UInt64) { self.bits = bits }

  @inline(__always)
  mutating func next() -> Int? {
    guard bits != 0 else { return nil }
    defer { bits &= bits &- 1 }
    return bits.trailingZeroBitCount
  }
}
