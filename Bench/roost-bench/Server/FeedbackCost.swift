import Foundation

/// What it costs the server that its participants say when each packet arrived: an estimate for each path, probes, pacing, and a
/// choice of layers.
///
/// Both are measured by turns, so that a machine that is busy for a while is so for both of a pair.
///
/// A report wakes a worker. Where everybody publishes, packets wake it far more often, and what reports cost is a ratio of the whole.
/// With one publisher workers sleep most of the time: a ratio to that says how little the server has to do, and so the price of
/// a report counts.
struct FeedbackCost {
  /// How much more processor time a delivered packet may take where everybody publishes.
  static let limit = 1.15
  /// Microseconds of processor time for a report with all that follows from it: waking, estimate, choice of layers, pacing, probes.
  static let priceLimit = 150.0
  static let pairs = 3

  let scenario: ServerScenario
  /// Microseconds for each delivered packet, without and with it.
  private(set) var without: [Double] = []
  private(set) var with: [Double] = []
  /// Microseconds that each report took more, of each pair.
  private(set) var prices: [Double] = []
  /// Of one processor, without reports.
  private(set) var loads: [Double] = []
  private(set) var faults: [String] = []

  static func measure(_ scenario: ServerScenario, _ options: ServerOptions) throws(BenchError) -> FeedbackCost
  {
    var cost = FeedbackCost(scenario: scenario)
    for pair in 0..<pairs {
      var (without, with) = (0.0, 0.0)
      // What comes second finds a warmer machine: each in turn.
      for tells in pair % 2 == 0 ? [false, true] : [true, false] {
        let result = try ServerBench.measure(scenario, options, tellsArrivals: tells)
        cost.faults += result.faults
        let second = result.server.total * Double(result.delivered) / result.seconds
        if tells {
          cost.with.append(result.server.total)
          with = second
        } else {
          cost.without.append(result.server.total)
          without = second
        }
      }
      cost.loads.append(without / 1e6)
      cost.prices.append((with - without) / (Double(scenario.viewers) * ServerBench.reportsPerSecond))
    }
    return cost
  }

  private init(scenario: ServerScenario) { self.scenario = scenario }

  /// Of each pair.
  var ratios: [Double] { zip(with, without).map { $0 / max($1, .leastNonzeroMagnitude) } }

  /// The best of all pairs counts: a busy machine makes a time longer, never shorter.
  var rows: [ForwardReport.Row] {
    let best = ratios.min() ?? .infinity
    let isRatio = scenario.isMesh
    let price = prices.min() ?? .infinity
    return [
      row(
        "CPU with feedback / without, best of \(Self.pairs)",
        wanted: isRatio ? String(format: "≤ %.2f", Self.limit) : "printed",
        seen: String(
          format: "%.2f of %@, at %.0f %% of a processor without", best, Self.list(ratios, "%.2f"),
          loads.median * 100),
        isMet: !isRatio || best <= Self.limit),
      row(
        "what a report costs, best of \(Self.pairs)", wanted: String(format: "≤ %.0f µs", Self.priceLimit),
        seen: String(format: "%.0f of %@ µs", price, Self.list(prices, "%.0f")),
        isMet: price <= Self.priceLimit),
      row(
        "feedback's share of its CPU", wanted: "printed",
        seen: String(
          format: "%.0f %%, %.2f of %.2f µs a packet", (1 - 1 / ratios.median) * 100,
          with.median - without.median, with.median),
        isMet: true),
    ]
  }

  private func row(_ line: String, wanted: String, seen: String, isMet: Bool) -> ForwardReport.Row {
    ForwardReport.Row(
      line: "server process, \(scenario.name): \(line)", wanted: wanted,
      seen: faults.isEmpty ? seen : "not valid: \(faults.joined(separator: ", "))",
      isMet: faults.isEmpty && isMet)
  }

  private static func list(_ values: [Double], _ format: String) -> String {
    values.map { String(format: format, $0) }.joined(separator: ", ")
  }
}
