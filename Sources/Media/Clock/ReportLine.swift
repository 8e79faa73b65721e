public import Model

/// Where a track's timestamps stand in its publisher's own time: the straight line through its last sender reports.
///
/// The rate is measured, not taken from the codec. Quartz is off by some ppm, but the stand-in that a browser uses
/// for want of a sound card by several per cent; carried over the five seconds between two reports on a sound track
/// that is far more than lip sync bears. What the scatter of the reports can explain is no other rate, though: some senders' reports
/// are off by tens of milliseconds, and a rate that two of them show would carry pictures away until the next. So a rate that no
/// crystal has is believed where packets come at it, or else once several reports show it over a longer span.
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
  /// Seconds off the line that mean that the clock has changed, if the next report is off in the same way.
  static let surprise = 0.08
  /// Seconds off the nominal rate that two reports may be by scatter: a frame of sound at either end.
  static let pairScatter = 0.025
  /// Seconds over which reports show a rate that packets don't come at.
  static let longSpan = 8.0

  /// The oldest first.
  private var reports: InlineArray<8, Report> = InlineArray(repeating: Report())
  private var count = 0
  /// Fits no clock that was known when it came, or far from well.
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
  ///   - pace: as for `line`.
  public mutating func add(
    _ ntp: NTPTime, _ timestamp: UInt32, rate: UInt32, pace: ClockPace? = nil, arrival now: Instant
  ) {
    let report = Report(ntp: ntp.rawValue, timestamp: timestamp)
    guard count > 0, rate > 0 else { return begin(report, now) }
    let last = reports[count &- 1]
    let drawn = draw(rate, pace)
    let (span, ahead) = Self.difference(last, report, rate)
    let error = drawn.error(span, ahead)
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
    guard count > 1, error.magnitude > drawn.surprise else { return append(report, now) }
    if let pace, pace.fraction != 0, !pace.contradicts(ahead / span) {
      // Packets come at another pace by now.
      begin(last, now)
      return append(report, now)
    }
    guard let first = doubt else {
      doubt = report
      return
    }
    let before = Self.difference(last, first, rate)
    guard before.span < span, Self.follows(before.span, before.ahead) else {
      doubt = report
      return
    }
    // Two that are off in the same way are of another line. Else they only show how far reports scatter.
    let isAnother = (drawn.error(before.span, before.ahead) < 0) == (error < 0)
    if isAnother { begin(first, now) } else { append(first, now) }
    append(report, now)
  }

  /// The line: a timestamp at the last report's moment, and hertz there; nil before the first report.
  /// - Parameters:
  ///   - rate: of the codec, in hertz.
  ///   - pace: how much faster the clock runs as far as packets tell; counts while reports don't.
  /// - Returns: `isKnown` when the rate was measured, or is known to be the codec's.
  public func line(rate: UInt32, pace: ClockPace? = nil) -> (
    ntp: NTPTime, timestamp: UInt32, rate: UInt32, isKnown: Bool
  )? {
    guard count > 0, rate > 0 else { return nil }
    let last = reports[count &- 1]
    let isMeasured = Self.difference(reports[0], last, rate).span >= Self.knownSpan
    let line = isMeasured ? draw(rate, pace).believed : Line(slope: pace?.fraction ?? given ?? 0)
    let hertz = Double(rate)
    return (
      NTPTime(rawValue: last.ntp),
      last.timestamp &+ UInt32(truncatingIfNeeded: Int64((line.offset * hertz).rounded())),
      UInt32(clamping: Int64((hertz * (1 + line.slope)).rounded())),
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
  private struct Line {
    var slope = 0.0
    var offset = 0.0

    func error(_ span: Double, _ ahead: Double) -> Double { ahead - (offset + slope * span) }
  }

  private struct Drawing {
    /// That timestamps go by.
    var believed = Line()
    /// Through the reports as well as may be, whatever can be believed of it.
    var free = Line()
    var surprise = ReportLine.surprise

    /// By how much a report is off the line that it is nearer to.
    func error(_ span: Double, _ ahead: Double) -> Double {
      let (near, far) = (believed.error(span, ahead), free.error(span, ahead))
      return far.magnitude < near.magnitude ? far : near
    }
  }

  private func draw(_ rate: UInt32, _ arriving: ClockPace?) -> Drawing {
    guard count > 1 else {
      let line = Line(slope: given ?? 0)
      return Drawing(believed: line, free: line)
    }
    // What was known before the codec changed says no more than what to begin with.
    let pace = arriving ?? given.map { ClockPace(fraction: $0, margin: Self.offRate) }
    let last = reports[count &- 1]
    var points = FittedLine()
    for index in 0..<count {
      let (span, ahead) = Self.difference(last, reports[index], rate)
      points.add(span, ahead)
    }
    let fit = points.fit()
    let slope = max(-Self.offRate, min(fit.slope, Self.offRate))
    let scatter = Self.scatter(points, fit.deviation)
    let believed = Self.believed(slope, points, scatter: scatter, pace)
    return Drawing(
      believed: Line(slope: believed, offset: fit.y - believed * fit.x),
      free: Line(slope: slope, offset: fit.y - slope * fit.x),
      surprise: max(Self.surprise, count > 2 ? 4 * fit.deviation : 0))
  }

  /// Seconds that reports may be off a line by scatter. What is left beside the line tells it; two leave nothing, and a few may
  /// leave little by chance.
  private static func scatter(_ points: FittedLine, _ deviation: Double) -> Double {
    let most: Double? =
      switch points.count {
      case ...2: nil
      case 3: 20
      case 4: 10
      case 5: 7
      default: 5
      }
    return most.map { max(0.001, $0 * deviation) } ?? pairScatter
  }

  /// The rate that timestamps go by: the codec's while what reports show may be scatter, and that of arrivals where these speak against
  /// what a few reports show. Reports that lie on one line are more exact than arrivals.
  private static func believed(
    _ slope: Double, _ points: FittedLine, scatter: Double, _ pace: ClockPace?
  ) -> Double {
    guard slope.magnitude * points.span > scatter else {
      guard let pace, pace.isCertain, (slope - pace.fraction).magnitude * points.span <= scatter else {
        return 0
      }
      return pace.fraction
    }
    guard slope.magnitude > ClockPace.crystal, let pace, pace.contradicts(slope) else { return slope }
    if points.count >= exactCount && scatter < pace.margin * points.span { return slope }
    if excludes(.nominal, slope, points, scatter: scatter) { return slope }
    return excludes(pace, slope, points, scatter: scatter) ? 0 : pace.fraction
  }
  /// Reports that don't lie on one line by chance.
  private static let exactCount = 4

  /// Whether reports over a longer span show that the clock runs otherwise.
  private static func excludes(
    _ pace: ClockPace, _ slope: Double, _ points: FittedLine, scatter: Double
  ) -> Bool {
    points.count > 2 && points.span >= longSpan
      && (slope - pace.fraction).magnitude * points.span > max(pairScatter, scatter)
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
