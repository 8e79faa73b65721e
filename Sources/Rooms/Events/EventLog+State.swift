internal import Model

extension EventLog {
  /// An event with its place among those of all rooms.
  struct Entry {
    let event: RoomEvent
    /// From 1, without gaps, over all rooms.
    let position: UInt64
    let at: Instant
    let bytes: Int
  }

  /// What is kept of one room.
  struct Record {
    var room: RoomInfo
    var entries = EventQueue<Entry>()
    var lastEvent = 0
    var bytes = 0
    /// The room has finished: nothing comes after.
    var isOver = false
    /// It is of a call without a room, which has ended: what may still come is of the same moment.
    var isOfEndedCall = false
    /// A room of the same name was known before this one: a number alone does not say which of them is meant.
    var isReborn = false

    var oldest: Int { entries.first?.event.id ?? lastEvent + 1 }

    /// How one goes on who can't be given what was asked for.
    /// - Parameter shown: the last position that is read.
    func gone(shown: UInt64) -> EventLogError {
      .gone(room: room.id, oldest: oldest, latest: oldest - 1 + count(shown: shown))
    }

    /// Of the entries, how many are read.
    private func count(shown: UInt64) -> Int {
      shown >= entries.last?.position ?? 0 ? entries.count : entries.firstIndex { $0.position > shown }
    }

    /// - Parameter shown: the last position that is read.
    func page(after: Int?, limit: Int, shown: UInt64) -> Result<Page, EventLogError> {
      let after = after ?? oldest - 1
      // Ids have no gaps, so a number is a place. A number that isn't reached yet is of another room of that name.
      guard after >= oldest - 1, after <= lastEvent else { return .failure(gone(shown: shown)) }
      let count = count(shown: shown)
      let first = min(after + 1 - oldest, count)
      let events = entries.slice(first..<min(first + limit, count)).map(\.event)
      return .success(
        Page(
          room: room, events: events, lastEvent: oldest - 1 + count,
          isOver: isOver && count == entries.count))
    }
  }

  struct State {
    /// A room is large that has more than this part of all that may be kept.
    private static let largeRooms = 1_024

    /// Cursors of another log mean nothing here.
    var run: UInt64
    var rooms: [RoomID: Record] = [:]
    /// The room that bears a name, or bore it last.
    var byName: [ExactName: RoomID] = [:]
    /// Every kept event in the order of all, among them some that are no longer kept.
    var order = EventQueue<(position: UInt64, room: RoomID)>()
    var lastPosition: UInt64 = 0
    /// The last event that was given up: no cursor before it can be followed.
    var lostPosition: UInt64 = 0
    /// Up to where watchers have been woken.
    var wokenPosition: UInt64 = 0
    /// What the journal hasn't heard of yet.
    private var givenUp = GivenUpEvents()
    var count = 0
    var bytes = 0
    var watchers = Watchers()
    /// Rooms that have so much that each could be asked by itself to give something up: few, whatever there are in all.
    var large: Set<RoomID> = []
    /// How many rooms and places were looked at to give something up.
    var looks = 0

    init(run: UInt64) { self.run = run }

    mutating func append(_ event: RoomEvent, now: Instant, limits: Limits) {
      let id = event.room.id
      if rooms[id] == nil {
        let name = ExactName(event.room.name)
        rooms[id] = Record(room: event.room, isReborn: byName[name] != nil)
        byName[name] = id
      }
      lastPosition += 1
      append(
        Entry(event: event, position: lastPosition, at: now, bytes: event.estimatedBytes), of: id, limits)
    }

    /// The next of a room that is known.
    mutating func append(_ entry: Entry, of id: RoomID, _ limits: Limits) {
      rooms[id]?.take(entry)
      noteSize(of: id, limits)
      order.append((entry.position, id))
      count += 1
      bytes += entry.bytes
      while let kept = rooms[id]?.entries.count, kept > limits.events { dropFirst(of: id, limits) }
      if bytes > limits.bytes { makeRoom(below: limits.bytes - limits.bytes / 16, limits) }
      // Those given up before their turn leave holes, never more than there are events.
      if order.count > 2 * count + 64 {
        let kept = order.slice(0..<order.count).filter { self.entry(at: $0.position, of: $0.room) != nil }
        order = EventQueue(kept)
      }
    }

    mutating func expire(now: Instant, limits: Limits) {
      while let first = order.first {
        if let entry = entry(at: first.position, of: first.room) {
          guard now - entry.at > limits.age else { return }
          dropFirst(of: first.room, limits, isOldest: true)
        }
        order.dropFirst()
      }
    }

    mutating func takeGivenUp() -> GivenUpEvents {
      defer { givenUp = GivenUpEvents() }
      return givenUp
    }

