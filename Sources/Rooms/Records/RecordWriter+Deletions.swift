internal import Model
internal import Storage

extension RecordWriter {
  /// What one write may delete: few enough rows and bytes that who writes meanwhile waits for milliseconds, and that SQLite's log stays
  /// small.
  private struct Budget {
    var rows = 1_000
    /// Of bodies.
    var bytes = 1_048_576
    private var isWhole = true

    var isSpent: Bool { rows <= 0 || bytes <= 0 }

    /// - Parameter found: a position and the bytes of its body each.
    /// - Returns: how many of the first of them may go; one goes in any case, whatever its size.
    mutating func take(_ found: [SQLRow]) throws(StoreError) -> Int {
      var count = 0
      for row in found {
        let size = Int(clamping: try row.integer(1))
        guard rows > 0, size <= bytes || isWhole else { break }
        (rows, bytes, isWhole) = (rows - 1, bytes - size, false)
        count += 1
      }
      return count
    }
  }

  /// Deletes the beginning of a portion, or all of it.
  static func delete(
    _ portion: EventDeletions.Portion, from transaction: borrowing Transaction
  ) throws(StoreError) -> EventDeletions.Outcome {
    var budget = Budget()
    var outcome = EventDeletions.Outcome(reached: portion.after)
    if portion.last > portion.after {
      outcome.reached = try delete(after: portion.after, upTo: portion.last, &budget, from: transaction)
    }
    for (room, number) in portion.rooms {
      guard !budget.isSpent else { break }
      if try delete(room, upTo: number, &budget, from: transaction) { outcome.rooms.append(room) }
    }
    return outcome
  }

  /// - Returns: the position up to which all are gone.
  private static func delete(
    after position: UInt64, upTo last: UInt64, _ budget: inout Budget, from transaction: borrowing Transaction
  ) throws(StoreError) -> UInt64 {
    let start = Int64(clamping: position)
    let most = budget.rows
    let found = try transaction.run(
      """
      SELECT position, length(body) FROM events WHERE position > $1 AND position <= $2 ORDER BY position LIMIT $3
      """, [.integer(start), .integer(Int64(clamping: last)), .integer(most)])
    let count = try budget.take(found)
    guard count > 0 else { return last }
    let end = try found[count - 1].integer(0)
    try transaction.run(
      "DELETE FROM events WHERE position > $1 AND position <= $2", [.integer(start), .integer(end)])
    return count == found.count && count < most ? last : UInt64(clamping: end)
  }

  /// Deletes events of one room, but for what a receiver has still to hear.
  /// - Returns: whether there are no more of them.
  private static func delete(
    _ room: RoomID, upTo number: Int, _ budget: inout Budget, from transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    let most = budget.rows
    let found = try transaction.run(
      """
      SELECT position, length(body) FROM events WHERE life = $1 AND id <= $2 AND NOT EXISTS (
        SELECT 1 FROM event_receivers WHERE event_receivers.floor < events.position AND NOT EXISTS (
          SELECT 1 FROM event_deliveries WHERE event_deliveries.receiver = event_receivers.receiver
          AND event_deliveries.life = events.life AND event_deliveries.id >= events.id))
      ORDER BY id LIMIT $3
      """, [.text(room.text), .integer(number), .integer(most)])
    let count = try budget.take(found)
    var positions: [[SQLValue]] = []
    for row in found.prefix(count) { positions.append([.integer(try row.integer(0))]) }
    try transaction.run("DELETE FROM events WHERE position = $1", each: positions)
    return count == found.count && count < most
  }
}
