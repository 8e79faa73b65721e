public import Model
public import Wire

/// One encoding of a track as a publisher sends it: its media stream, its retransmissions, what was lost and what is asked for.
///
/// Sees packets in plain text whose SSRC belongs to it; which one that is, the transport knows.
public struct TrackReceiver: Sendable {
  /// What becomes of a packet.
  public enum Outcome: Sendable {
    /// To be forwarded: the packet starts `offset` bytes into the given buffer (retransmissions are unwrapped in
    /// place) and has `size` bytes.
    case media(PacketInfo, offset: Int, size: Int)
    case dropped(MediaDrop)
  }

  public private(set) var kind: MediaKind
  /// A number of the owner's own, to find what belongs to the track without a search; no part of the state.
  public var tag: Int32 = -1
  var formats = ReceivedFormats()
  /// Bound by the description or by the first packet that names the section; nil until then.
  public var ssrc: UInt32?
  public var rtxSSRC: UInt32?
  public internal(set) var statistics = ReceptionStatistics()
  @usableFromInline var nack = NACKGenerator()
  public internal(set) var keyFrames = KeyFrameRequester()
  /// How often the source started over.
  public internal(set) var restarts: UInt8 = 0
  /// What comes at present; of RED the format of its blocks. 255 before the first packet.
  @usableFromInline var formatNumber: UInt8 = 255
  /// The publisher has muted the track: its packets are counted and go no further.
  public internal(set) var isMuted = false
  /// What its owner says of it: whether its frames are encrypted end to end, and what is reported as lost at least, in 256ths, since
  /// when. No state: it is said again.
  var word: (isEncrypted: Bool, loss: UInt8, lossAt: Instant) = (false, 0, Instant(nanoseconds: .min / 2))
  private(set) var terms = FeedbackTerms()
  var intraSequence: UInt8 = 0
  /// The publisher has another address: of what it sent on the way there, much may be lost.
  var hasMoved = false
  /// The sender said goodbye; its next packet takes that back.
  @usableFromInline var hasLeft = false
  /// Of the last key frame that said so.
  public internal(set) var pictures = EncodingDescription()
  var dependencies = DependencyReader()
  var layers = SourceLayers()

  var clock = TrackClock()

  /// - Parameter encoding: which of the section's.
  public init(_ section: ReceiveSection, encoding: Int = 0) {
    kind = section.kind
    apply(section, encoding: encoding)
  }

  /// Takes a renegotiated section: formats may change, the streams keep their state.
  public mutating func apply(_ section: ReceiveSection, encoding: Int = 0) {
    kind = section.kind
    formats = ReceivedFormats(section)
    terms = FeedbackTerms(section)
    let streams = section.encodings[encoding]
    if let announced = streams.ssrc, announced != ssrc {
      rebind(ssrc: announced)
      rtxSSRC = streams.rtxSSRC
    } else if let announced = streams.rtxSSRC {
      rtxSSRC = announced
    }
  }

  /// It takes the place of another, with the mute and the owner's number of that one; its subscribers see a source that
  /// starts over.
  mutating func succeed(_ old: TrackReceiver) {
    tag = old.tag
    isMuted = old.isMuted
    word.isEncrypted = old.word.isEncrypted
    restarts = old.restarts &+ 1
  }

  /// Whether the section knows the payload type, as media or as retransmission.
  public func format(of payloadType: UInt8) -> (format: CodecFormat, isRTX: Bool)? {
    formats.format(of: payloadType)
  }

  /// What comes at present; of RED the format of its blocks. Nil before the first packet.
  public var format: CodecFormat? { CodecFormat(rawValue: formatNumber) }
  /// As `format`, to see cheaply whether it changed.
  @inlinable @inline(__always)
  public var formatCode: UInt8 { formatNumber }

