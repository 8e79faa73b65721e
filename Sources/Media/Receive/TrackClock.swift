internal import Model

/// What is known of the clock that a track's timestamps count.
struct TrackClock: Sendable {
  /// Hertz; 0 before the first packet.
  var rate: UInt32 = 0
  /// The first packet, which ties the clock until a report does.
  var firstTimestamp: UInt32 = 0
  var firstArrival = Instant.never
  /// The last sender report of the media stream, for report blocks (LSR, DLSR).
  var reportNTP: UInt64 = 0
  var reportArrival = Instant.never
  /// All of them together.
  var line = ReportLine()
  /// Of sound, whose clock is a card's; pictures are timed by the machine's own.
  var pace = ArrivalPace()

  init() {}

  func encode(into writer: inout StateWriter) {
    writer.write(reportNTP)
    writer.write(reportArrival)
    line.encode(into: &writer)
    pace.encode(into: &writer)
    writer.write(firstTimestamp)
    writer.write(firstArrival)
    writer.write(rate)
  }

  init(from reader: inout StateReader) throws(StateError) {
    reportNTP = try reader.integer()
    reportArrival = try reader.instant()
    line = try ReportLine(from: &reader)
    pace = try ArrivalPace(from: &reader)
    firstTimestamp = try reader.integer()
    firstArrival = try reader.instant()
    rate = try reader.integer()
  }
}
