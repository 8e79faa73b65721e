public import Model
internal import Wire

extension Forwarder {
  /// Everything but the section, which the transport keeps.
  public func encode(into writer: inout StateWriter) {
    writer.write(source != nil)
    writer.write(source?.peer.rawValue ?? 0)
    writer.write(source?.index ?? 0)
    writer.write(state.rawValue)
    writer.write(generation)
    writer.write(UInt32(anchorCount))
    for index in 0..<anchorCount {
      let anchor = anchors[index]
      writer.write(anchor.source)
      writer.write(anchor.outgoing)
      writer.write(anchor.timestamp)
      writer.write(anchor.pictureID)
      writer.write(anchor.tl0PictureIndex)
      writer.write(anchor.frameNumber)
      writer.write(anchor.restart)
      writer.write(anchor.generation)
    }
    writer.write(highest)
    writer.write(hasSent)
    writer.write(lastTimestamp)
    writer.write(lastArrival)
    writer.write(lastPictureID)
    writer.write(lastTL0PictureIndex)
    writer.write(lastFrameNumber)
    writer.write(rtxSequence)
    Self.encode(clock, into: &writer)
    Self.encode(sentClock, into: &writer)
    writer.write(sentRate)
    writer.write(reportsOwed)
    writer.write(heardSince)
    retransmissions.encode(into: &writer)
    reports.encode(into: &writer)
    counters.encode(into: &writer)
  }

  public init(_ section: SendSection, from reader: inout StateReader) throws(StateError) {
    var unused = RandomSource.seeded(state: 0)
    self.init(section, random: &unused)
    let fed = try reader.bool()
    let track = TrackKey(
      peer: PeerKey(rawValue: try reader.integer()), index: try reader.integer())
    source = fed ? track : nil
    guard let state = State(rawValue: try reader.integer()) else {
      throw .invalid(field: "forwarder state", offset: reader.offset)
    }
    self.state = state
    generation = try reader.integer()
    anchorCount = try reader.count(limit: 4)
    for index in 0..<anchorCount {
      anchors[index] = Anchor(
        source: try reader.integer(), outgoing: try reader.integer(), timestamp: try reader.integer(),
        pictureID: try reader.integer(), tl0PictureIndex: try reader.integer(),
        frameNumber: try reader.integer(), restart: try reader.integer(), generation: try reader.integer())
    }
    highest = try reader.integer()
    hasSent = try reader.bool()
    lastTimestamp = try reader.integer()
    lastArrival = try reader.instant()
    lastPictureID = try reader.integer()
    lastTL0PictureIndex = try reader.integer()
    lastFrameNumber = try reader.integer()
    rtxSequence = try reader.integer()
    clock = try Self.decodeClock(&reader)
    sentClock = try Self.decodeClock(&reader)
    sentRate = try reader.integer()
    reportsOwed = try reader.integer()
    heardSince = try reader.instant()
    retransmissions = try RetransmissionLimiter(from: &reader)
    reports = try ForwarderReports(from: &reader)
    counters = try ForwarderCounters(from: &reader)
  }

  private static func encode(_ clock: ClockMapping?, into writer: inout StateWriter) {
    writer.write(clock != nil)
    guard let clock else { return }
    writer.write(clock.timestamp)
    writer.write(clock.ntp)
    writer.write(clock.rate)
    writer.write(clock.measured)
    writer.write(clock.isReported)
  }

  private static func decodeClock(_ reader: inout StateReader) throws(StateError) -> ClockMapping? {
    guard try reader.bool() else { return nil }
    return ClockMapping(
      timestamp: try reader.integer(), ntp: NTPTime(rawValue: try reader.integer()),
      rate: try reader.integer(), measured: try reader.integer(), isReported: try reader.bool())
  }
}

extension ForwarderCounters {
  func encode(into writer: inout StateWriter) {
    for value in [packets, retransmitted, notRetransmitted, waiting, late, codecMissing, unwritable, anchors]
    {
      writer.write(value)
    }
  }

  init(from reader: inout StateReader) throws(StateError) {
    packets = try reader.integer()
    retransmitted = try reader.integer()
    notRetransmitted = try reader.integer()
    waiting = try reader.integer()
    late = try reader.integer()
    codecMissing = try reader.integer()
    unwritable = try reader.integer()
    anchors = try reader.integer()
  }
}
