internal import Model

/// What really arrives, in bits per second: rates of short spans, each weighed by how far it is from what was known.
struct AcknowledgedRate: BitwiseCopyable {
  /// Nanoseconds; the first span is longer, so that one burst doesn't make the beginning.
  private static let firstSpan: Int64 = 500_000_000
  private static let span: Int64 = 150_000_000
  private static let overtaken: Int64 = 500_000_000
  /// How much less a span is believed the further it is off, and how little while the application sends little.
  private static let doubt = 10.0
  private static let idleDoubt = 20.0

  private var bytes = 0
  private var begin: Int64 = .min
  private var last: Int64 = .min
  private var variance = 50.0
  /// Kilobits per second.
  private var estimate = -1.0
  /// Bytes by twentieths of a second, of the last half.
  private var bins: InlineArray<10, Int> = InlineArray(repeating: 0)
  /// When the first of each came.
  private var starts: InlineArray<10, Int64> = InlineArray(repeating: 0)
  private var bin: Int64 = .min
  private static let binSpan: Int64 = 50_000_000
  private static let binCount = 10

  init() {}

  /// Nil before the first span is over.
  var bitsPerSecond: Double? { estimate < 0 ? nil : estimate * 1_000 }

  /// What was carried at least: where much more is sent than a moment ago the last half second knows of it first.
  var carried: Double? {
    guard let bitsPerSecond else { return nil }
    var bytes = 0
    for index in 0..<Self.binCount { bytes += bins[index] }
    let passed = Double(Int64(Self.binCount - 1) &* Self.binSpan &+ (last &- bin &* Self.binSpan)) / 1e9
    return max(bitsPerSecond, Double(bytes) * 8 / max(passed, 0.45))
  }

  /// What a burst of the last third of a second came at: two spans in a row. A burst that leaves faster than the path carries comes at
  /// what that carries.
  var burst: Double {
    guard bin != .min else { return 0 }
    var most = 0
    for back in 0..<6 {
      let pair = bins[index(bin &- Int64(back))] + bins[index(bin &- Int64(back) &- 1)]
      most = max(most, pair)
    }
    return Double(most) * 8e9 / Double(2 * Self.binSpan)
  }

  /// The same from packet to packet: of two spans from the first that came in them to the first that came behind.
  var exactBurst: Double {
    guard bin != .min else { return 0 }
    var most = 0.0
    for back in 2..<8 {
      let (first, second) = (index(bin &- Int64(back)), index(bin &- Int64(back) &+ 1))
      let next = index(bin &- Int64(back) &+ 2)
      guard bins[first] > 0, bins[next] > 0, starts[next] > starts[first] else { continue }
      let span = Double(starts[next] &- starts[first])
      most = max(most, Double(bins[first] + bins[second]) * 8e9 / span)
    }
    return most
  }

  private mutating func note(_ bytes: Int, at arrived: Int64) {
    let place = arrived / Self.binSpan
    if bin == .min || place &- bin >= Int64(Self.binCount) || place &- bin <= -Int64(Self.binCount) {
      bins = InlineArray(repeating: 0)
      bin = place
    }
    while bin < place {
      bin &+= 1
      bins[index(bin)] = 0
    }
    let position = index(place)
    if bins[position] == 0 || arrived < starts[position] { starts[position] = arrived }
    bins[position] += bytes
  }

  private func index(_ place: Int64) -> Int {
    Int(truncatingIfNeeded: (place % Int64(Self.binCount) + Int64(Self.binCount)) % Int64(Self.binCount))
  }

  /// Takes a packet that arrived.
  /// - Parameters:
  ///   - arrived: on the receiver's clock.
  ///   - isIdle: the application sends less than it may.
  mutating func take(bytes size: Int, arrived: Int64, isIdle: Bool) {
    note(size, at: arrived)
    // One that was overtaken belongs to the span in which it is heard of; a clock that goes back further is another.
    if begin == .min || arrived < begin &- Self.overtaken {
      last = arrived
      begin = arrived
      bytes = 0
    }
    if last != .min, arrived &- last > 1_000_000_000 {
      // A pause is no span.
      begin = arrived
      bytes = 0
    }
    last = max(last, arrived)
    let length = estimate < 0 ? Self.firstSpan : Self.span
    let passed = arrived &- begin
    if passed >= length {
      update(Double(bytes) * 8 / (Double(passed) / 1e6), isIdle: isIdle)
      begin = arrived
      bytes = 0
    }
    bytes += size
  }

  /// What was known is of a time in which little was sent.
  mutating func expectChange() { variance += 200 }

  private mutating func update(_ sample: Double, isIdle: Bool) {
    guard estimate >= 0 else {
      estimate = sample
      return
    }
    // A sample far off weighs less, one far below while little is sent hardly at all.
    let scale = isIdle && sample < estimate ? Self.idleDoubt : Self.doubt
    let doubt = scale * abs(estimate - sample) / max(estimate + min(sample, 25), 1)
    let sampleVariance = doubt * doubt
    let predicted = variance + 5
    estimate = (sampleVariance * estimate + predicted * sample) / max(sampleVariance + predicted, 1e-9)
    estimate = max(estimate, 0)
    variance = sampleVariance * predicted / max(sampleVariance + predicted, 1e-9)
  }
}
