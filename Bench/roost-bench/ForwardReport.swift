import CCounters
import Foundation

/// One combination of packet size and subscribers, measured.
struct ForwardResult {
  let subscribers: Int
  let size: Int
  /// Nanoseconds per received packet, a number for each batch.
  var roost: [Double] = []
  var floor: [Double] = []
  var roostCounts = bench_counts()
  var floorCounts = bench_counts()
  var countedPackets = 0

  init(subscribers: Int, size: Int) {
    self.subscribers = subscribers
    self.size = size
  }

  /// The median of what each batch took beside the one of the C loop next to it: a machine that is faster or slower for a
  /// while is so for both of a pair, whereas the two fastest of all may be of different moments.
  var ratio: Double { zip(roost, floor).map { $0 / $1 }.median }
  var minimumRatio: Double { (roost.min() ?? 0) / (floor.min() ?? 1) }
  /// What libsrtp allocates is what the C loop allocates: OpenSSL seals without.
  var libraryAllocations: Double { perPacket(floorCounts.allocations) }
  var allocations: Double { perPacket(roostCounts.allocations) - libraryAllocations }
  var retains: Double { perPacket(roostCounts.retains) }
  var releases: Double { perPacket(roostCounts.releases) }
  var accesses: Double { perPacket(roostCounts.accesses) }
  /// How much slower than the C loop a batch may be.
  var ratioLimit: Double { size >= 1_000 ? 1.25 : 1.5 }

  private func perPacket(_ count: UInt64) -> Double { Double(count) / Double(max(countedPackets, 1)) }
}

extension bench_counts {
  mutating func add(_ other: bench_counts) {
    allocations += other.allocations
    frees += other.frees
    retains += other.retains
    releases += other.releases
    accesses += other.accesses
  }
}

extension [Double] {
  var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}

/// What is printed.
enum ForwardReport {
  /// A target and what became of it.
  struct Row: CustomStringConvertible {
    var line: String
    var wanted: String
    var seen: String
    var isMet: Bool
    var description: String { "\(line) | \(wanted) | \(seen)\(isMet ? "" : " | short")" }
  }

  static func table(_ results: [ForwardResult]) -> String {
    var lines = [
      "bytes subscribers | Roost ns: min  median | C loop ns: min  median | ratio: pairs     min "
        + "| a packet: allocations  (libsrtp's)  retains  releases  exclusivity checks"
    ]
    for result in results {
      lines.append(
        String(
          format: "%5d %11d | %13.0f %7.0f | %14.0f %7.0f | %12.3f %7.3f | %21.2f %12.2f %8.2f %9.2f %19.2f",
          result.size, result.subscribers, result.roost.min() ?? 0, result.roost.median,
          result.floor.min() ?? 0, result.floor.median, result.ratio, result.minimumRatio, result.allocations,
          result.libraryAllocations, result.retains, result.releases, result.accesses))
    }
    return lines.joined(separator: "\n")
  }

  static func rows(_ result: ForwardResult) -> [Row] {
    let name = "forward, \(result.size) B to \(result.subscribers)"
    return [
      zero("\(name): allocations a packet", result.allocations),
      zero("\(name): retains a packet", result.retains),
      zero("\(name): releases a packet", result.releases),
      zero("\(name): exclusivity checks a packet", result.accesses),
      Row(
        line: "\(name): time, Roost / C loop", wanted: String(format: "≤ %.2f", result.ratioLimit),
        seen: String(format: "%.3f", result.ratio), isMet: result.ratio <= result.ratioLimit),
    ]
  }

  private static func zero(_ line: String, _ value: Double) -> Row {
    Row(line: line, wanted: "0", seen: value == 0 ? "0" : String(format: "%.3f", value), isMet: value == 0)
  }
}
