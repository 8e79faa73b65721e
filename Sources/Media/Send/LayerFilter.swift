internal import Model

/// Which layers of an encoding a stream shows. It sees what `PacketInfo` says alone, so frames that are encrypted end to end are
/// chosen as well.
///
/// A layer is given up with the next picture, since none that is shown refers to one above it; it is taken up where the source says
/// that it can be.
struct LayerFilter: BitwiseCopyable {
  /// All that there are.
  static let all: UInt8 = 255

  /// What is wanted.
  private(set) var wantedTemporal = LayerFilter.all
  private(set) var wantedSpatial = LayerFilter.all
  /// What is shown.
  private(set) var temporal = LayerFilter.all
  private(set) var spatial = LayerFilter.all
  /// The picture that is being decided on.
  private var timestamp: UInt32 = 0
  private var hasPicture = false

  /// Something is left out, or may be.
  var isActive: Bool {
    temporal != Self.all || spatial != Self.all || wantedTemporal != Self.all || wantedSpatial != Self.all
  }

  mutating func want(spatial: UInt8, temporal: UInt8) {
    (wantedSpatial, wantedTemporal) = (spatial, temporal)
  }

  /// The source is joined to the stream here, at a key frame: everything that is wanted can be shown.
  mutating func join() {
    (temporal, spatial) = (wantedTemporal, wantedSpatial)
    hasPicture = false
  }

  /// What becomes of a packet.
  enum Verdict: BitwiseCopyable {
    case passes
    /// It is the last of its picture that is shown, although the source's goes on.
    case ends
    case isLeftOut
  }

  mutating func judge(_ info: PacketInfo) -> Verdict {
    if !hasPicture || info.timestamp != timestamp {
      hasPicture = true
      timestamp = info.timestamp
      temporal = min(temporal, wantedTemporal)
      spatial = min(spatial, wantedSpatial)
    }
    takeUp(info)
    if info.layer.temporal > temporal || info.layer.spatial > spatial { return .isLeftOut }
    return info.layer.spatial == spatial && info.flags.contains(.endsLayerFrame) ? .ends : .passes
  }

  private mutating func takeUp(_ info: PacketInfo) {
    let isKey = info.flags.contains(.keyFrame)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.layerTakenUpAtOnce) { temporal = wantedTemporal }
    #endif
    if info.layer.temporal > temporal, info.layer.temporal <= wantedTemporal,
      isKey || info.flags.contains(.switchingPoint)
    {
      temporal = info.layer.temporal
    }
    if isKey { (temporal, spatial) = (wantedTemporal, wantedSpatial) }
    // Nothing of this picture is above its own layer, so this holds from the next one on.
    if info.layer.temporal <= temporal, info.flags.contains(.opensHigherLayers) { temporal = wantedTemporal }
    if info.layer.spatial > spatial, info.layer.spatial <= wantedSpatial,
      info.flags.contains(.beginsSpatialLayer)
    {
      spatial = info.layer.spatial
    }
  }

  func encode(into writer: inout StateWriter) {
    for layer in [wantedTemporal, wantedSpatial, temporal, spatial] { writer.write(layer) }
  }

  init() {}

  init(from reader: inout StateReader) throws(StateError) {
    wantedTemporal = try reader.integer()
    wantedSpatial = try reader.integer()
    temporal = try reader.integer()
    spatial = try reader.integer()
  }
}
