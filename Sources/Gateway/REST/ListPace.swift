internal import Model
internal import Rooms
internal import Synchronization

/// How often rooms are listed, and figures of them are begun: who asks pays for the rooms that are looked at, so that few cost nothing and
/// thousands aren't listed without end.
final class ListPace: Sendable {
  private struct Spent: Refilling {
    /// Rooms that are looked at.
    var looks = RateLimit(rate: 50_000, burst: 200_000)

    var fullAt: Instant { looks.full }
  }

  private let table = Mutex(AllowanceTable<Int, Spent>(capacity: 1_024))

  init() {}

  /// - Returns: false: it is too soon.
  func take(_ holder: Int, looks: Int, now: Instant) -> Bool {
    table.withLock { table in
      table.use(holder, now: now) { $0.looks.take(upTo: Double(looks), now: now) }
    }
  }
}
