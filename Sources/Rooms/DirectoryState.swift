internal import Model

/// Which rooms there are, who is in them or on the way in, and when they go: a value, which is given the time and asks for nothing.
///
/// A room is known by a handle, which it is made of here and nothing else; so a test needs none.
struct DirectoryState<Handle: Sendable>: Sendable {
  struct Limits: Sendable {
    var rooms: Int
    /// In all rooms together.
    var participants: Int
    /// Whether a room is made for the first who comes.
    var makesRooms: Bool
  }

  private struct Entry {
    let number: UInt64
    let handle: Handle
    /// Also those on their way in: a room without any goes, unless some wait.
    var attendance = Attendance()
    /// Sessions that wait to be let in. They keep the room and have no place in it.
    var waiting = 0
    /// When it goes, if it is without anybody then; `.never`: with the last of those on their way in.
    var deadline = Instant.never
    /// Seconds for which it waits for its first participant, where it was made ahead; 0 once one was in.
    var waits = 0

    var isDeserted: Bool { attendance.count == 0 && waiting == 0 }
  }

  private let limits: Limits
  private var rooms: [ExactName: Entry] = [:]
  /// Rooms that were closed while sessions were in or on the way, by number: their names are free.
  private var closing: [UInt64: Entry] = [:]
  private(set) var sessions = 0
  /// In all rooms together; as many as there may be participants.
  private(set) var waiting = 0
  /// Every peer that the media plane has not reported as closed; its room may be gone before it.
  private var peers: [PeerKey: Handle] = [:]
  /// When rooms are to be called, by their numbers.
  private var alarms: [UInt64: (handle: Handle, at: Instant)] = [:]
  /// Before that none of them is due.
  private var soonest = Instant.never
  private(set) var counted = RoomCounts()
  /// What flows in rooms, by number, as sampled last.
  private var sampled: [UInt64: Bitrates] = [:]
  /// No one is let in any more.
  private(set) var isDraining = false
  /// Until when those who are in may stay; nil: that was not said.
  private(set) var drainDeadline: WallTime?

  init(limits: Limits) { self.limits = limits }

  // MARK: - Rooms

  func room(_ name: String) -> Handle? { rooms[ExactName(name)]?.handle }

  /// As they were made, so that what concerns all goes the same way every time.
  var inOrder: [Handle] {
    (Array(rooms.values) + closing.values).sorted { $0.number < $1.number }.map(\.handle)
  }

  /// Rooms that are closing count as long as they are there.
  private var count: Int { rooms.count + closing.count }

  /// By name, in the order of bytes.
  /// - Parameter after: only those behind this name.
  func page(after: String?, limit: Int) -> [Handle] {
    rooms.filter { entry in after.map { $0.isBefore(entry.key.text) } ?? true }
      .sorted { $0.key.text.isBefore($1.key.text) }.prefix(limit).map(\.value.handle)
  }

  /// A room as a list finds it.
  struct Listed: Sendable {
    let name: String
    let number: UInt64
    let handle: Handle
    /// Also those on their way in.
    let participants: Int
    /// As sampled last.
    let bitrates: Bitrates
  }

  /// All that have their names, in no order.
  var listed: [Listed] {
    rooms.map { name, room in
      Listed(
        name: name.text, number: room.number, handle: room.handle, participants: room.attendance.count,
        bitrates: sampled[room.number] ?? Bitrates())
    }
  }

  var listedCount: Int { rooms.count }

  /// What flows in each room that has media, by number; in all others nothing does.
  /// - Returns: those that had media until now.
  mutating func note(_ bitrates: [UInt64: Bitrates]) -> [Handle] {
    let ended = Set(sampled.keys).subtracting(bitrates.keys)
    sampled = bitrates
    guard !ended.isEmpty else { return [] }
    return (Array(rooms.values) + closing.values).filter { ended.contains($0.number) }
      .sorted { $0.number < $1.number }.map(\.handle)
  }

  /// Of all rooms together.
  var bitrates: Bitrates { sampled.values.reduce(Bitrates(), +) }

  /// Makes a room ahead of its first participant; one that stands stays as it is.
  /// - Parameter patience: seconds for which it waits for one.
  mutating func create(
    _ name: String, patience: Int, now: Instant, _ make: (_ number: UInt64) -> Handle
  ) throws(AdministrationError) -> (handle: Handle, isNew: Bool) {
    let name = ExactName(name)
    if let room = rooms[name] {
      // Its only join may yet be refused, and who has asked counts on it.
      if room.deadline == .never { wait(for: patience, of: name, now) }
      return (room.handle, false)
    }
    guard !isDraining else { throw .draining }
    guard count < limits.rooms else { throw .full("rooms: \(limits.rooms)") }
    let handle = add(name, make)
    wait(for: patience, of: name, now)
    return (handle, true)
  }

