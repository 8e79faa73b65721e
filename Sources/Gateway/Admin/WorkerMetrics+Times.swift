internal import Engine
internal import Model

/// How long things take on the media workers, what waits there, and what paths carry.
extension WorkerMetrics {
  private struct TimeRow: Sendable {
    var path: any KeyPath<WorkerTimes, Histogram> & Sendable
    var name: String
    var help: String
    /// Nanoseconds are written as seconds, bits as bytes.
    var unit = 1e9
    var ranges = 0..<18
  }

  private static let times: [TimeRow] = [
    TimeRow(
      path: \.reading, name: "roost_worker_read_delay_seconds",
      help: "From a datagram's arrival at the kernel until a worker reads it, of each batch's first."),
    TimeRow(
      path: \.turns, name: "roost_worker_turn_seconds",
      help: "Turns of a worker's loop: what comes meanwhile waits so long."),
    TimeRow(
      path: \.handshakes, name: "roost_handshake_seconds",
      help: "DTLS handshakes that succeeded, from their first datagram to their keys.", ranges: 2..<20),
    TimeRow(
      path: \.targets, name: "roost_target_bytes_per_second",
      help: "What each subscriber's path is thought to carry, noted ten times a second.", unit: 8,
      ranges: 0..<14),
  ]

  private static let stocks: [(path: any KeyPath<WorkerStocks, Int> & Sendable, name: String, help: String)] =
    [
      (
        \.waitingPackets, "roost_waiting_packets",
        "Packets that wait until their subscriber's path takes them."
      ),
      (\.historyBytes, "roost_history_bytes", "Memory of the packets that are kept for retransmission."),
    ]

  static func writeTimes(_ answered: [(String, WorkerReport)], to exposition: inout Exposition) {
    for row in times {
      exposition.histogram(
        row.name, row.help, unit: row.unit, ranges: row.ranges,
        answered.map { ([("worker", $0)], $1.thread.times[keyPath: row.path]) })
    }
    for (path, name, help) in stocks {
      exposition.family(name, .gauge, help, answered.map { .init($1.stocks[keyPath: path], ("worker", $0)) })
    }
  }
}
