internal import Calls
internal import FoundationEssentials
internal import Storage

/// What people of calls share, as it lies in the store.
enum SessionRecords {
  struct Row {
    var state: SharedSession
    /// The id of its last event; nil: it has none.
    var lastEvent: String?
    /// Up to it no event is given out any more; behind the end of a session it may be more than there are.
    var floor: Int64 = 0
  }

  /// Some of them, and the ids of those that are written in a way that can't be understood: they keep no others back.
  struct Found {
    var rows: [Row] = []
    var unreadable: [String] = []
    var count: Int { rows.count + unreadable.count }
  }

  /// - Parameter rows: the id behind what a session is read from.
  private static func found(_ rows: [SQLRow], _ terms: SharedSessionTerms) throws(StoreError) -> Found {
    var found = Found()
    for row in rows {
      if let known = try understood(row, terms) {
        found.rows.append(known)
      } else {
        found.unreadable.append(try row.text(3))
      }
    }
    return found
  }

  /// - Returns: nil: it can't be.
  private static func understood(_ row: SQLRow, _ terms: SharedSessionTerms) throws(StoreError) -> Row? {
    do throws(StoreError) { return try read(row, terms) } catch {
      guard case .unreadable = error else { throw error }
      return nil
    }
  }

  private static func read(_ row: SQLRow, _ terms: SharedSessionTerms) throws(StoreError) -> Row {
    let bytes = try row.bytes(0)
    guard let state = try? JSONDecoder().decode(SharedSession.self, from: Data(bytes)) else {
      throw .unreadable("a shared session can't be read")
    }
    let last: String? = row.values[1] == .null ? nil : try row.text(1)
    return Row(state: state.read(with: terms), lastEvent: last, floor: try row.integer(2))
  }

  static func session(
    _ id: CallUUID, of call: CallUUID, terms: SharedSessionTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    let rows = try transaction.run(
      "SELECT state, last_event, floor FROM shared_sessions WHERE id = $1 AND call = $2",
      [.text(id.text), .text(call.text)])
    return try rows.first.map { row throws(StoreError) in try read(row, terms) }
  }

  /// Of whatever call of a person's, by one statement: there is no difference between one of others and one that never was.
  static func session(
    _ id: CallUUID, of person: PersonID, terms: SharedSessionTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    let rows = try transaction.run(
      """
      SELECT s.state, s.last_event, s.floor FROM shared_sessions s JOIN call_people p ON p.call = s.call
      WHERE s.id = $1 AND p.person = $2 AND p.hidden = 0
      """, [.text(id.text), .bytes(of: person.text)])
    return try rows.first.map { row throws(StoreError) in try read(row, terms) }
  }

  /// Of whatever call.
  static func session(
    _ id: CallUUID, terms: SharedSessionTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    let rows = try transaction.run(
      "SELECT state, last_event, floor FROM shared_sessions WHERE id = $1", [.text(id.text)])
    return try rows.first.map { row throws(StoreError) in try read(row, terms) }
  }

  /// The same for what is about others as well.
  /// - Returns: nil: there is no such session, or it can't be understood.
  static func readable(
    _ id: CallUUID, terms: SharedSessionTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    let rows = try transaction.run(
      "SELECT state, last_event, floor, id FROM shared_sessions WHERE id = $1", [.text(id.text)])
    return try found(rows, terms).rows.first
  }

