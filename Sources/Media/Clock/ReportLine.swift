public import Model

/// Where a track's timestamps stand in its publisher's own time: the straight line through its last sender reports.
///
/// The rate is measured, not taken from the codec. Quartz is off by some ppm, but the stand-in that a browser uses
/// for want of a sound card by several per cent; carried over the five seconds between two reports on a sound track
/// that is far more than lip sync bears. What the scatter of the reports can explain is no other rate, though.
///
/// A report from before the last one that lies on the line came late or twice and says nothing new. One that fits
/// no clock is only believed when the next one follows from it: that is a clock that was set or a source that
/// started over, and the line begins again with the two.
public struct ReportLine: Sendable {
  private struct Report: BitwiseCopyable {
    var ntp: UInt64 = 0
    var timestamp: UInt32 = 0
  }

  static let limit = 8
  /// How far a clock may be off for a report to follow from another; and the scatter that is allowed beside it.
  static let offRate = 0.15
  static let scatter = 0.05
  /// Seconds beyond which reports don't belong together, far from half the circle of timestamps.
  static let longest = 3_600.0
  /// Seconds: reports that are closer to each other count as one.
  static let spacing = 0.5
  /// Seconds that reports must span before the line is known.
  static let knownSpan = 0.9
  /// Seconds off the line that mean that the rate has changed, so that only the last two reports count.
  static let surprise = 0.08
  /// Seconds off the nominal rate that two reports may be by scatter: a frame of sound at either end.
  static let pairScatter = 0.025

  /// The oldest first.
  private var reports: InlineArray<8, Report> = InlineArray(repeating: Report())
  private var count = 0
  /// Fits no clock that was known when it came.
  private var doubt: Report?
  /// How much faster than the codec's the clock ran before its codec changed, as a fraction.
  private var given: Double?
  /// When the last report of the line came.
  public private(set) var arrival = Instant.never

  public init() {}

  public mutating func reset() { self = ReportLine() }

  /// The codec changed to one with another clock, which counts by the same card.
  /// - Parameters:
  ///   - ntp: when the first sample of the new clock was taken, as the line has it.
  ///   - pace: as `line` has it of the old clock, as a fraction.
  public mutating func restart(_ ntp: NTPTime, _ timestamp: UInt32, pace: Double, arrival now: Instant) {
    begin(Report(ntp: ntp.rawValue, timestamp: timestamp), now)
    given = max(-Self.offRate, min(pace, Self.offRate))
  }

  /// Takes a report into account.
  /// - Parameters:
  ///   - rate: of the codec, in hertz; 0 while it is unknown, when only the last report is kept.
  public mutating func add(_ ntp: NTPTime, _ timestamp: UInt32, rate: UInt32, arrival now: Instant) {
    let report = Report(ntp: ntp.rawValue, timestamp: timestamp)
    guard count > 0, rate > 0 else { return begin(report, now) }
    let last = reports[count &- 1]
    let (slope, offset) = fit(rate)
    let (span, ahead) = Self.difference(last, report, rate)
    let error = ahead - (offset + slope * span)
    if span <= 0 && span > -Self.longest && error.magnitude <= Self.scatter { return }
    guard Self.follows(span, ahead) else {
      if let doubt {
        let (span, ahead) = Self.difference(doubt, report, rate)
        if Self.follows(span, ahead) {
          begin(doubt, now)
          return append(report, now)
        }
      }
      doubt = report
      return
    }
    if count > 1 && error.magnitude > Self.surprise { begin(last, now) }
    append(report, now)
  }

