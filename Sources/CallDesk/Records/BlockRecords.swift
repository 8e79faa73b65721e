internal import Calls
internal import Storage

/// The blocks: which people are never rung by which others.
enum BlockRecords {
  /// - Returns: false: there are as many as may be.
  static func add(
    _ other: PersonID, by person: PersonID, most: Int, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    let erasure = try ErasureRecords.find(other, transaction)
    let time = erasure?.timeMeanwhile(at: now.wall) ?? now.wall
    if try has(other, by: person, transaction) {
      // The one of before goes with the erasure, and this one came later.
      if let erasure {
        try transaction.run(
          "UPDATE blocks SET time = $3 WHERE person = $1 AND blocked = $2 AND time <= $4",
          [
            .bytes(of: person.text), .bytes(of: other.text), .integer(time), .integer(erasure.time),
          ])
      }
      return true
    }
    let count = try transaction.run(
      "SELECT count(*) FROM blocks WHERE person = $1", [.bytes(of: person.text)])
    guard try count.first?.integer(0) ?? 0 < Int64(most) else { return false }
    try transaction.run(
      "INSERT INTO blocks (person, blocked, time) VALUES ($1, $2, $3)",
      [.bytes(of: person.text), .bytes(of: other.text), .integer(time)])
    return true
  }

  static func remove(
    _ other: PersonID, by person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      "DELETE FROM blocks WHERE person = $1 AND blocked = $2",
      [.bytes(of: person.text), .bytes(of: other.text)])
  }

  static func has(
    _ other: PersonID, by person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    try !transaction.run(
      "SELECT 1 FROM blocks WHERE person = $1 AND blocked = $2",
      [.bytes(of: person.text), .bytes(of: other.text)]
    ).isEmpty
  }

  /// Some of them, the last first.
  static func page(
    of person: PersonID, before place: BlockPage.Place?, limit: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> BlockPage {
    let rows = try transaction.run(
      """
      SELECT time, blocked FROM blocks WHERE person = $1 AND (time, blocked) < ($2, $3)
      ORDER BY time DESC, blocked DESC LIMIT $4
      """,
      [
        .bytes(of: person.text), .integer(place?.time ?? .max), .bytes(of: place?.person.text ?? ""),
        .integer(limit + 1),
      ])
    var page = BlockPage(people: [])
    for row in rows.prefix(limit) { page.people.append(PersonID(try row.string(1))) }
    if rows.count > limit, let last = page.people.last {
      page.next = BlockPage.Place(time: try rows[limit - 1].integer(0), person: last)
    }
    return page
  }

  // MARK: - Erasure

  /// Those that a person has made.
  static func eraseOwn(of person: PersonID, _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run("DELETE FROM blocks WHERE person = $1", [.bytes(of: person.text)])
  }

  static let erasure: SQLStatement = "SELECT person FROM blocks WHERE blocked = $1 AND time <= $2 LIMIT $3"

  /// Others' of the person, some at a time.
  static func erase(
    _ erasure: ErasureRecords.Erasure, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let person = SQLValue.bytes(of: erasure.person.text)
    let rows = try transaction.run(Self.erasure, [person, .integer(erasure.time), .integer(portion.limit)])
    try transaction.run(
      "DELETE FROM blocks WHERE person = $1 AND blocked = $2",
      each: portion.take(rows).map { $0.values + [person] })
  }
}
