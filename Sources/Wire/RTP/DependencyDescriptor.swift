/// Why an element is no dependency descriptor that we accept.
public enum DependencyDescriptorError: Error, Equatable, Sendable {
  /// Shorter than its three bytes that are always there.
  case tooShort(bytes: Int)
  /// It ends in the middle of a field.
  case truncated
  /// More templates than a number of six bits can name.
  case tooManyTemplates
  /// More layers than four of size and eight of frame rate.
  case tooManyLayers
}

/// Which frames a frame refers to, independent of the codec (AV1 RTP specification, appendix A), as far as
/// forwarding needs it: what it is in its frame, of which layer that is, and who can do without it.
public struct DependencyDescriptor: Equatable, Sendable {
  /// Bytes that are always there.
  public static var minimumSize: Int { 3 }
  /// Behind those: what else there is, a bit each.
  static var flagsSize: Int { 5 }

  public var startsFrame: Bool
  public var endsFrame: Bool
  /// 0–63.
  public var templateID: UInt8
  public var frameNumber: UInt16
  /// It brought a structure, which comes with a key frame's first packet, and may come again.
  public var hasStructure = false
  /// Decode targets that are sent from here on, as far as it says so.
  public var activeTargets: UInt32?
  /// Where the active targets stand, or would stand, in bits from the element's start.
  public var targetsOffset = 8 * DependencyDescriptor.minimumSize + DependencyDescriptor.flagsSize
  /// Nil where it depends on a template that isn't known.
  public var frame: FrameDependencies?

  /// - Parameters:
  ///   - element: the extension's data.
  ///   - structure: the one that came last; a new one takes its place, unless the element is refused.
  @inlinable public init(
    _ element: UnsafeRawBufferPointer, _ structure: inout DependencyStructure
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
      try readExtended(element, &structure)
    } else {
      frame = structure.template(templateID).map { structure.describe($0) }
    }
  }

  @usableFromInline mutating func readExtended(
    _ element: UnsafeRawBufferPointer, _ structure: inout DependencyStructure
  ) throws(DependencyDescriptorError) {
    var bits = BitReader(element, offset: 8 &* Self.minimumSize)
    hasStructure = bits.flag()
    let hasActiveTargets = bits.flag()
    let (hasOwnTargets, hasOwnReferences, hasOwnChains) = (bits.flag(), bits.flag(), bits.flag())
    if hasStructure {
      let new = try DependencyStructure(&bits)
      try readFrame(&bits, new, hasActiveTargets, hasOwnTargets, hasOwnReferences, hasOwnChains)
      structure = new
    } else {
      // Without a structure nothing says how many there are of anything.
      guard structure.isKnown else { return }
      try readFrame(&bits, structure, hasActiveTargets, hasOwnTargets, hasOwnReferences, hasOwnChains)
    }
    if let activeTargets { structure.active = activeTargets }
  }

  /// frame_dependency_definition of A.8.2, and the active targets before it.
  private mutating func readFrame(
    _ bits: inout BitReader, _ structure: borrowing DependencyStructure, _ hasActiveTargets: Bool,
    _ hasOwnTargets: Bool, _ hasOwnReferences: Bool, _ hasOwnChains: Bool
  ) throws(DependencyDescriptorError) {
    targetsOffset = bits.offset
    let targets = Int(structure.targets.count)
    var active = structure.active
    if hasActiveTargets {
      active = bits.read(targets)
      activeTargets = active
    }
    var template = structure.template(templateID)
    if hasOwnTargets {
      template?.clearTargets()
      for target in 0..<targets {
        let indication = bits.read(2)
        template?.set(target, indication)
      }
    }
    if hasOwnReferences {
      var farthest: UInt16 = 0
      while case let size = Int(bits.read(2)), size > 0 {
        farthest = max(farthest, UInt16(bits.read(4 &* size)) &+ 1)
      }
      template?.farthest = farthest
    }
    if hasOwnChains { for _ in 0..<structure.chains { _ = bits.read(8) } }
    guard !bits.isOverrun else { throw .truncated }
    if let template { frame = structure.describe(template, active: active) }
  }
}
