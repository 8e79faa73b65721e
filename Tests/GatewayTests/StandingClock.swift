import Model
import Synchronization

/// A clock that stands until it is moved.
final class StandingClock: Sendable {
  private let moment = Mutex(Instant(nanoseconds: 1_000_000_000_000))
  var now: Instant { moment.withLock { $0 } }
  func advance(by time: Duration) { moment.withLock { $0 = $0 + time } }
}
