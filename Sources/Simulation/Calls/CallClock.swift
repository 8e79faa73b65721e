internal import Calls
internal import Model
internal import Synchronization

/// The time of a conference of calls, as all parts of the server read it. It moves when it is moved.
final class CallClock: Sendable {
  private let moment: Mutex<Instant>

  init(_ now: Instant) { moment = Mutex(now) }

  var now: Instant { moment.withLock { $0 } }

  func move(to instant: Instant) { moment.withLock { $0 = max($0, instant) } }

  /// As calls have it.
  var call: CallTime {
    let nanoseconds = now.nanoseconds
    return CallTime(
      wall: (VirtualClock.wallTimeAtZero + nanoseconds) / 1_000_000, steady: nanoseconds / 1_000_000)
  }

  /// As tokens have it, since 1970.
  var seconds: Int { Int(call.wall / 1_000) }
}
