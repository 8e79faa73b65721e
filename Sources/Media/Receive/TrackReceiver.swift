public import Model
public import Wire

/// One track as a publisher sends it: its media stream, its retransmissions, what was lost and what is asked for.
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
  /// By payload type: the format that it means, and what it retransmits; 255 for none.
  var formats: InlineArray<128, UInt8> = InlineArray(repeating: 255)
  private var originals: InlineArray<128, UInt8> = InlineArray(repeating: 255)
  /// Bound by the description or by the first packet that names the section; nil until then.
  public var ssrc: UInt32?
  public var rtxSSRC: UInt32?
  public private(set) var statistics = ReceptionStatistics()
  @usableFromInline var nack = NACKGenerator()
  public private(set) var keyFrames = KeyFrameRequester()
  /// How often the source started over.
  public private(set) var restarts: UInt8 = 0
  /// What comes at present; of RED the format of its blocks. 255 before the first packet.
  @usableFromInline var formatNumber: UInt8 = 255
  /// The publisher holds the track: its packets are counted and go no further.
  public private(set) var isMuted = false
  private var usesNACK = false
  private var usesPLI = false
  private var usesFIR = false
  /// The sender adapts by our estimate alone (draft-alvestrand-rmcat-remb-03).
  public private(set) var usesEstimate = false
  private var intraSequence: UInt8 = 0
  /// The publisher has another address: of what it sent on the way there, much may be lost.
  private var hasMoved = false
  /// The sender said goodbye; its next packet takes that back.
  @usableFromInline var hasLeft = false
  /// Of the last key frame with a dependency descriptor.
  var templates: DependencyTemplates?

  /// The last sender report of the media stream, for report blocks (LSR, DLSR).
  private var reportNTP: UInt64 = 0
  private var reportArrival = Instant.never
  /// All of them together, for the clock.
  private var line = ReportLine()
  /// Of sound, whose clock is a card's; pictures are timed by the machine's own.
  private var pace = ArrivalPace()
  /// The first packet, which ties the clock until a report does.
  private var firstTimestamp: UInt32 = 0
  private var firstArrival = Instant.never
  private var clockRate: UInt32 = 0

  public init(_ section: ReceiveSection) {
    kind = section.kind
    apply(section)
  }

  /// Takes a renegotiated section: formats may change, the streams keep their state.
  public mutating func apply(_ section: ReceiveSection) {
    kind = section.kind
    formats = InlineArray(repeating: 255)
    originals = InlineArray(repeating: 255)
    usesNACK = false
    usesPLI = false
    usesFIR = false
    usesEstimate = false
    for codec in section.codecs where codec.payloadType < 128 {
      formats[Int(codec.payloadType)] = codec.format.rawValue
      if let rtx = codec.rtxPayloadType, rtx < 128 { originals[Int(rtx)] = codec.payloadType }
      usesNACK = usesNACK || codec.nack
      usesPLI = usesPLI || codec.pli
      usesFIR = usesFIR || codec.fir
      usesEstimate = usesEstimate || codec.remb
    }
    if let announced = section.ssrc, announced != ssrc {
      rebind(ssrc: announced)
      rtxSSRC = section.rtxSSRC
    } else if let announced = section.rtxSSRC {
      rtxSSRC = announced
    }
  }

  /// Whether the section knows the payload type, as media or as retransmission.
  public func format(of payloadType: UInt8) -> (format: CodecFormat, isRTX: Bool)? {
    let number = Int(payloadType & 0x7F)
    if let format = CodecFormat(rawValue: formats[number]) { return (format, false) }
    guard originals[number] < 128 else { return nil }
    return CodecFormat(rawValue: formats[Int(originals[number])]).map { ($0, true) }
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
    let payloadType = isRTX ? originals[Int(header.payloadType & 0x7F)] : header.payloadType
    guard payloadType < 128, let format = CodecFormat(rawValue: formats[Int(payloadType)]) else {
      return .dropped(.unknownPayloadType)
    }
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

    let rate = format.codec.clockRate
    var offset = 0
    let taken: ReceptionStatistics.Arrival
    if isRTX {
      guard let ssrc else { return .dropped(.retransmissionWithoutStream) }
      guard header.payloadSize > RTX.sequenceSize,
        let sequence = RTX.originalSequence(of: UnsafeRawBufferPointer(packet), header)
      else { return .dropped(.paddingOnly) }
      guard
        let start = RTX.decapsulate(packet, header, payloadType: payloadType, ssrc: ssrc)
      else { return .dropped(.paddingOnly) }
      offset = start
      info.payloadSize &-= UInt16(RTX.sequenceSize)
      info.flags.insert(.recovered)
      taken = statistics.recover(sequence)
    } else {
      taken = statistics.receive(header.sequence)
      // A duplicate or a packet from nowhere says nothing about the network's jitter.
      if !taken.isDropped {
        hasLeft = false
        if clockRate != rate, taken.isAhead(statistics.highestSequence) {
          changeClock(to: rate, header, arrival)
        }
        if clockRate == rate {
          statistics.noteTransit(timestamp: header.timestamp, arrival: arrival, clockRate: rate)
          if kind == .audio { pace.note(transit: statistics.lastTransit, arrival: arrival, rate: rate) }
        }
      }
      if firstArrival == .never {
        firstArrival = arrival
        firstTimestamp = header.timestamp
      }
    }
    switch taken {
    case .fresh(let sequence): info.extendedSequence = sequence
    case .restarted(let sequence):
      info.extendedSequence = sequence
      restarts &+= 1
      nack.reset()
      firstArrival = arrival
      firstTimestamp = header.timestamp
      #if PLANTED_DEFECTS
        let kept = reportArrival
        defer { if PlantedDefect.isOn(.reportOfBefore) { reportArrival = kept } }
      #endif
      reportArrival = .never
      line.reset()
      pace.reset()
      // Nobody can go on without one, and nobody who gets nothing asks.
      wishKeyFrame()
    case .dropped(let reason): return .dropped(reason)
    }
    if usesNACK { noteMissing(before: info.extendedSequence, isRTX: isRTX, arrival) }
    info.restart = restarts
    // Whoever gets the track has gone on with the new clock.
    guard clockRate == rate else { return .dropped(.otherClock) }

    let start = offset &+ header.headerSize
    let payload = UnsafeRawBufferPointer(rebasing: packet[start..<start &+ Int(info.payloadSize)])
    guard describe(payload, &info) else { return .dropped(.malformedPayload) }
    if !carried.isEmpty {
      describe(carried, UnsafeRawBufferPointer(rebasing: packet[offset...]), &info)
    }
    formatNumber = info.primaryFormat.rawValue
    if info.flags.contains(.keyFrame) { keyFrames.arrived() }
    return .media(info, offset: offset, size: header.headerSize &+ Int(info.payloadSize))
  }

  /// Packets that are asked for again after a move; a key frame is fewer, and sooner there.
  private static let missingAfterMove = 32

  @inline(__always)
  private mutating func noteMissing(before sequence: Int64, isRTX: Bool, _ arrival: Instant) {
    // What was missing before a gap that is too long is asked for all the same.
    if nack.received(sequence, now: arrival) { wishKeyFrame() }
    if hasMoved && !isRTX {
      hasMoved = false
      if nack.count > Self.missingAfterMove { skip() }
    }
  }

  /// So much is missing that a key frame is the better answer: packets asked for now would only delay it.
  @inline(never)
  private mutating func skip() {
    guard kind == .video, usesPLI || usesFIR else { return }
    nack.giveUp()
    keyFrames.wish()
  }

  /// The codec changed to one with another clock (RFC 7160): the stream goes on as one that started over.
  ///
  /// Senders differ in how they go on counting, so its first timestamp says nothing about when it was taken. The
  /// last journey of the old clock does, as well as the network's jitter lets it, until the next report.
  @inline(never)
  private mutating func changeClock(to rate: UInt32, _ header: RTPHeader, _ arrival: Instant) {
    let old = clockRate
    clockRate = rate
    guard old != 0 else { return }
    let equal = statistics.timestamp(of: arrival, clockRate: old)
    statistics.changeClock(from: old, to: rate)
    restarts &+= 1
    firstArrival = arrival
    firstTimestamp = header.timestamp
    let known = line.line(rate: old, pace: pace.fraction(rate: old))
    pace.reset()
    // The card that it counts by is the same, whatever the codec's clock.
    guard let equal, let known else { return line.reset() }
    let mapping = ClockMapping(
      timestamp: known.timestamp, ntp: known.ntp, rate: old, measured: known.rate, isReported: true)
    line.restart(
      mapping.ntp(at: equal), header.timestamp, pace: Double(known.rate) / Double(old) - 1, arrival: arrival)
  }

  /// Holds the track, or lets it flow again. Whoever gets it goes on without a gap: to them it is a source that
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
    wishKeyFrame()
  }
}

