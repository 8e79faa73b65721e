public import Model
internal import Wire

/// A rewritten packet in plain text, ready to be sealed.
public struct OutgoingPacket: BitwiseCopyable, Sendable {
  public var ssrc: UInt32
  /// Extended sequence number of its stream: rollover counter and sequence, as SRTP's index.
  public var index: UInt64
  public var headerSize: Int
  public var size: Int
}

extension Forwarder {
  /// Writes the packet as this subscriber gets it.
  /// - Parameters:
  ///   - packet: of the source, in plain text.
  ///   - buffer: room for the packet and 64 bytes more; nothing is written beyond it.
  /// - Returns: nil when it is left out (counted).
  public mutating func rewrite(
    _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, into buffer: UnsafeMutableRawBufferPointer,
    epoch: Epoch
  ) -> OutgoingPacket? {
    let format = outgoingFormat(info)
    let payloadType = payloadTypes[Int(format.rawValue)]
    guard payloadType != 255 else {
      loseCodec(info)
      return nil
    }
    if state != .flowing || anchorCount == 0 || anchors[0].generation != generation
      || anchors[0].restart != info.restart
    {
      guard anchor(info, epoch: epoch) else {
        counters.waiting &+= 1
        return nil
      }
    }
    guard info.extendedSequence >= anchors[0].source else {
      counters.late &+= 1
      return nil
    }
    #if PLANTED_DEFECTS
      let runAhead =
        PlantedDefect.isOn(.noRejoin)
        ? .max : PlantedDefect.isOn(.runsAheadByOne) ? Self.runAhead - 1 : Self.runAhead
    #else
      let runAhead = Self.runAhead
    #endif
    if anchors[0].outgoing &+ (info.extendedSequence &- anchors[0].source) &- highest > runAhead {
      guard rejoin(info, epoch: epoch) else {
        counters.waiting &+= 1
        return nil
      }
    }
    let anchor = anchors[0]
    #if PLANTED_DEFECTS
      let isRepeat = PlantedDefect.isOn(.indexSealedTwice) && counters.packets % 200 == 199
      let sequence = anchor.outgoing &+ (info.extendedSequence &- anchor.source) &- (isRepeat ? 1 : 0)
    #else
      let sequence = anchor.outgoing &+ (info.extendedSequence &- anchor.source)
    #endif
    guard
      let written = write(
        packet, info, format: format, anchor: anchor, payloadType: payloadType, sequence: sequence,
        ssrc: ssrc,
        originalSequence: nil, at: info.arrival, into: buffer)
    else {
      counters.unwritable &+= 1
      hasUnwritable = true
      return nil
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.lateIsHighest) { highest = sequence - 1 }
    #endif
    if sequence > highest || !hasSent {
      highest = sequence
      // The latest, not the last: where a source's timestamps step back, the next source's still go on from the
      // highest, because receivers drop what is older than what they have played.
      let timestamp = info.timestamp &+ anchor.timestamp
      if Int32(bitPattern: timestamp &- lastTimestamp) > 0 || !hasSent {
        lastTimestamp = timestamp
        lastArrival = info.arrival
      }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.lastNotLatest) { (lastTimestamp, lastArrival) = (timestamp, info.arrival) }
      #endif
      if info.pictureIDOffset != 0 {
        // As the subscriber saw it, so that a source with ids of the other width goes on from there.
        let mask: UInt16 = info.flags.contains(.longPictureID) ? 0x7FFF : 0x7F
        lastPictureID = (info.pictureID &+ anchor.pictureID) & mask
        #if PLANTED_DEFECTS
          if PlantedDefect.isOn(.pictureIdWidth) { lastPictureID = info.pictureID &+ anchor.pictureID }
        #endif
      }
      if info.tl0PictureIndexOffset != 0 {
        lastTL0PictureIndex = info.tl0PictureIndex &+ anchor.tl0PictureIndex
      }
      if info.carried.descriptorOffset != 0 { lastFrameNumber = info.frameNumber &+ anchor.frameNumber }
      hasSent = true
    }
    counters.packets &+= 1
    #if PLANTED_DEFECTS
      reports.sent(
        octets: PlantedDefect.isOn(.octetsWithHeader) ? written.size : written.size &- written.headerSize)
    #else
      reports.sent(octets: written.size &- written.headerSize)
    #endif
    return written
  }

  /// Whether a packet was left out for its size since this was asked last.
  @inline(never)
  public mutating func takeUnwritable() -> Bool {
    defer { hasUnwritable = false }
    return hasUnwritable
  }

  /// The source goes on without the subscriber, who shall see no gap when it comes back.
  @inline(never)
  private mutating func loseCodec(_ info: PacketInfo) {
    // Overtaken by the packets of a codec that the subscriber has: the source is past it.
    if state == .flowing, anchorCount > 0, anchors[0].generation == generation,
      anchors[0].restart == info.restart, info.extendedSequence < anchors[0].source
    {
      counters.late &+= 1
      return
    }
    counters.codecMissing &+= 1
    guard state != .withoutCodec else { return }
    if state == .flowing, anchorCount > 0, anchors[0].generation == generation,
      anchors[0].restart == info.restart
    {
      noteSentClock()
    }
    state = .withoutCodec
  }

  /// How far the source's numbers may run ahead of what was sent. What the source lost beyond it is nothing that its
  /// subscriber could ask for, and a receiver's estimate of the SRTP index holds for less than 32,768 numbers
  /// (RFC 3711 §3.3.1): packets that are counted and not sent must never add up to that.
  static let runAhead: Int64 = 512

  /// The source is the same and far ahead of the stream: its numbers go on behind the last one sent.
  @inline(never)
  private mutating func rejoin(_ info: PacketInfo, epoch: Epoch) -> Bool {
    let known = anchors[0]
    guard anchor(info, epoch: epoch) else { return false }
    // Its clock goes on as well, unless its timestamps have jumped.
    let step = info.timestamp &+ known.timestamp &- lastTimestamp
    if step &- 1 < 3_600 &* info.format.codec.clockRate { anchors[0].timestamp = known.timestamp }
    return true
  }

  /// Joins the source to the stream at this packet.
  /// - Returns: false when the stream can't begin here.
  private mutating func anchor(_ info: PacketInfo, epoch: Epoch) -> Bool {
    if kind == .video && !info.flags.contains(.keyFrame) {
      state = .waitingForKeyFrame
      return false
    }
    // Started over: what is known of its clock belongs to one of its two lives, so arrival must do.
    if anchorCount > 0 && anchors[0].generation == generation { sentClock = nil }
    var new = Anchor()
    new.source = info.extendedSequence
    new.outgoing = highest &+ 1
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.sequenceJump), hasSent { new.outgoing &+= 1 }
    #endif
    new.restart = info.restart
    new.generation = generation
    let rate = info.format.codec.clockRate
    new.timestamp = nextTimestamp(info, rate: rate, epoch: epoch) &- info.timestamp
    if hasSent && rate != sentRate { reportsOwed = Self.reportsOfNewClock }
    sentRate = rate
    if hasSent {
      new.pictureID = lastPictureID &+ 1 &- info.pictureID
      new.tl0PictureIndex = lastTL0PictureIndex &+ 1 &- info.tl0PictureIndex
      new.frameNumber = lastFrameNumber &+ 1 &- info.frameNumber
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.pictureIdRepeated) { new.pictureID = lastPictureID &- info.pictureID }
      #endif
    }
    for index in (1..<4).reversed() { anchors[index] = anchors[index &- 1] }
    anchors[0] = new
    anchorCount = min(anchorCount &+ 1, 4)
    heardSince = info.arrival
    counters.anchors &+= 1
    state = .flowing
    return true
  }

  /// The stream's timestamp for the first packet of a source: as far behind the last one as the samples lie
  /// apart on the server's time line, at the rate that the stream had until then: receivers draw
  /// one line through the reports of the last twenty seconds, whoever they were of, and it must go on without a step.
  ///
  /// A codec with another clock stays in the stream. RFC 7160 §4.1 would have it under another SSRC; but the SSRC is
  /// what the answer announced for the section, and browsers play under no other without a new offer. So timestamps
  /// go on as §4.2 has it for one SSRC: the time until the change is counted by the clock before it. What comes of
  /// that in libwebrtc, which is in all browsers: its audio buffer starts over where the decoder's rate changes,
  /// whatever the timestamps; its map from timestamps to wall time is a straight line through the last 20 sender
  /// reports, so that many follow each other soon (`reportsOfNewClock`).
  private func nextTimestamp(_ info: PacketInfo, rate: UInt32, epoch: Epoch) -> UInt32 {
    guard hasSent else { return lastTimestamp }
    let span: Int64
    // What is known of the new source's clock may be from before its codec changed.
    if let clock, let sentClock, clock.isReported, sentClock.isReported, clock.rate == rate {
      span = clock.ntp(at: info.timestamp).nanoseconds(since: sentClock.ntp(at: lastTimestamp))
    } else {
      span = info.arrival.nanoseconds &- lastArrival.nanoseconds
    }
    // Never backwards, and not beyond what a receiver takes for a jump of the clock.
    let bounded = max(1_000_000, min(span, 3_600_000_000_000))
    let pace = sentClock.map { $0.isReported && $0.rate == sentRate ? $0.measured : sentRate } ?? sentRate
    return lastTimestamp &+ UInt32(truncatingIfNeeded: max(1, ClockMapping.units(bounded, rate: pace)))
  }

  /// Header, mapped extensions and payload; for a retransmission with the original sequence number between.
  ///
  /// Of RED whose blocks go alone, the newest block is the payload.
  @inline(__always)
  mutating func write(
    _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, format: CodecFormat, anchor: Anchor,
    payloadType: UInt8, sequence: Int64, ssrc: UInt32, originalSequence: UInt16?, at moment: Instant,
    into buffer: UnsafeMutableRawBufferPointer
  ) -> OutgoingPacket? {
    let contributors = Int(info.contributors)
    let extensionOffset = RTPHeader.fixedSize &+ 4 &* contributors
    let skipped = format.rawValue == info.format.rawValue ? 0 : Int(info.primaryOffset)
    let payloadOffset = Int(info.payloadOffset) &+ skipped
    let payloadSize = Int(info.payloadSize) &- skipped
    let carries = info.flags.contains(.carriesExtensions) && extensions.carries
    guard payloadSize >= 0, payloadOffset &+ payloadSize <= packet.count,
      extensionOffset <= payloadOffset,
      let from = packet.baseAddress, let to = buffer.baseAddress,
      var writer = RTPWriter(
        into: buffer, marker: info.flags.contains(.marker), payloadType: payloadType,
        sequence: UInt16(truncatingIfNeeded: sequence), timestamp: info.timestamp &+ anchor.timestamp,
        ssrc: ssrc, csrcCount: contributors, form: carries ? extensions.form(carrying: info) : .oneByte)
    else { return nil }
    for index in 0..<contributors {
      writer.setContributor(
        index, ssrc: from.loadBigEndian(at: RTPHeader.fixedSize &+ 4 &* index, as: UInt32.self))
    }
    let headerSize: Int
    if carries {
      headerSize = extensions.write(
        info, of: packet, frameNumber: info.frameNumber &+ anchor.frameNumber, at: moment, to: writer)
    } else {
      guard let size = extensions.write(info, at: moment, to: writer, into: to + extensionOffset) else {
        return nil
      }
      headerSize = size
    }
    var offset = headerSize
    let extra = originalSequence == nil ? 0 : RTX.sequenceSize
    guard headerSize &+ extra &+ payloadSize <= buffer.count else { return nil }
    if let originalSequence {
      to.storeBigEndian(originalSequence, at: offset)
      offset &+= RTX.sequenceSize
    }
    (to + offset).copyMemory(from: from + payloadOffset, byteCount: payloadSize)
    if info.pictureIDOffset | info.tl0PictureIndexOffset != 0 {
      rewritePictureID(info, anchor, at: to + offset, payloadSize: payloadSize)
    } else if format.rawValue != info.primaryFormat.rawValue {
      REDPayload.rewrite(
        UnsafeMutableRawBufferPointer(start: to + offset, count: payloadSize),
        olderBlocks: Int(info.olderBlocks), payloadType: payloadTypes[Int(info.primaryFormat.rawValue)])
    }
    return OutgoingPacket(
      ssrc: ssrc, index: UInt64(bitPattern: sequence), headerSize: headerSize, size: offset &+ payloadSize)
  }

  private func rewritePictureID(
    _ info: PacketInfo, _ anchor: Anchor, at payload: UnsafeMutableRawPointer, payloadSize: Int
  ) {
    let pictureOffset = Int(info.pictureIDOffset)
    let isLong = info.flags.contains(.longPictureID)
    if pictureOffset != 0 && pictureOffset &+ (isLong ? 2 : 1) <= payloadSize {
      let value = info.pictureID &+ anchor.pictureID
      if isLong {
        payload.storeBigEndian(0x8000 | (value & 0x7FFF), at: pictureOffset)
      } else {
        payload.store(byte: UInt8(truncatingIfNeeded: value & 0x7F), at: pictureOffset)
      }
    }
    let indexOffset = Int(info.tl0PictureIndexOffset)
    if indexOffset != 0 && indexOffset < payloadSize {
      payload.store(byte: info.tl0PictureIndex &+ anchor.tl0PictureIndex, at: indexOffset)
    }
  }
}
