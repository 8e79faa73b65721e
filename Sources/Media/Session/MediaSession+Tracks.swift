public import Model

/// What the owner asks of tracks; it names them by their section's index.
extension MediaSession {
  /// Whether a request for a key frame would be passed on at once.
  public func mayAskForKeyFrame(track: Int, now: Instant) -> Bool {
    receiving.pointer(track).pointee.receiver.keyFrames.mayAsk(now: now)
  }

  /// Where a track's timestamps stand on the server's time line; nil before its first packet.
  public func clock(track: Int, epoch: Epoch) -> ClockMapping? {
    let section = receiving.pointer(track)
    return section.pointee.receiver.mapping(clocks[section.pointee.clock], epoch: epoch)
  }

  /// Gives a track the owner's number, which comes with each of its packets.
  public mutating func setTag(track: Int, _ tag: Int) {
    receiving.pointer(track).pointee.receiver.tag = Int32(truncatingIfNeeded: tag)
  }

  /// The publisher has muted the track, or lets it flow again.
  public mutating func setMuted(track: Int, _ muted: Bool) {
    guard kind(ofTrack: track) != nil else { return }
    receiving.pointer(track).pointee.receiver.setMuted(muted)
    scheduleFeedback(receiving.pointer(track).pointee.receiver.deadline)
  }

  /// How often the track's source has started over; nil before its first packet.
  public func incarnation(ofTrack index: Int) -> UInt8? {
    guard kind(ofTrack: index) != nil, receiving.pointer(index).pointee.receiver.isStarted else { return nil }
    return receiving.pointer(index).pointee.receiver.restarts
  }

  /// What the track's last packet was encoded in, of RED what its blocks are; nil before the first.
  public func format(ofTrack index: Int) -> CodecFormat? {
    guard kind(ofTrack: index) != nil else { return nil }
    return receiving.pointer(index).pointee.receiver.format
  }

  /// A subscriber of the track needs a key frame.
  public mutating func requestKeyFrame(track: Int) {
    guard kind(ofTrack: track) != nil else { return }
    receiving.pointer(track).pointee.receiver.requestKeyFrame()
    scheduleFeedback(receiving.pointer(track).pointee.receiver.deadline)
  }
}
