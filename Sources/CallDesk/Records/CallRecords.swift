internal import Calls
internal import FoundationEssentials
internal import Storage

/// Calls as they lie in the store, and who is of them.
enum CallRecords {
  /// A call with what isn't of its state.
  struct Row {
    var state: CallState
    var room: String?
    var apiKey: String
  }

  // MARK: - Reading

  /// One of a person's calls, by one statement: there is no difference between one of others and one that never was.
  static func call(
    _ id: CallUUID, of person: PersonID, terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    try rows(
      transaction.run(
        """
        SELECT c.state, c.room, c.api_key FROM call_people p JOIN calls c ON c.id = p.call
        WHERE p.person = $1 AND p.call = $2 AND p.hidden = 0
        """, [.bytes(of: person.text), .text(id.text)]), terms
    ).first
  }

  /// For the server itself, and those who run the room.
  static func call(
    _ id: CallUUID, terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    try rows(
      transaction.run("SELECT state, room, api_key FROM calls WHERE id = $1", [.text(id.text)]), terms
    ).first
  }

  static func call(
    inRoom room: String, terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    try rows(
      transaction.run("SELECT state, room, api_key FROM calls WHERE room = $1", [.bytes(of: room)]), terms
    ).first
  }

  /// More calls at once no person can be in; who is rung in more isn't looked at there.
  private static let mostOfPerson: Int64 = 64