// MARK: - Feedback to the publisher

extension TrackReceiver {
  /// When `missing` or `keyFrameDue` has something to say; a wish from before the first packet, or from after the last,
  /// waits for the next.
  @inlinable @inline(__always)
  public var deadline: Instant { isStarted && !hasLeft ? min(nack.deadline, keyFrames.deadline) : .never }

  /// How a key frame is asked for.
  public enum KeyFrameRequest: Equatable, Sendable {
    case pictureLoss
    /// With the number of the request (RFC 5104 §4.3.1.1).
    case fullIntra(UInt8)
  }

  /// Packets of the media stream: those that its numbers promise, and those that came.
  public var tally: (expected: Int64, received: Int64) {
    (statistics.packetsExpected, Int64(clamping: statistics.packetsReceived))
  }

  /// Somebody needs a key frame; audio, and codecs without a way to ask for one, have none to give.
  public mutating func wishKeyFrame() { if usesPLI || usesFIR { keyFrames.wish() } }

  /// The publisher has another address, and what it was asked last went to the old one.
  public mutating func moved() {
    hasMoved = true
    keyFrames.lost()
    guard nack.count > Self.missingAfterMove else { return }
    hasMoved = false
    skip()
  }

  /// - Returns: the request that is to be sent now.
  public mutating func keyFrameDue(now: Instant) -> KeyFrameRequest? {
    guard isStarted, !hasLeft, keyFrames.poll(now: now) else { return nil }
    if usesPLI { return .pictureLoss }
    intraSequence &+= 1
    return .fullIntra(intraSequence)
  }

