/// Who still waited to be let in as a process ended: said by the events alone, which are read from the newest back. A wait is far shorter
/// than the time for which events are kept.
struct OpenWaits {
  private var ended: Set<WaitingID> = []
  /// Those that came last first.
  private var open: [RoomID: [Waiter]] = [:]

  mutating func read(_ event: RoomEvent) {
    guard let waiting = event.waiting else { return }
    if waiting.reason != nil {
      ended.insert(waiting.waiter.id)
    } else if ended.remove(waiting.waiter.id) == nil,
      open[event.room.id, default: []].count < RoomState.waitingLimit
    {
      open[event.room.id, default: []].append(waiting.waiter)
    }
  }

  /// In the order in which they came.
  func waiters(in room: RoomID) -> [Waiter] { (open[room] ?? []).reversed() }
}