    /// Those who wait for what is read from here on.
    mutating func watchersToWake(shown: UInt64) -> [Watchers.Look] {
      let last = min(shown, lastPosition)
      guard last > wokenPosition else { return [] }
      let first = order.firstIndex { [wokenPosition] in $0.position > wokenPosition }
      wokenPosition = last
      guard !watchers.isEmpty else { return [] }
      let end = order.firstIndex { $0.position > last }
      return watchers.of(Set(order.slice(first..<max(first, end)).map(\.room)))
    }

    private mutating func noteSize(of room: RoomID, _ limits: Limits) {
      if rooms[room]?.bytes ?? 0 > limits.bytes / Self.largeRooms {
        large.insert(room)
      } else {
        large.remove(room)
      }
    }

    func entry(at position: UInt64, of room: RoomID) -> Entry? {
      guard let entries = rooms[room]?.entries else { return nil }
      let index = entries.firstIndex { $0.position >= position }
      return index < entries.count && entries[index].position == position ? entries[index] : nil
    }

    /// The large room that has the most gives up its oldest; where none is large, the oldest of all go. Every room appends
    /// under one lock, so this costs no more than what it gives up, however many rooms there are.
    private mutating func makeRoom(below bound: Int, _ limits: Limits) {
      var sizes = large.map { (room: $0, bytes: rooms[$0]?.bytes ?? 0) }
      while bytes > bound, let largest = sizes.indices.max(by: { sizes[$0].bytes < sizes[$1].bytes }) {
        looks += sizes.count
        let (room, has) = sizes[largest]
        repeat { dropFirst(of: room, limits) } while bytes > bound && rooms[room]?.bytes ?? 0 > has - has / 8
        if large.contains(room) {
          sizes[largest].bytes = rooms[room]?.bytes ?? 0
        } else {
          sizes.remove(at: largest)
        }
      }
      while bytes > bound, let first = order.first {
        looks += 1
        if entry(at: first.position, of: first.room) != nil {
          dropFirst(of: first.room, limits, isOldest: true)
        }
        order.dropFirst()
      }
    }

    /// - Parameter isOldest: none of all that is kept is older.
    mutating func dropFirst(of room: RoomID, _ limits: Limits, isOldest: Bool = false) {
      guard let entry = rooms[room]?.entries.first else { return }
      if isOldest {
        givenUp.position = max(givenUp.position, entry.position)
      } else {
        givenUp.rooms[room] = entry.event.id
      }
      rooms[room]?.entries.dropFirst()
      rooms[room]?.bytes -= entry.bytes
      lostPosition = max(lostPosition, entry.position)
      count -= 1
      bytes -= entry.bytes
      noteSize(of: room, limits)
      guard let record = rooms[room], record.isOver || record.isOfEndedCall, record.entries.isEmpty else {
        return
      }
      rooms[room] = nil
      let name = ExactName(record.room.name)
      if byName[name] == room { byName[name] = nil }
    }
  }
}

extension EventLog.Record {
  fileprivate mutating func take(_ entry: EventLog.Entry) {
    assert(entry.event.id == lastEvent + 1, "the numbers of a room's events have no gaps")
    room = entry.event.room
    lastEvent = entry.event.id
    isOver = entry.event.kind == .roomFinished
    if entry.event.kind == .callEnded, room.isOfCallAlone { isOfEndedCall = true }
    bytes += entry.bytes
    entries.append(entry)
  }
}

extension RoomEvent {
  /// What it costs to keep, about: texts that events share are counted with each.
  var estimatedBytes: Int { messageBytes + (kind == .roomUpdated ? 0 : room.metadata?.jsonBytes ?? 0) }

  /// What it has as a message, about.
  var messageBytes: Int {
    var bytes = 400 + room.name.utf8.count + (kind == .roomUpdated ? room.metadata?.jsonBytes ?? 0 : 0)
    switch participant {
    case .whole(let info):
      bytes += info.identity.utf8.count + (info.name?.jsonBytes ?? 0) + (info.metadata?.jsonBytes ?? 0)
      bytes += info.attributes.reduce(0) { $0 + $1.key.jsonBytes + $1.value.jsonBytes + 64 }
      bytes += info.tracks.reduce(0) { $0 + 128 + ($1.name?.jsonBytes ?? 0) }
    case .named(let name): bytes += name.identity.utf8.count + (name.name?.jsonBytes ?? 0)
    case nil: break
    }
    if let track { bytes += track.name?.jsonBytes ?? 0 }
    if let waiting { bytes += waiting.bytes }
    if let call { bytes += 200 + call.people.reduce(0) { $0 + $1.jsonBytes + 4 } }
    return bytes
  }
}
