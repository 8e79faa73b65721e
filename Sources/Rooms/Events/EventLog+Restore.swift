internal import Model
internal import Synchronization

extension EventLog {
  /// Goes on from the log of a process before this one, as its journal has it; before the first event.
  ///
  /// What is too old or too much by now is given up. Cursors of before lead on, and those whose events are lost are answered as
  /// such.
  /// - Parameters:
  ///   - rooms: those that go on, with the last event that each has had.
  ///   - wallTime: the present, as events have it.
  func restore(_ events: RoomRecovery.Events, of rooms: [RoomRecovery.Room], wallTime: WallTime) {
    let now = now()
    state.withLock { state in
      state.restore(events, of: rooms, now: now, wallTime: wallTime, limits: limits)
    }
    expire()
  }

  /// Whether a room of that name is known, or was lately, beside that one.
  func isReborn(_ room: RoomInfo) -> Bool {
    state.withLock { state in
      state.rooms[room.id]?.isReborn ?? (state.byName[ExactName(room.name)].map { $0 != room.id } ?? false)
    }
  }
}

extension EventLog.State {
  fileprivate mutating func restore(
    _ kept: RoomRecovery.Events, of rooms: [RoomRecovery.Room], now: Instant, wallTime: WallTime,
    limits: EventLog.Limits
  ) {
    run = kept.run
    let lives = Dictionary(rooms.compactMap { room in room.life.map { ($0.id, room) } }) { first, _ in first }
    for (position, event) in kept.events where position > lastPosition && position <= kept.lastPosition {
      let id = event.room.id
      know(event.room, lives[id])
      // Between two that follow each other none was lost; what lies before a gap can't be read on from.
      if self.rooms[id]?.lastEvent != event.id - 1 {
        skip(to: event.id - 1, of: id, limits)
        know(event.room, lives[id])
      }
      if position > lastPosition + 1 { lostPosition = position - 1 }
      lastPosition = position
      let age = min(max(0, wallTime.milliseconds &- event.time.milliseconds), Self.oldest)
      append(
        EventLog.Entry(
          event: event, position: position, at: now + .milliseconds(-age), bytes: event.estimatedBytes),
        of: id,
        limits)
    }
    if kept.lastPosition > lastPosition { lostPosition = kept.lastPosition }
    lastPosition = kept.lastPosition
    wokenPosition = lastPosition
    for room in rooms {
      guard let life = room.life else { continue }
      know(RoomInfo(id: life.id, name: life.name, metadata: room.settings.metadata), room)
      if self.rooms[life.id]?.lastEvent ?? 0 < room.lastEvent {
        skip(to: room.lastEvent, of: life.id, limits)
      }
      // Of several of a name it is the one that stands.
      if room.stands { byName[ExactName(life.name)] = life.id }
    }
  }

  /// Milliseconds: a year. What is older was given up long ago, or its time is none.
  private static let oldest: Int64 = 31_536_000_000

  private mutating func know(_ room: RoomInfo, _ life: RoomRecovery.Room?) {
    guard rooms[room.id] == nil else { return }
    let name = ExactName(room.name)
    let isReborn = life?.life?.isReborn ?? false
    rooms[room.id] = EventLog.Record(room: room, isReborn: isReborn || byName[name] != nil)
    byName[name] = room.id
  }

  /// Gives up what is kept of a room: what comes next has a number that doesn't follow.
  private mutating func skip(to number: Int, of room: RoomID, _ limits: EventLog.Limits) {
    while rooms[room]?.entries.isEmpty == false { dropFirst(of: room, limits) }
    rooms[room]?.lastEvent = number
  }
}
