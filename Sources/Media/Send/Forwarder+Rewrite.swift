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

/// What `Forwarder.select` found out about a packet that is to be sent.
public struct Selection: BitwiseCopyable, Sendable {
  /// Whether the source is joined to the stream at this packet.
  enum Join: UInt8, BitwiseCopyable {
    case none
    /// It is another, or it started over.
    case begins
    /// It is the same, far ahead of the stream or after a wait for a key frame.
    case again
  }

  let format: CodecFormat
  let payloadType: UInt8
  let join: Join
}

extension Forwarder {
  /// Decides whether the subscriber gets a packet of its source.
  /// - Returns: what `depart` needs; nil when it is left out (counted).
  public mutating func select(_ info: PacketInfo) -> Selection? {
    let format = outgoingFormat(info)
    let payloadType = formats.payloadTypes[Int(format.rawValue)]
    guard payloadType != 255 else {
      loseCodec(info)
      return nil
    }
    // Not `continues`, which would be handed a copy of the whole value.
    guard state == .flowing, anchors.count > 0, anchors[0].generation == generation,
      anchors[0].restart == info.restart
    else {
      // Numbers close up behind a wait for a key frame; the clock of pictures is the one that the stream has.
      let goesOn =
        kind == .video && anchors.count > 0 && anchors[0].generation == generation
        && anchors[0].restart == info.restart
      guard mayBegin(info) else { return nil }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.differenceDropped) {
          return Selection(format: format, payloadType: payloadType, join: .begins)
        }
      #endif
      return Selection(format: format, payloadType: payloadType, join: goesOn ? .again : .begins)
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
    let ahead = anchors[0].outgoing &+ (info.extendedSequence &- anchors[0].source) &- position.highest
    if ahead > runAhead || ahead > 0 && leaps(info) {
      return mayBegin(info) ? Selection(format: format, payloadType: payloadType, join: .again) : nil
    }
    return Selection(format: format, payloadType: payloadType, join: .none)
  }

