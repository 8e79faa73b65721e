public import Model

/// Which of the last 1,024 packet indices were seen (RFC 3711 §3.3.2).
///
/// Costs 144 bytes and never allocates.
public struct IndexWindow: Sendable {
  public static let size: UInt64 = 1_024

  public enum Verdict: Equatable, Sendable {
    case fresh
    case duplicate
    /// Below the window: whether it was seen is no longer known.
    case tooOld
  }

  /// By an index's place in the order of signed numbers.
  @usableFromInline var window = BitWindow<16>(first: 0)
  @usableFromInline var used = false

  @inlinable public init() {}

  /// The highest index inserted, nil while there is none.
  @inlinable public var highest: UInt64? { used ? Self.index(window.top) : nil }

  @inlinable public func check(_ index: UInt64) -> Verdict {
    let place = Self.place(index)
    guard used, place <= window.top else { return .fresh }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.replayWindow), window.top &- place == BitWindow<16>.size { return .fresh }
    #endif
    guard !window.isBehind(place) else { return .tooOld }
    return window.contains(place) ? .duplicate : .fresh
  }

  /// Marks an index as seen; one below the window changes nothing.
  @inlinable public mutating func insert(_ index: UInt64) {
    guard used else {
      used = true
      window = BitWindow(first: Self.place(index))
      return
    }
    window.insert(Self.place(index))
  }

  @inlinable static func place(_ index: UInt64) -> Int64 { Int64(bitPattern: index ^ 1 &<< 63) }
  @inlinable static func index(_ place: Int64) -> UInt64 { UInt64(bitPattern: place) ^ 1 &<< 63 }

  public func encode(into writer: inout StateWriter) {
    writer.write(used)
    guard used else { return }
    writer.write(Self.index(window.top))
    let bits = window.bits
    for word in bits.indices { writer.write(bits[word]) }
  }

  public init(from reader: inout StateReader) throws(StateError) {
    used = try reader.bool()
    guard used else { return }
    let top = Self.place(try reader.integer())
    var bits = window.bits
    for word in bits.indices { bits[word] = try reader.integer() }
    window = BitWindow(top: top, bits: bits)
    guard window.contains(top) else { throw .invalid(field: "index window", offset: reader.offset) }
  }
}
