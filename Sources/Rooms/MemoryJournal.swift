internal import Model
internal import Synchronization

/// A journal for as long as the process lives.
final class MemoryJournal: RoomJournal {
  let log: EventLog
  private let removals: Mutex<Removals>

  /// - Parameter memory: seconds for which a removal is remembered.
  init(log: EventLog, memory: Int) {
    self.log = log
    removals = Mutex(Removals(memory: memory))
  }

  func record(_ event: RoomEvent) { log.append(event) }

  func events(of room: RoomID, after: Int, limit: Int) throws(EventLogError) -> EventLog.Page {
    try log.events(of: room, after: after, limit: limit)
  }

  func expire() { log.expire() }

  /// A room has them in its state, which lives as long.
  func keep(_ settings: RoomSettings, of room: RoomInfo) {}

  func remove(_ identity: String, from room: String, now: Int) -> Bool {
    removals.withLock { $0.insert(room: room, identity: identity, now: now) }
  }

  func forbids(_ identity: String, in room: String, issued: Int?, now: Int) -> Bool {
    removals.withLock { $0.forbids(room: room, identity: identity, issued: issued, now: now) }
  }
}
