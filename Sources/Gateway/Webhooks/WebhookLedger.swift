package import Rooms

/// Events in the order of all, as a webhook's receiver is to hear of them, and how far each receiver has come.
///
/// What keeps events on a disk gives them out here when they are on it, so that no receiver hears of what a restart forgets.
package protocol WebhookLedger: Sendable {
  /// The next events for a receiver; each is given out once to a process.
  /// - Parameter receiver: `Webhooks.Target.name`.
  /// - Returns: at most so many; empty: there are no more by now.
  func next(for receiver: String, limit: Int) async -> [RoomEvent]
  /// It has arrived, or is given up: a later process does not hear of it. On a disk it may take its time, since a notice may
  /// arrive twice.
  func settle(_ event: EventID, for receiver: String)
  /// Returns once what was settled outlives the process, as far as that is possible.
  func flush() async
}

extension StoredDeliveries: WebhookLedger {
  package func settle(_ event: EventID, for receiver: String) {
    settle(event.number, of: event.roomId, for: receiver)
  }
}
