internal import SyntheticPeers

extension Conference {
  /// Runs all that a seed decides on: a conference and, of some seeds, one on narrow paths beside it.
  ///
  /// Where another is asked for kind of conference than the seed's, as by `weather`, gets that alone.
  public static func runAll(seed: UInt64, options: Options) throws -> Outcome {
    let first = try Conference(seed: seed, options: options).run()
    guard options.weather, LayerPlan.isPart(of: seed) else { return first }
    var narrow = options
    narrow.weather = false
    narrow.isHeavy = false
    narrow.isNarrow = true
    return first.joined(with: try Conference(seed: seed, options: narrow).run())
  }
}

extension Conference.Outcome {
  func joined(with other: Self) -> Self {
    var both = self
    both.violations += other.violations.map { "on narrow paths, \($0)" }
    both.violationCount += other.violationCount
    both.trace += other.trace
    both.mechanisms.add(other.mechanisms)
    both.digest += "+" + other.digest
    both.datagrams += other.datagrams
    both.virtualTime += other.virtualTime
    return both
  }
}
