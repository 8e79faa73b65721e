internal import Model

/// The clocks that a stream's timestamps come from.
struct StreamClocks {
  /// The source's and, in the stream's own timestamps, that of the packets already sent.
  var source: ClockMapping?
  var sent: ClockMapping?
  /// Hertz, of the last packet's codec; 0 before the first.
  var rate: UInt32 = 0

  init() {}

  func encode(into writer: inout StateWriter) {
    Self.encode(source, into: &writer)
    Self.encode(sent, into: &writer)
    writer.write(rate)
  }

  init(from reader: inout StateReader) throws(StateError) {
    source = try Self.decode(&reader)
    sent = try Self.decode(&reader)
    rate = try reader.integer()
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

  private static func decode(_ reader: inout StateReader) throws(StateError) -> ClockMapping? {
    guard try reader.bool() else { return nil }
    return ClockMapping(
      timestamp: try reader.integer(), ntp: NTPTime(rawValue: try reader.integer()),
      rate: try reader.integer(), measured: try reader.integer(), isReported: try reader.bool())
  }
}
