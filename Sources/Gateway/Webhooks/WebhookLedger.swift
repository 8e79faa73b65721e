package import Rooms

/// Events in the order of all, as webhooks read them once they can't be lost any more, and how far each URL has come.
///
/// Where events are written down, the log gives them out here once they are stored, so that no receiver hears of what a restart
/// forgets. Elsewhere they are safe at once, for as long as the process is.
package protocol WebhookLedger: Sendable {
  /// Has `look` called when there are further events to read; not on the caller's thread.
  /// - Returns: what ends it when it is let go.
  func watch(_ look: @escaping @Sendable () -> Void) -> EventWatch
  /// - Parameter place: that of the last event that was read; nil: none, and it begins with the oldest that may still have to be
  ///   delivered.
  /// - Returns: at most so many, in order; empty: there are no more by now.
  func events(after place: String?, limit: Int) async -> [(place: String, event: RoomEvent)]
  /// The last event of each room, by its id, that has arrived at a URL or was given up. What came before is not sent again.
  func arrived(at url: String) async -> [String: Int]
  /// Notes that; on a disk it may take its time, since a notice may arrive twice.
  func note(_ event: EventID, at url: String) async
}

/// The event log itself: how far a receiver has come is known as long as the process is. So it begins with what happens in this
/// one: what a process before it had may have arrived, and is not sent again.
struct WebhookMemory: WebhookLedger {
  let log: EventLog

  func watch(_ look: @escaping @Sendable () -> Void) -> EventWatch { log.watch(nil, look) }

  func events(after place: String?, limit: Int) async -> [(place: String, event: RoomEvent)] {
    do throws(EventLogError) {
      return try log.events(after: place ?? log.firstCursor, limit: limit).events.map {
        ($0.cursor, $0.event)
      }
    } catch {
      // Some were given up before they were read: it goes on with what is left.
      guard case .cursorGone(let oldest) = error else { return [] }
      return (try? log.events(after: oldest, limit: limit).events.map { ($0.cursor, $0.event) }) ?? []
    }
  }

  func arrived(at url: String) async -> [String: Int] { [:] }
  func note(_ event: EventID, at url: String) async {}
}
