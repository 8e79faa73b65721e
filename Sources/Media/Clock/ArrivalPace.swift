public import Model

/// How much faster than its codec says a track's clock runs, as the arrival of its packets tells.
///
/// It is known after two seconds, long before the second sender report of a sound track. The network's jitter is in
/// it, which the least journey of each half second leaves out as well as may be; so a clock that is off by less than
/// a path that fills up could pretend runs at its codec's rate.
public struct ArrivalPace: Sendable {
  private struct Point: BitwiseCopyable {
    /// Nanoseconds.
    var arrival: Int64 = 0
    /// Arrival minus timestamp, in units of the RTP clock.
    var transit: UInt32 = 0
  }

  static let window: Int64 = 500_000_000
  /// Windows that must be complete.
  static let enough = 4
  /// What is less is jitter, what is more no clock.
  static let least = 0.015
  static let most = 0.15
  /// How near to the truth a pace is at best.
  static let exactness = 0.006
  /// Seconds by which a journey differs from the last window's least for no network's reason.
  static let jump: UInt32 = 2

  /// The least of each complete window, the oldest first.
  private var points: InlineArray<8, Point> = InlineArray(repeating: Point())
  private var count = 0
  /// The present window's, and when that ends.
  private var least = Point()
  private var end = Int64.min

  public init() {}

  public mutating func reset() { self = ArrivalPace() }

  /// Takes a packet into account.
  /// - Parameters:
  ///   - transit: its arrival minus its timestamp, in units of the clock.
  ///   - rate: of the codec, in hertz.
  @inline(__always)
  public mutating func note(transit: UInt32, arrival: Instant, rate: UInt32) {
    let now = arrival.nanoseconds
    if now < end {
      if Int32(bitPattern: transit &- least.transit) < 0 { least = Point(arrival: now, transit: transit) }
    } else {
      close(Point(arrival: now, transit: transit), rate)
    }
  }

  /// - Parameter rate: of the codec, in hertz.
  /// - Returns: 0 for the codec's own; nil while it is unknown.
  public func fraction(rate: UInt32) -> Double? { pace(rate: rate)?.fraction }

  /// The same, and how much else the arrivals may mean.
  public func pace(rate: UInt32) -> ClockPace? {
    guard count >= Self.enough, rate > 0 else { return nil }
    var line = FittedLine()
    for index in 0..<count {
      let seconds = Double(points[index].arrival &- points[0].arrival) / 1e9
      line.add(seconds, -Double(Int32(bitPattern: points[index].transit &- points[0].transit)) / Double(rate))
    }
    let fit = line.fit()
    let slope = fit.slope.magnitude
    guard slope <= Self.most else { return ClockPace(fraction: 0, margin: Self.most) }
    let scatter = line.span > 0 ? 4 * fit.deviation / line.span : Self.most
    guard slope >= Self.least, slope > scatter else { return ClockPace(fraction: 0, margin: slope + scatter) }
    return ClockPace(fraction: fit.slope, margin: max(Self.exactness, scatter))
  }

  @inline(never)
  private mutating func close(_ first: Point, _ rate: UInt32) {
    if end != .min {
      if count == FittedLine.limit {
        for index in 1..<count { points[index &- 1] = points[index] }
        count &-= 1
      }
      // After a silence, or with a clock that was set, all begins again.
      if count > 0 {
        let moved = Int32(bitPattern: least.transit &- points[count &- 1].transit).magnitude
        if UInt64(moved) > UInt64(rate) * UInt64(Self.jump) { count = 0 }
      }
      points[count] = least
      count &+= 1
      if first.arrival &- end > 4 * Self.window { count = 0 }
    }
    least = first
    end = first.arrival &+ Self.window
  }

  // MARK: State

  public func encode(into writer: inout StateWriter) {
    writer.write(UInt32(count))
    for index in 0..<count {
      writer.write(points[index].arrival)
      writer.write(points[index].transit)
    }
    writer.write(least.arrival)
    writer.write(least.transit)
    writer.write(end)
  }

  public init(from reader: inout StateReader) throws(StateError) {
    count = try reader.count(limit: FittedLine.limit)
    for index in 0..<count {
      points[index] = Point(arrival: try reader.integer(), transit: try reader.integer())
    }
    least = Point(arrival: try reader.integer(), transit: try reader.integer())
    end = try reader.integer()
  }
}
