internal import Model
internal import Synchronization

/// Requests for flight recorders, of all rooms together: each makes a worker copy 512 KiB, and a file of up to 2 MB of that.
final class FlightDesk: Sendable {
  /// Files that are made at the same time.
  static let atOnce = 2

  private struct State {
    var underWay = 0
    var requests = RateLimit(rate: 8, burst: 32)
  }

  private let state = Mutex(State())

  /// - Returns: false where too much is under way; else `end` follows.
  func begin(now: Instant) -> Bool {
    state.withLock { state in
      guard state.underWay < Self.atOnce, state.requests.take(now: now) else { return false }
      state.underWay += 1
      return true
    }
  }

  func end() { state.withLock { $0.underWay -= 1 } }
}
