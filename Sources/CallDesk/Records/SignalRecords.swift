internal import Calls
internal import Storage

/// How many signals each has sent to each in a call.
enum SignalRecords {
  static func next(
    in call: CallUUID, from sender: PersonID, to recipient: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int64 {
    let rows = try transaction.run(
      """
      INSERT INTO call_signals (call, sender, recipient, last, bytes) VALUES ($1, $2, $3, 1, 0)
      ON CONFLICT (call, sender, recipient) DO UPDATE SET last = call_signals.last + 1
      RETURNING last
      """, [.text(call.text), .bytes(of: sender.text), .bytes(of: recipient.text)])
    guard let row = rows.first else { throw .failed("a row that was written isn't there") }
    return try row.integer(0)
  }

  // MARK: - Their bytes

  /// The last one has so many, whether it is kept or not.
  static func count(
    bytes: Int, in call: CallUUID, from sender: PersonID, to recipient: PersonID,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    try transaction.run(
      "UPDATE call_signals SET bytes = bytes + $4 WHERE call = $1 AND sender = $2 AND recipient = $3",
      [.text(call.text), .bytes(of: sender.text), .bytes(of: recipient.text), .integer(bytes)])
  }

  /// So many are left of what was sent to a person in a call, by all together.
  static func recount(
    bytes: Int64, in call: CallUUID, from sender: PersonID, to recipient: PersonID,
    _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let place: [SQLValue] = [.text(call.text), .bytes(of: recipient.text)]
    try transaction.run(
      "UPDATE call_signals SET bytes = 0 WHERE call = $1 AND recipient = $2 AND bytes > 0", place)
    try transaction.run(
      "UPDATE call_signals SET bytes = $3 WHERE call = $1 AND recipient = $2 AND sender = $4",
      place + [.integer(bytes), .bytes(of: sender.text)])
  }

  /// What was sent to a person in a call. Of one of whose signals none is kept, and who so hears none, all of that would wait.
  static func sent(
    to recipient: PersonID, in call: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> (count: Int64, bytes: Int64) {
    let rows = try transaction.run(
      """
      SELECT CAST(coalesce(sum(last), 0) AS BIGINT), CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM call_signals
      WHERE call = $1 AND recipient = $2
      """, [.text(call.text), .bytes(of: recipient.text)])
    guard let row = rows.first else { return (0, 0) }
    return (try row.integer(0), try row.integer(1))
  }
}
