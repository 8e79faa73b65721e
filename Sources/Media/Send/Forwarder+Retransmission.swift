public import Model
internal import Wire

/// What a NACK for one packet of the stream asks for.
public struct RetransmissionRequest: BitwiseCopyable, Sendable {
  /// In the stream, extended.
  public var outgoing: Int64
  /// In the history of the source's encoding.
  public var source: Int64
  public var encoding: UInt8 { anchor.encoding }
  var anchor: Anchor
  public var now: Instant
}

extension Forwarder {
  /// Finds out which packet of the source a NACK means.
  /// - Parameters:
  ///   - sequence: as the subscriber names it.
  ///   - roundTrip: to this subscriber.
  /// - Returns: nil for what was never sent, came from an earlier source, or was sent again just now.
  public mutating func retransmission(
    of sequence: UInt16, now: Instant, roundTrip: Duration
  ) -> RetransmissionRequest? {
    let outgoing =
      position.highest &+ Int64(Int16(bitPattern: sequence &- UInt16(truncatingIfNeeded: position.highest)))
    guard position.hasSent, outgoing <= position.highest, let anchor = anchor(ofOutgoing: outgoing),
      let (source, pictures) = source(ofOutgoing: outgoing, anchor),
      retransmissions.allow(outgoing, now: now, roundTrip: roundTrip)
    else {
      counters.notRetransmitted &+= 1
      return nil
    }
    return RetransmissionRequest(
      outgoing: outgoing, source: source, anchor: anchor.behind(pictures: pictures), now: now)
  }

  /// Writes a kept packet as a retransmission stream carries it (RFC 4588).
  /// - Parameter probes: it is sent to see what the path carries, and was not asked for.
  /// - Returns: nil if the subscriber has no such stream for the codec, or there is no room.
  public mutating func rewriteRetransmission(
    _ request: RetransmissionRequest, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo,
    probes: Bool = false, into buffer: UnsafeMutableRawBufferPointer
  ) -> OutgoingPacket? {
    let format = outgoingFormat(info)
    let payloadType = formats.rtxPayloadTypes[Int(format.rawValue)]
    var known = leftOut.targets
    let targets =
      info.flags.contains(.carriesExtensions)
      ? targetsChange(
        info, packet, &known, spatial: leftOut.filter.spatial, temporal: leftOut.filter.temporal) : nil
    guard payloadType != 255, let rtxSSRC else { return nil }
    var result = rewrite(request, packet, info, format, payloadType, rtxSSRC, targets, buffer)
    #if PLANTED_DEFECTS
      if result == nil, PlantedDefect.isOn(.grownRepairLost) { return nil }
    #endif
    if result == nil, targets != nil {
      // As where it left for the first time.
      counters.descriptorsUnchanged &+= 1
      result = rewrite(request, packet, info, format, payloadType, rtxSSRC, nil, buffer)
    }
    guard let written = result else { return nil }
    rtxSequence &+= 1
    if probes { counters.padding &+= 1 } else { counters.retransmitted &+= 1 }
    return written
  }

  private mutating func rewrite(
    _ request: RetransmissionRequest, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo,
    _ format: CodecFormat, _ payloadType: UInt8, _ rtxSSRC: UInt32, _ targets: ActiveTargetsChange?,
    _ buffer: UnsafeMutableRawBufferPointer
  ) -> OutgoingPacket? {
    write(
      packet, info, format: format, anchor: request.anchor, payloadType: payloadType,
      isMarked: info.flags.contains(.marker) || leftOut.ends(info), sequence: rtxSequence &+ 1,
      ssrc: rtxSSRC, originalSequence: UInt16(truncatingIfNeeded: request.outgoing), targets: targets,
      at: request.now, into: buffer)
  }

