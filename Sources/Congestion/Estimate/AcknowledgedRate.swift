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

  init() {}

  /// Nil before the first span is over.
  var bitsPerSecond: Double? { estimate < 0 ? nil : estimate * 1_000 }

  /// Takes a packet that arrived.
  /// - Parameters:
  ///   - arrived: on the receiver's clock.
  ///   - isIdle: the application sends less than it may.
  mutating func take(bytes size: Int, arrived: Int64, isIdle: Bool) {
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
