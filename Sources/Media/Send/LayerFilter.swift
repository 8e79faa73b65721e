internal import Model

/// Which layers of an encoding a stream shows. It sees what `PacketInfo` says alone, so frames that are encrypted end to end are
/// chosen as well.
///
/// A layer is given up with the next picture, where none that is shown refers to one above it; it is taken up where the source says
/// that it can be. Where frames of lower layers of size are not needed above, they are left out for those who get more; from then on
/// the stream stays with its layer until a key frame, since what it would go on to refers to what it didn't get.
struct LayerFilter: BitwiseCopyable {
  /// All that there are.
  static let all: UInt8 = 255

  /// What is wanted.
  private(set) var wantedTemporal = LayerFilter.all
  private(set) var wantedSpatial = LayerFilter.all
  /// The subscriber can make nothing of what is above. No state: each key frame says so.
  var mostSpatial = LayerFilter.all
  private var allowedSpatial: UInt8 { min(wantedSpatial, mostSpatial) }
  /// What is shown.
  private(set) var temporal = LayerFilter.all
  private(set) var spatial = LayerFilter.all
  /// Since the last key frame: lower layers of size were left out, and the highest that has come since then.
  private var hasLeftLower = false
  private var followed: UInt8 = 0
  /// What is wanted can't be shown without a key frame.
  private(set) var needsKeyFrame = false
  /// What can't be decoded of the layers of frame rate that are shown.
  private var missing = MissingLayers()
  /// The timestamp of the first packet that was left out since then for want of those. No state: where it is forgotten it begins again.
  private var lacksSince: UInt32?
  /// The layers of what was left out for that, and those below: a source may have fewer than can be missing.
  private var lacking: UInt8 = 0
  /// The picture that is being decided on.
  private var timestamp: UInt32 = 0
  private var hasPicture = false
  private var hasEnded = false
  /// No state: where it is forgotten the rest of one picture is judged by itself.
  private var hasPassed = false
  /// The frame that is left out by itself. No state: where it is forgotten its rest leaves as well.
  private var shedFrame: UInt32?

  /// Something is left out, or may be.
  var isActive: Bool {
    temporal != Self.all || spatial != Self.all || wantedTemporal != Self.all || allowedSpatial != Self.all
      || shedFrame != nil || missing.isAny
  }

  /// Layers of frame rate of which something is missing.
  var lacked: UInt8 { missing.layers }

  /// Something is missing from here on in what was shown.
  mutating func lack(_ missing: MissingLayers) {
    noteReturn()
    self.missing.add(missing)
  }

  /// A frame that no other refers to was taken out of what waits: what comes of it goes as well.
  mutating func leaveOutRest(of timestamp: UInt32) { shedFrame = timestamp }

  /// Leaves a frame out that no other refers to, if this is its first packet and nothing of its picture has passed. One that stands
  /// above others of its picture stays: those of its place would have to end the picture.
  mutating func shed(_ info: PacketInfo) {
    #if PLANTED_DEFECTS
      let isFree = PlantedDefect.isOn(.shedsReferenced) || info.flags.contains(.discardable)
    #else
      let isFree = info.flags.contains(.discardable)
    #endif
    guard isFree, info.flags.contains(.frameStart), info.layer.spatial == 0, !info.isCountedBeginning,
      !isBegun(info)
    else { return }
    shedFrame = info.timestamp
  }

  /// Whether layers of size up to that one can't be shown without a key frame, where they aren't wanted already.
  func takesKeyFrame(_ other: UInt8) -> Bool {
    guard other != wantedSpatial else { return false }
    return min(other, mostSpatial) > spatial || hasLeftLower && other < followed
  }

  mutating func want(spatial: UInt8, temporal: UInt8) {
    (wantedSpatial, wantedTemporal) = (spatial, temporal)
    needsKeyFrame = hasLeftLower && spatial < followed
  }

  /// The source is joined to the stream here, at a key frame: everything that is wanted can be shown.
  mutating func join() {
    (temporal, spatial) = (wantedTemporal, allowedSpatial)
    hasPicture = false
    startOver()
  }

