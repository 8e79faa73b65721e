internal import Calls
internal import Storage

/// Answers to what a client may ask again, by the id or key that it gave.
enum AnswerRecords {
  enum Known: Equatable {
    /// It wasn't asked before.
    case no
    /// This was answered.
    case same([UInt8])
    /// Something else was asked by that name.
    case other
  }

  /// - Parameter moment: one from before it isn't known any more, whether it is there still or not.
  static func find(
    _ request: String, content: [UInt8], by person: PersonID, since moment: Int64,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> Known {
    let rows = try transaction.run(
      "SELECT content, body FROM call_answers WHERE person = $1 AND request = $2 AND time >= $3",
      [.bytes(of: person.text), .bytes(of: request), .integer(moment)])
    guard let row = rows.first else { return .no }
    return try row.bytes(0) == content ? .same(try row.bytes(1)) : .other
  }

  static func keep(
    _ body: [UInt8], for request: String, content: [UInt8], by person: PersonID, at now: CallTime,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let time = try ErasureRecords.time(of: person, at: now.wall, transaction)
    try transaction.run(
      """
      INSERT INTO call_answers (person, request, content, time, body) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (person, request) DO UPDATE SET content = excluded.content, time = excluded.time, body = excluded.body
      """,
      [.bytes(of: person.text), .bytes(of: request), .bytes(content), .integer(time), .bytes(body)])
  }

  /// Forgets those of a person that came before its last ones.
  /// - Parameter most: how many stay; of one moment all do.
  static func forget(
    of person: PersonID, beyond most: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      """
      DELETE FROM call_answers WHERE person = $1 AND time < (
        SELECT a.time FROM call_answers a WHERE a.person = $1 ORDER BY a.time DESC LIMIT 1 OFFSET $2)
      """, [.bytes(of: person.text), .integer(max(most - 1, 0))])
  }

  /// Those of a person who is being erased, some at a time.
  static func erase(
    _ erasure: ErasureRecords.Erasure, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let rows = try transaction.run(
      """
      SELECT person, request, CAST(LENGTH(body) AS BIGINT) FROM call_answers WHERE person = $1 AND time <= $2
      ORDER BY time LIMIT $3
      """, [.bytes(of: erasure.person.text), .integer(erasure.time), .integer(portion.limit)])
    try remove(portion.take(rows, size: 2), transaction)
  }

  /// Those of all people that came before a moment, the oldest first, some at a time.
  static func forget(
    before moment: Int64, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let rows = try transaction.run(
      """
      SELECT person, request, CAST(LENGTH(body) AS BIGINT) FROM call_answers WHERE time < $1 ORDER BY time LIMIT $2
      """, [.integer(moment), .integer(portion.limit)])
    try remove(portion.take(rows, size: 2), transaction)
  }

  /// - Parameter rows: the person and the request of one in each.
  private static func remove(_ rows: [SQLRow], _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run(
      "DELETE FROM call_answers WHERE person = $1 AND request = $2",
      each: rows.map { Array($0.values.prefix(2)) })
  }

  /// When the first came of the last ones of all people; nil: there are no more than those. It goes through as many places of an index.
  static func oldest(
    of most: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int64? {
    try transaction.run(
      "SELECT time FROM call_answers ORDER BY time DESC LIMIT 1 OFFSET $1", [.integer(max(most - 1, 0))]
    ).first?.integer(0)
  }
}
