internal import Engine
internal import Model
internal import Peer
internal import Synchronization
internal import Transport

/// How busy workers are, and what flows through them, between two looks at what they have counted.
final class WorkerLoads: Sendable {
  struct Load: Equatable, Sendable {
    /// Of the time between, the share in which it was at work: 0–1.
    var share: Double
    /// Bits per second.
    var received: Int
    var sent: Int
  }

  private struct Look {
    var at: Instant
    var busy: UInt64
    var received: UInt64
    var sent: UInt64
    /// Since the look before; nil: this is the first.
    var load: Load?
  }

  /// Looks that are closer to each other say little.
  private static let least = Duration.milliseconds(900)

  private let looks = Mutex<[Int: Look]>([:])

  init() {}

  /// - Returns: nil before the second look.
  func load(_ report: WorkerReport, now: Instant) -> Load? {
    looks.withLock { looks -> Load? in
      let transport = report.counters.transport
      var new = Look(
        at: now, busy: report.thread.times.turns.sum, received: transport.bytesReceived,
        sent: transport.bytesSent)
      if let old = looks[report.worker] {
        guard now - old.at >= Self.least else { return old.load }
        new.load = Self.load(old, new)
      }
      looks[report.worker] = new
      return new.load
    }
  }

  private static func load(_ old: Look, _ new: Look) -> Load {
    let span = Double(max((new.at - old.at).wholeNanoseconds, 1)) / 1e9
    let rate = { (before: UInt64, after: UInt64) in Double(after >= before ? after - before : 0) / span }
    return Load(
      share: min(rate(old.busy, new.busy) / 1e9, 1), received: Int(rate(old.received, new.received) * 8),
      sent: Int(rate(old.sent, new.sent) * 8))
  }
}
