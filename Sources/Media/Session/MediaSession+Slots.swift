public import Congestion
public import Model

/// What leaves by the slots, and what feeds them.
extension MediaSession {
  /// Decides whether a slot's subscriber gets a track's packet.
  /// - Returns: what `depart` needs; nil when it is left out (counted).
  @inlinable @inline(__always)
  public mutating func select(_ info: PacketInfo, slot: Int) -> Selection? {
    slots.pointer(slot).pointee.forwarder.select(info)
  }

  /// As `select`.
  /// - Parameter sheds: frames that no other refers to are left out, from their first packet on.
  public mutating func select(_ info: PacketInfo, slot: Int, sheds: Bool) -> Selection? {
    slots.pointer(slot).pointee.forwarder.select(info, sheds: sheds)
  }

  /// Whether a selected packet goes before those of other slots: audio, and what belongs to a key frame.
  public mutating func isUrgent(_ info: PacketInfo, slot: Int) -> Bool {
    slots.pointer(slot).pointee.forwarder.isUrgent(info)
  }

  /// Numbers a selected packet and writes it as the slot's subscriber gets it. Packets of a slot depart in the order in which
  /// they were selected.
  /// - Returns: nil, and counted, when it does not fit.
  @inlinable @inline(__always)
  public mutating func depart(
    _ selection: Selection, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, slot: Int,
    now: Instant, into buffer: UnsafeMutableRawBufferPointer, context: inout MediaContext
  ) -> OutgoingPacket? {
    let unwritable = slots.pointer(slot).pointee.forwarder.counters.unwritable
    let written = slots.pointer(slot).pointee.forwarder.depart(
      selection, packet, info, now: now, into: buffer, epoch: context.epoch)
    if written == nil, slots.pointer(slot).pointee.forwarder.counters.unwritable != unwritable {
      context.counters.count(.packetTooLarge)
    }
    guard let written, slots.pointer(slot).pointee.redundancy.isOn else { return written }
    return withRedundancy(written, info, slot: slot, in: buffer)
  }

  /// A packet goes to a subscriber that loses packets: those before it go along.
  @usableFromInline @inline(never)
  mutating func withRedundancy(
    _ packet: OutgoingPacket, _ info: PacketInfo, slot: Int, in buffer: UnsafeMutableRawBufferPointer
  ) -> OutgoingPacket {
    let slot = slots.pointer(slot)
    let grown = slot.pointee.redundancy.wrap(
      packet, isEncrypted: info.flags.contains(.encrypted), in: buffer)
    slot.pointee.forwarder.grew(by: grown.size &- packet.size)
    return grown
  }

  /// Whether a slot's sound is sent with the packets before it.
  public func hasRedundancy(slot: Int) -> Bool { slots.pointer(slot).pointee.redundancy.isOn }

  /// Share of a slot's packets that its subscriber lost, smoothed: 0–1.
  public func loss(ofSlot slot: Int, now: Instant) -> Double {
    slots.pointer(slot).pointee.redundancy.loss(now: now)
  }

  @inline(__always)
  public mutating func isAudio(slot: Int) -> Bool { slots.pointer(slot).pointee.forwarder.kind == .audio }

  /// A slot whose retransmission stream can carry what shows nothing; nil where there is none.
  public var probingSlot: Int? {
    for slot in 0..<slots.count
    where kind(ofSlot: slot) == .video && slots.pointer(slot).pointee.forwarder.canProbe {
      return slot
    }
    return nil
  }

  /// A packet of a slot that was sent lately, for a probe to send again.
  public func sentLately(slot: Int, back: Int64, now: Instant) -> RetransmissionRequest? {
    slots.pointer(slot).pointee.forwarder.sentLately(back: back, now: now)
  }

  /// Writes a packet that shows nothing.
  public mutating func writePadding(slot: Int, into buffer: UnsafeMutableRawBufferPointer) -> OutgoingPacket?
  {
    slots.pointer(slot).pointee.forwarder.writePadding(into: buffer)
  }

  /// A selected packet can't leave: it is no longer kept, or there is no path any more.
  /// - Parameter sequence: the source's number.
  public mutating func drop(
    _ selection: Selection, _ sequence: Int64, slot: Int, context: inout MediaContext
  ) {
    context.counters.count(.tooLateToLeave)
    slots.pointer(slot).pointee.forwarder.drop(selection, sequence: sequence)
  }

