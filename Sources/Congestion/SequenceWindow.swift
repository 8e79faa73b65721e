#if PLANTED_DEFECTS
  internal import Model
#endif

/// Which of the last 4,096 extended sequence numbers occurred.
struct SequenceWindow {
  static let size: Int64 = 4_096

  /// The highest number; the window reaches from `top - size + 1` to it.
  private(set) var top: Int64
  /// The bit of a number is its remainder, so that nothing moves when the window does.
  private(set) var bits: InlineArray<64, UInt64>

  /// A window in which only `first` occurred.
  init(first: Int64) {
    top = first
    bits = InlineArray(repeating: 0)
    set(first)
  }

  init(top: Int64, bits: InlineArray<64, UInt64>) {
    self.top = top
    self.bits = bits
  }

  /// Whether the number lies so far from the highest, ahead or behind, that the window says nothing of it.
  func isBeyond(_ sequence: Int64) -> Bool {
    sequence &- top >= Self.size || top &- sequence >= Self.size
  }

  /// False for numbers outside of the window.
  func contains(_ sequence: Int64) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.windowEnd), top &- sequence == Self.size {
        return bits[word(sequence)] & mask(sequence) != 0
      }
    #endif
    guard sequence <= top, top &- sequence < Self.size else { return false }
    return bits[word(sequence)] & mask(sequence) != 0
  }

  /// Whether any number from `lower` up to, but not with, `upper` occurred within the window.
  func containsAny(from lower: Int64, upTo upper: Int64) -> Bool {
    var sequence = max(lower, top &- Self.size &+ 1)
    let end = min(upper, top &+ 1)
    while sequence < end {
      if sequence & 63 == 0 && end - sequence >= 64 {
        if bits[word(sequence)] != 0 { return true }
        sequence += 64
      } else {
        if bits[word(sequence)] & mask(sequence) != 0 { return true }
        sequence += 1
      }
    }
    return false
  }

  /// Notes a number and moves the window up to it if it is the highest.
  /// - Precondition: not `isBeyond(sequence)`.
  mutating func insert(_ sequence: Int64) {
    while top < sequence {
      top += 1
      if top & 63 == 0 && sequence - top >= 64 {
        bits[word(top)] = 0
        top += 63
      } else {
        bits[word(top)] &= ~mask(top)
      }
    }
    set(sequence)
  }

  private mutating func set(_ sequence: Int64) { bits[word(sequence)] |= mask(sequence) }
  private func word(_ sequence: Int64) -> Int { Int(sequence >> 6 & 63) }
  private func mask(_ sequence: Int64) -> UInt64 { 1 << UInt64(bitPattern: sequence & 63) }
}