  /// Those that aren't over of some people, each once.
  static func open(
    of people: [PersonID], terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [CallUUID: Row] {
    var found: [CallUUID: Row] = [:]
    for person in people {
      let rows = try rows(
        transaction.run(
          """
          SELECT c.state, c.room, c.api_key FROM call_people p JOIN calls c ON c.id = p.call
          WHERE p.person = $1 AND p.open = 1 ORDER BY p.created DESC LIMIT $2
          """, [.bytes(of: person.text), .integer(mostOfPerson)]), terms)
      for row in rows { found[row.state.id] = row }
    }
    return found
  }

  /// Those in which something is over by now.
  static func due(
    at now: Int64, limit: Int, terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [Row] {
    try rows(
      transaction.run(
        "SELECT state, room, api_key FROM calls WHERE deadline <= $1 ORDER BY deadline LIMIT $2",
        [.integer(now), .integer(limit)]), terms)
  }

  /// When something is over in one of them; nil: nothing is waited for.
  static func deadline(_ transaction: borrowing Transaction) throws(StoreError) -> Int64? {
    try transaction.run("SELECT min(deadline) FROM calls").first?.optionalInteger(0)
  }

  /// Those of the process before that aren't over, some at a time, by their ids.
  /// - Returns: each with how far the time of day was ahead of that process's clock.
  static func left(
    after id: String, limit: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [(row: Row, clock: Int64)] {
    let rows = try transaction.run(
      "SELECT state, room, api_key, clock FROM calls WHERE ended IS NULL AND id > $1 ORDER BY id LIMIT $2",
      [.text(id), .integer(limit)])
    var found: [(row: Row, clock: Int64)] = []
    for row in rows { found.append((try read(row, CallTerms()), try row.integer(3))) }
    return found
  }

  /// A person's history, the newest first.
  static func history(
    of person: PersonID, with other: PersonID?, isOpen: Bool?, before place: CallPage.Place?, limit: Int,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> [Row] {
    try rows(
      transaction.run(
        """
        SELECT c.state, c.room, c.api_key FROM call_people p JOIN calls c ON c.id = p.call
        WHERE p.person = $1 AND p.hidden = 0 AND p.forgotten = 0 AND (p.created, p.call) < ($2, $3)
          AND (p.open = $4 OR $4 < 0)
          AND (CAST($5 AS BIGINT) = 0 OR EXISTS (
            SELECT 1 FROM call_people q WHERE q.person = $6 AND q.call = p.call))
        ORDER BY p.created DESC, p.call DESC LIMIT $7
        """,
        [
          .bytes(of: person.text), .integer(place?.created ?? .max), .text(place?.id.text ?? ""),
          .integer(isOpen.map { $0 ? 1 : 0 } ?? -1), .integer(other == nil ? 0 : 1),
          .bytes(of: other?.text ?? ""), .integer(limit),
        ]), CallTerms())
  }

  private static func rows(_ rows: [SQLRow], _ terms: CallTerms) throws(StoreError) -> [Row] {
    var found: [Row] = []
    for row in rows { found.append(try read(row, terms)) }
    return found
  }

  private static func read(_ row: SQLRow, _ terms: CallTerms) throws(StoreError) -> Row {
    let bytes = try row.bytes(0)
    guard let state = try? JSONDecoder().decode(CallState.self, from: Data(bytes)) else {
      throw .failed("a call in the database can't be read")
    }
    let room = try row.optionalBytes(1).map { String(decoding: $0, as: UTF8.self) }
    return Row(state: state.read(with: terms), room: room, apiKey: try row.string(2))
  }

  /// The digest of the request that started the call with this id; nil: there is no such call.
  static func request(
    of id: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [UInt8]? {
    try transaction.run("SELECT request FROM calls WHERE id = $1", [.text(id.text)]).first?.bytes(0)
  }

  // MARK: - Writing

  /// - Parameter request: what began it; a call that has begun already keeps its own.
  static func write(
    _ row: Row, request: [UInt8] = [], at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let state = row.state
    guard let bytes = try? JSONEncoder().encode(state) else {
      preconditionFailure("texts, numbers and flags are always JSON")
    }
    try transaction.run(
      """
      INSERT INTO calls (id, room, api_key, created, ended, deadline, clock, request, state)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      ON CONFLICT (id) DO UPDATE SET ended = excluded.ended, deadline = excluded.deadline, clock = excluded.clock,
        state = excluded.state
      """,
      [
        .text(state.id.text), .optional(row.room) { .bytes(of: $0) }, .bytes(of: row.apiKey),
        .integer(state.createdAt), .optional(state.end?.at, SQLValue.integer),
        .optional(state.deadline, SQLValue.integer), .integer(now.offset), .bytes(request),
        .bytes(Array(bytes)),
      ])
  }

  /// Who is of a call, as far as that has changed.
  static func writePeople(
    of change: CallBook.Change, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let (before, after) = (change.before, change.after)
    let changed = after.people.filter { person in
      guard let known = before?[person.id] else { return true }
      return known.isHidden != person.isHidden
    }
    try transaction.run(
      """
      INSERT INTO call_people (person, call, created, open, hidden, forgotten) VALUES ($1, $2, $3, $4, $5, 0)
      ON CONFLICT (person, call) DO UPDATE SET hidden = excluded.hidden
      """,
      each: changed.map { person in
        [
          .bytes(of: person.id.text), .text(after.id.text), .integer(after.createdAt),
          .integer(after.isEnded ? 0 : 1), .integer(person.isHidden ? 1 : 0),
        ]
      })
    guard after.isEnded, before?.isEnded == false else { return }
    try transaction.run("UPDATE call_people SET open = 0 WHERE call = $1", [.text(after.id.text)])
  }

  /// Takes a call out of a person's history.
  static func forget(
    _ id: CallUUID, by person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      "UPDATE call_people SET forgotten = 1 WHERE person = $1 AND call = $2",
      [.bytes(of: person.text), .text(id.text)])
  }

  /// Calls that ended long ago, some at a time.
  /// - Returns: how many they were.
  static func forget(
    endedBefore moment: Int64, limit: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int {
    let ids = try transaction.run(
      "SELECT id FROM calls WHERE ended <= $1 ORDER BY ended LIMIT $2", [.integer(moment), .integer(limit)])
    var rows: [[SQLValue]] = []
    for id in ids { rows.append([.text(try id.text(0))]) }
    try transaction.run("DELETE FROM call_people WHERE call = $1", each: rows)
    try transaction.run("DELETE FROM call_signals WHERE call = $1", each: rows)
    try CallKeyRecords.forget(rows, transaction)
    try transaction.run("DELETE FROM calls WHERE id = $1", each: rows)
    return rows.count
  }
}
