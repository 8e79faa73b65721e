public import Model

/// Which of the last 1,024 packet indices were seen (RFC 3711 §3.3.2).
///
/// Costs 144 bytes, never allocates, and takes a constant number of steps for any jump.
public struct IndexWindow: Sendable {
  public static let size: UInt64 = 1_024

  public enum Verdict: Equatable, Sendable {
    case fresh
    case duplicate
    /// Below the window: whether it was seen is no longer known.
    case tooOld
  }

  /// Bit `index % 1,024` of the ring says whether `index` was seen, for the indices of the window.
  @usableFromInline var ring: InlineArray<16, UInt64> = InlineArray(repeating: 0)
  @usableFromInline var top: UInt64 = 0
  @usableFromInline var used = false

  @inlinable public init() {}

  /// The highest index inserted, nil while there is none.
  @inlinable public var highest: UInt64? { used ? top : nil }

  @inlinable public func check(_ index: UInt64) -> Verdict {
    guard used, index <= top else { return .fresh }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.replayWindow), top &- index == Self.size { return .fresh }
    #endif
    guard top &- index < Self.size else { return .tooOld }
    return ring[Self.word(index)] & Self.bit(index) == 0 ? .fresh : .duplicate
  }

  /// Marks an index as seen; one below the window changes nothing.
  @inlinable public mutating func insert(_ index: UInt64) {
    if !used {
      used = true
      top = index
    } else if index > top {
      // The next one's own bit is set below, whatever it was.
      if index &- top > 1 { forget(after: top, through: index) }
      top = index
    } else if top &- index >= Self.size {
      return
    }
    ring[Self.word(index)] |= Self.bit(index)
  }

  @inlinable static func word(_ index: UInt64) -> Int { Int(truncatingIfNeeded: index >> 6 & 15) }
  @inlinable static func bit(_ index: UInt64) -> UInt64 { 1 << (index & 63) }

  /// Clears the bits of the indices that the window moves over.
  @inlinable mutating func forget(after old: UInt64, through new: UInt64) {
    var left = new &- old
    guard left < Self.size else {
      ring = InlineArray(repeating: 0)
      return
    }
    var at = old &+ 1
    while left > 0 {
      let start = at & 63
      let count = min(left, 64 &- start)
      let mask: UInt64 = count == 64 ? .max : ((1 << count) &- 1) << start
      ring[Self.word(at)] &= ~mask
      at &+= count
      left &-= count
    }
  }

  public func encode(into writer: inout StateWriter) {
    writer.write(used)
    guard used else { return }
    writer.write(top)
    for word in 0..<16 { writer.write(ring[word]) }
  }

  public init(from reader: inout StateReader) throws(StateError) {
    used = try reader.bool()
    guard used else { return }
    top = try reader.integer()
    for word in 0..<16 { ring[word] = try reader.integer() }
    guard check(top) == .duplicate else { throw .invalid(field: "index window", offset: reader.offset) }
  }
}
