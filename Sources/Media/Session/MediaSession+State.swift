internal import Congestion
public import Model

extension MediaSession {
  /// Since 2 with what is known of the path, since 3 with what is known of it by reports alone, and of the path from the
  /// peer.
  private static let stateVersion: UInt8 = 3

  /// Writes everything: a session read from it goes on exactly where this one stood. Each section and slot has a
  /// version of its own.
  public func encode(into writer: inout StateWriter) {
    writer.write(Self.stateVersion)
    writer.write(reportSSRC)
    agreed.encode(into: &writer)
    for section in agreed.receive {
      receiving.pointer(Int(section.index)).pointee.encode(into: &writer)
    }
    for section in agreed.send { slots.pointer(Int(section.index)).pointee.encode(into: &writer) }
    arrivals.encode(into: &writer)
    writer.write(feedbackSSRC)
    clocks.encode(into: &writer)
    writer.write(timers.reports)
    writer.write(timers.clockReports)
    writer.write(timers.feedback)
    writer.write(roundTrip.wholeNanoseconds)
    losses.encode(into: &writer)
    estimator.encode(into: &writer)
    path.reported.encode(into: &writer)
    path.sendTimes.encode(into: &writer)
    streamArrivals.encode(into: &writer)
  }

  /// - Parameter changes: gets the streams that are tracks'.
  public static func decode(
    _ reader: inout StateReader, changes: inout [StreamChange]
  ) throws(StateError) -> MediaSession {
    let version = try reader.version("media session", upTo: stateVersion)
    var session = MediaSession(reportSSRC: try reader.integer())
    try session.restore(from: &reader, version, &changes)
    return session
  }

  private mutating func restore(
    from reader: inout StateReader, _ version: UInt8, _ changes: inout [StreamChange]
  ) throws(StateError) {
    let agreed = try AgreedMedia(from: &reader)
    for section in agreed.receive {
      guard section.index < Self.sectionLimit else {
        throw .invalid(field: "track index", offset: reader.offset)
      }
      makeTracks(below: Int(section.index) + 1)
      let read = try ReceivingSection(section, from: &reader)
      receiving.pointer(Int(section.index)).pointee = read
    }
    for section in agreed.send {
      guard section.index < Self.sectionLimit else {
        throw .invalid(field: "slot index", offset: reader.offset)
      }
      makeSlots(below: Int(section.index) + 1)
      let read = try SendingSlot(section, from: &reader)
      slots.pointer(Int(section.index)).pointee = read
    }
    arrivals = try ArrivalFeedback(from: &reader)
    feedbackSSRC = try reader.integer()
    clocks = try PublisherClocks(from: &reader)
    timers.reports = try reader.instant()
    timers.clockReports = try reader.instant()
    timers.feedback = try reader.instant()
    roundTrip = .nanoseconds(try reader.integer(Int64.self))
    losses = try LossTally(from: &reader)
    if version > 1 { estimator = try BandwidthEstimator(from: &reader) }
    if version > 2 {
      path.reported = try ReportedRate(from: &reader)
      path.sendTimes = try SendTimeEstimator(from: &reader)
      streamArrivals = try StreamFeedback(from: &reader)
    }
    describe(agreed, &changes)
  }
}
