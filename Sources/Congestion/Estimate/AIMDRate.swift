internal import Model

/// The rate that the delay allows: down to what arrives where a queue grows, up by a share while the capacity isn't known and
/// by about a packet a response time near it (draft-ietf-rmcat-gcc-02 §5.5).
struct AIMDRate: BitwiseCopyable {
  private enum State: UInt8, BitwiseCopyable {
    case hold, increase, decrease
  }

  static let decrease = 0.85
  /// A share a second.
  private static let growth = 0.08
  private static let acceleration = 0.04
  private static let mostGrowth = 0.24
  /// Bits of the packet that a response time adds.
  private static let packet = 1_200.0 * 8
  private static let leastStep = 4_000.0
  /// Beyond what arrives, where nothing else shows what the path carries.
  static let further = 1.5
  /// Where probes do.
  static let furtherProbed = 1.15

  private(set) var rate: Double
  private var state = State.hold
  private var capacity = LinkCapacity()
  private var lastChange: Int64 = .min
  private var lastDecrease: Int64 = .min
  /// Since when it has grown with no capacity known.
  private var freeSince: Int64 = .max

  init(start: Double) { rate = start }

  /// - Parameters:
  ///   - acknowledged: what arrives; nil while that isn't known.
  ///   - bounds: of the rate.
  ///   - allowed: what losses leave of the rate: there it falls from.
  ///   - mayGrow: false while the application sends so little that nothing is learnt of more.
  ///   - further: so many times what arrives it may grow to.
  ///   - isFilled: false while what arrives is less than what the path carries for that reason.
  ///   - untried: beyond what arrives it goes up to here, as nothing shows before whether the path carries it; nil: it doesn't.
  mutating func update(
    _ use: DelayTrend.Use, acknowledged: Double?, roundTrip: Duration, bounds: ClosedRange<Double>,
    allowed: Double, mayGrow: Bool, further: Double = AIMDRate.further, isFilled: Bool,
    untried: Double? = nil, now: Instant
  ) {
    change(use)
    let response = Double(roundTrip.wholeNanoseconds) / 1e9 + 0.1
    defer { rate = min(max(rate, bounds.lowerBound), bounds.upperBound) }
    switch state {
    case .hold:
      lastChange = now.nanoseconds
      freeSince = .max
    case .increase:
      let passed = lastChange == .min ? 0 : min(Double(now.nanoseconds &- lastChange) / 1e9, 1)
      lastChange = now.nanoseconds
      guard mayGrow else { return }
      if let acknowledged, let upper = capacity.upper, acknowledged > upper { capacity.forget() }
      // What isn't sent isn't tried: never far above what arrives.
      let most = acknowledged.map { further * $0 + 10_000 } ?? .infinity
      guard rate < most else {
        if let untried, rate < untried { rate = min(rate * (1 + Self.growth * passed), untried) }
        return
      }
      let step =
        capacity.isKnown
        ? max(Self.leastStep, Self.packet / response) * passed
        : max(rate * growth(now) * passed, 1_000 * passed)
      rate = min(rate + step, max(most, rate))
    case .decrease:
      lastChange = now.nanoseconds
      // One queue is answered once: what was sent since has still to come through it.
      let sinceLast = lastDecrease == .min ? Int64.max : now.nanoseconds &- lastDecrease
      let isDeep = isFilled && acknowledged.map { $0 < rate * 0.5 } ?? false
      guard sinceLast > Int64(response * 1e9) || isDeep else {
        // Nor once it has gone.
        state = .hold
        return
      }
      lastDecrease = now.nanoseconds
      freeSince = .max
      // What arrives says little where little was sent: a burst made that queue.
      let basis = isFilled ? acknowledged ?? rate : max(acknowledged ?? 0, min(rate, allowed))
      var lower = basis * Self.decrease
      if lower > rate, let mean = capacity.mean { lower = mean * Self.decrease }
      if let acknowledged, isFilled {
        if let least = capacity.lower, acknowledged < least { capacity.forget() }
        capacity.take(acknowledged)
      }
      rate = min(rate, lower)
      state = .hold
    }
  }

  /// A queue drains while so much arrives: the path carries that, though it was sent before so much was allowed.
  mutating func raise(to carried: Double?, now: Instant) {
    if let carried, Self.decrease * carried > rate { set(Self.decrease * carried, now: now) }
  }

  /// A probe has shown what the path carries.
  mutating func set(_ proven: Double, now: Instant) {
    rate = proven
    lastChange = now.nanoseconds
  }

  private mutating func change(_ use: DelayTrend.Use) {
    switch use {
    case .normal: if state == .hold { state = .increase }
    case .over: state = .decrease
    // The queue drains: what is sent now leaves it room to.
    case .under: state = .hold
    }
  }

  /// The longer nothing is felt of a bound the faster it goes up: after a path has got wider its old rate says nothing.
  private mutating func growth(_ now: Instant) -> Double {
    if freeSince == .max { freeSince = now.nanoseconds }
    return min(Self.growth + Self.acceleration * Double(now.nanoseconds &- freeSince) / 1e9, Self.mostGrowth)
  }
}

/// What the path carried when a queue grew: mean and spread of what arrived then.
struct LinkCapacity: BitwiseCopyable {
  private static let weight = 0.05
  /// Kilobits per second; negative: not known.
  private var estimate = -1.0
  private var deviation = 0.4

  init() {}

  var isKnown: Bool { estimate >= 0 }
  var mean: Double? { isKnown ? estimate * 1_000 : nil }
  var upper: Double? { isKnown ? (estimate + 3 * spread) * 1_000 : nil }
  var lower: Double? { isKnown ? max(0, estimate - 3 * spread) * 1_000 : nil }

  private var spread: Double { (deviation * estimate).squareRoot() }

  mutating func forget() { estimate = -1 }

  mutating func take(_ bitsPerSecond: Double) {
    let sample = bitsPerSecond / 1_000
    estimate = isKnown ? (1 - Self.weight) * estimate + Self.weight * sample : sample
    // The variance, as a share of the mean.
    let norm = max(estimate, 1)
    let error = estimate - sample
    deviation = (1 - Self.weight) * deviation + Self.weight * error * error / norm
    deviation = min(max(deviation, 0.4), 2.5)
  }
}
