internal import Calls
internal import Storage

/// The blocks: which people are never rung by which others.
enum BlockRecords {
  /// - Returns: false: there are as many as may be.
  static func add(
    _ other: PersonID, by person: PersonID, most: Int, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    if try has(other, by: person, transaction) { return true }
    let count = try transaction.run(
      "SELECT count(*) FROM blocks WHERE person = $1", [.bytes(of: person.text)])
    guard try count.first?.integer(0) ?? 0 < Int64(most) else { return false }
    try transaction.run(
      "INSERT INTO blocks (person, blocked, time) VALUES ($1, $2, $3)",
      [.bytes(of: person.text), .bytes(of: other.text), .integer(now.wall)])
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

  /// In the order of their bytes.
  static func all(of person: PersonID, _ transaction: borrowing Transaction) throws(StoreError) -> [PersonID]
  {
    var found: [PersonID] = []
    let rows = try transaction.run(
      "SELECT blocked FROM blocks WHERE person = $1 ORDER BY blocked", [.bytes(of: person.text)])
    for row in rows { found.append(PersonID(try row.string(0))) }
    return found
  }

  static func erase(_ person: PersonID, _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run("DELETE FROM blocks WHERE person = $1 OR blocked = $1", [.bytes(of: person.text)])
  }
}
