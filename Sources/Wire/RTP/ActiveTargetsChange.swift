/// What a subscriber that doesn't get all layers reads in a descriptor: which decode targets it gets (AV1 RTP specification, A.8.2).
/// Everything else stays bit for bit what the publisher said.
public struct ActiveTargetsChange: BitwiseCopyable, Sendable {
  /// A bit for each target.
  var targets: UInt32
  /// How many there are.
  var count: Int
  /// Where they stand, in bits from the element's start.
  var offset: Int
  /// The element has them already; otherwise it grows by them.
  var replaces: Bool
  /// Of the new element, in bytes.
  public private(set) var size: Int

  /// - Parameters:
  ///   - element: of at least three bytes.
  ///   - offset: as `DependencyDescriptor.targetsOffset` has it, for an element with a structure; nil for one without.
  /// - Returns: nil where the element ends before the place of the targets. The new one may be longer than an extension can be
  ///   (RFC 8285 §4.3): see `size`.
  public init?(_ element: UnsafeRawBufferPointer, targets: UInt32, count: UInt8, offset: Int?) {
    let flags = 8 &* DependencyDescriptor.minimumSize
    let place = offset ?? flags &+ DependencyDescriptor.flagsSize
    let isLong = element.count > DependencyDescriptor.minimumSize
    self.targets = targets
    self.count = Int(min(count, 32))
    self.offset = place
    replaces = isLong && element[DependencyDescriptor.minimumSize] & 0x40 != 0
    let bits = (isLong ? 8 &* element.count : place) &+ (replaces ? 0 : self.count)
    size = (bits &+ 7) >> 3
    guard place <= 8 &* element.count || !isLong, !replaces || place &+ self.count <= bits else { return nil }
  }

  /// A byte of the new element.
  /// - Parameter element: the one that the change was made for.
  public func byte(_ index: Int, _ element: UnsafeRawBufferPointer) -> UInt8 {
    var value: UInt8 = 0
    for bit in 8 &* index..<8 &* index &+ 8 { value = value << 1 | (isSet(bit, element) ? 1 : 0) }
    return value
  }

  private func isSet(_ bit: Int, _ element: UnsafeRawBufferPointer) -> Bool {
    // active_decode_targets_present_flag.
    if bit == 8 &* DependencyDescriptor.minimumSize &+ 1 { return true }
    let behind = bit &- offset
    if behind >= 0, behind < count { return targets >> UInt32(count &- 1 &- behind) & 1 != 0 }
    let source = behind < 0 || replaces ? bit : bit &- count
    guard source >> 3 < element.count else { return false }
    return element[source >> 3] >> UInt8(7 &- source & 7) & 1 != 0
  }
}

extension ActiveTargetsChange {
  /// The active targets of an element that has them and no structure; nil where it is cut.
  public static func read(_ element: UnsafeRawBufferPointer, count: UInt8) -> UInt32? {
    var bits = BitReader(
      element, offset: 8 &* DependencyDescriptor.minimumSize &+ DependencyDescriptor.flagsSize)
    let targets = bits.read(Int(min(count, 32)))
    return bits.isOverrun ? nil : targets
  }
}