  /// The section's media now comes under another SSRC, as its packets say.
  public mutating func rebind(ssrc new: UInt32) {
    guard ssrc != new else { return }
    if ssrc != nil && statistics.isStarted {
      statistics.expectRestart()
      // Those numbers were the old stream's.
      nack.reset()
    }
    ssrc = new
  }

  /// Inlined, as `deadline` is: a call from another module would copy the whole value first, 10 KiB a packet.
  @inlinable @inline(__always)
  public var isStarted: Bool { statistics.isStarted }

  /// - Parameters:
  ///   - packet: in plain text; a retransmission is unwrapped in place.
  ///   - header: as read from it.
  ///   - isRTX: it came under the retransmission's SSRC.
  ///   - carried: as found in the header.
  ///   - arrival: when the kernel had it.
  public mutating func receive(
    _ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader, isRTX: Bool, audioLevel: AudioLevel?,
    carried: CarriedExtensions = CarriedExtensions(), arrival: Instant
  ) -> Outcome {
    let payloadType = isRTX ? formats.original(of: header.payloadType) : header.payloadType
    guard let format = formats[payloadType] else { return .dropped(.unknownPayloadType) }
    var info = Self.info(header, format, audioLevel, arrival)
    var offset = 0
    let taken: ReceptionStatistics.Arrival
    if isRTX {
      switch unwrap(packet, header, payloadType: payloadType) {
      case .dropped(let reason): return .dropped(reason)
      case .unwrapped(let sequence, let start):
        offset = start
        info.payloadSize &-= UInt16(RTX.sequenceSize)
        info.flags.insert(.recovered)
        taken = statistics.recover(sequence)
      }
    } else {
      taken = note(header, rate: format.codec.clockRate, arrival)
    }
    switch taken {
    case .fresh(let sequence): info.extendedSequence = sequence
    case .restarted(let sequence):
      info.extendedSequence = sequence
      startOver(header, arrival)
    case .dropped(let reason): return .dropped(reason)
    }
    if terms.nack { noteMissing(before: info.extendedSequence, isRTX: isRTX, arrival) }
    info.restart = restarts
    // Subscribers have gone on with the new clock.
    guard clock.rate == format.codec.clockRate else { return .dropped(.otherClock) }

    let start = offset &+ header.headerSize
    let payload = UnsafeRawBufferPointer(rebasing: packet[start..<start &+ Int(info.payloadSize)])
    var isKnown = describe(payload, &info)
    if !carried.isEmpty {
      // Of frames that are encrypted end to end the descriptor alone can be read.
      let isDescribed = describe(carried, UnsafeRawBufferPointer(rebasing: packet[offset...]), &info)
      #if PLANTED_DEFECTS
        isKnown = isKnown || isDescribed && !PlantedDefect.isOn(.encryptedFrameDropped)
      #else
        isKnown = isKnown || isDescribed
      #endif
    }
    guard isKnown else { return .dropped(.malformedPayload) }
    formatNumber = info.primaryFormat.rawValue
    if info.flags.contains(.keyFrame) { keyFrames.arrived() }
    return .media(info, offset: offset, size: header.headerSize &+ Int(info.payloadSize))
  }

  /// What the header alone says of a packet.
  @inline(__always)
  private static func info(
    _ header: RTPHeader, _ format: CodecFormat, _ audioLevel: AudioLevel?, _ arrival: Instant
  ) -> PacketInfo {
    var info = PacketInfo()
    info.format = format
    info.primaryFormat = format
    info.arrival = arrival
    info.timestamp = header.timestamp
    info.contributors = UInt8(truncatingIfNeeded: header.csrcCount)
    info.payloadOffset = UInt16(truncatingIfNeeded: header.headerSize)
    info.payloadSize = UInt16(truncatingIfNeeded: header.payloadSize)
    if header.marker { info.flags.insert(.marker) }
    if let audioLevel {
      info.flags.insert(.audioLevel)
      info.audioLevel = audioLevel.byte
    }
    return info
  }

  private enum Unwrapped {
    case unwrapped(sequence: UInt16, start: Int)
    case dropped(MediaDrop)
  }

