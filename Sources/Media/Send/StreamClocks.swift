internal import Model

/// The clocks that a stream's timestamps come from.
struct StreamClocks {
  /// The source's and, in the stream's own timestamps, that of the packets already sent.
  var source: ClockMapping?
  var sent: ClockMapping?
  /// Hertz, of the last packet's codec; 0 before the first.
  var rate: UInt32 = 0
  /// Sender reports that are to follow each other soon.
  var reportsOwed: UInt8 = 0

  init() {}

  /// How far from a packet's arrival its clock may have it taken where two clocks are joined: a path seldom holds a packet
  /// up for longer, and the span of arrivals serves as well.
  static let joint = Duration.seconds(2)
  /// The same where a report is made: an encoder may send what it took seconds ago, and has no reports otherwise.
  static let report = Duration.seconds(10)

  /// Whether a clock is that of a packet. It may be of another incarnation of its source: one that starts over while
  /// it is muted, or while its slot waits for a key frame, has its new clock published before a packet of it is sent.
  /// The clocks of two incarnations have nothing to do with each other.
  static func fits(
    _ clock: ClockMapping, _ timestamp: UInt32, _ arrival: Instant, _ epoch: Epoch, within tolerance: Duration
  ) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.clockUnasked) { return true }
    #endif
    let journey = epoch.ntp(at: arrival).nanoseconds(since: clock.ntp(at: timestamp))
    return journey.magnitude <= UInt64(tolerance.wholeNanoseconds)
  }

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