  /// A packet that was sent lately, for a probe to send again.
  /// - Parameter back: how many before the newest.
  /// - Returns: nil where there is none of the present source.
  func sentLately(back: Int64, now: Instant) -> RetransmissionRequest? {
    let outgoing = position.highest &- back
    guard position.hasSent, let anchor = anchor(ofOutgoing: outgoing),
      let (source, pictures) = source(ofOutgoing: outgoing, anchor), source >= anchor.source
    else { return nil }
    return RetransmissionRequest(
      outgoing: outgoing, source: source, anchor: anchor.behind(pictures: pictures), now: now)
  }

  /// Padding can be sent in the retransmission stream.
  var canProbe: Bool { rtxSSRC != nil && formats.paddingPayloadType != 255 }

  /// Writes padding alone as a packet of the retransmission stream (RFC 3550 §5.1): what no stream's numbers of media count.
  /// - Returns: nil if the subscriber has no such stream, or there is no room.
  public mutating func writePadding(into buffer: UnsafeMutableRawBufferPointer) -> OutgoingPacket? {
    let padding = 255
    guard let rtxSSRC, formats.paddingPayloadType != 255, let bytes = buffer.baseAddress,
      let writer = RTPWriter(
        into: buffer, marker: false, payloadType: formats.paddingPayloadType,
        sequence: UInt16(truncatingIfNeeded: rtxSequence &+ 1), timestamp: position.timestamp, ssrc: rtxSSRC)
    else { return nil }
    var info = PacketInfo()
    info.flags = []
    guard
      let block = extensions.write(
        info, at: position.arrival, to: writer, into: bytes + RTPHeader.fixedSize),
      block.size &+ padding <= buffer.count
    else { return nil }
    UnsafeMutableRawBufferPointer(rebasing: buffer[block.size..<block.size &+ padding]).initializeMemory(
      as: UInt8.self, repeating: 0)
    buffer[block.size &+ padding &- 1] = UInt8(padding)
    buffer[0] |= 0x20
    rtxSequence &+= 1
    counters.padding &+= 1
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.probeUnderMediaNumber) {
        position.highest &+= 1
        buffer.storeBytes(
          of: UInt16(truncatingIfNeeded: position.highest).bigEndian, toByteOffset: 2, as: UInt16.self)
        buffer.storeBytes(of: ssrc.bigEndian, toByteOffset: 8, as: UInt32.self)
        return OutgoingPacket(
          ssrc: ssrc, index: UInt64(bitPattern: position.highest), headerSize: block.size,
          size: block.size &+ padding,
          numberOffset: block.numberOffset == 0 ? 0 : RTPHeader.fixedSize &+ block.numberOffset)
      }
    #endif
    return OutgoingPacket(
      ssrc: rtxSSRC, index: UInt64(bitPattern: rtxSequence), headerSize: block.size,
      size: block.size &+ padding,
      numberOffset: block.numberOffset == 0 ? 0 : RTPHeader.fixedSize &+ block.numberOffset)
  }

  /// The caller sent the sealed bytes of a packet once more, or could not.
  public mutating func noteRepeated(_ found: Bool) {
    if found { counters.retransmitted &+= 1 } else { counters.notRetransmitted &+= 1 }
  }

  /// The packet of the source that has a place in the stream, and how many pictures were left out before it.
  private func source(ofOutgoing sequence: Int64, _ anchor: Anchor) -> (Int64, UInt16)? {
    let place = sequence &- anchor.outgoing &+ anchor.source &- anchor.closedPlaces
    guard let source = leftOut.closed.source(ofPlace: place, join: anchor.join),
      let before = leftOut.closed.before(source, join: anchor.join)
    else { return nil }
    return (source, before.pictures)
  }

  /// The anchor under which a packet went out, if it came from the present source.
  private func anchor(ofOutgoing sequence: Int64) -> Anchor? {
    for index in 0..<anchors.count where anchors[index].outgoing <= sequence {
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.nackOtherSource) { return anchors[index] }
      #endif
      return anchors[index].generation == generation ? anchors[index] : nil
    }
    return nil
  }
}