  /// Those of a call: the ones that aren't over, and then the last that ended.
  static func all(
    of call: CallUUID, isOpen: Bool, terms: SharedSessionTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Found {
    try found(
      transaction.run(
        """
        SELECT state, last_event, floor, id FROM shared_sessions
        WHERE call = $1 AND (ended IS NULL OR CAST($2 AS BIGINT) = 0)
        ORDER BY COALESCE(ended, 9223372036854775807) DESC, id LIMIT 200
        """, [.text(call.text), .integer(isOpen ? 1 : 0)]), terms)
  }

  /// Of a call, how many ended after a moment and have a snapshot still.
  static func snapshots(
    of call: CallUUID, endedAfter moment: Int64, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int {
    let rows = try transaction.run(
      """
      SELECT count(*) FROM shared_sessions s JOIN shared_snapshots n ON n.session = s.id
      WHERE s.call = $1 AND s.ended > $2
      """, [.text(call.text), .integer(moment)])
    return Int(try rows.first?.integer(0) ?? 0)
  }

  static func due(
    at now: Int64, limit: Int, terms: SharedSessionTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Found {
    try found(
      transaction.run(
        "SELECT state, last_event, floor, id FROM shared_sessions WHERE deadline <= $1 ORDER BY deadline LIMIT $2",
        [.integer(now), .integer(limit)]), terms)
  }

  static func deadline(_ transaction: borrowing Transaction) throws(StoreError) -> Int64? {
    try transaction.run("SELECT min(deadline) FROM shared_sessions").first?.optionalInteger(0)
  }

  /// Those of the process before that wait for something, each with how far the time of day was ahead of its clock. One that can't
  /// be understood is left out, until it is due.
  static func left(
    after id: String, limit: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [(row: Row, clock: Int64)] {
    var (last, found) = (id, [(row: Row, clock: Int64)]())
    // Who asks goes on behind the last that it gets.
    while found.isEmpty {
      let rows = try transaction.run(
        """
        SELECT state, last_event, floor, id, clock FROM shared_sessions WHERE deadline IS NOT NULL AND id > $1
        ORDER BY id LIMIT $2
        """, [.text(last), .integer(limit)])
      guard let end = rows.last else { return [] }
      last = try end.text(3)
      for row in rows {
        guard let known = try understood(row, SharedSessionTerms()) else { continue }
        found.append((known, try row.integer(4)))
      }
    }
    return found
  }

  static func write(_ row: Row, at now: CallTime, _ transaction: borrowing Transaction) throws(StoreError) {
    guard let bytes = try? JSONEncoder().encode(row.state) else {
      preconditionFailure("texts, numbers and flags are always JSON")
    }
    try transaction.run(
      """
      INSERT INTO shared_sessions (id, call, ended, deadline, clock, last_event, state, floor)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      ON CONFLICT (id) DO UPDATE SET ended = excluded.ended, deadline = excluded.deadline, clock = excluded.clock,
        last_event = excluded.last_event, state = excluded.state, floor = excluded.floor
      """,
      [
        .text(row.state.id.text), .text(row.state.call.text), .optional(row.state.endedAt, SQLValue.integer),
        .optional(row.state.deadline, SQLValue.integer), .integer(now.offset),
        .optional(row.lastEvent) { .text($0) }, .bytes(Array(bytes)), .integer(row.floor),
      ])
  }

  /// What can't be understood has nothing to wait for. It is over, and goes with the others that are.
  static func close(
    _ ids: [String], at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      "UPDATE shared_sessions SET deadline = NULL, ended = COALESCE(ended, $2) WHERE id = $1",
      each: ids.map { [.text($0), .integer(now.wall)] })
  }

  // MARK: - Forgetting

  /// Of one call, those that ended before its last ones and have no snapshot; as much of them as goes at once.
  static func forget(
    of call: CallUUID, beyond count: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    var portion = Portion()
    let rows = try transaction.run(
      """
      SELECT s.id, CAST(LENGTH(s.state) AS BIGINT), s.has_events
      FROM shared_sessions s LEFT JOIN shared_snapshots n ON n.session = s.id
      WHERE s.call = $1 AND s.ended IS NOT NULL AND n.session IS NULL ORDER BY s.ended DESC, s.id
      LIMIT $3 OFFSET $2
      """, [.text(call.text), .integer(count), .integer(portion.limit)])
    try forget(rows, &portion, transaction)
  }

  /// The events of sessions that ended by then, each session once, some at a time.
  static func forgetEvents(
    endedBefore moment: Int64, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let rows = try transaction.run(
      """
      SELECT id, CAST(LENGTH(state) AS BIGINT) FROM shared_sessions WHERE has_events = 1 AND ended <= $1
      ORDER BY ended LIMIT $2
      """, [.integer(moment), .integer(portion.limit)])
    portion.noteFound(rows.count)
    for row in rows {
      guard portion.changes(try row.integer(1)),
        try forgetEvents(of: row.values[0], &portion, transaction)
      else { return }
    }
  }

  /// With the first of a session's events all are gone: no one reads a part.
  /// - Returns: whether none is left.
  private static func forgetEvents(
    of session: SQLValue, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    let isDone = try SharedEventRecords.forget(of: session, &portion, transaction)
    try transaction.run(
      "UPDATE shared_sessions SET floor = $2, has_events = $3 WHERE id = $1",
      [session, .integer(Int64.max), .integer(isDone ? 0 : 1)])
    return isDone
  }

  static let ended: SQLStatement = """
    SELECT s.id, CAST(LENGTH(s.state) + COALESCE((
      SELECT LENGTH(n.people) + LENGTH(n.state) FROM shared_snapshots n WHERE n.session = s.id), 0) AS BIGINT),
      s.has_events FROM shared_sessions s WHERE s.ended <= $1 ORDER BY s.ended LIMIT $2
    """

  /// Sessions that ended by then, with their snapshots, some at a time.
  static func forget(
    endedBefore moment: Int64, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let rows = try transaction.run(ended, [.integer(moment), .integer(portion.limit)])
    portion.noteFound(rows.count)
    try forget(rows, &portion, transaction)
  }

  /// - Parameter rows: of each the id, the bytes that it has beside its events, and whether it has such.
  private static func forget(
    _ rows: [SQLRow], _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    for row in rows {
      let id = row.values[0]
      if try row.integer(2) != 0 {
        guard try forgetEvents(of: id, &portion, transaction) else { return }
      }
      guard portion.takes(try row.integer(1)) else { return }
      try transaction.run("DELETE FROM shared_snapshots WHERE session = $1", [id])
      try transaction.run("DELETE FROM shared_sessions WHERE id = $1", [id])
    }
  }
}