  // MARK: - Retransmission

  /// Which packet of the source a NACK means; to be found in the source's history.
  public mutating func retransmission(slot: Int, sequence: UInt16, now: Instant) -> RetransmissionRequest? {
    let slot = slots.pointer(slot)
    let roundTrip = slot.pointee.forwarder.reports.roundTrip ?? self.roundTrip
    return slot.pointee.forwarder.retransmission(of: sequence, now: now, roundTrip: roundTrip)
  }

  /// How a packet is sent once more.
  public enum Repetition: Sendable {
    /// Not at all: the subscriber has agreed to none for its codec.
    case refused
    /// In the retransmission stream.
    case rewritten
    /// As it was sealed.
    case sealed
  }

  public func repetition(of info: PacketInfo, slot: Int) -> Repetition {
    let slot = slots.pointer(slot)
    guard slot.pointee.forwarder.answersNACK(info) else { return .refused }
    return slot.pointee.forwarder.usesRTX(info) ? .rewritten : .sealed
  }

  /// Writes a packet as the retransmission stream carries it (RFC 4588).
  public mutating func rewriteRetransmission(
    _ request: RetransmissionRequest, _ packet: UnsafeRawBufferPointer, _ info: PacketInfo, slot: Int,
    probes: Bool = false, into buffer: UnsafeMutableRawBufferPointer
  ) -> OutgoingPacket? {
    slots.pointer(slot).pointee.forwarder.rewriteRetransmission(
      request, packet, info, probes: probes, into: buffer)
  }

  /// The sealed bytes of a packet were sent once more, or could not be.
  public mutating func noteRepeated(_ found: Bool, slot: Int) {
    slots.pointer(slot).pointee.forwarder.noteRepeated(found)
  }

  // MARK: - Subscriptions

