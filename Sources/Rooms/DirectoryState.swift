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
    /// Also those on their way in: a room without any goes.
    var attendance = Attendance()
    /// When it goes, once it is without anybody.
    var deadline = Instant.never
  }

  private let limits: Limits
  private var rooms: [String: Entry] = [:]
  private(set) var sessions = 0
  /// Every peer that the media plane has not reported as closed; its room may be gone before it.
  private var peers: [PeerKey: Handle] = [:]
  /// When rooms are to be called, by their numbers.
  private var alarms: [UInt64: (handle: Handle, at: Instant)] = [:]
  private(set) var counted = RoomCounts()
  /// No one is let in any more.
  private(set) var isDraining = false

  init(limits: Limits) { self.limits = limits }

  // MARK: - Rooms

  func room(_ name: String) -> Handle? { rooms[name]?.handle }

  /// As they were made, so that what concerns all goes the same way every time.
  var inOrder: [Handle] { rooms.values.sorted { $0.number < $1.number }.map(\.handle) }

  /// By name, in the order of bytes.
  /// - Parameter after: only those behind this name.
  func page(after: String?, limit: Int) -> [Handle] {
    rooms.filter { entry in after.map { $0.isBefore(entry.key) } ?? true }
      .sorted { $0.key.isBefore($1.key) }.prefix(limit).map(\.value.handle)
  }

  /// Makes a room ahead of its first participant; one that stands stays as it is.
  /// - Parameter patience: seconds for which it waits for one.
  mutating func create(
    _ name: String, patience: Int, now: Instant, _ make: (_ number: UInt64) -> Handle
  ) throws(AdministrationError) -> (handle: Handle, isNew: Bool) {
    if let room = rooms[name] { return (room.handle, false) }
    guard !isDraining else { throw .draining }
    guard rooms.count < limits.rooms else { throw .full("rooms: \(limits.rooms)") }
    let handle = add(name, make)
    rooms[name]?.deadline = now + .seconds(patience)
    return (handle, true)
  }

  private mutating func add(_ name: String, _ make: (_ number: UInt64) -> Handle) -> Handle {
    counted.roomsStarted += 1
    let entry = Entry(number: counted.roomsStarted, handle: make(counted.roomsStarted))
    rooms[name] = entry
    return entry.handle
  }

  /// A room goes that is empty, also of those on their way in.
  /// - Returns: whether it has.
  mutating func forgetIfEmpty(_ name: String, number: UInt64) -> Bool {
    guard let room = rooms[name], room.number == number, room.attendance.count == 0 else { return false }
    rooms[name] = nil
    return true
  }

  /// Forgets rooms whose time has come.
  mutating func sweep(now: Instant) -> [Handle] {
    let over = rooms.filter { $0.value.deadline <= now }
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
    let replaced = rooms[name]?.attendance.sessions(of: identity) == 1 ? 1 : 0
    guard sessions - replaced < limits.participants else { throw .full(limit: limits.participants) }
    if rooms[name] == nil {
      guard limits.makesRooms else { throw .noRoom }
      guard rooms.count < limits.rooms else { throw .full(limit: limits.rooms) }
      _ = add(name, make)
    }
    guard let handle = rooms[name]?.handle else { throw .noRoom }
    rooms[name]?.deadline = .never
    rooms[name]?.attendance.begin(identity)
    sessions += 1
    return handle
  }

  mutating func noteStarted() { counted.sessionsStarted += 1 }

  /// Counts a refusal and hands it on.
  mutating func refuse(_ error: JoinError) -> JoinError { counted.refuse(error) }

  /// A session that `begin` let in is over: a room without any goes, at once or after a while.
  /// - Parameters:
  ///   - reason: nil: it was refused, and never a session.
  ///   - patience: seconds.
  /// - Returns: whether the room has gone, and whether all rooms are empty.
  mutating func end(
    _ identity: String, in name: String, reason: LeaveReason?, patience: Int, now: Instant
  ) -> (isOver: Bool, isEmpty: Bool) {
    guard rooms[name]?.attendance.end(identity) == true else { return (false, sessions == 0) }
    sessions -= 1
    if let reason { counted.sessionsEnded[reason, default: 0] += 1 }
    guard rooms[name]?.attendance.count == 0 else { return (false, sessions == 0) }
    guard patience > 0 else {
      rooms[name] = nil
      return (true, sessions == 0)
    }
    rooms[name]?.deadline = now + .seconds(patience)
    return (false, sessions == 0)
  }

  func sessions(of identity: String, in name: String) -> Int {
    rooms[name]?.attendance.sessions(of: identity) ?? 0
  }

  /// Whether anybody is in it, or on the way.
  func isEmpty(_ name: String) -> Bool { rooms[name]?.attendance.count ?? 0 == 0 }

  mutating func drain() { isDraining = true }

  var counts: RoomCounts {
    var counts = counted
    counts.rooms = rooms.count
    counts.participants = sessions
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
  }

  /// The rooms whose time has come, as they were made.
  func due(now: Instant) -> [Handle] {
    alarms.filter { $0.value.at <= now }.sorted { $0.key < $1.key }.map(\.value.handle)
  }

  /// What should be nothing once everybody has left.
  var remainders: (rooms: Int, sessions: Int, peers: Int, alarms: Int) {
    (rooms.count, sessions, peers.count, alarms.count)
  }
}

/// Sessions of one room by identity, also those on their way in.
struct Attendance: Sendable {
  private(set) var count = 0
  private var byIdentity: [String: Int] = [:]

  func sessions(of identity: String) -> Int { byIdentity[identity, default: 0] }

  mutating func begin(_ identity: String) {
    count += 1
    byIdentity[identity, default: 0] += 1
  }

  /// - Returns: whether there was one.
  mutating func end(_ identity: String) -> Bool {
    guard let sessions = byIdentity[identity] else { return false }
    count -= 1
    byIdentity[identity] = sessions > 1 ? sessions - 1 : nil
    return true
  }
}
