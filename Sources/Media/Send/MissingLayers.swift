internal import Model

/// Layers of frame rate of which something is missing in a stream: a picture of theirs was cut, or they were passed over. Their frames, and
/// those of layers above them, are left out until the source says that they can be decoded from there on. The lowest is never among them:
/// without it a stream begins with a key frame.
///
///     layer   0 2 1 2  0 2 1 2  0 2 1 2
///     cut         ×
///     left    0 2      0        0 2 1 2      where the frame of layer 2 and that of layer 1 refer to layer 0 alone
struct MissingLayers: BitwiseCopyable {
  /// A bit for each.
  private(set) var layers: UInt8 = 0
  /// The picture that was cut last, of which more may come: its rest begins nothing.
  private var cutPicture: UInt32?
  /// A part of that has left, and receivers count by its id: of each layer, from the lowest on, they need one behind it.
  private var waitsForLowest = false

  init() {}

  var isAny: Bool { layers != 0 }
  /// The lowest of them; nil: nothing is missing.
  var lowest: UInt8? { layers == 0 ? nil : UInt8(truncatingIfNeeded: layers.trailingZeroBitCount) }

  /// All layers up to one.
  static func upTo(_ temporal: UInt8) -> UInt8 { temporal < 7 ? 1 << (temporal &+ 1) &- 1 : 0xFF }

  /// All layers up to the highest of these.
  static func upTo(highestOf layers: UInt8) -> UInt8 {
    layers == 0 ? 0 : upTo(UInt8(truncatingIfNeeded: 7 - layers.leadingZeroBitCount))
  }

  /// All layers from one on that can be missing.
  static func from(_ temporal: UInt8) -> UInt8 { 0xFE & (0xFF << temporal) }

  /// A picture was cut whose lowest frame is of this layer: those above may refer to it as well.
  /// - Parameter inPart: something of it has left, and its id counts.
  mutating func cut(from temporal: UInt8, picture timestamp: UInt32, inPart: Bool = false) {
    cutPicture = timestamp
    #if PLANTED_DEFECTS
      waitsForLowest = waitsForLowest || inPart && !PlantedDefect.isOn(.lowestNotAwaited)
    #else
      waitsForLowest = waitsForLowest || inPart
    #endif
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.layersGoOnAtOnce) { return }
    #endif
    layers |= Self.from(temporal)
  }

  /// A stream goes on from the layer that it showed to one further up, which doesn't need those between them.
  mutating func passOver(from shown: UInt8, to temporal: UInt8) {
    layers |= Self.from(shown &+ 1) & (Self.upTo(temporal) >> 1)
  }

  /// What of two is missing.
  mutating func add(_ other: MissingLayers) {
    layers |= other.layers
    waitsForLowest = waitsForLowest || other.waitsForLowest
    if other.cutPicture != nil { cutPicture = other.cutPicture }
  }

  /// Whether a packet is of a frame that can't be decoded, as far as is known.
  func blocks(_ layer: LayerID, _ flags: PacketInfo.Flags, picture timestamp: UInt32) -> Bool {
    guard layers & Self.upTo(layer.temporal) != 0 else { return false }
    if timestamp == cutPicture { return true }
    // What refers to the lowest layer alone, and what needs the lower ones.
    if flags.contains(.switchingPoint) { return false }
    return !flags.contains(.switchesFromBelow) || layers & (Self.upTo(layer.temporal) >> 1) != 0
  }

  /// A packet isn't blocked: if its frame begins its layer, that can be decoded from here on. While a layer below is missing, it can't: of
  /// the frames that follow those are left out that need that one, and others of the layer refer to them.
  mutating func pass(_ layer: LayerID, _ flags: PacketInfo.Flags) {
    if layer.temporal == 0 { waitsForLowest = false }
    // It is shown by itself, and what follows in its layer isn't before a frame of the lowest one.
    guard !waitsForLowest else { return }
    guard layers & (Self.upTo(layer.temporal) >> 1) == 0,
      !flags.isDisjoint(with: [.switchingPoint, .switchesFromBelow])
    else { return }
    layers &= ~(1 << layer.temporal)
  }

  /// A frame has passed of which the source says that these layers can be gone on to behind it.
  mutating func open(_ opened: UInt8) { layers &= ~Self.upTo(highestOf: opened) }
}

/// Which layers of frame rate a source has, and which of them it begins again and again without a key frame. Without such points a layer that
/// is cut would stay away.
struct BegunLayers: BitwiseCopyable {
  private var seen: UInt8 = 0
  private var begun: UInt8 = 0
  /// What was begun in two pictures: one may be the picture that is cut, or the only one.
  private var again: UInt8 = 0
  /// The picture that begins something, and what was noted of it.
  private var picture: UInt32?
  private var noted: UInt8 = 0
  /// The last key frame, in which everything begins.
  private var keyFrame: UInt32?

  init() {}

  /// Notes a packet of the source.
  @inline(__always)
  mutating func note(_ info: PacketInfo) {
    if info.flags.contains(.keyFrame) {
      (seen, begun, again, picture, keyFrame) = (0, 0, 0, nil, info.timestamp)
    }
    seen |= 1 << info.layer.temporal
    if info.layer.opens != 0 || !info.flags.isDisjoint(with: [.switchingPoint, .switchesFromBelow]) {
      noteBeginning(info)
    }
  }

  @inline(never)
  private mutating func noteBeginning(_ info: PacketInfo) {
    guard info.timestamp != keyFrame else { return }
    // Who lacks the frame's own layer can't go on from it.
    var begins = MissingLayers.upTo(highestOf: info.layer.opens) & ~MissingLayers.upTo(info.layer.temporal)
    if !info.flags.isDisjoint(with: [.switchingPoint, .switchesFromBelow]) {
      begins |= 1 << info.layer.temporal
    }
    if info.timestamp != picture { (picture, noted) = (info.timestamp, 0) }
    begins &= ~noted
    noted |= begins
    again |= begun & begins
    begun |= begins
  }

  /// Whether the source has begun all its layers between these two since its last key frame, and has done so again.
  func returns(from temporal: UInt8, upTo highest: UInt8) -> Bool {
    let wanted = seen & MissingLayers.from(temporal) & MissingLayers.upTo(highest)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.returnsAlways) { return true }
    #endif
    return wanted & ~again == 0
  }
}
