/// Why an element is no dependency descriptor that we accept.
public enum DependencyDescriptorError: Error, Equatable, Sendable {
  /// Shorter than its three bytes that are always there.
  case tooShort(bytes: Int)
  /// The structure ends in the middle of a field.
  case truncated
  /// More templates than a number of six bits can name.
  case tooManyTemplates
}

/// The templates that a key frame announces and later frames name, as far as forwarding needs them
/// (AV1 RTP specification, A.8.3).
public struct DependencyTemplates: Equatable, Sendable {
  /// The number of the first template.
  public var offset: UInt8
  /// 1–64.
  public var count: UInt8
  /// 1–32.
  public var decodeTargets: UInt8
  /// A bit for each template whose frames no decode target needs for another frame.
  public var discardable: UInt64

  public init(offset: UInt8, count: UInt8, decodeTargets: UInt8, discardable: UInt64) {
    self.offset = offset
    self.count = count
    self.decodeTargets = decodeTargets
    self.discardable = discardable
  }
}

/// Which frames a frame refers to, independent of the codec (AV1 RTP specification, appendix A), as far as
/// forwarding needs it: what it is in its frame, and whether it may be left out.
public struct DependencyDescriptor: Equatable, Sendable {
  /// Bytes that are always there.
  public static var minimumSize: Int { 3 }

  public var startsFrame: Bool
  public var endsFrame: Bool
  /// 0–63.
  public var templateID: UInt8
  public var frameNumber: UInt16
  /// New templates, which come with a key frame's first packet.
  public var templates: DependencyTemplates?
  /// No other frame refers to this one; nil where it depends on templates that aren't known.
  public var isDiscardable: Bool?

  /// - Parameters:
  ///   - element: the extension's data.
  ///   - known: the templates that came last.
  @inlinable public init(
    _ element: UnsafeRawBufferPointer, known: DependencyTemplates?
  ) throws(DependencyDescriptorError) {
    guard element.count >= Self.minimumSize, let bytes = element.baseAddress else {
      throw .tooShort(bytes: element.count)
    }
    let first = bytes.byte(at: 0)
    startsFrame = first & 0x80 != 0
    endsFrame = first & 0x40 != 0
    templateID = first & 0x3F
    frameNumber = bytes.loadBigEndian(at: 1, as: UInt16.self)
    if element.count > Self.minimumSize {
      try readExtended(element, known)
    } else {
      isDiscardable = Self.isDiscardable(templateID, known)
    }
  }

  @usableFromInline mutating func readExtended(
    _ element: UnsafeRawBufferPointer, _ known: DependencyTemplates?
  ) throws(DependencyDescriptorError) {
    var bits = BitReader(element, offset: 8 * Self.minimumSize)
    let hasTemplates = try bits.read(1) != 0
    let hasActiveTargets = try bits.read(1) != 0
    let hasOwnTargets = try bits.read(1) != 0
    _ = try bits.read(2)
    if hasTemplates { templates = try Self.readTemplates(&bits) }
    let present = templates ?? known
    isDiscardable = Self.isDiscardable(templateID, present)
    guard let present else { return }
    if hasActiveTargets { _ = try bits.read(Int(present.decodeTargets)) }
    if hasOwnTargets { isDiscardable = try Self.readTargets(&bits, present.decodeTargets) }
  }

  @usableFromInline static func isDiscardable(_ template: UInt8, _ known: DependencyTemplates?) -> Bool? {
    guard let known else { return nil }
    let index = (template &+ 64 &- known.offset) & 63
    return index < known.count ? known.discardable >> UInt64(index) & 1 != 0 : nil
  }

  /// A.8.3: template_dependency_structure, up to the decode targets; what comes behind them isn't needed.
  private static func readTemplates(
    _ bits: inout BitReader
  ) throws(DependencyDescriptorError) -> DependencyTemplates {
    let offset = UInt8(try bits.read(6))
    let targets = UInt8(try bits.read(5)) + 1
    var count = 0
    repeat {
      guard count < 64 else { throw .tooManyTemplates }
      count += 1
    } while try bits.read(2) != 3
    var discardable: UInt64 = 0
    for index in 0..<count where try readTargets(&bits, targets) { discardable |= 1 << UInt64(index) }
    return DependencyTemplates(
      offset: offset, count: UInt8(count), decodeTargets: targets, discardable: discardable)
  }

  /// What the frame is to each target: 0 absent, 1 discardable, 2 and 3 referred to.
  private static func readTargets(
    _ bits: inout BitReader, _ targets: UInt8
  ) throws(DependencyDescriptorError) -> Bool {
    var isDiscardable = true
    for _ in 0..<targets where try bits.read(2) > 1 { isDiscardable = false }
    return isDiscardable
  }
}

/// Reads numbers bit by bit, the highest first.
struct BitReader {
  private let bytes: UnsafeRawBufferPointer
  private var offset: Int

  init(_ bytes: UnsafeRawBufferPointer, offset: Int) {
    self.bytes = bytes
    self.offset = offset
  }

  /// - Parameter count: at most 32.
  mutating func read(_ count: Int) throws(DependencyDescriptorError) -> UInt32 {
    guard let base = bytes.baseAddress, offset &+ count <= 8 &* bytes.count else { throw .truncated }
    var value: UInt32 = 0
    for _ in 0..<count {
      value = value << 1 | UInt32(base.byte(at: offset >> 3) >> UInt8(7 &- offset & 7) & 1)
      offset &+= 1
    }
    return value
  }
}