  /// Notes the packet with which the source is joined.
  /// - Returns: whether its picture ends there.
  mutating func begin(_ info: PacketInfo) -> Bool { judge(info) == .ends }

  /// A key frame's first packet came too late to begin with it.
  mutating func missKeyFrame() { if hasLeftLower { needsKeyFrame = true } }

  private mutating func startOver() {
    hasLeftLower = false
    followed = 0
    needsKeyFrame = false
    missing = MissingLayers()
    noteReturn()
    shedFrame = nil
  }

  /// What becomes of a packet.
  enum Verdict: BitwiseCopyable {
    case passes
    /// It is the last of its picture that is shown, although the source's goes on.
    case ends
    case isLeftOut
  }

  /// Packets are judged in the order of their numbers.
  mutating func judge(_ info: PacketInfo) -> Verdict {
    if !hasPicture || info.timestamp != timestamp { beginPicture(info.timestamp) }
    if let shedFrame {
      #if PLANTED_DEFECTS
        let isAlone = !PlantedDefect.isOn(.shedsFramesAbove)
      #else
        let isAlone = true
      #endif
      // Frames above it may be referred to.
      let isOfIt = info.layer.spatial == 0 || info.flags.contains(.discardable) || !isAlone
      if info.timestamp == shedFrame, isOfIt { return .isLeftOut }
      if info.timestamp != shedFrame { self.shedFrame = nil }
    }
    takeUp(info)
    if isBlocked(info) {
      noteLack(info)
      return .isLeftOut
    }
    guard isBegun(info) || isShown(info) else { return .isLeftOut }
    hasPassed = true
    missing.pass(info.layer, info.flags)
    if lacksSince != nil { noteReturn() }
    if hasLeftLower { followed = max(followed, info.layer.spatial) }
    guard info.flags.contains(.endsLayerFrame) else { return .passes }
    openLayers(info)
    guard info.layer.spatial == spatial else { return .passes }
    hasEnded = true
    return .ends
  }

