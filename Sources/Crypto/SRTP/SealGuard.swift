public import Model

/// Sees to it that one SSRC's index is sealed once under one key: two packets under the same key and index
/// give AES-GCM's authentication key away (RFC 7714 §8.4).
///
/// A repeated index is a mistake of ours: it traps in debug builds, is refused and counted in release builds.
public struct SealGuard: Sendable {
  @usableFromInline var window = IndexWindow()
  @usableFromInline let traps: Bool
  /// Indices refused because they were sealed before, or because that is no longer known.
  public private(set) var refused: UInt64 = 0

  /// - Parameter traps: false where a test repeats an index on purpose.
  public init(traps: Bool = true) { self.traps = traps }

  /// The highest index admitted, nil while there is none.
  @inlinable public var highest: UInt64? { window.highest }

  /// Whether `index` may be sealed now; true only once for each.
  @inlinable public mutating func admit(_ index: UInt64) -> Bool {
    guard window.check(index) == .fresh else { return refuse(index) }
    window.insert(index)
    return true
  }

  @usableFromInline mutating func refuse(_ index: UInt64) -> Bool {
    refused &+= 1
    if traps { assertionFailure("packet index \(index) would be sealed twice under one key") }
    return false
  }

  public func encode(into writer: inout StateWriter) {
    window.encode(into: &writer)
    writer.write(traps)
    writer.write(refused)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    window = try IndexWindow(from: &reader)
    traps = try reader.bool()
    refused = try reader.integer()
  }
}
