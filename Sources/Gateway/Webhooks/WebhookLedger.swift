package import Model
package import Rooms

/// Events in the order of all, as a webhook's receiver is to hear of them, and how far each receiver has come.
///
/// What keeps events on a disk gives them out here when they are on it, so that no receiver hears of what a restart forgets.
/// A receiver is known by `Webhooks.Target.name`.
package protocol WebhookLedger: Sendable {
  /// The next events for a receiver; each is given out once to a process.
  /// - Parameter bytes: about; one is given in any case.
  /// - Returns: empty: there are no more by now. nil: they can't be read at the moment.
  func next(for receiver: String, bytes: Int) async -> [StoredEvent]?
  /// Events of one room that were given out before, in their order, but for those that are kept no more.
  /// - Parameter bytes: about; one is given in any case.
  /// - Returns: nil: they can't be read at the moment.
  func events(of room: String, ids: ClosedRange<Int>, bytes: Int) async -> StoredDeliveries.RoomPage?
  /// It has arrived, or is given up, with all before it of its room: a later process does not hear of it. On a disk it may take its
  /// time, since a notice may arrive twice.
  func settle(_ event: WebhookQueue.Settled, for receiver: String)
  func report(for receiver: String) -> StoredDeliveries.Report
  /// About how much is kept for receivers alone.
  var held: (events: Int, bytes: Int) { get }
  /// Gives up what is too old or too much, until its task is cancelled.
  func tidy(by now: @escaping @Sendable () -> WallTime) async
  /// Returns once what was settled outlives the process, as far as that is possible.
  func flush() async
}

extension StoredDeliveries: WebhookLedger {
  package func settle(_ event: WebhookQueue.Settled, for receiver: String) {
    settle(
      event.id.number, of: event.id.roomId, at: event.position, next: event.next, for: receiver)
  }
}
