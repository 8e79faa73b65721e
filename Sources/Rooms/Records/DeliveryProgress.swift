internal import Model

/// How far one receiver has come: what was given out to it and isn't settled, and the position before which all is.
struct DeliveryProgress: Sendable {
  /// An event that was given out.
  private struct Given: Sendable {
    let id: Int
    let position: UInt64
  }

  /// What the store is to learn.
  struct Changes: Sendable {
    /// All up to this position is settled.
    var floor: UInt64
    /// Beyond it: by room, the last event before which all are, and its position.
    var rooms: [RoomID: Settled] = [:]
  }

  struct Settled: Equatable, Sendable {
    var id: Int
    var position: UInt64
  }

  private struct Room: Sendable {
    var given = EventQueue<Given>()
    /// Given up behind one that is still on its way.
    var skipped: Set<Int> = []
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
    let oldest = rooms.values.compactMap(\.given.first?.position).min()
    return oldest.map { $0 - 1 } ?? lastGiven
  }

  /// Of all that is settled; events that are on their way count until they are.
  var waiting: Int { rooms.values.reduce(0) { $0 + $1.given.count } }

  /// - Returns: false: it was settled before.
  mutating func begin(_ id: Int, of room: RoomID, at position: UInt64) -> Bool {
    lastGiven = max(lastGiven, position)
    if let settled = known[room], id <= settled.id {
      // With it the floor moves, and the row is of no more use once it has passed.
      if position >= settled.position { known[room] = nil }
      hasChanges = true
      return false
    }
    rooms[room, default: Room()].given.append(Given(id: id, position: position))
    return true
  }

  /// - Returns: whether there is something to be written.
  mutating func settle(_ id: Int, of name: RoomID) -> Bool {
    guard var room = rooms[name], let first = room.given.first else { return false }
    guard first.id == id else {
      if id > first.id { room.skipped.insert(id) }
      rooms[name] = room
      return false
    }
    room.skipped.insert(id)
    while let first = room.given.first, room.skipped.remove(first.id) != nil {
      room.settled = Settled(id: first.id, position: first.position)
      room.given.dropFirst()
    }
    rooms[name] = room
    changed.insert(name)
    hasChanges = true
    return true
  }

  /// - Returns: nil: the store knows everything.
  mutating func takeChanges() -> Changes? {
    guard hasChanges else { return nil }
    var changes = Changes(floor: floor)
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
    storedFloor = changes.floor
    for (name, room) in rooms where room.given.isEmpty && !changed.contains(name) { rooms[name] = nil }
  }
}
