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

  /// Some of them, and the ids of those that are written in a way that can't be understood: they keep no others back.
  struct Found {
    var rows: [Row] = []
    var unreadable: [String] = []
    var count: Int { rows.count + unreadable.count }
  }

  // MARK: - Reading

  /// One of a person's calls, by one statement: there is no difference between one of others and one that never was.
  static func call(
    _ id: CallUUID, of person: PersonID, terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    try first(
      transaction.run(
        """
        SELECT c.state, c.room, c.api_key, c.id FROM call_people p JOIN calls c ON c.id = p.call
        WHERE p.person = $1 AND p.call = $2 AND p.hidden = 0
        """, [.bytes(of: person.text), .text(id.text)]), terms)
  }

  /// For the server itself, and those who run the room.
  static func call(
    _ id: CallUUID, terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    try first(
      transaction.run("SELECT state, room, api_key, id FROM calls WHERE id = $1", [.text(id.text)]), terms)
  }

  /// For who runs a room, by one statement: there is no difference between a call of another room and one that never was.
  static func call(
    _ id: CallUUID, inRoom room: String, terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    try first(
      transaction.run(
        "SELECT state, room, api_key, id FROM calls WHERE id = $1 AND room = $2",
        [.text(id.text), .bytes(of: room)]), terms)
  }

  /// Whether a call was over by then, or isn't kept any more.
  static func hasEnded(
    _ id: CallUUID, by moment: Int64, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    try transaction.run(
      "SELECT 1 FROM calls WHERE id = $1 AND (ended IS NULL OR ended > $2)",
      [.text(id.text), .integer(moment)]
    ).isEmpty
  }

  /// The same for what is about others as well.
  /// - Returns: nil: there is no such call, or it can't be understood.
  static func readable(
    _ id: CallUUID, terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    let rows = try transaction.run(
      "SELECT state, room, api_key, id FROM calls WHERE id = $1", [.text(id.text)])
    return try found(rows, terms).rows.first
  }

  static func call(
    inRoom room: String, terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Row? {
    try first(
      transaction.run("SELECT state, room, api_key, id FROM calls WHERE room = $1", [.bytes(of: room)]), terms
    )
  }

  /// Calls in which a person isn't: the older ones aren't looked at.
  private static let mostOfPerson: Int64 = 64

  static let openOfPerson: SQLStatement = """
    SELECT c.state, c.room, c.api_key, c.id FROM call_people p JOIN calls c ON c.id = p.call
    WHERE p.person = $1 AND p.open = 1 AND p.active = 0 AND (CAST($2 AS BIGINT) = 0 OR p.hidden = 0)
    ORDER BY p.created DESC LIMIT $3
    """

  /// Those that aren't over of a person, each once; but for what can't be understood: no one is in that. All that the person is in, and
  /// the newest of the others.
  /// - Parameter isShown: there is such a call for the person.
  static func open(
    of person: PersonID, isShown: Bool = false, terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [CallUUID: Row] {
    var rows: [Row] = []
    var place: Place?
    repeat {
      let page = try active(of: person, after: place, limit: Int(mostOfPerson), terms: terms, transaction)
      rows += page.rows
      place = page.next
    } while place != nil
    let others = try transaction.run(
      openOfPerson, [.bytes(of: person.text), .integer(isShown ? 1 : 0), .integer(mostOfPerson)])
    rows += try found(others, terms).rows
    return Dictionary(rows.map { ($0.state.id, $0) }) { first, _ in first }
  }

  /// Those in which something is over by now.
  static func due(
    at now: Int64, limit: Int, terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Found {
    try found(
      transaction.run(
        "SELECT state, room, api_key, id FROM calls WHERE deadline <= $1 ORDER BY deadline LIMIT $2",
        [.integer(now), .integer(limit)]), terms)
  }

  /// When something is over in one of them; nil: nothing is waited for.
  static func deadline(_ transaction: borrowing Transaction) throws(StoreError) -> Int64? {
    try transaction.run("SELECT min(deadline) FROM calls").first?.optionalInteger(0)
  }

  /// Some calls of the process before that aren't over.
  struct Left {
    /// Each with how far the time of day was ahead of that process's clock.
    var rows: [(row: Row, clock: Int64)] = []
    var unreadable: [String] = []
    /// Behind which it goes on; nil: there are no more.
    var last: String?
  }

  /// Those of the process before that aren't over, some at a time, by their ids.
  static func left(
    after id: String, limit: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Left {
    let rows = try transaction.run(
      """
      SELECT state, room, api_key, id, clock FROM calls WHERE ended IS NULL AND id > $1 ORDER BY id LIMIT $2
      """, [.text(id), .integer(limit)])
    var left = Left()
    for row in rows {
      let id = try row.text(3)
      left.last = id
      if let known = try understood(row, CallTerms()) {
        left.rows.append((known, try row.integer(4)))
      } else {
        left.unreadable.append(id)
      }
    }
    return left
  }

  private static func first(_ rows: [SQLRow], _ terms: CallTerms) throws(StoreError) -> Row? {
    try rows.first.map { row throws(StoreError) in try read(row, terms) }
  }

  static func found(_ rows: [SQLRow], _ terms: CallTerms) throws(StoreError) -> Found {
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
  private static func understood(_ row: SQLRow, _ terms: CallTerms) throws(StoreError) -> Row? {
    do throws(StoreError) { return try read(row, terms) } catch {
      guard case .unreadable = error else { throw error }
      return nil
    }
  }

  /// - Parameter row: the id behind what a call is read from.
  private static func read(_ row: SQLRow, _ terms: CallTerms) throws(StoreError) -> Row {
    let (bytes, id) = (try row.bytes(0), try row.text(3))
    guard let state = try? JSONDecoder().decode(CallState.self, from: Data(bytes)) else {
      throw .unreadable("the state of call \(id)")
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

  /// Who is of a call and in it, as far as that has changed.
  static func writePeople(
    of change: CallBook.Change, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let (before, after) = (change.before, change.after)
    let changed = after.people.filter { person in
      guard let known = before?[person.id] else { return true }
      return known.isHidden != person.isHidden || (known.session == nil) != (person.session == nil)
        || person.isBack(since: known)
    }
    try transaction.run(
      """
      INSERT INTO call_people (person, call, created, open, hidden, forgotten, active)
      VALUES ($1, $2, $3, $4, $5, 0, $6)
      ON CONFLICT (person, call) DO UPDATE SET hidden = excluded.hidden, active = excluded.active,
        forgotten = call_people.forgotten * $7
      """,
      each: changed.map { person in
        [
          .bytes(of: person.id.text), .text(after.id.text), .integer(after.createdAt),
          .integer(after.isEnded ? 0 : 1), .integer(person.isHidden ? 1 : 0),
          .integer(person.session == nil ? 0 : 1),
          // Who took it out of its history is in it again.
          .integer(before?[person.id].map(person.isBack) == true ? 0 : 1),
        ]
      })
    guard after.isEnded, before?.isEnded == false else { return }
    try transaction.run("UPDATE call_people SET open = 0 WHERE call = $1", [.text(after.id.text)])
  }

  /// What can't be understood has nothing to wait for. It is over, and goes with the others that are.
  static func close(
    _ ids: [String], at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      "UPDATE calls SET deadline = NULL, ended = COALESCE(ended, $2) WHERE id = $1",
      each: ids.map { [.text($0), .integer(now.wall)] })
    try transaction.run(
      "UPDATE call_people SET open = 0, active = 0 WHERE call = $1", each: ids.map { [.text($0)] })
  }

  /// Takes a call out of a person's history.
  static func forget(
    _ id: CallUUID, by person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      "UPDATE call_people SET forgotten = 1 WHERE person = $1 AND call = $2",
      [.bytes(of: person.text), .text(id.text)])
  }

  /// With about what a call has, and what goes with each of its people.
  static let ended: SQLStatement = """
    SELECT c.id, CAST(
      LENGTH(c.state) + 16384 * (SELECT count(*) FROM call_people p WHERE p.call = c.id) AS BIGINT)
    FROM calls c WHERE c.ended <= $1 ORDER BY c.ended, c.id LIMIT $2
    """

  /// Calls that ended long ago, some at a time, with all that is kept of them alone: also of people whom nothing but their calls names.
  static func forget(
    endedBefore moment: Int64, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let rows = try transaction.run(ended, [.integer(moment), .integer(portion.limit)])
    portion.noteFound(rows.count)
    for row in rows {
      let id = row.values[0]
      let strangers = try PersonRecords.strangers(of: id, erasedBefore: moment, transaction)
      for person in strangers {
        guard try EventRecords.forget(of: person, &portion, transaction) else { return }
      }
      guard portion.takes(try row.integer(1)) else { return }
      for table in tablesOfCall { try transaction.run(table, [id]) }
      try PersonRecords.forget(strangers, transaction)
      try transaction.run("DELETE FROM calls WHERE id = $1", [id])
    }
  }

  private static let tablesOfCall: [SQLStatement] = [
    "DELETE FROM call_people WHERE call = $1", "DELETE FROM call_signals WHERE call = $1",
    "DELETE FROM call_steps WHERE call = $1", "DELETE FROM call_keys WHERE call = $1",
    "DELETE FROM call_key_rounds WHERE call = $1",
  ]
}

extension CallPerson {
  /// Whether it is rung, and hears it, or is in the call, and wasn't before.
  fileprivate func isBack(since before: CallPerson) -> Bool {
    if session != nil { return before.session == nil }
    return ring.map { !$0.isSilent && $0.id != before.ring?.id } ?? false
  }
}