  /// A packet is left out because something is missing: what hasn't begun again for so long may never do.
  private mutating func noteLack(_ info: PacketInfo) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.lackUnbounded) { return }
    #endif
    guard info.layer.temporal <= wantedTemporal, info.layer.spatial <= allowedSpatial else { return }
    lacking |= MissingLayers.upTo(info.layer.temporal)
    guard let lacksSince else {
      self.lacksSince = info.timestamp
      return
    }
    let longest = Self.longestLack &* info.format.codec.clockRate
    if Int32(bitPattern: info.timestamp &- lacksSince) > Int32(bitPattern: longest) { needsKeyFrame = true }
  }
  /// Seconds.
  private static let longestLack: UInt32 = 4

  private mutating func noteReturn() {
    guard missing.layers & lacking == 0 else { return }
    (lacking, lacksSince) = (0, nil)
  }

  private func isBlocked(_ info: PacketInfo) -> Bool {
    missing.isAny && missing.blocks(info.layer, info.flags, picture: info.timestamp)
  }

  /// Something of a picture has passed that is one frame alone: its rest passes as well. Delimiters and messages of H.264 and H.265
  /// may have a packet of their own in front, which doesn't say of which layer the slices are.
  private func isBegun(_ info: PacketInfo) -> Bool {
    hasPassed && info.timestamp == timestamp && (info.format.codec == .h264 || info.format.codec == .h265)
  }

  private mutating func beginPicture(_ moment: UInt32) {
    hasPicture = true
    hasPassed = false
    hasEnded = false
    timestamp = moment
    temporal = min(temporal, wantedTemporal)
    #if PLANTED_DEFECTS
      let mayGiveUp = !hasLeftLower || PlantedDefect.isOn(.keyedLayerGivenUp)
    #else
      let mayGiveUp = !hasLeftLower
    #endif
    if mayGiveUp { spatial = min(spatial, allowedSpatial) }
  }

  private mutating func takeUp(_ info: PacketInfo) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.layerTakenUpAtOnce) { temporal = wantedTemporal }
    #endif
    let (layer, flags) = (info.layer, info.flags)
    // Of a key frame whose first packet is lost the others say that it refers to nothing.
    let begins = layer.spatial == 0 && layer.temporal == 0 && flags.contains(.beginsSpatialLayer) && !hasEnded
    if flags.contains(.keyFrame) || begins {
      (temporal, spatial) = (wantedTemporal, allowedSpatial)
      startOver()
    }
    if layer.temporal > temporal, layer.temporal <= wantedTemporal {
      #if PLANTED_DEFECTS
        let isNext = layer.temporal == temporal &+ 1 || PlantedDefect.isOn(.subLayerSkipped)
      #else
        let isNext = layer.temporal == temporal &+ 1
      #endif
      let begins = flags.contains(.switchingPoint) || isNext && flags.contains(.switchesFromBelow)
      if begins, !isBlocked(info) {
        if flags.contains(.switchingPoint) { missing.passOver(from: temporal, to: layer.temporal) }
        temporal = layer.temporal
      }
    }
    // Behind the mark of its end nothing is added to a picture. Above all there is nothing.
    #if PLANTED_DEFECTS
      let isNext = PlantedDefect.isOn(.aboveAllIsLowest) || spatial != Self.all
    #else
      let isNext = spatial != Self.all
    #endif
    if isNext, layer.spatial == spatial &+ 1, layer.spatial <= allowedSpatial, layer.temporal <= temporal,
      !hasEnded, !isBlocked(info),
      flags.contains(.beginsSpatialLayer)
    {
      spatial = layer.spatial
    }
  }

  private mutating func isShown(_ info: PacketInfo) -> Bool {
    guard info.layer.temporal <= temporal else { return false }
    if info.layer.spatial > spatial {
      if info.layer.spatial <= allowedSpatial { needsKeyFrame = true }
      return false
    }
    if info.layer.spatial < spatial, info.flags.contains(.notNeededAbove) {
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.lowerLayersSent) { return true }
      #endif
      hasLeftLower = true
      return false
    }
    if hasLeftLower, info.layer.spatial < followed {
      // The layer that was shown is no longer sent.
      if info.flags.contains(.topSpatialLayer) { needsKeyFrame = true }
      return false
    }
    return true
  }

  /// Behind a frame that the source says opens higher layers of frame rate.
  private mutating func openLayers(_ info: PacketInfo) {
    guard info.layer.opens != 0, wantedTemporal > temporal || missing.isAny else { return }
    let isOwn =
      info.layer.spatial == spatial
      || info.layer.spatial < spatial && info.flags.contains(.topSpatialLayer)
    guard isOwn else { return }
    missing.open(info.layer.opens)
    let reachable = info.layer.opens & (wantedTemporal < 7 ? 1 << (wantedTemporal &+ 1) &- 1 : 0xFF)
    if reachable != 0 { temporal = max(temporal, UInt8(7 - reachable.leadingZeroBitCount)) }
  }

  func encode(into writer: inout StateWriter) {
    // Where something is missing the rest is taken up again as what was given up.
    let whole = min(temporal, missing.lowest.map { $0 &- 1 } ?? temporal)
    for layer in [wantedTemporal, wantedSpatial, whole, spatial, followed] { writer.write(layer) }
    writer.write(hasLeftLower)
    writer.write(needsKeyFrame)
  }

  init() {}

  /// - Parameter hasKeys: false for what builds wrote that knew no layers which only a key frame begins.
  init(from reader: inout StateReader, hasKeys: Bool) throws(StateError) {
    wantedTemporal = try reader.integer()
    wantedSpatial = try reader.integer()
    temporal = try reader.integer()
    spatial = try reader.integer()
    guard hasKeys else { return }
    followed = try reader.integer()
    hasLeftLower = try reader.bool()
    needsKeyFrame = try reader.bool()
  }
}
