internal import Calls
internal import KeyDirectory
internal import KeyLog
internal import Storage

/// Keys of calls, wrapped for devices: of each device the last that it was given.
enum CallKeyRecords {
  // MARK: - Reading

  /// The number of the key that a call has now; nil: none is kept.
  static func last(of call: CallUUID, _ transaction: borrowing Transaction) throws(StoreError) -> Int64? {
    try transaction.run("SELECT last FROM call_key_rounds WHERE call = $1", [.text(call.text)]).first?
      .integer(
        0)
  }

  static func key(
    of person: PersonID, device: DeviceID, in call: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> CallKey? {
    let rows = try transaction.run(
      """
      SELECT device, key_id, ciphertext, sender, round FROM call_keys
      WHERE call = $1 AND person = $2 AND device = $3
      """, [.text(call.text), .bytes(of: person.text), .bytes(of: device.text)])
    return try rows.first.map { row throws(StoreError) in try read(row) }
  }

  /// Of all devices of a person.
  static func keys(
    of person: PersonID, in call: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [DeviceID: CallKey] {
    let rows = try transaction.run(
      """
      SELECT device, key_id, ciphertext, sender, round FROM call_keys WHERE call = $1 AND person = $2
      """, [.text(call.text), .bytes(of: person.text)])
    var keys: [DeviceID: CallKey] = [:]
    for row in rows { keys[DeviceID(try row.string(0))] = try read(row) }
    return keys
  }

  private static func read(_ row: SQLRow) throws(StoreError) -> CallKey {
    guard let hash = MerkleHash(try row.bytes(1)) else {
      throw .unreadable("a key of a call was wrapped for what is no key")
    }
    return CallKey(
      keyID: KeyID(hash), ciphertext: try row.bytes(2), from: PersonID(try row.string(3)),
      index: try row.integer(4))
  }

  // MARK: - Writing

  /// Of each person who is among them these keys are kept alone; those of others stay.
  static func write(
    _ round: KeyRound, of call: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO call_key_rounds (call, last) VALUES ($1, $2) ON CONFLICT (call) DO UPDATE SET last = excluded.last
      """, [.text(call.text), .integer(round.index)])
    let people = Set(round.keys.map(\.person)).sorted()
    try transaction.run(
      "DELETE FROM call_keys WHERE call = $1 AND person = $2",
      each: people.map { [.text(call.text), .bytes(of: $0.text)] })
    try transaction.run(
      """
      INSERT INTO call_keys (call, person, device, round, key_id, sender, ciphertext)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      ON CONFLICT (call, person, device) DO UPDATE SET round = excluded.round, key_id = excluded.key_id,
        sender = excluded.sender, ciphertext = excluded.ciphertext
      """,
      each: round.keys.map { key in
        [
          .text(call.text), .bytes(of: key.person.text), .bytes(of: key.device.text), .integer(round.index),
          .bytes(key.keyID.hash.bytes), .bytes(of: round.from.text), .bytes(key.ciphertext),
        ]
      })
  }

  /// These are all that a call has from now on.
  static func replace(
    by round: KeyRound, of call: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run("DELETE FROM call_keys WHERE call = $1", [.text(call.text)])
    try write(round, of: call, transaction)
  }

  // MARK: - Forgetting

  /// By what is there still: calls that ended are many more, and SQLite would go through all of them.
  static let endedRounds: SQLStatement = """
    SELECT r.call, (
      SELECT CAST(COALESCE(SUM(LENGTH(k.ciphertext) + 512), 0) AS BIGINT) FROM call_keys k WHERE k.call = r.call
    ) FROM call_key_rounds r CROSS JOIN calls c WHERE c.id = r.call AND c.ended <= $1 LIMIT $2
    """

  /// Those of calls that ended by then, some calls at a time.
  static func forget(
    endedBefore moment: Int64, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let rows = try transaction.run(endedRounds, [.integer(moment), .integer(portion.limit)])
    try forget(portion.take(rows, size: 1).map { [$0.values[0]] }, transaction)
  }

  /// - Parameter calls: the id of one in each row.
  private static func forget(_ calls: [[SQLValue]], _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run("DELETE FROM call_keys WHERE call = $1", each: calls)
    try transaction.run("DELETE FROM call_key_rounds WHERE call = $1", each: calls)
  }

  /// Those for a person's devices, some at a time. None is added meanwhile: what has no key that holds is wrapped nothing.
  static func erase(
    _ erasure: ErasureRecords.Erasure, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let person = SQLValue.bytes(of: erasure.person.text)
    let rows = try transaction.run(
      "SELECT call, device, CAST(LENGTH(ciphertext) AS BIGINT) FROM call_keys WHERE person = $1 LIMIT $2",
      [person, .integer(portion.limit)])
    try transaction.run(
      "DELETE FROM call_keys WHERE call = $1 AND device = $2 AND person = $3",
      each: portion.take(rows, size: 2).map { [$0.values[0], $0.values[1], person] })
  }
}
