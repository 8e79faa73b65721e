public import Model

/// What the owner asks of tracks; it names them by their section's index, and their encodings by their place in it.
extension MediaSession {
  /// Encodings of a track, at least one; 0 for a track that is gone.
  public func encodingCount(ofTrack track: Int) -> Int {
    kind(ofTrack: track) == nil ? 0 : receiving.pointer(track).pointee.encodings.count
  }

  private func find(_ track: Int, _ encoding: Int) -> UnsafeMutablePointer<ReceivedEncoding>? {
    guard encoding >= 0, encoding < encodingCount(ofTrack: track) else { return nil }
    return receiving.pointer(track).pointee.encoding(encoding)
  }

  /// Where an encoding's timestamps stand on the server's time line; nil before its first packet.
  public func clock(track: Int, encoding: Int = 0, epoch: Epoch) -> ClockMapping? {
    find(track, encoding)?.pointee.receiver.mapping(
      clocks[receiving.pointer(track).pointee.clock], epoch: epoch)
  }

  /// What a track carries from now on is timed by another clock, of which nothing was reported yet.
  public mutating func forgetClock(track: Int) {
    for encoding in 0..<encodingCount(ofTrack: track) {
      find(track, encoding)?.pointee.receiver.forgetClock()
    }
  }

  /// Gives an encoding the owner's number, which comes with each of its packets.
  public mutating func setTag(track: Int, encoding: Int = 0, _ tag: Int) {
    find(track, encoding)?.pointee.receiver.tag = Int32(truncatingIfNeeded: tag)
  }

  /// The publisher has muted the track, or lets it flow again.
  public mutating func setMuted(track: Int, _ muted: Bool) {
    for index in 0..<encodingCount(ofTrack: track) {
      let encoding = receiving.pointer(track).pointee.encoding(index)
      encoding.pointee.receiver.setMuted(muted)
      scheduleFeedback(encoding.pointee.receiver.deadline)
    }
  }

  public func isMuted(track: Int) -> Bool {
    guard kind(ofTrack: track) != nil, encodingCount(ofTrack: track) > 0 else { return false }
    return receiving.pointer(track).pointee.encoding(0).pointee.receiver.isMuted
  }

  /// What the control plane says of the track.
  public func traits(ofTrack track: Int) -> TrackTraits {
    kind(ofTrack: track) == nil ? [] : receiving.pointer(track).pointee.traits
  }
  public mutating func setTraits(track: Int, _ traits: TrackTraits) {
    guard kind(ofTrack: track) != nil else { return }
    receiving.pointer(track).pointee.traits = traits
    for index in 0..<encodingCount(ofTrack: track) {
      receiving.pointer(track).pointee.encoding(index).pointee.receiver.word.isEncrypted = traits.contains(
        .encrypted)
    }
  }

  /// Takes how large the pictures of a track's encodings are from now on, in their order, as its publisher says between two descriptions.
  /// Those without a size stay as they were said to be, and so do all where there are as many encodings no more.
  public mutating func setSizes(track: Int, _ sizes: [PictureSize]) {
    guard let place = agreed.receive.firstIndex(where: { Int($0.index) == track }),
      kind(ofTrack: track) != nil, agreed.receive[place].encodings.count == sizes.count
    else { return }
    for index in sizes.indices where sizes[index].pixels > 0 {
      agreed.receive[place].encodings[index].picture = sizes[index]
    }
    let clock = receiving.pointer(track).pointee.clock
    receiving.pointer(track).pointee.describe(agreed.receive[place], clock: clock)
  }

  /// Has reports about a track of audio say that at least so much was lost, in 256ths.
  public mutating func raiseLoss(track: Int, _ fraction: UInt8, now: Instant) {
    find(track, 0)?.pointee.receiver.raiseLoss(fraction, now: now)
  }

  /// How often an encoding's source has started over; nil before its first packet.
  public func incarnation(ofTrack track: Int, encoding: Int = 0) -> UInt8? {
    guard let found = find(track, encoding), found.pointee.receiver.isStarted else { return nil }
    return found.pointee.receiver.restarts
  }

  /// What the track's last packet was encoded in, of RED what its blocks are; nil before the first. Encodings of one track
  /// are of one codec, as browsers have it; one that is off has the codec that it had, so the one counts that changed last.
  public func format(ofTrack track: Int) -> CodecFormat? {
    let count = encodingCount(ofTrack: track)
    guard count > 0 else { return nil }
    let latest = Int(receiving.pointer(track).pointee.latest)
    for index in [latest] + Array(0..<count) where index < count {
      if let format = receiving.pointer(track).pointee.encoding(index).pointee.receiver.format {
        return format
      }
    }
    return nil
  }

  /// What a track's packets say of an encoding.
  public func description(ofTrack track: Int, encoding: Int) -> EncodingDescription {
    guard find(track, encoding) != nil else { return EncodingDescription() }
    return receiving.pointer(track).pointee.description(of: encoding)
  }

  /// The encoding comes no more: what was asked of it is not asked again.
  public mutating func forgetKeyFrameRequest(track: Int, encoding: Int) {
    find(track, encoding)?.pointee.receiver.forgetKeyFrameRequest()
  }

  /// A subscriber of the encoding needs a key frame.
  public mutating func requestKeyFrame(track: Int, encoding: Int = 0) {
    guard let found = find(track, encoding) else { return }
    found.pointee.receiver.requestKeyFrame()
    scheduleFeedback(found.pointee.receiver.deadline)
  }
}
