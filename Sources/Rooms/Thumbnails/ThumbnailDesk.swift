internal import Model
internal import Synchronization

/// Thumbnails that are being taken, of all rooms together: each has a ring of 1 MiB until its key frame has come.
final class ThumbnailDesk: Sendable {
  /// That are taken at the same time.
  static let atOnce = 16

  private struct State {
    var underWay = 0
    var requests = RateLimit(rate: 32, burst: 64)
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