  /// - Parameter patience: seconds.
  private mutating func wait(for patience: Int, of name: ExactName, _ now: Instant) {
    rooms[name]?.waits = patience
    rooms[name]?.deadline = now + .seconds(patience)
  }

  private mutating func add(_ name: ExactName, _ make: (_ number: UInt64) -> Handle) -> Handle {
    counted.roomsStarted += 1
    let entry = Entry(number: counted.roomsStarted, handle: make(counted.roomsStarted))
    rooms[name] = entry
    return entry.handle
  }

  /// A room gives up its name: who comes next, or makes a room of that name, gets another one. It goes at once where it is
  /// empty, also of those on their way in, else with the last of them.
  /// - Returns: the room, and whether it has gone; nil: there is none of that name.
  mutating func close(_ name: String) -> (handle: Handle, isOver: Bool)? {
    guard let room = rooms[ExactName(name)] else { return nil }
    let isOver = room.attendance.count == 0
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.closedRoomWaits), !isOver { return (room.handle, false) }
    #endif
    rooms[ExactName(name)] = nil
    if !isOver { closing[room.number] = room }
    return (room.handle, isOver)
  }

  /// Forgets rooms whose time has come.
  mutating func sweep(now: Instant) -> [Handle] {
    let over = rooms.filter { $0.value.deadline <= now && $0.value.isDeserted }
    for name in over.keys { rooms[name] = nil }
    return over.values.sorted { $0.number < $1.number }.map(\.handle)
  }

  // MARK: - Who is in

  /// Takes a place for a participant that joins, and makes the room if there is none. A second session of an identity
  /// takes the place of the first, which ends as this one begins.
  mutating func begin(
    _ identity: String, in name: String, _ make: (_ number: UInt64) -> Handle
  ) throws(JoinError) -> Handle {
    guard !isDraining else { throw .draining }
    let name = ExactName(name)
    let replaced = rooms[name]?.attendance.sessions(of: identity) == 1 ? 1 : 0
    guard sessions - replaced < limits.participants else { throw .full(limit: limits.participants) }
    if rooms[name] == nil {
      guard limits.makesRooms else { throw .noRoom }
      guard count < limits.rooms else { throw .full(limit: limits.rooms) }
      _ = add(name, make)
    }
    guard let handle = rooms[name]?.handle else { throw .noRoom }
    rooms[name]?.attendance.begin(identity)
    sessions += 1
    return handle
  }

  mutating func noteStarted() { counted.sessionsStarted += 1 }

  mutating func noteJoining(_ span: Duration) { counted.joining.note(span) }

  /// Counts a refusal and hands it on.
  mutating func refuse(_ error: JoinError) -> JoinError { counted.refuse(error) }

  /// A session that `begin` let in is over: a room without any goes, at once or after a while.
  /// - Parameters:
  ///   - number: of the room, which may have given up its name.
  ///   - reason: nil: it was refused, and never a session. It leaves the room's time as it was: a stranger at the door neither
  ///     ends a room that was made ahead nor keeps one.
  ///   - patience: seconds that the room stays from now, where it was a session.
  /// - Returns: whether the room has gone, and whether all rooms are empty.
  mutating func end(
    _ identity: String, in name: String, number: UInt64, reason: LeaveReason?, patience: Int, now: Instant
  ) -> (isOver: Bool, isEmpty: Bool) {
    let name = ExactName(name)
    let isClosing = rooms[name]?.number != number
    let isKnown =
      isClosing
      ? closing[number]?.attendance.end(identity) == true : rooms[name]?.attendance.end(identity) == true
    guard isKnown else { return (false, sessions == 0) }
    sessions -= 1
    if let reason { counted.sessionsEnded[reason, default: 0] += 1 }
    guard !isClosing else {
      guard closing[number]?.isDeserted == true else { return (false, sessions == 0) }
      closing[number] = nil
      return (true, sessions == 0)
    }
    // Also where others are on their way in, who may all be refused.
    if isEnd(reason) {
      rooms[name]?.deadline = now + .seconds(patience)
      rooms[name]?.waits = 0
    }
    return (leaveEmpty(name, now: now), sessions == 0)
  }

  private func isEnd(_ reason: LeaveReason?) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.refusedCounts) { return true }
    #endif
    return reason != nil
  }

  /// - Returns: whether the room has gone, because no one is in it, on the way in or waiting, and its time is over.
  private mutating func leaveEmpty(_ name: ExactName, now: Instant) -> Bool {
    guard let room = rooms[name], room.isDeserted, room.deadline == .never || room.deadline <= now else {
      return false
    }
    rooms[name] = nil
    return true
  }

  // MARK: - Who waits

  /// One that `begin` gave a place waits to be let in, and gives it back.
  /// - Parameter replacing: an earlier one of its identity waits no longer then.
  /// - Returns: whether all rooms are empty.
  /// - Throws: `full`: as many wait as there may be participants, which takes nothing from who needn't wait; its place is its own still.
  mutating func wait(
    _ identity: String, in name: String, number: UInt64, replacing: Bool = false
  ) throws(JoinError) -> Bool {
    guard waiting - (replacing ? 1 : 0) < limits.participants else {
      throw .full(limit: limits.participants)
    }
    sessions -= 1
    waiting += 1
    let name = ExactName(name)
    if rooms[name]?.number == number {
      _ = rooms[name]?.attendance.end(identity)
      rooms[name]?.waiting += 1
    } else {
      // It was closed a moment ago, and is about to say so.
      _ = closing[number]?.attendance.end(identity)
      closing[number]?.waiting += 1
    }
    return sessions == 0
  }

  /// One that waits takes a place beside that: `waitingEnded` comes with what becomes of it.
  /// - Throws: `full`, `draining`: it goes on waiting.
  mutating func takePlace(_ identity: String, in name: String, number: UInt64) throws(JoinError) {
    guard !isDraining else { throw .draining }
    let name = ExactName(name)
    guard rooms[name]?.number == number else { throw .noRoom }
    let replaced = rooms[name]?.attendance.sessions(of: identity) == 1 ? 1 : 0
    guard sessions - replaced < limits.participants else { throw .full(limit: limits.participants) }
    rooms[name]?.attendance.begin(identity)
    sessions += 1
  }

  /// One waits no longer, whatever became of it.
  /// - Parameter patience: seconds that the room stays from now if a participant has been in it. A room that still expects its first
  ///   participant gets its full waiting time again instead.
  /// - Returns: whether the room has gone.
  mutating func waitingEnded(in name: String, number: UInt64, patience: Int, now: Instant) -> Bool {
    waiting -= 1
    let name = ExactName(name)
    if let room = rooms[name], room.number == number {
      rooms[name]?.waiting -= 1
      let end = now + .seconds(max(patience, room.waits))
      rooms[name]?.deadline = room.deadline == .never ? end : max(room.deadline, end)
      return leaveEmpty(name, now: now)
    }
    closing[number]?.waiting -= 1
    guard closing[number]?.isDeserted == true else { return false }
    closing[number] = nil
    return true
  }

  func sessions(of identity: String, in name: String) -> Int {
    rooms[ExactName(name)]?.attendance.sessions(of: identity) ?? 0
  }

  /// Whether anybody is in it, or on the way.
  func isEmpty(_ name: String) -> Bool { rooms[ExactName(name)]?.attendance.count ?? 0 == 0 }

  /// - Parameter deadline: nil: what was said before stays.
  mutating func drain(until deadline: WallTime? = nil) {
    isDraining = true
    drainDeadline = deadline ?? drainDeadline
  }

  var counts: RoomCounts {
    var counts = counted
    counts.rooms = count
    counts.participants = sessions
    counts.waiting = waiting
    return counts
  }

  // MARK: - Peers

  mutating func expect(_ key: PeerKey, _ room: Handle) { peers[key] = room }
  func room(of key: PeerKey) -> Handle? { peers[key] }
  /// - Returns: whether it was known.
  mutating func forget(_ key: PeerKey) -> Bool { peers.removeValue(forKey: key) != nil }

  // MARK: - Alarms

  /// - Parameter moment: `.never`: not at all.
  mutating func setAlarm(_ room: Handle, number: UInt64, at moment: Instant) {
    alarms[number] = moment == .never ? nil : (room, moment)
    soonest = min(soonest, moment)
  }

  /// The rooms whose time has come, as they were made. All are looked at only where one may be among them: it is asked often.
  mutating func due(now: Instant) -> [Handle] {
    guard soonest <= now else { return [] }
    soonest = alarms.values.map(\.at).min() ?? .never
    return alarms.filter { $0.value.at <= now }.sorted { $0.key < $1.key }.map(\.value.handle)
  }

  /// What should be nothing once everybody has left.
  var remainders: (rooms: Int, sessions: Int, peers: Int, alarms: Int) {
    (count, sessions, peers.count, alarms.count)
  }
}

/// Sessions of one room by identity, also those on their way in.
struct Attendance: Sendable {
  private(set) var count = 0
  private var byIdentity: [ExactName: Int] = [:]

  func sessions(of identity: String) -> Int { byIdentity[ExactName(identity), default: 0] }

  mutating func begin(_ identity: String) {
    count += 1
    byIdentity[ExactName(identity), default: 0] += 1
  }

  /// - Returns: whether there was one.
  mutating func end(_ identity: String) -> Bool {
    let identity = ExactName(identity)
    guard let sessions = byIdentity[identity] else { return false }
    count -= 1
    byIdentity[identity] = sessions > 1 ? sessions - 1 : nil
    return true
  }
}
