internal import Model

/// How far one receiver has come: of each room what was given out and isn't settled, and the position before which all is.
///
/// It grows with rooms that wait, not with their events: those of a room are settled in their order.
struct DeliveryProgress: Sendable {
  /// An event of a room.
  struct Settled: Equatable, Sendable {
    var id: Int
    var position: UInt64
  }

  /// What the store is to learn.
  struct Changes: Sendable {
    /// All up to this position is settled.
    var floor: UInt64
    /// It is another one than the store has.
    var isFloorNew = true
    /// Beyond it: by room, the last event before which all are, and its position.
    var rooms: [RoomID: Settled] = [:]
  }

  private struct Room: Sendable {
    /// Of what was given out nothing before this position waits; nil: nothing waits.
    var oldest: UInt64?
    /// The last that was given out.
    var last: Settled
    var settled: Settled?
  }

  private var rooms: [RoomID: Room] = [:]
  /// What a process before this one settled beyond its floor.
  private var known: [RoomID: Settled]
  private var changed: Set<RoomID> = []
  private(set) var hasChanges = false
  private var lastGiven: UInt64
  /// As the store has it.
  private(set) var storedFloor: UInt64

  init(floor: UInt64, known: [RoomID: Settled] = [:]) {
    self.known = known
    lastGiven = floor
    storedFloor = floor
  }

  /// All up to it is settled.
  var floor: UInt64 {
    let oldest = rooms.values.lazy.compactMap(\.oldest).min()
    return oldest.map { $0 - 1 } ?? lastGiven
  }

  /// In the order of all.
  /// - Returns: false: it was settled before.
  mutating func begin(_ id: Int, of name: RoomID, at position: UInt64) -> Bool {
    lastGiven = max(lastGiven, position)
    if let settled = known[name] {
      // With it the floor moves, and the row is of no more use once it has passed.
      if position >= settled.position || id > settled.id { known[name] = nil }
      if id <= settled.id {
        hasChanges = true
        return false
      }
    }
    let event = Settled(id: id, position: position)
    rooms[name, default: Room(last: event)].last = event
    if rooms[name]?.oldest == nil { rooms[name]?.oldest = position }
    return true
  }

  /// All events of a room up to this one.
  /// - Parameter next: where the next that was given out is; nil: there is none, or it isn't known.
  /// - Returns: whether there is something to be written.
  mutating func settle(_ event: Settled, next: UInt64?, of name: RoomID) -> Bool {
    guard let room = rooms[name], let oldest = room.oldest, event.position >= oldest,
      event.id <= room.last.id
    else { return false }
    rooms[name]?.settled = event
    rooms[name]?.oldest = event.id < room.last.id ? max(next ?? 0, event.position + 1) : nil
    changed.insert(name)
    hasChanges = true
    return true
  }

  /// Of whatever room: what isn't settled up to this position is no longer waited for.
  mutating func giveUp(upTo position: UInt64) {
    guard position > floor else { return }
    for name in Array(rooms.keys) {
      guard let room = rooms[name], let oldest = room.oldest, oldest <= position else { continue }
      rooms[name]?.oldest = room.last.position > position ? position + 1 : nil
    }
    known = known.filter { $0.value.position > position }
    lastGiven = max(lastGiven, position)
    hasChanges = true
  }

  /// - Returns: nil: the store knows everything.
  mutating func takeChanges() -> Changes? {
    guard hasChanges else { return nil }
    var changes = Changes(floor: floor)
    changes.isFloorNew = changes.floor > storedFloor
    for name in changed {
      if let settled = rooms[name]?.settled, settled.position > changes.floor {
        changes.rooms[name] = settled
      }
    }
    changed.removeAll()
    hasChanges = false
    return changes
  }

  mutating func giveBack(_ changes: Changes) {
    changed.formUnion(changes.rooms.keys)
    hasChanges = true
  }

  mutating func written(_ changes: Changes) {
    storedFloor = max(storedFloor, changes.floor)
    for (name, room) in rooms where room.oldest == nil && !changed.contains(name) { rooms[name] = nil }
  }
}