  /// The line: a timestamp at the last report's moment, and hertz there; nil before the first report.
  /// - Parameters:
  ///   - rate: of the codec, in hertz.
  ///   - pace: how much faster the clock runs as far as packets tell, as a fraction; counts while reports don't.
  /// - Returns: `isKnown` when the rate was measured, or is known to be the codec's.
  public func line(rate: UInt32, pace: Double? = nil) -> (
    ntp: NTPTime, timestamp: UInt32, rate: UInt32, isKnown: Bool
  )? {
    guard count > 0, rate > 0 else { return nil }
    let last = reports[count &- 1]
    let isMeasured = Self.difference(reports[0], last, rate).span >= Self.knownSpan
    let (slope, offset) = isMeasured ? fit(rate) : (pace ?? given ?? 0, 0)
    let hertz = Double(rate)
    return (
      NTPTime(rawValue: last.ntp),
      last.timestamp &+ UInt32(truncatingIfNeeded: Int64((offset * hertz).rounded())),
      UInt32(clamping: Int64((hertz * (1 + slope)).rounded())),
      isMeasured || pace != nil || given != nil
    )
  }

  private mutating func begin(_ report: Report, _ now: Instant) {
    reports[0] = report
    count = 1
    doubt = nil
    arrival = now
  }

  private mutating func append(_ report: Report, _ now: Instant) {
    doubt = nil
    arrival = now
    if count > 1, Self.seconds(reports[count &- 2], report) < Self.spacing {
      reports[count &- 1] = report
      return
    }
    if count == Self.limit {
      for index in 1..<count { reports[index &- 1] = reports[index] }
      count &-= 1
    }
    reports[count] = report
    count &+= 1
  }

  // MARK: Arithmetic

  private static func seconds(_ from: Report, _ to: Report) -> Double {
    Double(NTPTime(rawValue: to.ntp).nanoseconds(since: NTPTime(rawValue: from.ntp))) / 1e9
  }

  /// Seconds between two reports, and how many more of them the timestamps counted.
  private static func difference(
    _ from: Report, _ to: Report, _ rate: UInt32
  ) -> (span: Double, ahead: Double) {
    let span = seconds(from, to)
    return (span, Double(Int32(bitPattern: to.timestamp &- from.timestamp)) / Double(rate) - span)
  }

  private static func follows(_ span: Double, _ ahead: Double) -> Bool {
    span > 0 && span <= longest && ahead.magnitude <= offRate * span + scatter
  }

  /// About the last report: how much faster than the codec's the clock runs, as a fraction, and how many seconds the
  /// line is ahead of the last report.
  private func fit(_ rate: UInt32) -> (slope: Double, offset: Double) {
    guard count > 1 else { return (given ?? 0, 0) }
    let last = reports[count &- 1]
    var points = FittedLine()
    for index in 0..<count {
      let (span, ahead) = Self.difference(last, reports[index], rate)
      points.add(span, ahead)
    }
    let line = points.fit()
    let slope = max(-Self.offRate, min(line.slope, Self.offRate))
    // What is left beside the line tells how far the reports scatter; two leave nothing.
    let scatter = count == 2 ? Self.pairScatter : max(0.001, 4 * line.deviation)
    guard slope.magnitude * points.span > scatter else { return (0, line.y) }
    return (slope, line.y - slope * line.x)
  }

  // MARK: State

  public func encode(into writer: inout StateWriter) {
    writer.write(UInt32(count))
    for index in 0..<count {
      writer.write(reports[index].ntp)
      writer.write(reports[index].timestamp)
    }
    writer.write(doubt != nil)
    writer.write(doubt?.ntp ?? 0)
    writer.write(doubt?.timestamp ?? 0)
    writer.write(given != nil)
    writer.write((given ?? 0).bitPattern)
    writer.write(arrival)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    count = try reader.count(limit: Self.limit)
    for index in 0..<count {
      reports[index] = Report(ntp: try reader.integer(), timestamp: try reader.integer())
    }
    let doubted = try reader.bool()
    let report = Report(ntp: try reader.integer(), timestamp: try reader.integer())
    doubt = doubted ? report : nil
    let isGiven = try reader.bool()
    let pace = Double(bitPattern: try reader.integer())
    guard pace.magnitude <= Self.offRate else { throw .invalid(field: "clock's pace", offset: reader.offset) }
    given = isGiven ? pace : nil
    arrival = try reader.instant()
  }
}
