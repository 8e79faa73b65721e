internal import Glibc
internal import Simulation
internal import Synchronization
internal import SyntheticPeers

/// What all seeds together came to.
final class Summary: Sendable {
  private struct Totals {
    var mechanisms = MechanismCounts()
    /// Seeds in which each fired.
    var fired = MechanismCounts()
    var seeds = 0
    var failed = 0
    var datagrams: UInt64 = 0
    var virtualTime = Duration.zero
  }

  private let totals = Mutex(Totals())
  private let arguments: Arguments

  init(_ arguments: Arguments) { self.arguments = arguments }

  /// A seed has violations, a mechanism fired in fewer than were asked for, or something comes out worse than it could too often.
  var hasFailed: Bool {
    totals.withLock { totals in
      totals.failed > 0 || Mechanism.allCases.contains { isRare($0, totals) || isFrequent($0, totals) }
    }
  }

  private func isFrequent(_ mechanism: Mechanism, _ totals: Totals) -> Bool {
    guard let bound = mechanism.bound else { return false }
    let judged = totals.mechanisms[bound.judged]
    return judged >= bound.least && Double(totals.mechanisms[mechanism]) > bound.part * Double(judged)
  }

  private func isRare(_ mechanism: Mechanism, _ totals: Totals) -> Bool {
    !mechanism.isShortcoming && totals.fired[mechanism] < arguments.leastSeeds / mechanism.seedsForOne
  }

  var hasViolations: Bool { totals.withLock { $0.failed > 0 } }

  func add(_ result: SeedRunner.Result) {
    switch result {
    case .impossible(let seed, let reason):
      print("seed \(seed) can't run: \(reason)")
      totals.withLock { totals in
        totals.seeds += 1
        totals.failed += 1
      }
    case .finished(let outcome):
      totals.withLock { totals in
        totals.seeds += 1
        totals.failed += outcome.violationCount > 0 ? 1 : 0
        totals.mechanisms.add(outcome.mechanisms)
        for mechanism in Mechanism.allCases where outcome.mechanisms[mechanism] > 0 {
          totals.fired[mechanism] += 1
        }
        totals.datagrams += outcome.datagrams
        totals.virtualTime += outcome.virtualTime
      }
      tell(outcome)
    }
    // Long runs are watched through pipes.
    fflush(nil)
  }

  private func tell(_ outcome: Conference.Outcome) {
    if arguments.printsDigests { print("seed \(outcome.seed) digest \(outcome.digest)") }
    for line in outcome.trace { print(line) }
    guard outcome.violationCount > 0 else { return }
    if arguments.lists {
      for violation in outcome.violations { print(violation) }
      let left = outcome.violationCount - outcome.violations.count
      if left > 0 { print("and \(left) more") }
    } else {
      print(
        "seed \(outcome.seed): \(outcome.violationCount) violations, the first at \(outcome.violations[0]); repeat with: \(arguments.repeating(outcome.seed))"
      )
    }
  }

  /// - Parameter elapsed: real time.
  func printTotals(elapsed: Duration) {
    totals.withLock { totals in
      for mechanism in Mechanism.allCases {
        let name = Self.padded("\(mechanism)", to: 25)
        let count = Self.padded("\(totals.mechanisms[mechanism])", to: 12)
        let rare = isRare(mechanism, totals) ? ", too few" : ""
        let frequent = isFrequent(mechanism, totals) ? ", too many" : ""
        print("\(name)\(count)in \(totals.fired[mechanism]) of \(totals.seeds)\(rare)\(frequent)")
      }
      let virtual = Self.seconds(totals.virtualTime)
      let real = Self.seconds(elapsed)
      let speed = (virtual / max(real, 0.001) * 10).rounded() / 10
      print(
        "\(totals.seeds) seeds, \(totals.failed) failed; \(totals.datagrams) datagrams, \(Int(virtual)) virtual seconds in \((real * 10).rounded() / 10), \(speed) times as fast as life"
      )
    }
  }

  private static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(1, width - text.count))
  }

  private static func seconds(_ span: Duration) -> Double {
    Double(span.components.seconds) + Double(span.components.attoseconds) / 1e18
  }
}
