import CFloor
import Foundation
import Load

/// One scenario, measured.
struct ServerResult: Encodable {
  /// Microseconds of processor time for each packet that was delivered.
  struct Cost: Encodable {
    var total = 0.0
    /// Of it in the kernel.
    var system = 0.0

    init() {}
    init(_ time: ProcessorTime, packets: Int) {
      total = time.total / Double(max(packets, 1))
      system = time.system / Double(max(packets, 1))
    }
  }

  let scenario: String
  let seconds: Double
  /// As the server counts what it sent, and the participants what came.
  var sent = 0
  var delivered = 0
  var server = Cost()
  var floorDelivered = 0
  var floor = Cost()
  /// Why the figures mean nothing; empty where they do.
  var faults: [String] = []
  /// The server keeps to what it believes of paths: it leaves out a little at first, and sends probes.
  var keepsToPaths = false

  init(scenario: String, seconds: Double) {
    self.scenario = scenario
    self.seconds = seconds
  }

  var ratio: Double { server.total / max(floor.total, .leastNonzeroMagnitude) }
  var isValid: Bool { faults.isEmpty }

  mutating func note(_ report: LoadReport) {
    if !report.isGood { faults.append("\(report.joined) of \(report.participants) in") }
    let lost = report.never + report.recovered
    let most = keepsToPaths ? ServerBench.leftOutLimit : ServerBench.lossLimit
    if report.expected == 0 || Double(lost) > most * Double(report.expected) {
      faults.append("\(lost) of \(report.expected) packets lost")
    }
    let probes = keepsToPaths ? Int(ServerBench.leftOutLimit * Double(delivered)) : 0
    if abs(sent - delivered) > Int(ServerBench.countLimit * Double(delivered)) + probes {
      faults.append("\(sent) sent by the server's count")
    }
  }

  mutating func note(_ floor: FloorReplay.Result) {
    let lost = floor.expected - floor.delivered
    if floor.expected == 0 || Double(lost) > ServerBench.lossLimit * Double(floor.expected) {
      faults.append("the C server lost \(lost) of \(floor.expected)")
    }
    if floor.tally.refused > 0 { faults.append("the C server refused \(floor.tally.refused)") }
  }

  // MARK: - As people and programs read it

  static func table(_ results: [ServerResult]) -> String {
    var lines = [
      "processor time for each delivered packet, µs (of it in the kernel)",
      "scenario            | packets delivered |  seconds | server          | C floor         | ratio",
    ]
    for result in results {
      let name = result.scenario.padding(toLength: 19, withPad: " ", startingAt: 0)
      lines.append(
        name
          + String(
            format: " | %17d | %8.1f | %6.2f (%5.2f)  | %6.2f (%5.2f)  | %5.2f", result.delivered,
            result.seconds, result.server.total, result.server.system, result.floor.total,
            result.floor.system, result.ratio))
      if !result.isValid { lines.append("  not valid: " + result.faults.joined(separator: ", ")) }
    }
    return lines.joined(separator: "\n")
  }

  static func json(_ results: [ServerResult]) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
    return (try? encoder.encode(results)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
  }

  /// There is no target: what falls short is a figure that means nothing.
  var row: ForwardReport.Row {
    let figures = String(
      format: "%.2f (kernel %.2f), C floor %.2f (%.2f), ratio %.2f, %d packets", server.total, server.system,
      floor.total, floor.system, ratio, delivered)
    return ForwardReport.Row(
      line: "server process, \(scenario): CPU µs a delivered packet", wanted: "printed",
      seen: isValid ? figures : "not valid: " + faults.joined(separator: ", "), isMet: isValid)
  }
}

extension ServerResult {
  private enum CodingKeys: String, CodingKey {
    case scenario, seconds, sent, delivered, server, floorDelivered, floor, faults, ratio
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(scenario, forKey: .scenario)
    try fields.encode(seconds, forKey: .seconds)
    try fields.encode(sent, forKey: .sent)
    try fields.encode(delivered, forKey: .delivered)
    try fields.encode(server, forKey: .server)
    try fields.encode(floorDelivered, forKey: .floorDelivered)
    try fields.encode(floor, forKey: .floor)
    try fields.encode(faults, forKey: .faults)
    try fields.encode(ratio, forKey: .ratio)
  }
}
