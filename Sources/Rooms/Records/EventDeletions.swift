internal import Model

/// Which events are to leave the store, since the log has given them up: a value.
///
/// They go in portions, each a write of its own. What has piled up for a receiver that is taken out is more than one transaction may
/// be, and where nothing can be deleted events are stored all the same.
struct EventDeletions: Sendable {
  /// Rooms of which events are to be deleted by their number. Beyond, they stay until they are too old.
  private static let roomLimit = 4_096
  /// Of one portion.
  private static let portionRooms = 64

  struct Room: Sendable {
    /// Its events up to this number.
    var number: Int
    /// The position that was recorded last by then: once it is written, so are they.
    var said: UInt64
    /// What was given up later; 0: nothing.
    var later = 0
  }

  /// What is to be deleted next, or the beginning of it.
  struct Portion: Sendable {
    /// Events of all rooms behind the first of these positions, up to the second.
    var after: UInt64
    var last: UInt64
    /// Of these rooms, those up to a number.
    var rooms: [(room: RoomID, number: Int)]
  }

  /// How far a portion has come.
  struct Outcome: Sendable {
    /// All up to this position are gone.
    var reached: UInt64
    /// Of these rooms all that may go are gone.
    var rooms: [RoomID] = []
  }

  private(set) var rooms: [RoomID: Room] = [:]
  /// The log has given up events up to this position. Of them, those after `heldAfter` stay for who has still to hear of them.
  private(set) var position: UInt64 = 0
  private var heldAfter = UInt64.max
  /// Those up to this position are deleted.
  private var reached: UInt64 = 0

  /// - Parameter said: the position that was recorded last.
  mutating func giveUp(_ events: GivenUpEvents, said: UInt64) {
    position = max(position, events.position)
    for (room, number) in events.rooms {
      if var known = rooms[room] {
        if known.said == said {
          known.number = max(known.number, number)
        } else {
          known.later = max(known.later, number)
        }
        rooms[room] = known
      } else if rooms.count < Self.roomLimit {
        rooms[room] = Room(number: number, said: said)
      }
    }
  }

  /// Of events after this position that the log gives up, those stay in the store that a receiver has still to hear; in place of an
  /// earlier position.
  mutating func hold(after position: UInt64) { heldAfter = position }

  /// - Parameter stored: up to there events are written. What isn't yet can't be deleted for good.
  /// - Returns: nil: there is nothing.
  func next(stored: UInt64) -> Portion? {
    let last = max(reached, min(position, heldAfter, stored))
    let due = rooms.lazy.filter { $0.value.said <= stored }.prefix(Self.portionRooms)
    let portion = Portion(after: reached, last: last, rooms: due.map { ($0.key, $0.value.number) })
    return portion.last > portion.after || !portion.rooms.isEmpty ? portion : nil
  }

  /// A portion was deleted.
  /// - Parameter said: the position that was recorded last.
  mutating func finish(_ outcome: Outcome, said: UInt64) {
    reached = max(reached, outcome.reached)
    for room in outcome.rooms {
      let later = rooms.removeValue(forKey: room)?.later ?? 0
      if later > 0 { rooms[room] = Room(number: later, said: said) }
    }
  }
}
