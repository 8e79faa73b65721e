public import Model
internal import Wire

extension Forwarder {
  /// Gives a selected packet its number and writes it as this subscriber gets it. Packets depart in the order in which they
  /// were selected.
  /// - Parameters:
  ///   - selection: of this very packet, while the source was the present one.
  ///   - packet: of the source, in plain text.
  ///   - now: the time of sending.
  ///   - buffer: room for the packet and 64 bytes more; nothing is written beyond it.
  /// - Returns: nil when it is left out or doesn't fit (counted).
  public mutating func depart(
    _ selection: Selection, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, now: Instant,
    into buffer: UnsafeMutableRawBufferPointer, epoch: Epoch
  ) -> OutgoingPacket? {
    if selection.joins {
      begin(info, epoch: epoch)
      anchors[0].join = selection.join
      leftOut.targets = SentTargets()
    } else if pending.isCut {
      guard goOn(from: info, epoch: epoch) else { return nil }
      noteClosed(selection)
    }
    var sequence = anchors[0].outgoing(info.extendedSequence, selection)
    let ahead = sequence &- position.highest
    if ahead > Self.allowedLead || ahead > 0 && leaps(info) {
      guard rejoin(info, epoch: epoch) else { return nil }
      noteClosed(selection)
      sequence = anchors[0].outgoing
    }
    let anchor = anchors[0].behind(pictures: selection.closedPictures)
    guard info.extendedSequence >= anchor.source else {
      return departLate(selection, packet, info, now: now, into: buffer)
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.indexSealedTwice) && counters.packets % 200 == 199 { sequence &-= 1 }
    #endif
    guard
      let written = write(selection, packet, info, anchor, sequence: sequence, now: now, into: buffer)
    else { return nil }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.lateIsHighest) { position.highest = sequence - 1 }
    #endif
    if sequence > position.highest || !position.hasSent { noteHighest(sequence, info, anchor) }
    return written
  }

  /// The anchor that was just set counts what is left out from here on.
  private mutating func noteClosed(_ selection: Selection) {
    anchors[0].closedPlaces = selection.closedPlaces
    anchors[0].closedPictures = selection.closedPictures
    anchors[0].join = selection.join
  }

  /// A packet whose place is before the stream's last cut: it leaves under the number that was kept for it.
  @inline(never)
  private mutating func departLate(
    _ selection: Selection, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, now: Instant,
    into buffer: UnsafeMutableRawBufferPointer
  ) -> OutgoingPacket? {
    for index in 1..<max(anchors.count, 1)
    where anchors[index].generation == generation && anchors[index].restart == info.restart
      && anchors[index].encoding == info.encoding
      && anchors[index - 1].isCut
    {
      let anchor = anchors[index].behind(pictures: selection.closedPictures)
      let sequence = anchor.outgoing(info.extendedSequence, selection)
      guard info.extendedSequence >= anchor.source, sequence < anchors[index - 1].outgoing else { continue }
      return write(selection, packet, info, anchor, sequence: sequence, now: now, into: buffer)
    }
    counters.late &+= 1
    return nil
  }

  @inline(__always)
  private mutating func write(
    _ selection: Selection, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, _ anchor: Anchor,
    sequence: Int64, now: Instant, into buffer: UnsafeMutableRawBufferPointer
  ) -> OutgoingPacket? {
    var targets: ActiveTargetsChange?
    if info.flags.contains(.carriesExtensions) {
      var known = leftOut.targets
      targets = targetsChange(
        info, packet, &known, spatial: selection.spatial, temporal: selection.temporal)
      leftOut.targets = known
    }
    var result = write(selection, packet, info, anchor, sequence, targets, now, buffer)
    if result == nil, targets != nil {
      // No room for what it grows by.
      counters.descriptorsUnchanged &+= 1
      result = write(selection, packet, info, anchor, sequence, nil, now, buffer)
    }
    guard let written = result else {
      counters.unwritable &+= 1
      return nil
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

  @inline(__always)
  private mutating func write(
    _ selection: Selection, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, _ anchor: Anchor,
    _ sequence: Int64, _ targets: ActiveTargetsChange?, _ now: Instant,
    _ buffer: UnsafeMutableRawBufferPointer
  ) -> OutgoingPacket? {
    write(
      packet, info, format: selection.format, anchor: anchor, payloadType: selection.payloadType,
      isMarked: selection.ends || info.flags.contains(.marker), sequence: sequence, ssrc: ssrc,
      originalSequence: nil, targets: targets, at: now, into: buffer)
  }

  /// What the next source goes on from.
  @inline(__always)
  private mutating func noteHighest(_ sequence: Int64, _ info: PacketInfo, _ anchor: Anchor) {
    position.highest = sequence
    position.source = info.timestamp
    // The latest, not the last: where a source's timestamps step back, the next source's still go on from the
    // highest, because receivers drop what is older than what they have played.
    let timestamp = anchor.timestamp(of: info.timestamp)
    if Int32(bitPattern: timestamp &- position.timestamp) > 0 || !position.hasSent {
      position.timestamp = timestamp
      // As old as the frame that those before it are drawn to.
      position.arrival = anchor.isDrawn(info.timestamp) ? joined.past?.arrival ?? info.arrival : info.arrival
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
    if info.carried.descriptorOffset != 0 {
      position.frameNumber = info.carried.frameNumber &+ anchor.frameNumber
    }
    position.hasSent = true
  }

  /// How far the source's numbers may run ahead of what was sent. What the source lost beyond it is nothing that its
  /// subscriber could ask for, and a receiver's estimate of the SRTP index holds for less than 32,768 numbers
  /// (RFC 3711 §3.3.1): packets that are counted and not sent must never add up to that.
  static let runAhead: Int64 = 512

  /// As `runAhead`, but for what is planted.
  static var allowedLead: Int64 {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.noRejoin) { return .max }
      if PlantedDefect.isOn(.runsAheadByOne) { return runAhead - 1 }
    #endif
    return runAhead
  }

  /// Whether the packet's timestamp would leave the stream's latest by more than an hour, either way. Two such leaps
  /// forward come round to behind where they began, and the next source would go on behind what was played.
  @inline(__always)
  private func leaps(_ info: PacketInfo) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.leapLeaves) { return false }
    #endif
    let step = Int32(bitPattern: anchors[0].timestamp(of: info.timestamp) &- position.timestamp)
    return step.magnitude > 3_600 &* clocks.rate
  }
}
