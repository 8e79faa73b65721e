internal import Model

/// What selection found out about a packet, for its departure.
public struct Selection: BitwiseCopyable, Sendable {
  let format: CodecFormat
  let payloadType: UInt8
  /// The source is joined to the stream at this packet: it is another, or it started over.
  public let joins: Bool
  /// The picture ends here for the subscriber.
  var ends = false
  /// Up to which layers the stream shows its source, as of this packet.
  var spatial = LayerFilter.all
  var temporal = LayerFilter.all
  /// Of what was left out since the source was joined: places and pictures before this packet.
  var closedPlaces: Int64 = 0
  var closedPictures: UInt16 = 0
  /// By which join those are counted.
  var join: UInt8 = 0
  /// Packets of higher numbers came before it.
  public internal(set) var isLate = false
  /// A layer of which something was missing is shown again from this packet on.
  var mends = false
}

/// Where the stream's source was joined, as selection knows it; its anchor is set when that packet departs.
struct JoinedSource: BitwiseCopyable {
  /// The number of the packet, and which incarnation of which source it is of.
  var first: Int64 = 0
  /// The highest number that was looked at.
  var highest: Int64 = 0
  var restart: UInt8 = 0
  var encoding: UInt8 = 0
  var generation: UInt32 = 0
  /// False before the first join, and after a departure that broke the stream off.
  var isJoined = false
  /// The timestamp of the key frame that it was joined with, for which it waited. No state: it decides who goes first alone.
  var keyFrame: UInt32?
  /// What the stream begins with of the time before it. No state: what waits is none, either.
  var past: RecentPictures?
  /// No state: where it is forgotten a picture that is cut takes a key frame.
  var layers = BegunLayers()
}

extension Forwarder {
  /// Decides whether the subscriber gets a packet of its source. Numbers are given at departure, so that what is selected
  /// and never leaves takes none.
  /// - Parameter sheds: frames that no other refers to are left out, from their first packet on.
  /// - Returns: what `depart` needs; nil when it is left out (counted).
  public mutating func select(_ info: PacketInfo, sheds: Bool = false) -> Selection? {
    let format = outgoingFormat(info)
    let payloadType = formats.payloadTypes[Int(format.rawValue)]
    guard payloadType != 255 else {
      loseCodec(info)
      return nil
    }
    guard !encodings.isPaused, info.encoding == encodings.shown || goOn(to: info) else { return nil }
    guard state == .flowing, joined.isJoined, joined.generation == generation, joined.restart == info.restart
    else { return join(info, format: format, payloadType: payloadType) }
    guard info.extendedSequence >= joined.first else {
      counters.late &+= 1
      return nil
    }
    let isLate = info.extendedSequence <= joined.highest
    if !isLate {
      joined.highest = info.extendedSequence
      joined.layers.note(info)
    }
    if info.flags.contains(.keyFrame) { boundLayers(info) }
    if sheds, !isLate { leftOut.filter.shed(info) }
    guard leftOut.isActive || info.flags.contains(.notNeededAbove) else {
      return Selection(
        format: format, payloadType: payloadType, joins: false, join: leftOut.closed.join, isLate: isLate)
    }
    return filtered(info, isLate: isLate, format: format, payloadType: payloadType)
  }

  /// Leaves out what is of no layer that is shown. What comes late has its place already, and goes there: the subscriber would ask
  /// for it again and again.
  @inline(never)
  private mutating func filtered(_ info: PacketInfo, isLate: Bool, format: CodecFormat, payloadType: UInt8)
    -> Selection?
  {
    let isUnjudged = isLate || info.flags.contains(.layerUnknown)
    let lacked = leftOut.filter.lacked
    #if PLANTED_DEFECTS
      let verdict =
        isUnjudged && !PlantedDefect.isOn(.lateJudged) ? lateVerdict(info) : leftOut.filter.judge(info)
    #else
      let verdict = isUnjudged ? lateVerdict(info) : leftOut.filter.judge(info)
    #endif
    if verdict == .isLeftOut, !isLate {
      // Ids of VP8 run on with what is shown (RFC 7741 §4.2); those of VP9 are referred to by their distance.
      leftOut.closed.close(
        info.extendedSequence, picture: info.format == .vp8 ? info.pictureID : nil)
      counters.layerLeftOut &+= 1
      return nil
    }
    guard let before = leftOut.closed.before(info.extendedSequence, join: leftOut.closed.join) else {
      counters.late &+= 1
      return nil
    }
    return Selection(
      format: format, payloadType: payloadType, joins: false, ends: verdict == .ends,
      spatial: leftOut.filter.spatial, temporal: leftOut.filter.temporal,
      closedPlaces: before.places, closedPictures: before.pictures, join: leftOut.closed.join,
      isLate: isLate, mends: lacked != leftOut.filter.lacked)
  }

