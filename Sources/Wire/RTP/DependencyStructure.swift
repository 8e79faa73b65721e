/// What a key frame says of the frames that follow it: templates that they name, and the layers that a receiver may decode up to
/// (AV1 RTP specification, A.8.3). Plain in memory and of one size, so nothing is allocated for it.
public struct DependencyStructure: BitwiseCopyable, Sendable {
  /// Numbers of layers are below these.
  public static var spatialLimit: Int { 4 }
  public static var temporalLimit: Int { 8 }
  static var templateLimit: Int { 64 }

  /// The number of the first template.
  public var offset: UInt8 = 0
  /// 1–64; 0 while no structure is known.
  public var count: UInt8 = 0
  public var chains: UInt8 = 0
  public var targets = DecodeTargets()
  /// Decode targets that are sent, a bit for each.
  public var active: UInt32 = 0
  public var templates: InlineArray<64, DependencyTemplate> = InlineArray(repeating: DependencyTemplate())
  /// Width and height by spatial layer; 0 where the structure doesn't say.
  public var widths: InlineArray<4, UInt16> = InlineArray(repeating: 0)
  public var heights: InlineArray<4, UInt16> = InlineArray(repeating: 0)

  public init() {}

  public var isKnown: Bool { count > 0 }

  /// The template of that number.
  @inlinable @inline(__always)
  public func template(_ number: UInt8) -> DependencyTemplate? {
    let index = (number &+ 64 &- offset) & 63
    return index < count ? templates[Int(index)] : nil
  }

  /// What a frame is to those who decode up to some layer.
  /// - Parameter active: decode targets that are sent, where they are others than the structure's.
  @inlinable
  public func describe(_ frame: DependencyTemplate, active: UInt32? = nil) -> FrameDependencies {
    let above = targets.above(spatial: frame.spatial) & (active ?? self.active)
    var opens: UInt8 = 0
    if frame.switches != 0 {
      for temporal in 0..<8 where frame.switches & targets.at(frame.spatial, UInt8(temporal)) != 0 {
        opens |= 1 << UInt8(temporal)
      }
    }
    return FrameDependencies(
      spatial: frame.spatial, temporal: frame.temporal, opens: opens, farthest: frame.farthest,
      isDiscardable: frame.needed == 0,
      isNotNeededAbove: frame.farthest != 0 && above != 0 && frame.present & above == 0, isTop: above == 0)
  }
}

/// What frames of one kind are to each decode target, a bit for each target.
public struct DependencyTemplate: BitwiseCopyable, Equatable, Sendable {
  public var spatial: UInt8 = 0
  public var temporal: UInt8 = 0
  /// The target has them.
  public var present: UInt32 = 0
  /// From them on all of the target can be decoded.
  public var switches: UInt32 = 0
  /// Other frames of the target refer to them.
  public var needed: UInt32 = 0
  /// How many frames back the farthest is that they refer to; 0: to none.
  public var farthest: UInt16 = 0

  public init() {}

  /// - Parameter indication: 0 not present, 1 discardable, 2 switch, 3 required.
  mutating func set(_ target: Int, _ indication: UInt32) {
    let bit: UInt32 = 1 << UInt32(target)
    if indication > 0 { present |= bit }
    if indication == 2 { switches |= bit }
    if indication > 1 { needed |= bit }
  }

  mutating func clearTargets() { (present, switches, needed) = (0, 0, 0) }
}

/// Up to which layer each decode target goes.
public struct DecodeTargets: BitwiseCopyable, Equatable, Sendable {
  /// 1–32; 0 while they aren't known.
  public var count: UInt8 = 0
  /// A bit for each target that goes up to the layer.
  public var bySpatial: InlineArray<4, UInt32> = InlineArray(repeating: 0)
  public var byTemporal: InlineArray<8, UInt32> = InlineArray(repeating: 0)

  public init() {}

  public var all: UInt32 { count == 0 ? 0 : ~0 >> (32 - UInt32(count)) }

  @inlinable func at(_ spatial: UInt8, _ temporal: UInt8) -> UInt32 {
    bySpatial[Int(spatial & 3)] & byTemporal[Int(temporal & 7)]
  }

  @inlinable func above(spatial: UInt8) -> UInt32 {
    var targets: UInt32 = 0
    for layer in 0..<4 where layer > Int(spatial) { targets |= bySpatial[layer] }
    return targets
  }

  /// Those that need no layer above these.
  public func upTo(spatial: UInt8, temporal: UInt8) -> UInt32 {
    var (sizes, rates): (UInt32, UInt32) = (0, 0)
    for layer in 0..<4 where layer <= Int(spatial) { sizes |= bySpatial[layer] }
    for layer in 0..<8 where layer <= Int(temporal) { rates |= byTemporal[layer] }
    return sizes & rates
  }

  public static func == (a: Self, b: Self) -> Bool {
    a.count == b.count && (0..<4).allSatisfy { a.bySpatial[$0] == b.bySpatial[$0] }
      && (0..<8).allSatisfy { a.byTemporal[$0] == b.byTemporal[$0] }
  }
}

/// What forwarding has to know of one frame.
public struct FrameDependencies: BitwiseCopyable, Equatable, Sendable {
  public var spatial: UInt8
  public var temporal: UInt8
  /// A bit for each temporal layer that those who have this frame's spatial layer may go on to from here.
  public var opens: UInt8
  /// How many frames back the farthest is that it refers to; 0: to none.
  public var farthest: UInt16
  /// No other frame refers to it.
  public var isDiscardable: Bool
  /// Those who decode a higher spatial layer do without it.
  public var isNotNeededAbove: Bool
  /// No higher spatial layer is sent.
  public var isTop: Bool

  @inlinable init(
    spatial: UInt8, temporal: UInt8, opens: UInt8, farthest: UInt16, isDiscardable: Bool,
    isNotNeededAbove: Bool, isTop: Bool
  ) {
    self.spatial = spatial
    self.temporal = temporal
    self.opens = opens
    self.farthest = farthest
    self.isDiscardable = isDiscardable
    self.isNotNeededAbove = isNotNeededAbove
    self.isTop = isTop
  }
}
