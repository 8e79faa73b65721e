internal import Calls
internal import Storage

/// Events of shared sessions, and their snapshots.
enum SharedEventRecords {
  static func append(
    _ event: SharedEvent, to session: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      "INSERT INTO shared_events (session, seq, id, type, sender, time, data) VALUES ($1, $2, $3, $4, $5, $6, $7)",
      [
        .text(session.text), .integer(event.seq), .text(event.id), .bytes(of: event.type),
        .optional(event.sender) { .bytes(of: $0.text) }, .integer(event.time), .bytes(event.data),
      ])
  }

  static func event(
    _ id: String, of session: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> SharedEvent? {
    let rows = try transaction.run(
      "SELECT seq, id, type, sender, time, data FROM shared_events WHERE session = $1 AND id = $2",
      [.text(session.text), .text(id)])
    return try rows.first.map(read)
  }

  /// Rows that are read at once: of the largest there are 256 KiB.
  private static let group = 16

  /// - Parameter most: bytes of their data together; of one event they may be more.
  static func page(
    of session: CallUUID, after seq: Int64, limit: Int, bytes most: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [SharedEvent] {
    var (found, bytes) = ([SharedEvent](), 0)
    while found.count < limit {
      let count = min(limit - found.count, group)
      let rows = try transaction.run(
        """
        SELECT seq, id, type, sender, time, data FROM shared_events WHERE session = $1 AND seq > $2
        ORDER BY seq LIMIT $3
        """, [.text(session.text), .integer(found.last?.seq ?? seq), .integer(count)])
      for row in rows {
        let event = try read(row)
        bytes += event.data.count
        if bytes > most, !found.isEmpty { return found }
        found.append(event)
      }
      if rows.count < count { break }
    }
    return found
  }

  private static func read(_ row: SQLRow) throws(StoreError) -> SharedEvent {
    SharedEvent(
      id: try row.text(1), seq: try row.integer(0), type: try row.string(2),
      sender: try row.optionalBytes(3).map { PersonID(String(decoding: $0, as: UTF8.self)) },
      time: try row.integer(4), data: try row.bytes(5))
  }

  /// Events that a snapshot makes needless go.
  static func compact(
    _ session: CallUUID, upTo seq: Int64, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      "DELETE FROM shared_events WHERE session = $1 AND seq <= $2", [.text(session.text), .integer(seq)])
  }

  /// Of the data of those that are kept.
  static func bytes(of session: CallUUID, _ transaction: borrowing Transaction) throws(StoreError) -> Int64 {
    let rows = try transaction.run(
      "SELECT CAST(COALESCE(SUM(LENGTH(data)), 0) AS BIGINT) FROM shared_events WHERE session = $1",
      [.text(session.text)])
    return try rows.first?.integer(0) ?? 0
  }

  // MARK: - Snapshots

  static func write(
    _ snapshot: SharedSnapshot, of session: CallUUID, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO shared_snapshots (session, seq, time, people, state) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (session) DO UPDATE SET seq = excluded.seq, time = excluded.time, people = excluded.people,
        state = excluded.state
      """,
      [
        .text(session.text), .integer(snapshot.seq), .integer(now.wall), .bytes(snapshot.people),
        .bytes(snapshot.state),
      ])
  }

  static func snapshot(
    of session: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> SharedSnapshot? {
    let rows = try transaction.run(
      "SELECT seq, people, state FROM shared_snapshots WHERE session = $1", [.text(session.text)])
    guard let row = rows.first else { return nil }
    return SharedSnapshot(seq: try row.integer(0), people: try row.bytes(1), state: try row.bytes(2))
  }
}
