/// Which of the last numbers of a stream occurred: 64 for each of its words, up to the highest.
///
/// The bit of a number is its remainder, so that nothing moves when the window does. Costs its words and the highest
/// number, never allocates, and takes a constant number of steps for any jump.
public struct BitWindow<let words: Int>: Sendable {
  /// How many numbers it tells of. Words are a power of two.
  @inlinable public static var size: Int64 { Int64(words) &* 64 }

  @usableFromInline var highest: Int64
  @usableFromInline var ring: InlineArray<words, UInt64>

  /// The highest number; the window reaches from `top - size + 1` to it.
  @inlinable public var top: Int64 { highest }
  /// What a state keeps beside `top`.
  public var bits: InlineArray<words, UInt64> { ring }

  /// A window in which only `first` occurred.
  @inlinable public init(first: Int64) {
    self.init(top: first, bits: InlineArray(repeating: 0))
    mark(first)
  }

  /// Goes on from a state.
  @inlinable public init(top: Int64, bits: InlineArray<words, UInt64>) {
    highest = top
    ring = bits
  }

  /// Whether the number lies so far from the highest, ahead or behind, that the window says nothing of it.
  @inlinable public func isBeyond(_ number: Int64) -> Bool {
    number > top ? Self.distance(top, number) >= Self.size : isBehind(number)
  }

  /// Whether the number lies so far behind the highest that the window can't say.
  @inlinable public func isBehind(_ number: Int64) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.windowEnd) { return number < top && Self.distance(number, top) > Self.size }
    #endif
    return number < top && Self.distance(number, top) >= Self.size
  }

  /// False for numbers outside of the window.
  @inlinable public func contains(_ number: Int64) -> Bool {
    number <= top && !isBehind(number) && ring[Self.word(number)] & Self.bit(number) != 0
  }

  /// Whether any number from `lower` up to, but not with, `upper` occurred within the window.
  public func containsAny(from lower: Int64, upTo upper: Int64) -> Bool {
    var number = max(lower, top &- Self.size &+ 1)
    let end = top < upper ? top &+ 1 : upper
    while number < end {
      let count = min(end &- number, Self.countToWordsEnd(number))
      if ring[Self.word(number)] & Self.mask(number, count) != 0 { return true }
      number &+= count
    }
    return false
  }

  /// Marks a number, and moves the window up to it if it is the highest; one that `isBehind` changes nothing.
  @inlinable public mutating func insert(_ number: Int64) {
    if number > top {
      // The next one's own bit is set below, whatever it was.
      if Self.distance(top, number) > 1 { forget(upTo: number) }
      highest = number
    } else if isBehind(number) {
      return
    }
    mark(number)
  }

  /// Clears the bits of the numbers that the window moves over.
  @usableFromInline mutating func forget(upTo new: Int64) {
    guard Self.distance(top, new) < Self.size else {
      ring = InlineArray(repeating: 0)
      return
    }
    var number = top &+ 1
    var left = new &- top
    while left > 0 {
      let count = min(left, Self.countToWordsEnd(number))
      ring[Self.word(number)] &= ~Self.mask(number, count)
      number &+= count
      left &-= count
    }
  }

  /// From a number to one that is no lower; as much as there can be of it.
  @inlinable static func distance(_ lower: Int64, _ upper: Int64) -> Int64 {
    Int64(clamping: UInt64(bitPattern: upper &- lower))
  }

  @inlinable mutating func mark(_ number: Int64) { ring[Self.word(number)] |= Self.bit(number) }

  @inlinable static func word(_ number: Int64) -> Int {
    Int(truncatingIfNeeded: number >> 6) & (words &- 1)
  }

  @inlinable static func bit(_ number: Int64) -> UInt64 { 1 &<< UInt64(bitPattern: number & 63) }

  /// How many numbers share a number's word from it on; 1 to 64.
  private static func countToWordsEnd(_ number: Int64) -> Int64 { 64 &- number & 63 }

  /// The bits of `count` numbers of one word, from a number on.
  private static func mask(_ number: Int64, _ count: Int64) -> UInt64 {
    let run: UInt64 = count == 64 ? .max : (1 &<< UInt64(count)) &- 1
    return run &<< UInt64(bitPattern: number & 63)
  }
}