  /// Whether the packet's timestamp would leave the stream's latest by more than an hour, either way. Two such leaps
  /// forward come round to behind where they began, and the next source would go on behind what was played.
  @inline(__always)
  private func leaps(_ info: PacketInfo) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.leapLeaves) { return false }
    #endif
    let step = Int32(bitPattern: info.timestamp &+ anchors[0].timestamp &- position.timestamp)
    return step.magnitude > 3_600 &* clocks.rate
  }

  /// Whether the stream can begin, or go on from another source, at this packet.
  @inline(never)
  private mutating func mayBegin(_ info: PacketInfo) -> Bool {
    // Nothing feeds it.
    guard state != .idle else { return false }
    guard kind == .video && !info.flags.contains(.keyFrame) else { return true }
    state = .waitingForKeyFrame
    counters.waiting &+= 1
    return false
  }

  /// Gives a selected packet its number and writes it as this subscriber gets it.
  /// - Parameters:
  ///   - selection: of this very packet, with nothing else selected since.
  ///   - packet: of the source, in plain text.
  ///   - buffer: room for the packet and 64 bytes more; nothing is written beyond it.
  /// - Returns: nil when it doesn't fit (counted).
  public mutating func depart(
    _ selection: Selection, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo,
    into buffer: UnsafeMutableRawBufferPointer, epoch: Epoch
  ) -> OutgoingPacket? {
    switch selection.join {
    case .none: break
    case .begins: anchor(info, epoch: epoch)
    case .again: rejoin(info, epoch: epoch)
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
        packet, info, format: selection.format, anchor: anchor, payloadType: selection.payloadType,
        sequence: sequence, ssrc: ssrc, originalSequence: nil, at: info.arrival, into: buffer)
    else {
      counters.unwritable &+= 1
      return nil
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.lateIsHighest) { position.highest = sequence - 1 }
    #endif
    if sequence > position.highest || !position.hasSent { noteHighest(sequence, info, anchor) }
    counters.packets &+= 1
    #if PLANTED_DEFECTS
      reports.sent(
        octets: PlantedDefect.isOn(.octetsWithHeader) ? written.size : written.size &- written.headerSize)
    #else
      reports.sent(octets: written.size &- written.headerSize)
    #endif
    return written
  }

  /// What the next source goes on from.
  @inline(__always)
  private mutating func noteHighest(_ sequence: Int64, _ info: PacketInfo, _ anchor: Anchor) {
    position.highest = sequence
    // The latest, not the last: where a source's timestamps step back, the next source's still go on from the
    // highest, because receivers drop what is older than what they have played.
    let timestamp = info.timestamp &+ anchor.timestamp
    if Int32(bitPattern: timestamp &- position.timestamp) > 0 || !position.hasSent {
      position.timestamp = timestamp
      position.arrival = info.arrival
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.lastNotLatest) {
        (position.timestamp, position.arrival) = (timestamp, info.arrival)
      }
    #endif
    if info.pictureIDOffset != 0 {
      // As the subscriber saw it, so that a source with ids of the other width goes on from there.
      let mask: UInt16 = info.flags.contains(.longPictureID) ? 0x7FFF : 0x7F
      position.pictureID = (info.pictureID &+ anchor.pictureID) & mask
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.pictureIdWidth) { position.pictureID = info.pictureID &+ anchor.pictureID }
      #endif
    }
    if info.tl0PictureIndexOffset != 0 {
      position.tl0PictureIndex = info.tl0PictureIndex &+ anchor.tl0PictureIndex
    }
    if info.carried.descriptorOffset != 0 { position.frameNumber = info.frameNumber &+ anchor.frameNumber }
    position.hasSent = true
  }

  /// The source goes on without the subscriber, who shall see no gap when it comes back.
  @inline(never)
  private mutating func loseCodec(_ info: PacketInfo) {
    // Overtaken by the packets of a codec that the subscriber has: the source is past it.
    if state == .flowing, anchors.count > 0, anchors[0].generation == generation,
      anchors[0].restart == info.restart, info.extendedSequence < anchors[0].source
    {
      counters.late &+= 1
      return
    }
    counters.codecMissing &+= 1
    guard state != .withoutCodec else { return }
    if state == .flowing, anchors.count > 0, anchors[0].generation == generation,
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

  /// The source is the same, far ahead of the stream or after a wait: its numbers go on behind the last one sent.
  @inline(never)
  private mutating func rejoin(_ info: PacketInfo, epoch: Epoch) {
    let known = anchors[0]
    anchor(info, epoch: epoch)
    // Its clock goes on as well, unless its timestamps have jumped.
    let step = info.timestamp &+ known.timestamp &- position.timestamp
    if step &- 1 < 3_600 &* info.format.codec.clockRate { anchors[0].timestamp = known.timestamp }
  }

  /// Joins the source to the stream at this packet.
  @inline(never)
  private mutating func anchor(_ info: PacketInfo, epoch: Epoch) {
    // Started over: what is known of its clock belongs to one of its two incarnations, so arrival must do.
    if anchors.count > 0 && anchors[0].generation == generation { clocks.sent = nil }
    var new = Anchor()
    new.source = info.extendedSequence
    new.outgoing = position.highest &+ 1
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.sequenceJump), position.hasSent { new.outgoing &+= 1 }
    #endif
    new.restart = info.restart
    new.generation = generation
    let rate = info.format.codec.clockRate
    new.timestamp = nextTimestamp(info, rate: rate, epoch: epoch) &- info.timestamp
    // It was that of the packets until here. What follows a source whose clock isn't known goes on by arrivals.
    #if PLANTED_DEFECTS
      if !PlantedDefect.isOn(.clockUsedAgain) { clocks.sent = nil }
    #else
      clocks.sent = nil
    #endif
    if position.hasSent && rate != clocks.rate { reportsOwed = Self.reportsOfNewClock }
    clocks.rate = rate
    if position.hasSent {
      new.pictureID = position.pictureID &+ 1 &- info.pictureID
      new.tl0PictureIndex = position.tl0PictureIndex &+ 1 &- info.tl0PictureIndex
      new.frameNumber = position.frameNumber &+ 1 &- info.frameNumber
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.pictureIdRepeated) { new.pictureID = position.pictureID &- info.pictureID }
      #endif
    }
    anchors.push(new)
    heardSince = info.arrival
    counters.anchors &+= 1
    state = .flowing
  }

  /// The stream's timestamp for the first packet of a source: as far behind the last one as the samples lie
  /// apart on the server's time line, at the rate that the stream had until then: receivers draw
  /// one line through the reports of the last twenty seconds, whichever source they were of, and it must go on without a step.
  ///
  /// A codec with another clock stays in the stream. RFC 7160 §4.1 would have it under another SSRC; but the SSRC is
  /// what the answer announced for the section, and browsers play under no other without a new offer. So timestamps
  /// go on as §4.2 has it for one SSRC: the time until the change is counted by the clock before it. What comes of
  /// that in libwebrtc, which is in all browsers: its audio buffer starts over where the decoder's rate changes,
  /// whatever the timestamps; its map from timestamps to wall time is a straight line through the last 20 sender
  /// reports, so that many follow each other soon (`reportsOfNewClock`).
  private func nextTimestamp(_ info: PacketInfo, rate: UInt32, epoch: Epoch) -> UInt32 {
    guard position.hasSent else { return position.timestamp }
    let sent = clocks.sent.flatMap {
      $0.isReported && $0.rate == clocks.rate
        && StreamClocks.fits($0, position.timestamp, position.arrival, epoch, within: StreamClocks.joint)
        ? $0 : nil
    }
    let span: Int64
    // What is known of the new source's clock may be from before its codec changed, or before it started over.
    if let clock = clocks.source, let sent, clock.isReported, clock.rate == rate,
      StreamClocks.fits(clock, info.timestamp, info.arrival, epoch, within: StreamClocks.joint)
    {
      span = clock.ntp(at: info.timestamp).nanoseconds(since: sent.ntp(at: position.timestamp))
    } else {
      span = info.arrival.nanoseconds &- position.arrival.nanoseconds
    }
    // Never backwards, and not beyond what a receiver takes for a jump of the clock.
    let bounded = max(1_000_000, min(span, 3_600_000_000_000))
    let pace = sent?.measured ?? clocks.rate
    return position.timestamp &+ UInt32(truncatingIfNeeded: max(1, ClockMapping.units(bounded, rate: pace)))
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
        olderBlocks: Int(info.olderBlocks),
        payloadType: formats.payloadTypes[Int(info.primaryFormat.rawValue)])
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
