internal import Model
internal import Synchronization

/// What happened in rooms, for those who ask while the server runs, in memory; each entry goes on to the journal.
final class RoomRecords: Sendable {
  let events: EventLog
  private let removals: Mutex<Removals>
  private let journal: (any RoomJournal)?

  /// - Parameters:
  ///   - memory: seconds for which a removal is remembered.
  ///   - journal: nil: nothing outlives the process.
  init(events: EventLog, memory: Int, journal: (any RoomJournal)?) {
    self.events = events
    removals = Mutex(Removals(memory: memory))
    self.journal = journal
  }

  /// The next event of its room.
  func record(_ event: RoomEvent) {
    events.append(event)
    journal?.record(event)
  }

  /// Events that are too old are given up; removals are as they are asked for.
  func expire() { events.expire() }

  func keep(_ settings: RoomSettings, of room: RoomInfo) { journal?.keep(settings, of: room) }

  /// An identity's tokens of before now let it into that room no more.
  /// - Parameter now: seconds since 1970.
  /// - Returns: false: no more can be remembered.
  func remove(_ identity: String, from room: String, now: Int) -> Bool {
    // The journal has removals in the order in which they hold.
    removals.withLock { removals in
      guard removals.insert(room: room, identity: identity, now: now) else { return false }
      journal?.remember(Removal(identity: identity, room: room, time: now))
      return true
    }
  }

  /// Takes over what a process before this one has remembered.
  /// - Parameter now: seconds since 1970; a removal that is said to come later counts as of now.
  func recover(_ kept: [Removal], now: Int) {
    removals.withLock { removals in
      for removal in kept.sorted(by: { $0.time < $1.time }) {
        _ = removals.insert(room: removal.room, identity: removal.identity, now: min(removal.time, now))
      }
    }
  }

  /// Whether a token was issued before its identity was removed.
  /// - Parameter issued: seconds since 1970; nil: the token doesn't say.
  func forbids(_ identity: String, in room: String, issued: Int?, now: Int) -> Bool {
    removals.withLock { $0.forbids(room: room, identity: identity, issued: issued, now: now) }
  }
}
