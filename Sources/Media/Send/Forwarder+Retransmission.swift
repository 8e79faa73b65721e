public import Model

/// What a NACK for one packet of the stream asks for.
public struct RetransmissionRequest: BitwiseCopyable, Sendable {
  /// In the stream, extended.
  public var outgoing: Int64
  /// In the source's history.
  public var source: Int64
  var anchor: Anchor
  var now: Instant
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
      retransmissions.allow(outgoing, now: now, roundTrip: roundTrip)
    else {
      counters.notRetransmitted &+= 1
      return nil
    }
    return RetransmissionRequest(
      outgoing: outgoing, source: anchor.source &+ (outgoing &- anchor.outgoing), anchor: anchor,
      now: now)
  }

  /// Writes a kept packet as a retransmission stream carries it (RFC 4588).
  /// - Returns: nil if the subscriber has no such stream for the codec, or there is no room.
  public mutating func rewriteRetransmission(
    _ request: RetransmissionRequest, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo,
    into buffer: UnsafeMutableRawBufferPointer
  ) -> OutgoingPacket? {
    let format = outgoingFormat(info)
    let payloadType = formats.rtxPayloadTypes[Int(format.rawValue)]
    guard payloadType != 255, let rtxSSRC,
      let written = write(
        packet, info, format: format, anchor: request.anchor, payloadType: payloadType,
        sequence: rtxSequence &+ 1, ssrc: rtxSSRC,
        originalSequence: UInt16(truncatingIfNeeded: request.outgoing), at: request.now, into: buffer)
    else { return nil }
    rtxSequence &+= 1
    counters.retransmitted &+= 1
    return written
  }

  /// The caller sent the sealed bytes of a packet once more, or could not.
  public mutating func noteRepeated(_ found: Bool) {
    if found { counters.retransmitted &+= 1 } else { counters.notRetransmitted &+= 1 }
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