  /// Feeds a slot from a track, or from none.
  /// - Returns: true when the track should be asked for a key frame.
  public mutating func setSource(slot: Int, _ track: TrackKey?, clock: ClockMapping?) -> Bool {
    guard kind(ofSlot: slot) != nil else { return false }
    if track?.track != source(ofSlot: slot) {
      slots.pointer(slot).pointee.memory = SlotMemory()
      slots.pointer(slot).pointee.redundancy.forget()
      slots.pointer(slot).pointee.crossing = nil
      slots.pointer(slot).pointee.cuts = StreamCuts()
    }
    let needsKeyFrame = slots.pointer(slot).pointee.forwarder.setSource(track, clock: clock)
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.offBeginsShown) { return needsKeyFrame }
    #endif
    // A source that its subscriber has turned off must not flow until the next allocation pauses it.
    guard needsKeyFrame, slots.pointer(slot).pointee.picture.quality == .off else { return needsKeyFrame }
    return setPaused(slot: slot, true)
  }

  public func source(ofSlot slot: Int) -> TrackKey? { slots.pointer(slot).pointee.forwarder.source }

  /// True while the slot's subscriber can't show anything without a key frame.
  public func needsKeyFrame(slot: Int) -> Bool { slots.pointer(slot).pointee.forwarder.needsKeyFrame }

  /// True while the slot can't show that encoding of its track without a key frame, and its source may be asked for one. Mutating for
  /// speed alone: what only reads is handed a copy of the whole session.
  public mutating func waitsForKeyFrame(slot: Int, encoding: UInt8) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.unaskedAsks) {
        return slots.pointer(slot).pointee.forwarder.waitsForKeyFrame(of: encoding)
      }
    #endif
    return !slots.pointer(slot).pointee.isUnasked
      && slots.pointer(slot).pointee.forwarder.waitsForKeyFrame(of: encoding)
  }

  /// A slot's source was joined to its stream: it waits for no key frame any more.
  public mutating func noteJoined(slot: Int) {
    slots.pointer(slot).pointee.isUnasked = false
    slots.pointer(slot).pointee.cuts.noteJoin()
  }

  /// What was to leave in a slot was dropped, so that its stream goes on with a key frame alone, now or behind a pause.
  /// - Parameter isKeyFrame: it was of a key frame that the slot had waited for.
  public mutating func noteCut(slot: Int, isKeyFrame: Bool) {
    slots.pointer(slot).pointee.cuts.note(isKeyFrame: isKeyFrame)
    slots.pointer(slot).pointee.cuts.isUnmended = true
  }

  /// Whether a slot whose stream was cut may have its source asked for a key frame now; it has then done so. Where key frames in a row
  /// were more than could leave in their time, it is shown nothing for a while instead.
  /// - Parameter target: bits per second that there are for all slots.
  public mutating func mendsCut(slot: Int, target: Double, now: Instant) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.cutsUnbounded) { return true }
    #endif
    let slot = slots.pointer(slot)
    guard slot.pointee.cuts.keyFrames < 2 else {
      slot.pointee.memory.withhold(target: target, now: now)
      slot.pointee.isUnasked = true
      return false
    }
    return !slot.pointee.forwarder.encodings.isPaused && Self.takeMend(slot, now: now)
  }

  /// As above, of one that waits for it.
  public mutating func takesUpCut(slot: Int, now: Instant) -> Bool {
    Self.takeMend(slots.pointer(slot), now: now)
  }

  private static func takeMend(_ slot: UnsafeMutablePointer<SendingSlot>, now: Instant) -> Bool {
    let mends = slot.pointee.beginnings.take(now: now)
    slot.pointee.isUnasked = !mends
    slot.pointee.cuts.isUnmended = !mends
    return mends
  }

  /// Whether a slot's stream was cut, and its source is still to be asked for a key frame.
  public func isUnmended(slot: Int) -> Bool { slots.pointer(slot).pointee.cuts.isUnmended }

  /// Has a slot go on to another encoding of its track at that one's next key frame; nil: it stays where it is.
  public mutating func setNextEncoding(slot: Int, _ encoding: UInt8?, clock: ClockMapping?) {
    guard kind(ofSlot: slot) != nil else { return }
    let slot = slots.pointer(slot)
    // Another way than the one that was paid for.
    if let encoding, slot.pointee.crossing?.way.next != encoding { slot.pointee.crossing = nil }
    slot.pointee.forwarder.setNextEncoding(encoding, clock: clock)
  }

  /// Has a slot show these layers of an encoding, as soon as they can be begun or left out.
  /// - Parameter sheds: there is no room for what it shows until then.
  /// - Returns: whether there has been none for so long that it is to show nothing.
  public mutating func setLayers(
    slot: Int, of encoding: UInt8, spatial: UInt8, temporal: UInt8, sheds: Bool, now: Instant
  ) -> Bool {
    let slot = slots.pointer(slot)
    slot.pointee.forwarder.wantLayers(of: encoding, spatial: spatial, temporal: temporal, sheds: sheds)
    guard sheds else {
      slot.pointee.shedsSince = nil
      return false
    }
    if slot.pointee.shedsSince == nil { slot.pointee.shedsSince = now }
    return now - slot.pointee.shedsSince! >= SendingSlot.patience
  }

  /// Nothing of the encoding that a slot shows leaves any more; it waits for the next one's key frame.
  /// - Returns: false where it goes on to none.
  public mutating func giveUpEncoding(slot: Int) -> Bool {
    slots.pointer(slot).pointee.shedsSince = nil
    return slots.pointer(slot).pointee.forwarder.giveUpEncoding()
  }

  /// Pauses a slot, or lets it flow again.
  /// - Returns: true where it needs a key frame for that.
  public mutating func setPaused(slot: Int, _ isPaused: Bool) -> Bool {
    let slot = slots.pointer(slot)
    let needsKeyFrame = slot.pointee.forwarder.setPaused(isPaused)
    // What is asked for as a pause ends has been allowed already.
    if needsKeyFrame {
      slot.pointee.isUnasked = false
      slot.pointee.cuts.isUnmended = false
    }
    return needsKeyFrame
  }

  /// The way to other layers of size of the encoding that a slot shows, where they can't be shown without a key frame; nil: they can, or
  /// the slot waits for one as it is.
  public mutating func layerCrossing(slot: Int, of encoding: UInt8, spatial: UInt8) -> EncodingCrossing? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.layersUnbounded) { return nil }
    #endif
    let slot = slots.pointer(slot)
    // What was paid for has come: the next time costs again.
    if let paid = slot.pointee.crossing?.way, paid.layer != paid.nextLayer,
      slot.pointee.forwarder.leftOut.filter.spatial == paid.nextLayer
    {
      slot.pointee.crossing = nil
    }
    guard slot.pointee.forwarder.takesKeyFrame(spatial, of: encoding) else { return nil }
    return EncodingCrossing(
      of: encoding, from: slot.pointee.forwarder.leftOut.filter.wantedSpatial, to: spatial)
  }

  /// Whether a slot may begin a picture, in this encoding or another, though all pay for it who get the track; it has then done so.
  /// - Parameter crossing: to another encoding or layer of size; nil: a pause ends. The same one costs nothing for a second while its key
  ///   frame hasn't come: a choice that is in doubt between two would be without an allowance when it has come to one.
  public mutating func beginsPicture(slot: Int, crossing: EncodingCrossing? = nil, now: Instant) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.beginningsUnbounded) { return true }
    #endif
    let slot = slots.pointer(slot)
    if let crossing, let paid = slot.pointee.crossing, paid.way == crossing, now < paid.until { return true }
    guard slot.pointee.beginnings.take(now: now) else { return false }
    slot.pointee.crossing = crossing.map { ($0, now + SendingSlot.doubt) }
    return true
  }

  /// A slot's source can't be asked for a key frame at present, or can again.
  public mutating func setUnasked(slot: Int, _ isUnasked: Bool) {
    slots.pointer(slot).pointee.isUnasked = isUnasked
  }

  /// Whether a slot's source is still to be asked for a key frame.
  public func isUnasked(slot: Int) -> Bool { slots.pointer(slot).pointee.isUnasked }

  /// The highest layer of size that a slot's subscriber can make something of.
  public func mostSpatial(ofSlot slot: Int) -> UInt8 { slots.pointer(slot).pointee.forwarder.mostSpatial }

  /// How a slot's subscriber shows what it gets there.
  public func picture(ofSlot slot: Int) -> PicturePreference { slots.pointer(slot).pointee.picture }
  public mutating func setPicture(slot: Int, _ picture: PicturePreference) {
    guard kind(ofSlot: slot) != nil else { return }
    #if PLANTED_DEFECTS
      let isMore =
        picture.asksForMore(than: slots.pointer(slot).pointee.picture)
        && !PlantedDefect.isOn(.largerTileWaits)
    #else
      let isMore = picture.asksForMore(than: slots.pointer(slot).pointee.picture)
    #endif
    if isMore { slots.pointer(slot).pointee.memory.tryAgain() }
    slots.pointer(slot).pointee.picture = picture
  }

  /// What the last allocation left of a slot.
  public func memory(ofSlot slot: Int) -> SlotMemory { slots.pointer(slot).pointee.memory }
  public mutating func setMemory(slot: Int, _ memory: SlotMemory) {
    slots.pointer(slot).pointee.memory = memory
  }

  /// The encoding that a slot shows, and the one that it goes on to.
  public func encoding(ofSlot slot: Int) -> UInt8 { slots.pointer(slot).pointee.forwarder.encodings.shown }
  public func nextEncoding(ofSlot slot: Int) -> UInt8? {
    slots.pointer(slot).pointee.forwarder.encodings.next
  }

  /// Has a slot begin its source with what it showed until now.
  /// - Returns: false where it waits for no key frame of that encoding, or its path has no room for so much.
  public mutating func beginWith(_ past: RecentPictures, slot: Int, now: Instant) -> Bool {
    let target = target(now: now) ?? RecentPictures.unknownTarget
    guard Double(past.bytes) * 8 <= target * RecentPictures.mostSeconds,
      now - past.arrival <= RecentPictures.mostAge
    else { return false }
    return slots.pointer(slot).pointee.forwarder.beginWith(past)
  }

  public mutating func setClock(slot: Int, encoding: UInt8 = 0, _ mapping: ClockMapping) {
    slots.pointer(slot).pointee.forwarder.setClock(mapping, encoding: encoding)
  }

  public func counters(ofSlot slot: Int) -> ForwarderCounters {
    slots.pointer(slot).pointee.forwarder.counters
  }
}