  /// What came behind it has been decided on already, so it changes nothing. It ends its picture where the next packet is left out.
  private mutating func lateVerdict(_ info: PacketInfo) -> LayerFilter.Verdict {
    if info.flags.contains(.keyFrame) { leftOut.filter.missKeyFrame() }
    return leftOut.ends(info) ? .ends : .passes
  }

  /// Joins the source to the stream at this packet, if it can begin there.
  @inline(never)
  private mutating func join(_ info: PacketInfo, format: CodecFormat, payloadType: UInt8) -> Selection? {
    // Nothing feeds it.
    guard state != .idle else { return nil }
    guard canBegin(info) else {
      state = .waitingForKeyFrame
      counters.waiting &+= 1
      return nil
    }
    joined = JoinedSource(
      first: info.extendedSequence, highest: info.extendedSequence, restart: info.restart,
      encoding: info.encoding, generation: generation,
      isJoined: true, keyFrame: info.timestamp, past: joined.past)
    joined.layers.note(info)
    state = .flowing
    boundLayers(info)
    leftOut.join()
    return Selection(
      format: format, payloadType: payloadType, joins: true, ends: leftOut.filter.begin(info),
      spatial: leftOut.filter.spatial, temporal: leftOut.filter.temporal, join: leftOut.closed.join)
  }

  /// A decoder of AV1 knows layers of size apart by the dependency descriptor alone: without it, it gets the lowest.
  private mutating func boundLayers(_ info: PacketInfo) {
    let isBound = info.format.codec == .av1 && !extensions.takesDescriptors
    leftOut.filter.mostSpatial = isBound ? 0 : LayerFilter.all
  }

  /// The highest layer of size that the subscriber can make something of.
  var mostSpatial: UInt8 { leftOut.filter.mostSpatial }

  /// Whether a selected packet goes before those of other slots: audio, and what belongs to the key frame that it waited for. A
  /// publisher that sends nothing but key frames is no more urgent than others.
  func isUrgent(_ info: PacketInfo) -> Bool { kind == .audio || info.timestamp == joined.keyFrame }

  /// Whether a stream can begin, or go on from another source, at this packet.
  func canBegin(_ info: PacketInfo) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.switchWithoutKeyFrame), state == .flowing { return true }
    #endif
    return kind == .audio || info.flags.contains(.keyFrame)
  }

  /// The source goes on without the subscriber, who shall see no gap when it comes back.
  @inline(never)
  private mutating func loseCodec(_ info: PacketInfo) {
    let flows =
      state == .flowing && joined.isJoined && joined.generation == generation
      && joined.restart == info.restart
    // Overtaken by the packets of a codec that the subscriber has: the source is past it.
    if flows, info.extendedSequence < joined.first {
      counters.late &+= 1
      return
    }
    counters.codecMissing &+= 1
    guard state != .withoutCodec else { return }
    if flows {
      // What it was joined with may not have left yet.
      if isAnchored(info.restart, info.encoding) { noteSentClock() } else { pending.losesCodec = true }
    }
    state = .withoutCodec
  }

  /// Whether packets of that incarnation of that encoding of the present source have left.
  @inline(__always)
  func isAnchored(_ restart: UInt8, _ encoding: UInt8) -> Bool {
    anchors.count > 0 && anchors[0].generation == generation && anchors[0].restart == restart
      && anchors[0].encoding == encoding
  }
}
