/// Turns 16-bit sequence numbers into 64-bit ones that never wrap: each becomes the value nearest to the highest
/// so far. Half the circle away counts as behind.
public struct SequenceExtender: Equatable, Sendable {
  @usableFromInline var top: Int64
  @usableFromInline var started: Bool

  @inlinable public init() {
    top = 0
    started = false
  }

  /// Goes on from a known highest value.
  @inlinable public init(highest: Int64) {
    top = highest
    started = true
  }

  /// The highest value so far; nil before the first.
  @inlinable public var highest: Int64? { started ? top : nil }

  /// The extended value, without moving on. The first number keeps its value; those before it are negative.
  @inlinable public func peek(_ value: UInt16) -> Int64 {
    guard started else { return Int64(value) }
    return top &+ Int64(Int16(bitPattern: value &- UInt16(truncatingIfNeeded: top)))
  }

  /// The extended value, which becomes the highest if it is.
  @inlinable public mutating func extend(_ value: UInt16) -> Int64 {
    let extended = peek(value)
    if !started || extended > top {
      top = extended
      started = true
    }
    return extended
  }
}

/// As `SequenceExtender`, for 32-bit RTP timestamps.
public struct TimestampExtender: Equatable, Sendable {
  @usableFromInline var top: Int64
  @usableFromInline var started: Bool

  @inlinable public init() {
    top = 0
    started = false
  }

  /// Goes on from a known highest value.
  @inlinable public init(highest: Int64) {
    top = highest
    started = true
  }

  /// The highest value so far; nil before the first.
  @inlinable public var highest: Int64? { started ? top : nil }

  /// The extended value, without moving on. The first timestamp keeps its value; those before it are negative.
  @inlinable public func peek(_ value: UInt32) -> Int64 {
    guard started else { return Int64(value) }
    return top &+ Int64(Int32(bitPattern: value &- UInt32(truncatingIfNeeded: top)))
  }

  /// The extended value, which becomes the highest if it is.
  @inlinable public mutating func extend(_ value: UInt32) -> Int64 {
    let extended = peek(value)
    if !started || extended > top {
      top = extended
      started = true
    }
    return extended
  }
}
