internal import Calls
internal import Storage

/// People whose erasure has begun, and isn't done.
enum ErasureRecords {
  struct Erasure {
    let person: PersonID
    /// In milliseconds since 1970: what has a later time is kept. It is behind all that was there.
    let time: Int64
    /// Of what the person has heard, all up to that number goes.
    let event: Int64

    /// The time that what comes of the person at some moment is given meanwhile: one behind that of all that goes.
    func timeMeanwhile(at moment: Int64) -> Int64 { max(moment, time < .max ? time + 1 : time) }
  }

  /// Of all that is there of a person and goes by its time, when the last was: ahead of now, where the clock was so.
  static let newest: SQLStatement = """
    SELECT max(t.newest) FROM (
      SELECT max(time) AS newest FROM call_answers WHERE person = $1 UNION ALL
      SELECT max(time) FROM call_deliveries WHERE person = $1 UNION ALL
      SELECT max(time) FROM blocks WHERE blocked = $1
    ) t
    """

  /// One that goes on already takes what has come meanwhile too.
  static func begin(
    _ person: PersonID, upTo event: Int64, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let newest = try transaction.run(Self.newest, [.bytes(of: person.text)]).first?.optionalInteger(0)
    try transaction.run(
      """
      INSERT INTO erasures (person, time, event) VALUES ($1, $2, $3)
      ON CONFLICT (person) DO UPDATE SET event = excluded.event,
        time = CASE WHEN erasures.time > excluded.time THEN erasures.time ELSE excluded.time END
      """, [.bytes(of: person.text), .integer(max(now.wall, newest ?? now.wall)), .integer(event)])
  }

  /// - Returns: nil: the person isn't being erased.
  static func find(
    _ person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Erasure? {
    let rows = try transaction.run(
      "SELECT person, time, event FROM erasures WHERE person = $1", [.bytes(of: person.text)])
    return try rows.first.map { row throws(StoreError) in try read(row) }
  }

  /// The time that is written down with what comes of a person at some moment.
  static func time(
    of person: PersonID, at moment: Int64, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int64 {
    try find(person, transaction)?.timeMeanwhile(at: moment) ?? moment
  }

  /// Of all that can be read, the one that began first. What can't be read keeps back none behind it, unless there are very many.
  /// - Throws: where there are some and none of the first can be read.
  static func first(_ transaction: borrowing Transaction) throws(StoreError) -> Erasure? {
    let rows = try transaction.run(
      "SELECT person, time, event FROM erasures ORDER BY time, person LIMIT 64")
    var fault: StoreError?
    for row in rows {
      do throws(StoreError) { return try read(row) } catch { fault = fault ?? error }
    }
    if let fault { throw fault }
    return nil
  }

  private static func read(_ row: SQLRow) throws(StoreError) -> Erasure {
    Erasure(person: PersonID(try row.string(0)), time: try row.integer(1), event: try row.integer(2))
  }

  static func end(_ erasure: Erasure, _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run("DELETE FROM erasures WHERE person = $1", [.bytes(of: erasure.person.text)])
  }
}
