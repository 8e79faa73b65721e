internal import Calls
internal import Storage

/// People whose erasure has begun, and isn't done.
enum ErasureRecords {
  struct Erasure {
    let person: PersonID
    /// In milliseconds since 1970: what came later is kept.
    let time: Int64
    /// Of what the person has heard, all up to that number goes.
    let event: Int64
  }

  /// One that goes on already takes what has come meanwhile too.
  static func begin(
    _ person: PersonID, upTo event: Int64, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO erasures (person, time, event) VALUES ($1, $2, $3)
      ON CONFLICT (person) DO UPDATE SET event = excluded.event,
        time = CASE WHEN erasures.time > excluded.time THEN erasures.time ELSE excluded.time END
      """, [.bytes(of: person.text), .integer(now.wall), .integer(event)])
  }

  /// - Returns: nil: the person isn't being erased.
  static func find(
    _ person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Erasure? {
    let rows = try transaction.run(
      "SELECT person, time, event FROM erasures WHERE person = $1", [.bytes(of: person.text)])
    return try rows.first.map { row throws(StoreError) in try read(row) }
  }

  /// Of all, the one that began first.
  static func first(_ transaction: borrowing Transaction) throws(StoreError) -> Erasure? {
    let rows = try transaction.run("SELECT person, time, event FROM erasures ORDER BY time, person LIMIT 1")
    return try rows.first.map { row throws(StoreError) in try read(row) }
  }

  private static func read(_ row: SQLRow) throws(StoreError) -> Erasure {
    Erasure(person: PersonID(try row.string(0)), time: try row.integer(1), event: try row.integer(2))
  }

  static func end(_ erasure: Erasure, _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run("DELETE FROM erasures WHERE person = $1", [.bytes(of: erasure.person.text)])
  }
}
