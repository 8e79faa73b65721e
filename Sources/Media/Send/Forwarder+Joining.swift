internal import Model

/// How a source is joined to the stream, at the departure of the first packet that leaves since.
extension Forwarder {
  /// A selected packet can't leave: it is no longer kept. The place that it would have had closes, unless a later one has
  /// left already: what comes next goes on under its number, video with the next key frame.
  /// - Parameter sequence: the packet's, of the source.
  public mutating func drop(_ selection: Selection, sequence: Int64) {
    let isLate =
      selection.isLate
      || !selection.joins && anchors.count > 0 && anchors[0].generation == generation
        && anchors[0].join == selection.join && anchors[0].outgoing(sequence, selection) <= position.highest
    guard !isLate else { return }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.placeLeftOpen) { return }
    #endif
    if !pending.isCut {
      pending.cutAt = selection.joins ? nil : sequence
      pending.cutClosed = selection.closedPlaces
    }
    breakOff()
  }

  /// Nothing of what was selected leaves before a packet at which the stream can go on.
  private mutating func breakOff() {
    pending.isCut = true
    guard kind == .video else { return }
    joined.isJoined = false
    if state == .flowing { state = .waitingForKeyFrame }
  }

  /// The stream goes on at this packet, behind one that was dropped or a source that never began.
  /// - Returns: false when it can't be begun here (counted).
  @inline(never)
  mutating func goOn(from info: PacketInfo, epoch: Epoch) -> Bool {
    guard canBegin(info) else {
      counters.waiting &+= 1
      breakOff()
      return false
    }
    let cut = pending.cutAt
    guard isAnchored(info.restart, info.encoding), let cut else {
      begin(info, epoch: epoch)
      return true
    }
    // Packets of before the cut that are yet to come find their places free.
    let place =
      anchors[0].outgoing &+ (cut &- anchors[0].source) &- (pending.cutClosed &- anchors[0].closedPlaces)
    anchorAgain(info, epoch: epoch)
    anchors[0].outgoing = max(anchors[0].outgoing, min(place, position.highest &+ Self.runAhead))
    anchors[0].isCut = true
    return true
  }

  /// The source is the same and far ahead of the stream: its numbers go on behind the last one sent.
  /// - Returns: false when it can't be joined here (counted).
  @inline(never)
  mutating func rejoin(_ info: PacketInfo, epoch: Epoch) -> Bool {
    guard canBegin(info) else {
      counters.waiting &+= 1
      pending.cutAt = nil
      breakOff()
      return false
    }
    anchorAgain(info, epoch: epoch)
    joined.first = max(joined.first, info.extendedSequence)
    return true
  }

  /// Joins a source to the stream: another, one that started over, or the same one after a wait for a key frame. Behind a
  /// wait numbers close up, and the clock of pictures is the one that the stream has.
  @inline(never)
  mutating func begin(_ info: PacketInfo, epoch: Epoch) {
    let goesOn = kind == .video && isAnchored(info.restart, info.encoding)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.differenceDropped) { return anchor(info, epoch: epoch) }
    #endif
    if goesOn { anchorAgain(info, epoch: epoch) } else { anchor(info, epoch: epoch) }
  }

  private mutating func anchorAgain(_ info: PacketInfo, epoch: Epoch) {
    let known = anchors[0]
    anchor(info, epoch: epoch)
    // Its clock goes on as well, unless its timestamps have jumped.
    // What is drawn together ends where the clock goes on, if it begins behind what was sent.
    let step = anchors[0].drawn(info.timestamp) &+ known.timestamp &- position.timestamp
    if step &- 1 < 3_600 &* info.format.codec.clockRate { anchors[0].timestamp = known.timestamp }
  }

  /// Joins the source to the stream at this packet.
  @inline(never)
  mutating func anchor(_ info: PacketInfo, epoch: Epoch) {
    // Started over: what is known of its clock belongs to one of its two incarnations, so arrival must do.
    if anchors.count > 0 && anchors[0].generation == generation && anchors[0].encoding == info.encoding {
      clocks.sent = nil
    }
    var new = Anchor()
    new.source = info.extendedSequence
    new.outgoing = position.highest &+ 1
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.sequenceJump), position.hasSent { new.outgoing &+= 1 }
    #endif
    new.restart = info.restart
    new.encoding = info.encoding
    new.generation = generation
    let rate = info.format.codec.clockRate
    if let past = joined.past, past.first == info.extendedSequence, past.encoding == info.encoding {
      draw(past, &new, rate: rate, epoch: epoch)
    } else {
      new.timestamp =
        nextTimestamp(info.timestamp, info.arrival, rate: rate, epoch: epoch) &- info.timestamp
    }
    // It was that of the packets until here. What follows a source whose clock isn't known goes on by arrivals.
    #if PLANTED_DEFECTS
      if !PlantedDefect.isOn(.clockUsedAgain) { clocks.sent = nil }
    #else
      clocks.sent = nil
    #endif
    if position.hasSent && rate != clocks.rate { clocks.reportsOwed = Self.reportsOfNewClock }
    clocks.rate = rate
    if position.hasSent {
      new.pictureID = position.pictureID &+ 1 &- info.pictureID
      new.tl0PictureIndex = position.tl0PictureIndex &+ 1 &- info.tl0PictureIndex
      new.frameNumber = position.frameNumber &+ 1 &- info.carried.frameNumber
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.pictureIdRepeated) { new.pictureID = position.pictureID &- info.pictureID }
      #endif
    }
    anchors.push(new)
    heardSince = info.arrival
    counters.anchors &+= 1
    let losesCodec = pending.losesCodec
    pending = PendingAnchor()
    if losesCodec { noteSentClock() }
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
  func nextTimestamp(_ timestamp: UInt32, _ arrival: Instant, rate: UInt32, epoch: Epoch) -> UInt32 {
    guard position.hasSent else { return position.timestamp }
    let sent = clocks.sent.flatMap {
      $0.isReported && $0.rate == clocks.rate
        && StreamClocks.fits($0, position.timestamp, position.arrival, epoch, within: StreamClocks.joint)
        ? $0 : nil
    }
    let span: Int64
    // What is known of the new source's clock may be from before its codec changed, or before it started over.
    if let clock = clocks.source, let sent, clock.isReported, clock.rate == rate,
      StreamClocks.fits(clock, timestamp, arrival, epoch, within: StreamClocks.joint)
    {
      span = clock.ntp(at: timestamp).nanoseconds(since: sent.ntp(at: position.timestamp))
    } else {
      span = arrival.nanoseconds &- position.arrival.nanoseconds
    }
    // Never backwards, and not beyond what a receiver takes for a jump of the clock.
    let bounded = max(1_000_000, min(span, 3_600_000_000_000))
    let pace = sent?.measured ?? clocks.rate
    return position.timestamp &+ UInt32(truncatingIfNeeded: max(1, ClockMapping.units(bounded, rate: pace)))
  }
}
