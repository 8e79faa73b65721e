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

  static func find(
    _ request: String, content: [UInt8], by person: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Known {
    let rows = try transaction.run(
      "SELECT content, body FROM call_answers WHERE person = $1 AND request = $2",
      [.bytes(of: person.text), .bytes(of: request)])
    guard let row = rows.first else { return .no }
    return try row.bytes(0) == content ? .same(try row.bytes(1)) : .other
  }

  static func keep(
    _ body: [UInt8], for request: String, content: [UInt8], by person: PersonID, at now: CallTime,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO call_answers (person, request, content, time, body) VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (person, request) DO UPDATE SET content = excluded.content, time = excluded.time, body = excluded.body
      """,
      [.bytes(of: person.text), .bytes(of: request), .bytes(content), .integer(now.wall), .bytes(body)])
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
  /// - Returns: how many they were.
  static func erase(
    _ erasure: ErasureRecords.Erasure, limit: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int {
    let person = SQLValue.bytes(of: erasure.person.text)
    let rows = try transaction.run(
      "SELECT request FROM call_answers WHERE person = $1 AND time <= $2 ORDER BY time LIMIT $3",
      [person, .integer(erasure.time), .integer(limit)])
    try transaction.run(
      "DELETE FROM call_answers WHERE request = $1 AND person = $2", each: rows.map { $0.values + [person] })
    return rows.count
  }

  /// Those of all people that came before a moment, the oldest first, some at a time; of the last one's moment all go.
  /// - Returns: how many they were.
  static func forget(
    before moment: Int64, limit: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int {
    try transaction.run(
      """
      DELETE FROM call_answers WHERE time < $1 AND time <= COALESCE(
        (SELECT a.time FROM call_answers a WHERE a.time < $1 ORDER BY a.time LIMIT 1 OFFSET $2), $1)
      RETURNING time
      """, [.integer(moment), .integer(limit - 1)]
    ).count
  }
}