  /// The sender said goodbye (RFC 3550 §6.6): nothing is reported or asked for until it comes back.
  public mutating func goodbye() {
    hasLeft = true
    nack.reset()
    keyFrames.arrived()
  }

  /// Hands out the sequence numbers to be asked for now.
  public mutating func missing(now: Instant, roundTrip: Duration, _ body: (UInt16) -> Void) {
    nack.due(now: now, roundTrip: roundTrip, body)
  }

  /// The report block for the media stream; nil before it started.
  public mutating func reportBlock(now: Instant) -> ReportBlock? {
    guard let ssrc, statistics.isStarted, !hasLeft else { return nil }
    let (fraction, lost, highest) = statistics.report()
    var lastReport: UInt32 = 0
    var delay: UInt32 = 0
    if reportArrival != .never {
      lastReport = NTPTime(rawValue: reportNTP).middle
      let span = max(0, now.nanoseconds &- reportArrival.nanoseconds)
      delay = UInt32(clamping: span / 1_000 &* 65_536 / 1_000_000)
    }
    return ReportBlock(
      ssrc: ssrc, fractionLost: fraction, cumulativeLost: lost, highestSequence: highest,
      jitter: statistics.jitter, lastSenderReport: lastReport, delaySinceLastSenderReport: delay)
  }
}

// MARK: - Clock

extension TrackReceiver {
  /// How far the timestamp of a report may be from those of the packets.
  private static let reportTolerance = Duration.seconds(10)

