internal import Calls
internal import Storage

/// What is known of people: their names, and how many events each has had.
enum PersonRecords {
  /// Keeps the name that a person's last token has; one that has none, as those of pushes had, takes none away.
  static func note(_ caller: Caller, _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO persons (person, name, last_event, gone_event, erased) VALUES ($1, $2, 0, 0, 0)
      ON CONFLICT (person) DO UPDATE SET name = coalesce(excluded.name, persons.name), erased = 0
        WHERE persons.name IS DISTINCT FROM coalesce(excluded.name, persons.name) OR persons.erased = 1
      """, [.bytes(of: caller.person.text), .optional(caller.name) { .bytes(of: $0) }])
  }

  /// Names of those who are of a call.
  static func names(
    of call: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> (names: [PersonID: String], erased: Set<PersonID>) {
    let rows = try transaction.run(
      """
      SELECT n.person, n.name, n.erased FROM call_people p JOIN persons n ON n.person = p.person WHERE p.call = $1
      """, [.text(call.text)])
    var names: [PersonID: String] = [:]
    var erased: Set<PersonID> = []
    for row in rows {
      let person = PersonID(try row.string(0))
      if let name = try row.optionalBytes(1) { names[person] = String(decoding: name, as: UTF8.self) }
      if try row.integer(2) == 1 { erased.insert(person) }
    }
    return (names, erased)
  }

  /// - Returns: nil: none is known.
  static func name(of person: PersonID, _ transaction: borrowing Transaction) throws(StoreError) -> String? {
    let rows = try transaction.run(
      "SELECT name FROM persons WHERE person = $1", [.bytes(of: person.text)])
    return try rows.first?.optionalBytes(0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The number of a person's next event.
  static func nextEvent(
    of person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int64 {
    let rows = try transaction.run(
      """
      INSERT INTO persons (person, name, last_event, gone_event, erased) VALUES ($1, NULL, 1, 0, 0)
      ON CONFLICT (person) DO UPDATE SET last_event = persons.last_event + 1
      RETURNING last_event
      """, [.bytes(of: person.text)])
    guard let row = rows.first else { throw .failed("a row that was written isn't there") }
    return try row.integer(0)
  }

  /// How far a person's events go, and up to which none is kept.
  static func events(
    of person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> (last: Int64, gone: Int64) {
    let rows = try transaction.run(
      "SELECT last_event, gone_event FROM persons WHERE person = $1", [.bytes(of: person.text)])
    guard let row = rows.first else { return (0, 0) }
    return (try row.integer(0), try row.integer(1))
  }

  /// A page of all people by their ids' bytes, for directories.
  static func page(
    after person: PersonID?, limit: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [(person: PersonID, name: String?)] {
    let rows = try transaction.run(
      "SELECT person, name FROM persons WHERE person > $1 AND erased = 0 ORDER BY person LIMIT $2",
      [.bytes(of: person?.text ?? ""), .integer(limit)])
    var found: [(person: PersonID, name: String?)] = []
    for row in rows {
      let name = try row.optionalBytes(1).map { String(decoding: $0, as: UTF8.self) }
      found.append((PersonID(try row.string(0)), name))
    }
    return found
  }

  /// Forgets the name and all that the person has heard.
  static func erase(_ person: PersonID, _ transaction: borrowing Transaction) throws(StoreError) {
    let key: [SQLValue] = [.bytes(of: person.text)]
    try transaction.run(
      """
      INSERT INTO persons (person, name, last_event, gone_event, erased) VALUES ($1, NULL, 0, 0, 1)
      ON CONFLICT (person) DO UPDATE SET name = NULL, erased = 1, gone_event = persons.last_event
      """, key)
    try transaction.run("DELETE FROM call_events WHERE person = $1", key)
    try transaction.run("DELETE FROM call_answers WHERE person = $1", key)
  }
}
