internal import Calls
internal import FoundationEssentials
internal import Storage

/// What people of calls share, as it lies in the store.
enum SessionRecords {
  struct Row {
    var state: SharedSession
    /// The id of its last event; nil: it has none.
    var lastEvent: String?
  }

  private static func rows(_ rows: [SQLRow], _ terms: SharedSessionTerms) throws(StoreError) -> [Row] {
    var found: [Row] = []
    for row in rows { found.append(try read(row, terms)) }
    return found
  }

  private static func read(_ row: SQLRow, _ terms: SharedSessionTerms) throws(StoreError) -> Row {
    let bytes = try row.bytes(0)
    guard let state = try? JSONDecoder().decode(SharedSession.self, from: Data(bytes)) else {
      throw .failed("a shared session in the database can't be read")
    }
    let last: String? = row.values[1] == .null ? nil : try row.text(1)
    return Row(state: state.read(with: terms), lastEvent: last)
  }

  static func session(
    _ id: CallUUID, of call: CallUUID, terms: SharedSessionTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    try rows(
      transaction.run(
        "SELECT state, last_event FROM shared_sessions WHERE id = $1 AND call = $2",
        [.text(id.text), .text(call.text)]), terms
    ).first
  }

  /// Of whatever call.
  static func session(
    _ id: CallUUID, terms: SharedSessionTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    try rows(
      transaction.run("SELECT state, last_event FROM shared_sessions WHERE id = $1", [.text(id.text)]), terms
    ).first
  }

  /// Those of a call: the ones that aren't over, and then the last that ended.
  static func all(
    of call: CallUUID, isOpen: Bool, terms: SharedSessionTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [Row] {
    try rows(
      transaction.run(
        """
        SELECT state, last_event FROM shared_sessions WHERE call = $1 AND (ended IS NULL OR CAST($2 AS BIGINT) = 0)
        ORDER BY COALESCE(ended, 9223372036854775807) DESC, id LIMIT 200
        """, [.text(call.text), .integer(isOpen ? 1 : 0)]), terms)
  }

  static func due(
    at now: Int64, limit: Int, terms: SharedSessionTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [Row] {
    try rows(
      transaction.run(
        "SELECT state, last_event FROM shared_sessions WHERE deadline <= $1 ORDER BY deadline LIMIT $2",
        [.integer(now), .integer(limit)]), terms)
  }

  static func deadline(_ transaction: borrowing Transaction) throws(StoreError) -> Int64? {
    try transaction.run("SELECT min(deadline) FROM shared_sessions").first?.optionalInteger(0)
  }

  /// Those of the process before that wait for something, each with how far the time of day was ahead of its clock.
  static func left(
    after id: String, limit: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [(row: Row, clock: Int64)] {
    let rows = try transaction.run(
      """
      SELECT state, last_event, clock FROM shared_sessions WHERE deadline IS NOT NULL AND id > $1 ORDER BY id LIMIT $2
      """, [.text(id), .integer(limit)])
    var found: [(row: Row, clock: Int64)] = []
    for row in rows { found.append((try read(row, SharedSessionTerms()), try row.integer(2))) }
    return found
  }

  static func write(_ row: Row, at now: CallTime, _ transaction: borrowing Transaction) throws(StoreError) {
    guard let bytes = try? JSONEncoder().encode(row.state) else {
      preconditionFailure("texts, numbers and flags are always JSON")
    }
    try transaction.run(
      """
      INSERT INTO shared_sessions (id, call, ended, deadline, clock, last_event, state)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      ON CONFLICT (id) DO UPDATE SET ended = excluded.ended, deadline = excluded.deadline, clock = excluded.clock,
        last_event = excluded.last_event, state = excluded.state
      """,
      [
        .text(row.state.id.text), .text(row.state.call.text), .optional(row.state.endedAt, SQLValue.integer),
        .optional(row.state.deadline, SQLValue.integer), .integer(now.offset),
        .optional(row.lastEvent) { .text($0) }, .bytes(Array(bytes)),
      ])
  }

  /// Of one call, those that ended before its last ones.
  static func forget(
    of call: CallUUID, beyond count: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let rows = try transaction.run(
      """
      SELECT id FROM shared_sessions WHERE call = $1 AND ended IS NOT NULL ORDER BY ended DESC, id
      LIMIT 1000 OFFSET $2
      """, [.text(call.text), .integer(count)])
    var ids: [[SQLValue]] = []
    for row in rows { ids.append([.text(try row.text(0))]) }
    try transaction.run("DELETE FROM shared_events WHERE session = $1", each: ids)
    try transaction.run("DELETE FROM shared_snapshots WHERE session = $1", each: ids)
    try transaction.run("DELETE FROM shared_sessions WHERE id = $1", each: ids)
  }

  /// Of sessions that ended long ago: first their events, then their snapshots.
  static func forget(
    eventsBefore moment: Int64, snapshotsBefore earlier: Int64, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      "DELETE FROM shared_events WHERE session IN (SELECT id FROM shared_sessions WHERE ended <= $1)",
      [.integer(moment)])
    try transaction.run(
      "DELETE FROM shared_snapshots WHERE session IN (SELECT id FROM shared_sessions WHERE ended <= $1)",
      [.integer(earlier)])
    try transaction.run("DELETE FROM shared_sessions WHERE ended <= $1", [.integer(earlier)])
  }
}