  /// A sender report of the media stream came.
  /// - Parameter moment: `ntp` on the server's time line, as far as that is known. One from before the stream
  ///   started over speaks of another clock, however late it comes.
  public mutating func senderReport(
    ntp: NTPTime, timestamp: UInt32, arrival: Instant, moment: NTPTime, epoch: Epoch
  ) {
    reportNTP = ntp.rawValue
    reportArrival = arrival
    guard restarts == 0 || moment.nanoseconds(since: epoch.ntp(at: firstArrival)) >= 0 else { return }
    // So does one that overtook the first packet of another clock.
    if let expected = statistics.timestamp(of: arrival, clockRate: clockRate),
      Int64(Int32(bitPattern: timestamp &- expected)).magnitude
        > UInt64(clockRate) * UInt64(Self.reportTolerance.components.seconds)
    {
      return
    }
    line.add(ntp, timestamp, rate: clockRate, arrival: arrival)
  }

  /// Where the stream's timestamps stand on the server's time line.
  /// - Returns: nil before the first packet, and where nothing new is known since the publisher's clock was set:
  ///   what was known holds.
  public func mapping(_ clock: PublisherClock, epoch: Epoch) -> ClockMapping? {
    guard clockRate > 0 else { return nil }
    if clock.isKnown,
      let told = line.line(rate: clockRate, pace: kind == .audio ? pace.fraction(rate: clockRate) : 0)
    {
      let moment = clock.serverTime(told.ntp)
      let delay = epoch.ntp(at: line.arrival).nanoseconds(since: moment)
      guard delay.magnitude < UInt64(PublisherClock.step) else { return nil }
      return ClockMapping(
        timestamp: told.timestamp, ntp: moment, rate: clockRate, measured: told.rate, isReported: told.isKnown
      )
    }
    guard firstArrival != .never else { return nil }
    return ClockMapping(
      timestamp: firstTimestamp, ntp: epoch.ntp(at: firstArrival), rate: clockRate, isReported: false)
  }
}

// MARK: - State

extension TrackReceiver {
  /// Everything but the section, which the transport keeps.
  public func encode(into writer: inout StateWriter) {
    writer.write(ssrc != nil)
    writer.write(ssrc ?? 0)
    writer.write(rtxSSRC != nil)
    writer.write(rtxSSRC ?? 0)
    statistics.encode(into: &writer)
    nack.encode(into: &writer)
    keyFrames.encode(into: &writer)
    writer.write(restarts)
    writer.write(reportNTP)
    writer.write(reportArrival)
    line.encode(into: &writer)
    pace.encode(into: &writer)
    writer.write(firstTimestamp)
    writer.write(firstArrival)
    writer.write(clockRate)
    writer.write(formatNumber)
    writer.write(intraSequence)
    writer.write(hasLeft)
    writer.write(hasMoved)
    writer.write(templates != nil)
    writer.write(templates?.offset ?? 0)
    writer.write(templates?.count ?? 0)
    writer.write(templates?.decodeTargets ?? 0)
    writer.write(templates?.discardable ?? 0)
    writer.write(isMuted)
  }

  public init(_ section: ReceiveSection, from reader: inout StateReader) throws(StateError) {
    self.init(section)
    let bound = try reader.bool()
    let media: UInt32 = try reader.integer()
    ssrc = bound ? media : nil
    let boundRTX = try reader.bool()
    let rtx: UInt32 = try reader.integer()
    rtxSSRC = boundRTX ? rtx : nil
    statistics = try ReceptionStatistics(from: &reader)
    nack = try NACKGenerator(from: &reader)
    keyFrames = try KeyFrameRequester(from: &reader)
    restarts = try reader.integer()
    reportNTP = try reader.integer()
    reportArrival = try reader.instant()
    line = try ReportLine(from: &reader)
    pace = try ArrivalPace(from: &reader)
    firstTimestamp = try reader.integer()
    firstArrival = try reader.instant()
    clockRate = try reader.integer()
    formatNumber = try reader.integer()
    intraSequence = try reader.integer()
    hasLeft = try reader.bool()
    hasMoved = try reader.bool()
    let hasTemplates = try reader.bool()
    let known = DependencyTemplates(
      offset: try reader.integer(), count: try reader.integer(), decodeTargets: try reader.integer(),
      discardable: try reader.integer())
    guard known.count <= 64, known.decodeTargets <= 32 else {
      throw .invalid(field: "dependency templates", offset: reader.offset)
    }
    templates = hasTemplates ? known : nil
    isMuted = try reader.bool()
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.mutedFlowsAfterMove) { isMuted = false }
    #endif
  }
}
