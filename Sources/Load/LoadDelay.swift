/// How late things came, in milliseconds; nil without samples.
public struct LoadDelay: Encodable, Equatable, Sendable {
  public var p50: Double?
  public var p95: Double?
  public var p99: Double?
  public var maximum: Double?

  public init() {}

  init(_ histogram: LatencyHistogram) {
    p50 = histogram.percentile(0.5).map { $0 / 1_000 }
    p95 = histogram.percentile(0.95).map { $0 / 1_000 }
    p99 = histogram.percentile(0.99).map { $0 / 1_000 }
    maximum = histogram.count > 0 ? Double(histogram.maximum) / 1e6 : nil
  }

  var text: String {
    guard let p50, let p95, let p99, let maximum else { return "none" }
    let numbers = [p50, p95, p99, maximum].map { Decimals.text($0, 1) }
    return "p50 \(numbers[0]), p95 \(numbers[1]), p99 \(numbers[2]), max \(numbers[3])"
  }
}
