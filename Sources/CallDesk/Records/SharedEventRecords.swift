internal import Calls
internal import Crypto
internal import Storage

/// Events of shared sessions, and their snapshots.
///
/// An event whose content a snapshot has made needless keeps its id, number and digest, so that it is known when it is sent again.
enum SharedEventRecords {
  static func append(
    _ event: SharedEvent, to session: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO shared_events (session, seq, id, type, sender, time, data, digest)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      """,
      [
        .text(session.text), .integer(event.seq), .text(event.id), .bytes(of: event.type),
        .optional(event.sender) { .bytes(of: $0.text) }, .integer(event.time), .bytes(event.data),
        .bytes(event.digest),
      ])
  }

  /// What is known of an event that is sent again.
  struct Known {
    var seq: Int64
    var time: Int64
    /// It is what was sent first.
    var isSame: Bool
  }

  /// - Parameter floor: up to which events have no content any more.
  /// - Returns: nil: no event of the session has its id, or it was long ago.
  static func known(
    _ event: SharedEvent, in session: CallUUID, floor: Int64, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Known? {
    let rows = try transaction.run(
      "SELECT seq, id, type, sender, time, data, digest FROM shared_events WHERE session = $1 AND id = $2",
      [.text(session.text), .text(event.id)])
    guard let row = rows.first else { return nil }
    let first = try read(row)
    let digest = try row.optionalBytes(6)
    // One from before there were digests, and without its content, is known by its id alone.
    let isSame =
      if let digest {
        digest == event.digest
      } else {
        first.seq <= floor || first.digest == event.digest
      }
    return Known(seq: first.seq, time: first.time, isSame: isSame)
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

  /// Events that a snapshot makes needless lose their content, and are known by their ids for a while longer.
  /// - Parameters:
  ///   - floor: up to which that was done before: each event is looked at once.
  ///   - ids: how many are known without their content.
  /// - Returns: the bytes of people's data that have gone.
  static func compact(
    _ session: CallUUID, after floor: Int64, upTo seq: Int64, knowing ids: Int,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int64 {
    let range: [SQLValue] = [.text(session.text), .integer(floor), .integer(seq)]
    let sum = try transaction.run(
      """
      SELECT CAST(COALESCE(SUM(LENGTH(data)), 0) AS BIGINT) FROM shared_events
      WHERE session = $1 AND seq > $2 AND seq <= $3 AND sender IS NOT NULL
      """, range)
    try transaction.run(
      """
      UPDATE shared_events SET type = $4, sender = NULL, data = $4 WHERE session = $1 AND seq > $2 AND seq <= $3
      """, range + [.bytes([])])
    try transaction.run(
      "DELETE FROM shared_events WHERE session = $1 AND seq <= $2",
      [.text(session.text), .integer(seq - Int64(ids))])
    return try sum.first?.integer(0) ?? 0
  }

  /// Takes away the events of a session, from the first on, some at a time.
  /// - Returns: whether none is left.
  static func forget(
    of session: SQLValue, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    let limit = portion.limit
    let rows = try transaction.run(
      """
      SELECT seq, CAST(LENGTH(data) AS BIGINT) FROM shared_events WHERE session = $1 ORDER BY seq LIMIT $2
      """, [session, .integer(limit)])
    let going = try portion.take(rows, size: 1)
    if let last = try going.last?.integer(0) {
      try transaction.run(
        "DELETE FROM shared_events WHERE session = $1 AND seq <= $2", [session, .integer(last)])
    }
    return going.count == rows.count && rows.count < limit
  }

  // MARK: - Snapshots

  /// One that is there already, with the same in it, isn't written again.
  static func write(
    _ snapshot: SharedSnapshot, of session: CallUUID, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO shared_snapshots (session, seq, time, people, state) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (session) DO UPDATE SET seq = excluded.seq, time = excluded.time, people = excluded.people,
        state = excluded.state
        WHERE shared_snapshots.seq <> excluded.seq OR shared_snapshots.people <> excluded.people
          OR shared_snapshots.state <> excluded.state
      """,
      [
        .text(session.text), .integer(snapshot.seq), .integer(now.wall), .bytes(snapshot.people),
        .bytes(snapshot.state),
      ])
  }

  /// Gives a session the snapshot of an earlier one, as of before its first event.
  /// - Returns: whether there is one.
  static func copySnapshot(
    of earlier: CallUUID, to session: CallUUID, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    let rows = try transaction.run(
      """
      INSERT INTO shared_snapshots (session, seq, time, people, state)
      SELECT CAST($1 AS TEXT), 0, CAST($2 AS BIGINT), people, state FROM shared_snapshots WHERE session = $3
      RETURNING seq
      """, [.text(session.text), .integer(now.wall), .text(earlier.text)])
    return !rows.isEmpty
  }

  static func snapshot(
    of session: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> SharedSnapshot? {
    let rows = try transaction.run(
      "SELECT seq, people, state FROM shared_snapshots WHERE session = $1", [.text(session.text)])
    guard let row = rows.first else { return nil }
    return SharedSnapshot(seq: try row.integer(0), people: try row.bytes(1), state: try row.bytes(2))
  }

  /// In bytes; 0: there is none.
  static func snapshotSize(
    of session: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int {
    let rows = try transaction.run(
      "SELECT LENGTH(people) + LENGTH(state) FROM shared_snapshots WHERE session = $1", [.text(session.text)])
    return Int(try rows.first?.integer(0) ?? 0)
  }
}

extension SharedEvent {
  /// All of it that its sender has said, and who that is, in 32 bytes. The server's own has another than any person's.
  fileprivate var digest: [UInt8] {
    var bytes: [UInt8] = [sender == nil ? 0 : 1]
    for part in [Array((sender?.text ?? "").utf8), Array(type.utf8), data] {
      bytes += Array("\(part.count):".utf8)
      bytes += part
    }
    return SHA256.digest(bytes)
  }
}
