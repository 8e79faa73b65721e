internal import Calls
internal import Storage

/// What is known of people: their names, and how many events each has had.
enum PersonRecords {
  /// The person has come, and has the name of its last token; one that has none, as those of pushes had, takes none away.
  ///
  /// One who is erased stays so, unless its token was made later: what was forgotten isn't brought back by what was given out before.
  static func note(_ caller: Caller, _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO persons (person, name, last_event, gone_event, erased, came) VALUES ($1, $2, 0, 0, 0, 1)
      ON CONFLICT (person) DO UPDATE SET name = coalesce(excluded.name, persons.name), erased = 0, came = 1
        WHERE (persons.came = 0 OR persons.name IS DISTINCT FROM coalesce(excluded.name, persons.name))
          AND (persons.erased = 0 OR persons.erased < $3)
      """,
      [
        .bytes(of: caller.person.text), .optional(caller.name) { .bytes(of: $0) },
        .integer(caller.issuedAt ?? 0),
      ])
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
      if try row.integer(2) > 0 { erased.insert(person) }
    }
    return (names, erased)
  }

  /// Whether a person has acted by a token of its own, and isn't erased since.
  static func hasCome(
    _ person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    try !transaction.run(
      "SELECT 1 FROM persons WHERE person = $1 AND came = 1", [.bytes(of: person.text)]
    ).isEmpty
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
      INSERT INTO persons (person, name, last_event, gone_event, erased, came) VALUES ($1, NULL, 1, 0, 0, 0)
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

  /// A page of those who have come by their ids' bytes, for directories.
  static func page(
    after person: PersonID?, limit: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [(person: PersonID, name: String?)] {
    let rows = try transaction.run(
      "SELECT person, name FROM persons WHERE came = 1 AND person > $1 ORDER BY person LIMIT $2",
      [.bytes(of: person?.text ?? ""), .integer(limit)])
    var found: [(person: PersonID, name: String?)] = []
    for row in rows {
      let name = try row.optionalBytes(1).map { String(decoding: $0, as: UTF8.self) }
      found.append((PersonID(try row.string(0)), name))
    }
    return found
  }

  /// Forgets the name; nothing that the person has heard up to now is given out any more. One who is erased already stays so for tokens of
  /// before the later of the two moments, should the clock have been set back between.
  /// - Returns: the number of the last event that it has had.
  static func erase(
    _ person: PersonID, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int64 {
    let rows = try transaction.run(
      """
      INSERT INTO persons (person, name, last_event, gone_event, erased, came) VALUES ($1, NULL, 0, 0, $2, 0)
      ON CONFLICT (person) DO UPDATE SET name = NULL, came = 0, gone_event = persons.last_event,
        erased = CASE WHEN persons.erased > excluded.erased THEN persons.erased ELSE excluded.erased END
      RETURNING last_event
      """, [.bytes(of: person.text), .integer(max(now.wall, 1))])
    guard let row = rows.first else { throw .failed("a row that was written isn't there") }
    return try row.integer(0)
  }

  // MARK: - Forgetting

  /// Those of a call who haven't come and are of no other: they are forgotten with it, but for who was erased after that moment, and is
  /// remembered as such for longer. They are asked for before the call goes.
  static func strangers(
    of call: SQLValue, erasedBefore moment: Int64, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [SQLValue] {
    try transaction.run(
      """
      SELECT p.person FROM call_people p JOIN persons n ON n.person = p.person
      WHERE p.call = $1 AND n.came = 0 AND n.erased <= $2
        AND NOT EXISTS (SELECT 1 FROM call_people q WHERE q.person = p.person AND q.call <> p.call)
      ORDER BY p.person
      """, [call, .integer(moment)]
    ).map { $0.values[0] }
  }

  /// Deletes people who never came and have no events left. Without its row, the numbers of a person's events start at 1 again.
  static func forget(_ people: [SQLValue], _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run("DELETE FROM persons WHERE person = $1 AND came = 0", each: people.map { [$0] })
  }

  /// Forgets those who were erased by then and are of no call, some at a time.
  static func forget(
    erasedBefore moment: Int64, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let rows = try transaction.run(
      """
      SELECT person FROM persons WHERE erased > 0 AND erased <= $1 AND came = 0
        AND NOT EXISTS (SELECT 1 FROM call_people p WHERE p.person = persons.person)
      ORDER BY erased LIMIT $2
      """, [.integer(moment), .integer(portion.limit)])
    portion.noteFound(rows.count)
    for row in rows {
      guard try EventRecords.forget(of: row.values[0], &portion, transaction), portion.takes(0)
      else { return }
      try forget([row.values[0]], transaction)
    }
  }
}
