internal import SyntheticPeers

extension Conference {
  /// Runs all that a seed decides on: a conference and, of some seeds, one on narrow paths or one of calls beside it.
  ///
  /// Where another is asked for kind of conference than the seed's, as by `weather` or `meeting`, gets that alone.
  public static func runAll(seed: UInt64, options: Options) throws -> Outcome {
    if options.meeting != nil { return try Conference(seed: seed, options: options.onNarrowPaths).run() }
    var all = try Conference(seed: seed, options: options).run()
    guard options.weather else { return all }
    if LayerPlan.isPart(of: seed) {
      let narrow = try Conference(seed: seed, options: options.onNarrowPaths).run()
      all = all.joined(with: narrow, as: "on narrow paths, ")
    }
    if CallConference.isPart(of: seed) {
      all = all.joined(with: try CallConference(seed: seed, options: options).run())
    }
    return all
  }
}

extension Conference.Options {
  /// The same with viewers on narrow paths, and in no other weather.
  var onNarrowPaths: Self {
    var narrow = self
    narrow.weather = false
    narrow.isHeavy = false
    narrow.isNarrow = true
    return narrow
  }
}

extension Conference.Outcome {
  /// - Parameter kind: what is said before each violation of the other.
  func joined(with other: Self, as kind: String = "") -> Self {
    var both = self
    both.violations += other.violations.map { kind + $0 }
    both.violationCount += other.violationCount
    both.trace += other.trace
    both.mechanisms.add(other.mechanisms)
    both.digest += "+" + other.digest
    both.datagrams += other.datagrams
    both.virtualTime += other.virtualTime
    return both
  }
}
