public import Congestion
internal import ICE
public import Media
public import Model
internal import Transport
public import Wire

/// What the owner asks a peer, and says to it, passed on to the half that knows.
extension Peer {
  // MARK: - Transport

  /// Why it ended by itself; nil while it hasn't.
  public var closed: PeerCloseReason? { transport.ended.map { PeerCloseReason($0) } }

  /// Whether an authenticated check came on the path, so that its datagrams are this peer's.
  public func knows(_ path: NetworkPath) -> Bool {
    transport.agent.isValidated(path) || transport.agent.hasValidCheck(path)
  }
  /// Whether the peer has answered a check of ours on the path, or, where its own checks are enough, has finished its
  /// handshake there: who forges an address doesn't get what is sent to it.
  public func hasProven(_ path: NetworkPath) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.handshakeUnproven) { return transport.agent.isProven(path) }
    #endif
    return transport.agent.isProven(path)
      || transport.isConnected && transport.handshakePath == path && transport.agent.isValidated(path)
  }
  /// Whether an answer to that check of ours is awaited.
  public func expects(_ transaction: STUNTransactionID) -> Bool { transport.agent.expects(transaction) }
  /// Addresses that it was heard from, and our ICE fragments under which it may be.
  public var pairCount: Int { transport.agent.pairCount }
  public var servedFragments: [String] { transport.agent.servedFragments }
  /// SSRCs whose packets were recently authenticated.
  public var authenticatedStreamCount: Int { transport.openedStreamCount }
  public var isConnected: Bool { transport.isConnected }
  /// Packets that wait until their path takes them.
  public var waitingPackets: Int { egress.queue.count }
  /// Whether media can be sent to it.
  public var takesMedia: Bool { transport.takesMedia }

  /// As of the last regular report, which a connected peer gets every second.
  public var quality: PeerQuality {
    PeerQuality(
      loss: session.loss, roundTrip: session.roundTrip, lastHeard: transport.agent.lastHeard,
      bitrates: transport.bitrates)
  }

  // MARK: - Tracks, by their section's index

  /// Indices of tracks and slots are below these; some may be gone.
  public var receiverCount: Int { session.trackCount }
  public var slotCount: Int { session.slotCount }
  /// SSRCs that are mapped to tracks.
  public var streamCount: Int { session.streamCount }
  /// nil for a track or slot that is gone or never was.
  public func kind(ofReceiver index: Int) -> MediaKind? { session.kind(ofTrack: index) }
  public func kind(ofSlot index: Int) -> MediaKind? { session.kind(ofSlot: index) }
  /// The encoding comes no more: what was asked of it is not asked again.
  public mutating func forgetKeyFrameRequest(receiver: Int, encoding: Int) {
    session.forgetKeyFrameRequest(track: receiver, encoding: encoding)
  }
  /// A subscriber of the track needs a key frame.
  public mutating func requestKeyFrame(receiver: Int, encoding: Int = 0) {
    session.requestKeyFrame(track: receiver, encoding: encoding)
  }
  /// Encodings of a track, at least one; 0 for a track that is gone.
  public func encodingCount(ofReceiver index: Int) -> Int { session.encodingCount(ofTrack: index) }
  /// Where an encoding's timestamps stand on the server's time line; nil before its first packet.
  public func clock(receiver: Int, encoding: Int = 0, epoch: Epoch) -> ClockMapping? {
    session.clock(track: receiver, encoding: encoding, epoch: epoch)
  }
  /// Gives an encoding the owner's number, which comes with each of its packets.
  public mutating func setTag(receiver: Int, encoding: Int = 0, _ tag: Int) {
    session.setTag(track: receiver, encoding: encoding, tag)
  }
  /// The publisher has muted the track, or lets it flow again.
  public func isMuted(receiver: Int) -> Bool { session.isMuted(track: receiver) }
  public mutating func setMuted(receiver: Int, _ muted: Bool) { session.setMuted(track: receiver, muted) }
  /// What the control plane says of the track.
  public func traits(ofReceiver index: Int) -> TrackTraits { session.traits(ofTrack: index) }
  public mutating func setTraits(receiver: Int, _ traits: TrackTraits) {
    session.setTraits(track: receiver, traits)
  }
  /// How large the pictures of a track's encodings are, as its publisher says.
  public mutating func setSizes(receiver: Int, _ sizes: [PictureSize]) {
    session.setSizes(track: receiver, sizes)
  }
  /// Has reports about a track of audio say that at least so much was lost, in 256ths.
  public mutating func raiseLoss(receiver: Int, _ fraction: UInt8, now: Instant) {
    session.raiseLoss(track: receiver, fraction, now: now)
  }
  /// Whether a slot's sound is sent with the packets before it.
  public func hasRedundancy(slot: Int) -> Bool { session.hasRedundancy(slot: slot) }
  /// Share of a slot's packets that its subscriber lost, smoothed: 0–1.
  public func loss(ofSlot slot: Int, now: Instant) -> Double { session.loss(ofSlot: slot, now: now) }
  /// How often an encoding's source has started over; nil before its first packet.
  public func incarnation(ofReceiver index: Int, encoding: Int = 0) -> UInt8? {
    session.incarnation(ofTrack: index, encoding: encoding)
  }
  /// How large an encoding's pictures are, as its last key frame said.
  public func description(ofReceiver index: Int, encoding: Int) -> EncodingDescription {
    session.description(ofTrack: index, encoding: encoding)
  }
  /// What the track's last packet was encoded in, of RED what its blocks are; nil before the first.
  public func format(ofReceiver index: Int) -> CodecFormat? { session.format(ofTrack: index) }

  // MARK: - Slots

  /// Feeds a slot from a track, or from none.
  /// - Returns: true when the track should be asked for a key frame.
  public mutating func setSource(slot: Int, _ track: TrackKey?, clock: ClockMapping?) -> Bool {
    if track != session.source(ofSlot: slot) { egress.forget(slot: slot) }
    return session.setSource(slot: slot, track, clock: clock)
  }
  public func source(ofSlot slot: Int) -> TrackKey? { session.source(ofSlot: slot) }
  /// Has a slot begin its source with what it showed until now.
  /// - Returns: false where it waits for no key frame of that encoding, or its path has no room for so much.
  public mutating func beginWith(_ past: RecentPictures, slot: Int, now: Instant) -> Bool {
    takesMedia && session.beginWith(past, slot: slot, now: now)
  }
  /// True while the slot can't show that encoding of its track without a key frame. Mutating for speed alone: what only reads
  /// is handed a copy of the whole peer.
  public mutating func waitsForKeyFrame(slot: Int, encoding: UInt8) -> Bool {
    session.waitsForKeyFrame(slot: slot, encoding: encoding)
  }
  /// Has the slot go on to another encoding of its track at that one's next key frame; nil: it stays where it is.
  public mutating func setNextEncoding(slot: Int, _ encoding: UInt8?, clock: ClockMapping?) {
    session.setNextEncoding(slot: slot, encoding, clock: clock)
  }
  /// Has the slot show these layers of an encoding, as soon as they can be begun or left out.
  /// - Parameter sheds: there is no room for what it shows until then.
  /// - Returns: whether there has been none for so long that it is to show nothing.
  public mutating func setLayers(
    slot: Int, of encoding: UInt8, spatial: UInt8, temporal: UInt8, sheds: Bool, now: Instant
  ) -> Bool {
    session.setLayers(
      slot: slot, of: encoding, spatial: spatial, temporal: temporal, sheds: sheds, now: now)
  }
  /// Nothing of the encoding that the slot shows leaves any more; it waits for the next one's key frame.
  /// - Returns: false where it goes on to none.
  public mutating func giveUpEncoding(slot: Int) -> Bool {
    guard session.giveUpEncoding(slot: slot) else { return false }
    egress.forget(slot: slot)
    return true
  }
  /// Pauses the slot, or lets it flow again.
  /// - Returns: true where it needs a key frame for that.
  public mutating func setPaused(slot: Int, _ isPaused: Bool) -> Bool {
    session.setPaused(slot: slot, isPaused)
  }
  /// Nothing of what waits in the slot leaves any more: its subscriber wants nothing of it.
  public mutating func forgetWaiting(slot: Int) { egress.forget(slot: slot) }
  /// Whether the slot may begin a picture, in this encoding or another; it has then done so.
  /// - Parameter crossing: to another encoding or layer, which costs nothing twice while it hasn't come; nil: a pause ends.
  public mutating func beginsPicture(slot: Int, crossing: EncodingCrossing? = nil, now: Instant) -> Bool {
    session.beginsPicture(slot: slot, crossing: crossing, now: now)
  }
  /// Whether a slot with another source may have that asked for a key frame now; it has then done so. Else it waits for `takesUpPicture`.
  public mutating func beginsNewPicture(slot: Int, now: Instant) -> Bool {
    let begins = newPictures.take(now: now)
    session.setUnasked(slot: slot, !begins)
    return begins
  }
  /// As above, of one that waits for it, or whose stream was cut and that waits for that.
  public mutating func takesUpPicture(slot: Int, now: Instant) -> Bool {
    guard session.isUnasked(slot: slot) else { return false }
    return session.isUnmended(slot: slot)
      ? session.takesUpCut(slot: slot, now: now) : beginsNewPicture(slot: slot, now: now)
  }
  /// Whether the slot, which `takeCut` named, may have its source asked for a key frame now; it has then done so.
  /// - Parameter target: bits per second that there are for all slots.
  public mutating func mendsCut(slot: Int, target: Double, now: Instant) -> Bool {
    session.mendsCut(slot: slot, target: target, now: now)
  }
  /// The way to other layers of size of the encoding that the slot shows, where they can't be shown without a key frame; nil: they can,
  /// or it waits for one as it is.
  public mutating func layerCrossing(slot: Int, of encoding: UInt8, spatial: UInt8) -> EncodingCrossing? {
    session.layerCrossing(slot: slot, of: encoding, spatial: spatial)
  }
  /// The highest layer of size that the slot's subscriber can make something of.
  public func mostSpatial(ofSlot slot: Int) -> UInt8 { session.mostSpatial(ofSlot: slot) }
  /// How the slot's subscriber shows what it gets there.
  public func picture(ofSlot slot: Int) -> PicturePreference { session.picture(ofSlot: slot) }
  public mutating func setPicture(slot: Int, _ picture: PicturePreference) {
    session.setPicture(slot: slot, picture)
  }
  /// What the last allocation left of the slot.
  public func memory(ofSlot slot: Int) -> SlotMemory { session.memory(ofSlot: slot) }
  public mutating func setMemory(slot: Int, _ memory: SlotMemory) { session.setMemory(slot: slot, memory) }
  /// Bits per second that the path to the peer carries; nil where it doesn't report on what comes.
  public func target(now: Instant, heedsReports: Bool = true) -> Double? {
    session.target(now: now, heedsReports: heedsReports)
  }
  /// As `target`, without what a queue on the path takes of it for a moment.
  public func capacity(now: Instant, heedsReports: Bool = true) -> Double? {
    session.capacity(now: now, heedsReports: heedsReports)
  }
  /// Bytes that were sent again, with UDP and IP.
  public var repaired: UInt64 { egress.repaired }
  /// What everything takes that its subscriber wants, and the target at which more of it would be shown; nil: all is.
  /// `room`: the target at which what is shown may grow; nil: there is as much.
  public mutating func want(_ rate: Double, next: Double?, room: Double?) {
    session.want(rate, next: next, room: room)
  }
  /// The encoding that the slot shows, and the one that it goes on to.
  public func encoding(ofSlot slot: Int) -> UInt8 { session.encoding(ofSlot: slot) }
  public func nextEncoding(ofSlot slot: Int) -> UInt8? { session.nextEncoding(ofSlot: slot) }
  /// True while the slot's subscriber can't show anything without a key frame.
  public func needsKeyFrame(slot: Int) -> Bool { session.needsKeyFrame(slot: slot) }
  public mutating func setClock(slot: Int, encoding: UInt8 = 0, _ mapping: ClockMapping) {
    session.setClock(slot: slot, encoding: encoding, mapping)
  }
  public func counters(ofSlot slot: Int) -> ForwarderCounters { session.counters(ofSlot: slot) }
}
