internal import Model
internal import Storage

/// Reads what a journal has written, on the store's thread.
struct RecordReader {
  /// Events that are read at once.
  private static let page = 1_000

  private(set) var recovery = RoomRecovery()
  /// Rows that are none of ours.
  private(set) var unreadable = 0
  private var tracks: [String: [(since: Int64, info: TrackInfo)]] = [:]
  private var participants: [String: [(since: Int64, info: ParticipantInfo)]] = [:]

  static func read(
    _ transaction: borrowing Transaction, eventBytes: Int
  ) throws(StoreError) -> RecordReader {
    var reader = RecordReader()
    try reader.readTracks(transaction)
    try reader.readParticipants(transaction)
    try reader.readRooms(transaction)
    try reader.readRemovals(transaction)
    try reader.readInvitations(transaction)
    try reader.readEvents(transaction, bytes: eventBytes)
    return reader
  }

  /// - Returns: nil: it is none of ours.
  private mutating func decoded<Value>(_ decode: () throws(StateError) -> Value) -> Value? {
    do throws(StateError) { return try decode() } catch {
      unreadable += 1
      return nil
    }
  }

  /// Numbers of events are counted one by one: what no count reaches is none, and nothing is to be added to it.
  private static func number(_ value: Int64, from least: Int64) -> Int? {
    value >= least && value < 1 << 53 ? Int(value) : nil
  }

  private mutating func readTracks(_ transaction: borrowing Transaction) throws(StoreError) {
    for row in try transaction.run("SELECT participant, since, body FROM tracks") {
      let body = try row.bytes(2)
      guard let info = decoded({ () throws(StateError) in try RecordBytes.track(body) }) else { continue }
      tracks[try row.text(0), default: []].append((try row.integer(1), info))
    }
  }

  private mutating func readParticipants(_ transaction: borrowing Transaction) throws(StoreError) {
    for row in try transaction.run("SELECT life, since, body FROM participants") {
      let body = try row.bytes(2)
      guard let info = decoded({ () throws(StateError) in try RecordBytes.participant(body) }) else {
        continue
      }
      participants[try row.text(0), default: []].append((try row.integer(1), info))
    }
  }

  private mutating func readRooms(_ transaction: borrowing Transaction) throws(StoreError) {
    let rows = try transaction.run(
      """
      SELECT id, name, created, last_event, empty_timeout, departure_timeout, max_participants, stands, reborn, metadata,
        admission, locked, data_history
      FROM lives LEFT JOIN life_metadata ON life = id ORDER BY created, id
      """)
    for row in rows {
      let id = try row.text(0)
      let life = RoomLife(
        id: RoomID(naming: id), name: try row.string(1),
        created: WallTime(milliseconds: try row.integer(2)), isReborn: try row.integer(8) != 0)
      var settings = RoomSettings(
        emptyTimeout: Int(clamping: try row.integer(4)), departureTimeout: Int(clamping: try row.integer(5)))
      settings.maxParticipants = try row.optionalInteger(6).map { Int(clamping: $0) }
      settings.metadata = try row.optionalBytes(9).map { String(decoding: $0, as: UTF8.self) }
      settings.admission = try row.integer(10) != 0
      settings.isLocked = try row.integer(11) != 0
      if let body = try row.optionalBytes(12) {
        settings.dataHistory = decoded { () throws(StateError) in try RecordBytes.dataHistory(body) }
      }
      var room = RoomRecovery.Room(name: life.name, settings: settings, life: life)
      guard let last = Self.number(try row.integer(3), from: 0) else {
        unreadable += 1
        continue
      }
      room.lastEvent = last
      room.stands = try row.integer(7) != 0
      room.participants = (participants[id] ?? []).sorted { $0.since < $1.since }.map { _, info in
        let own = (tracks[info.id.text] ?? []).sorted { $0.since < $1.since }
        return RoomRecovery.Participant(info: info, tracks: own.map(\.info))
      }
      recovery.rooms.append(room)
    }
  }

  private mutating func readRemovals(_ transaction: borrowing Transaction) throws(StoreError) {
    for row in try transaction.run("SELECT room, identity, time FROM removals") {
      recovery.removals.append(
        Removal(
          identity: try row.string(1), room: try row.string(0), time: Int(clamping: try row.integer(2))))
    }
  }

  private mutating func readInvitations(_ transaction: borrowing Transaction) throws(StoreError) {
    for (id, life, body) in try InvitationRows.read(transaction) {
      let invitation = decoded { () throws(StateError) in
        try RecordBytes.invitation(body, id: id, life: RoomID(naming: life))
      }
      if let invitation { recovery.invitations.append(invitation) }
    }
  }

  /// The newest, as far as they fit.
  private mutating func readEvents(_ transaction: borrowing Transaction, bytes limit: Int) throws(StoreError)
  {
    guard let row = try transaction.run("SELECT run, last_position FROM event_log").first else { return }
    let run = try row.bytes(0).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    var kept = RoomRecovery.Events(run: run)
    guard let last = Self.number(try row.integer(1), from: 0) else {
      unreadable += 1
      return
    }
    kept.lastPosition = UInt64(last)
    var (before, left) = (Int64.max, limit)
    var waits = OpenWaits()
    reading: while true {
      let rows = try transaction.run(
        "SELECT position, life, id, time, body FROM events WHERE position < $1 ORDER BY position DESC LIMIT $2",
        [.integer(before), .integer(Self.page)])
      for row in rows {
        before = try row.integer(0)
        let body = try row.bytes(4)
        let room = RoomID(naming: try row.text(1))
        let time = WallTime(milliseconds: try row.integer(3))
        guard let id = Self.number(try row.integer(2), from: 1), Self.number(before, from: 1) != nil else {
          unreadable += 1
          continue
        }
        let event = decoded { () throws(StateError) in
          try RecordBytes.event(body, id: id, time: time, of: room)
        }
        guard let event else { continue }
        left -= event.estimatedBytes
        guard left >= 0 else { break reading }
        waits.read(event)
        kept.events.append((UInt64(bitPattern: before), event))
      }
      if rows.count < Self.page { break }
    }
    kept.events.reverse()
    recovery.events = kept
    for index in recovery.rooms.indices {
      guard let life = recovery.rooms[index].life else { continue }
      recovery.rooms[index].waiting = waits.waiters(in: life.id)
    }
  }
}
