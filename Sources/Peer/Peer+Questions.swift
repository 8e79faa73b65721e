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
  /// Whether a request for a key frame would be passed on at once.
  public func mayAskForKeyFrame(receiver: Int, now: Instant) -> Bool {
    session.mayAskForKeyFrame(track: receiver, now: now)
  }
  /// A subscriber of the track needs a key frame.
  public mutating func requestKeyFrame(receiver: Int) { session.requestKeyFrame(track: receiver) }
  /// Where a track's timestamps stand on the server's time line; nil before its first packet.
  public func clock(receiver: Int, epoch: Epoch) -> ClockMapping? {
    session.clock(track: receiver, epoch: epoch)
  }
  /// Gives a track the owner's number, which comes with each of its packets.
  public mutating func setTag(receiver: Int, _ tag: Int) { session.setTag(track: receiver, tag) }
  /// The publisher has muted the track, or lets it flow again.
  public mutating func setMuted(receiver: Int, _ muted: Bool) { session.setMuted(track: receiver, muted) }
  /// How often the track's source has started over; nil before its first packet.
  public func incarnation(ofReceiver index: Int) -> UInt8? { session.incarnation(ofTrack: index) }
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
  /// True while a key frame would be the first that the slot's subscriber gets, and would reach it.
  public func awaitsFirstPicture(slot: Int) -> Bool {
    takesMedia && session.awaitsFirstPicture(slot: slot)
  }
  /// As `needsKeyFrame`. Mutating for speed alone: what only reads is handed a copy of the whole peer.
  public mutating func waitsForKeyFrame(slot: Int) -> Bool { session.waitsForKeyFrame(slot: slot) }
  /// True while the slot's subscriber can't show anything without a key frame.
  public func needsKeyFrame(slot: Int) -> Bool { session.needsKeyFrame(slot: slot) }
  public mutating func setClock(slot: Int, _ mapping: ClockMapping) { session.setClock(slot: slot, mapping) }
  public func counters(ofSlot slot: Int) -> ForwarderCounters { session.counters(ofSlot: slot) }
}
