internal import Model

/// Whether the queue on the way grows: the slope of a line through the smoothed delays of the last groups, held against a
/// threshold that adapts to how the path jitters (draft-ietf-rmcat-gcc-02 §5.3 to §5.5, the line in place of the Kalman filter
/// as libwebrtc has it).
struct DelayTrend: BitwiseCopyable {
  enum Use: UInt8, BitwiseCopyable {
    case normal, over, under
  }

  private static let window = 20
  private static let smoothing = 0.9
  private static let gain = 4.0
  private static let mostGroups = 60
  /// Over the threshold for so long it is no single late group.
  private static let patience = 10.0
  /// How fast the threshold follows what is above, and below it.
  private static let up = 0.0087
  private static let down = 0.039
  /// Milliseconds.
  private static let thresholds = 6.0...600.0
  private static let outlier = 15.0
  private static let longestStep = 100.0

  private struct Point: BitwiseCopyable {
    var time = 0.0
    var delay = 0.0
  }

  private var points: InlineArray<20, Point> = InlineArray(repeating: Point())
  private var count = 0
  private var place = 0
  private var groups = 0
  private var firstArrival: Int64 = .min
  private var accumulated = 0.0
  private var smoothed = 0.0
  private var threshold = 12.5
  private var lastUpdate: Int64 = .min
  private var overFor = -1.0
  private var overCount = 0
  private var slope = 0.0
  private(set) var use = Use.normal

  init() {}

  mutating func take(_ difference: ArrivalGroups.Difference) {
    let arrival = Double(difference.arrival) / 1e6
    let departure = Double(difference.departure) / 1e6
    groups = min(groups + 1, 1_000)
    if firstArrival == .min { firstArrival = difference.arrivedAt }
    accumulated += arrival - departure
    smoothed = Self.smoothing * smoothed + (1 - Self.smoothing) * accumulated
    points[place] = Point(time: Double(difference.arrivedAt &- firstArrival) / 1e6, delay: smoothed)
    place = (place + 1) % Self.window
    count = min(count + 1, Self.window)
    let before = slope
    if count == Self.window { slope = fit() ?? slope }
    judge(before: before, step: departure, at: difference.arrivedAt)
  }

  /// The least squares' slope of delay over time: 0 where the queue stays, 1 where everything sent is queued.
  ///
  /// Mutating, so that it reads the points in their place: a copy of them took as long as the sums.
  private mutating func fit() -> Double? {
    var (time, delay) = (0.0, 0.0)
    for index in 0..<count {
      time += points[index].time
      delay += points[index].delay
    }
    time /= Double(count)
    delay /= Double(count)
    var (covariance, variance) = (0.0, 0.0)
    for index in 0..<count {
      covariance += (points[index].time - time) * (points[index].delay - delay)
      variance += (points[index].time - time) * (points[index].time - time)
    }
    return variance > 0 ? covariance / variance : nil
  }

  private mutating func judge(before: Double, step: Double, at now: Int64) {
    guard groups >= 2 else {
      use = .normal
      return
    }
    let trend = Double(min(groups, Self.mostGroups)) * slope * Self.gain
    if trend > threshold {
      overFor = overFor < 0 ? step / 2 : overFor + step
      overCount += 1
      if overFor > Self.patience, overCount > 1, slope >= before {
        overFor = 0
        overCount = 0
        use = .over
      }
    } else {
      overFor = -1
      overCount = 0
      use = trend < -threshold ? .under : .normal
    }
    adapt(to: trend, at: now)
  }

  private mutating func adapt(to trend: Double, at now: Int64) {
    defer { lastUpdate = now }
    guard lastUpdate != .min else { return }
    // A sudden rise, as when a route changes, says nothing about how the path jitters.
    guard abs(trend) <= threshold + Self.outlier else { return }
    let pace = abs(trend) < threshold ? Self.down : Self.up
    let step = min(Double(now &- lastUpdate) / 1e6, Self.longestStep)
    threshold += pace * (abs(trend) - threshold) * max(step, 0)
    threshold = min(max(threshold, Self.thresholds.lowerBound), Self.thresholds.upperBound)
  }
}
