internal import Model

/// What selection found out about a packet, for its departure.
public struct Selection: BitwiseCopyable, Sendable {
  let format: CodecFormat
  let payloadType: UInt8
  /// The source is joined to the stream at this packet: it is another, or it started over.
  let joins: Bool
}

/// Where the stream's source was joined, as selection knows it; its anchor is set when that packet departs.
struct JoinedSource: BitwiseCopyable {
  /// The number of the packet, and which incarnation of which source it is of.
  var first: Int64 = 0
  var restart: UInt8 = 0
  var generation: UInt32 = 0
  /// False before the first join, and after a departure that broke the stream off.
  var isJoined = false
}

extension Forwarder {
  /// Decides whether the subscriber gets a packet of its source. Numbers are given at departure, so that what is selected
  /// and never leaves takes none.
  /// - Returns: what `depart` needs; nil when it is left out (counted).
  public mutating func select(_ info: PacketInfo) -> Selection? {
    let format = outgoingFormat(info)
    let payloadType = formats.payloadTypes[Int(format.rawValue)]
    guard payloadType != 255 else {
      loseCodec(info)
      return nil
    }
    guard state == .flowing, joined.isJoined, joined.generation == generation, joined.restart == info.restart
    else { return join(info, format: format, payloadType: payloadType) }
    guard info.extendedSequence >= joined.first else {
      counters.late &+= 1
      return nil
    }
    return Selection(format: format, payloadType: payloadType, joins: false)
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
      first: info.extendedSequence, restart: info.restart, generation: generation, isJoined: true)
    state = .flowing
    return Selection(format: format, payloadType: payloadType, joins: true)
  }

  /// Whether a stream can begin, or go on from another source, at this packet.
  func canBegin(_ info: PacketInfo) -> Bool { kind == .audio || info.flags.contains(.keyFrame) }

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
      if isAnchored(info.restart) { noteSentClock() } else { pending.losesCodec = true }
    }
    state = .withoutCodec
  }

  /// Whether packets of that incarnation of the present source have left.
  @inline(__always)
  func isAnchored(_ restart: UInt8) -> Bool {
    anchors.count > 0 && anchors[0].generation == generation && anchors[0].restart == restart
  }
}
