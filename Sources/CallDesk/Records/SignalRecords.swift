internal import Calls
internal import Storage

/// How many signals each has sent to each in a call.
enum SignalRecords {
  static func next(
    in call: CallUUID, from sender: PersonID, to recipient: PersonID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int64 {
    let rows = try transaction.run(
      """
      INSERT INTO call_signals (call, sender, recipient, last) VALUES ($1, $2, $3, 1)
      ON CONFLICT (call, sender, recipient) DO UPDATE SET last = call_signals.last + 1
      RETURNING last
      """, [.text(call.text), .bytes(of: sender.text), .bytes(of: recipient.text)])
    guard let row = rows.first else { throw .failed("a row that was written isn't there") }
    return try row.integer(0)
  }
}
