public import Model
internal import Wire

extension Forwarder {
  /// Since 2 with the encodings of the source, since 3 with frames that are drawn together.
  public static let stateVersion: UInt8 = 3

  /// Everything but the section, which the transport keeps.
  public func encode(into writer: inout StateWriter) {
    writer.write(source != nil)
    writer.write(source?.peer.rawValue ?? 0)
    writer.write(source?.index ?? 0)
    writer.write(encodings.shown)
    writer.write(encodings.next ?? 255)
    leftOut.filter.encode(into: &writer)
    writer.write(joined.highest)
    writer.write(encodings.isPaused)
    leftOut.closed.encode(into: &writer)
    writer.write(state.rawValue)
    writer.write(generation)
    anchors.encode(into: &writer)
    position.encode(into: &writer)
    writer.write(rtxSequence)
    clocks.encode(into: &writer)
    writer.write(clocks.reportsOwed)
    writer.write(heardSince)
    retransmissions.encode(into: &writer)
    reports.encode(into: &writer)
    counters.encode(into: &writer)
    leftOut.targets.encode(into: &writer)
    writer.write(counters.descriptorsUnchanged)
  }

  /// - Parameter version: of the slot. 1: of one encoding of each track; 2: that left descriptors and timestamps as they are.
  public init(
    _ section: SendSection, from reader: inout StateReader, version: UInt8 = Forwarder.stateVersion
  ) throws(StateError) {
    let hasEncodings = version > 1
    var unused = RandomSource.seeded(state: 0)
    self.init(section, random: &unused)
    let fed = try reader.bool()
    let track = TrackKey(
      peer: PeerKey(rawValue: try reader.integer()), index: try reader.integer())
    source = fed ? track : nil
    var joinedHighest: Int64 = 0
    if hasEncodings {
      encodings.shown = try reader.integer()
      let next: UInt8 = try reader.integer()
      encodings.next = next == 255 ? nil : next
      leftOut.filter = try LayerFilter(from: &reader, hasKeys: version > 2)
      joinedHighest = try reader.integer()
      encodings.isPaused = try reader.bool()
      leftOut.closed = try ClosedPlaces(from: &reader)
    }
    guard let state = State(rawValue: try reader.integer()) else {
      throw .invalid(field: "forwarder state", offset: reader.offset)
    }
    self.state = state
    generation = try reader.integer()
    anchors = try Anchors(from: &reader, version: version)
    position = try StreamPosition(from: &reader)
    rtxSequence = try reader.integer()
    clocks = try StreamClocks(from: &reader)
    clocks.reportsOwed = try reader.integer()
    heardSince = try reader.instant()
    retransmissions = try RetransmissionLimiter(from: &reader)
    reports = try ForwarderReports(from: &reader)
    counters = try ForwarderCounters(from: &reader, hasEncodings: hasEncodings)
    if version > 2 {
      leftOut.targets = try SentTargets(from: &reader)
      counters.descriptorsUnchanged = try reader.integer()
    }
    joined.highest = joinedHighest
    // Nothing is selected that hasn't departed: a peer's state is taken between the turns of its worker.
    guard anchors.count > 0, anchors[0].generation == generation, anchors[0].encoding == encodings.shown
    else { return }
    joined = JoinedSource(
      first: anchors[0].source, highest: joinedHighest, restart: anchors[0].restart,
      encoding: anchors[0].encoding,
      generation: generation, isJoined: true)
  }
}

extension ForwarderCounters {
  func encode(into writer: inout StateWriter) {
    for value in [
      packets, retransmitted, notRetransmitted, waiting, late, codecMissing, unwritable, anchors,
      otherEncoding,
      layerLeftOut, padding,
    ] {
      writer.write(value)
    }
  }

  init(from reader: inout StateReader, hasEncodings: Bool) throws(StateError) {
    packets = try reader.integer()
    retransmitted = try reader.integer()
    notRetransmitted = try reader.integer()
    waiting = try reader.integer()
    late = try reader.integer()
    codecMissing = try reader.integer()
    unwritable = try reader.integer()
    anchors = try reader.integer()
    if hasEncodings {
      otherEncoding = try reader.integer()
      layerLeftOut = try reader.integer()
      padding = try reader.integer()
    }
  }
}
