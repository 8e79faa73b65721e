import Foundation

/// What it costs the server that its participants say when each packet arrived: an estimate for each path, probes, pacing, and a
/// choice of layers.
///
/// Both are measured by turns, so that a machine that is busy for a while is so for both of a pair.
struct FeedbackCost {
  /// How much more processor time a delivered packet may take.
  static let limit = 1.15
  static let pairs = 3

  let scenario: String
  /// Microseconds for each delivered packet, without and with it.
  private(set) var without: [Double] = []
  private(set) var with: [Double] = []
  private(set) var faults: [String] = []

  static func measure(_ scenario: ServerScenario, _ options: ServerOptions) throws(BenchError) -> FeedbackCost
  {
    var cost = FeedbackCost(scenario: scenario.name)
    for pair in 0..<pairs {
      // What comes second finds a warmer machine: each in turn.
      for tells in pair % 2 == 0 ? [false, true] : [true, false] {
        let result = try ServerBench.measure(scenario, options, tellsArrivals: tells)
        cost.faults += result.faults
        if tells { cost.with.append(result.server.total) } else { cost.without.append(result.server.total) }
      }
    }
    return cost
  }

  private init(scenario: String) { self.scenario = scenario }

  /// Of each pair.
  var ratios: [Double] { zip(with, without).map { $0 / max($1, .leastNonzeroMagnitude) } }

  /// The best of all pairs counts: a busy machine makes a time longer, never shorter.
  var rows: [ForwardReport.Row] {
    let best = ratios.min() ?? .infinity
    let all = ratios.map { String(format: "%.2f", $0) }.joined(separator: ", ")
    let seen =
      faults.isEmpty
      ? String(format: "%.2f of %@", best, all) : "not valid: \(faults.joined(separator: ", "))"
    let share = 1 - 1 / ratios.median
    return [
      ForwardReport.Row(
        line: "server process, \(scenario): CPU with feedback / without, best of \(Self.pairs)",
        wanted: String(format: "≤ %.2f", Self.limit), seen: seen, isMet: faults.isEmpty && best <= Self.limit),
      ForwardReport.Row(
        line: "server process, \(scenario): feedback's share of its CPU", wanted: "printed",
        seen: String(
          format: "%.0f %%, %.2f of %.2f µs a packet", share * 100, share * with.median, with.median),
        isMet: faults.isEmpty),
    ]
  }
}