  /// Makes the packet that it was of a retransmission, in place (RFC 4588 §4).
  @inline(never)
  private func unwrap(
    _ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader, payloadType: UInt8
  ) -> Unwrapped {
    guard let ssrc else { return .dropped(.retransmissionWithoutStream) }
    guard header.payloadSize > RTX.sequenceSize,
      let sequence = RTX.originalSequence(of: UnsafeRawBufferPointer(packet), header),
      let start = RTX.decapsulate(packet, header, payloadType: payloadType, ssrc: ssrc)
    else { return .dropped(.paddingOnly) }
    return .unwrapped(sequence: sequence, start: start)
  }

  /// Takes a packet of the media stream into account.
  @inline(__always)
  private mutating func note(
    _ header: RTPHeader, rate: UInt32, _ arrival: Instant
  ) -> ReceptionStatistics.Arrival {
    let taken = statistics.receive(header.sequence)
    // A duplicate or a packet from nowhere says nothing about the network's jitter.
    if !taken.isDropped {
      hasLeft = false
      if clock.rate != rate, taken.isAhead(statistics.highestSequence) {
        changeClock(to: rate, header, arrival)
      }
      if clock.rate == rate {
        statistics.noteTransit(timestamp: header.timestamp, arrival: arrival, clockRate: rate)
        if kind == .audio { clock.pace.note(transit: statistics.lastTransit, arrival: arrival, rate: rate) }
      }
    }
    if clock.firstArrival == .never {
      clock.firstArrival = arrival
      clock.firstTimestamp = header.timestamp
    }
    return taken
  }

  /// Its numbers say that the source is another, or began again.
  @inline(never)
  private mutating func startOver(_ header: RTPHeader, _ arrival: Instant) {
    restarts &+= 1
    nack.reset()
    clock.firstArrival = arrival
    clock.firstTimestamp = header.timestamp
    #if PLANTED_DEFECTS
      let kept = clock.reportArrival
      defer { if PlantedDefect.isOn(.reportOfBefore) { clock.reportArrival = kept } }
    #endif
    clock.reportArrival = .never
    clock.line.reset()
    clock.pace.reset()
    #if PLANTED_DEFECTS
      if !PlantedDefect.isOn(.pictureOfBefore) { dependencies.startOver() }
    #else
      dependencies.startOver()
    #endif
    // No subscriber can go on without one, and one that gets nothing doesn't ask.
    requestKeyFrame()
  }

  /// Packets that are asked for again after a move; a key frame is fewer, and sooner there.
  static let missingAfterMove = 32

  @inline(__always)
  private mutating func noteMissing(before sequence: Int64, isRTX: Bool, _ arrival: Instant) {
    // What was missing before a gap that is too long is asked for all the same.
    let isLate = isRTX || sequence < statistics.highestSequence
    if nack.received(sequence, mayBegin: !isLate, now: arrival) { requestKeyFrame() }
    if hasMoved && !isRTX {
      hasMoved = false
      if nack.count > Self.missingAfterMove { skip() }
    }
  }

  /// So much is missing that a key frame is the better answer: packets asked for now would only delay it.
  @inline(never)
  mutating func skip() {
    guard kind == .video, terms.asksForKeyFrames else { return }
    nack.giveUp()
    keyFrames.request()
  }

  /// Mutes the track, or lets it flow again. Its subscribers go on without a gap: to them it is a source that
  /// started over, beginning with a key frame.
  public mutating func setMuted(_ muted: Bool) {
    guard muted != isMuted else { return }
    isMuted = muted
    guard !muted, isStarted else { return }
    restarts &+= 1
    // What was missed meanwhile would be of the time before. The highest number stays: a late packet is no beginning, behind
    // which all that has come would seem to be missing.
    nack.giveUp()
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.unmuteWithoutKeyFrame) { return }
    #endif
    requestKeyFrame()
  }
}
