internal import Model
internal import Synchronization

/// How those learn of it who wait for what happens.
extension EventLog {
  /// Has `look` called once events of a room, or of any, can be read: after each, or once after several that a journal has stored
  /// together. Also when it is time to ask again what one may read, because somebody was removed or the server is about to stop.
  ///
  /// It is called on the thread of the room or of the journal, which it must not hold up, and may be called without need. What
  /// happened before the call returned isn't reported: read once after it.
  /// - Returns: what ends it when it is let go.
  public func watch(_ room: RoomID? = nil, _ look: @escaping @Sendable () -> Void) -> EventWatch {
    let number = state.withLock { $0.watchers.insert(look, for: room) }
    return EventWatch { [weak self] in
      self?.state.withLock { $0.watchers.remove(number, for: room) }
    }
  }

  /// Those who read what happens in the room of that name, and in all, look again.
  func wake(readersOf name: String) {
    let watchers = state.withLock { state in
      state.watchers.of(state.byName[ExactName(name)].map { [$0] } ?? [])
    }
    for look in watchers { look() }
  }

  /// Everybody looks again.
  func wakeAll() {
    for look in state.withLock({ $0.watchers.all }) { look() }
  }

  /// By the room that they watch, so that what happens in one costs nothing for those of others.
  struct Watchers {
    typealias Look = @Sendable () -> Void

    private var byRoom: [RoomID: [UInt64: Look]] = [:]
    private var ofAll: [UInt64: Look] = [:]
    private var last: UInt64 = 0

    var isEmpty: Bool { ofAll.isEmpty && byRoom.isEmpty }

    /// Those of these rooms, and those that watch all.
    func of(_ rooms: Set<RoomID>) -> [Look] {
      rooms.reduce(into: Array(ofAll.values)) { found, room in
        if let own = byRoom[room] { found += own.values }
      }
    }

    var all: [Look] { Array(ofAll.values) + byRoom.values.flatMap(\.values) }

    mutating func insert(_ look: @escaping Look, for room: RoomID?) -> UInt64 {
      last += 1
      if let room { byRoom[room, default: [:]][last] = look } else { ofAll[last] = look }
      return last
    }

    mutating func remove(_ number: UInt64, for room: RoomID?) {
      guard let room else {
        ofAll[number] = nil
        return
      }
      byRoom[room]?[number] = nil
      if byRoom[room]?.isEmpty == true { byRoom[room] = nil }
    }
  }
}

/// As long as it is there, its log calls.
public final class EventWatch: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }
}
