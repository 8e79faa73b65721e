internal import Model
internal import Storage

/// What `HeldEvents` knows of, as the tables have it.
extension DeliveryRows {
  /// Rows that are measured at once, or looked at to be deleted: few enough that who writes meanwhile waits for milliseconds.
  static let heldRows = 1_000

  /// What there is behind a position, without the bodies.
  /// - Returns: at most `heldRows`, in their order.
  static func sizes(
    after position: UInt64, upTo last: UInt64, in transaction: borrowing Transaction
  ) throws(StoreError) -> [HeldEvents.Row] {
    let rows = try transaction.run(
      """
      SELECT position, length(body), time FROM events WHERE position > $1 AND position <= $2
      ORDER BY position LIMIT $3
      """, [.integer(Int64(clamping: position)), .integer(Int64(clamping: last)), .integer(Self.heldRows)])
    var found: [HeldEvents.Row] = []
    for row in rows {
      found.append(
        HeldEvents.Row(
          position: UInt64(clamping: try row.integer(0)), bytes: Int(clamping: try row.integer(1)),
          time: WallTime(milliseconds: try row.integer(2))))
    }
    return found
  }

  /// Deletes what no receiver has still to hear, among events that the log has given up.
  static func trim(
    after position: UInt64, upTo last: UInt64, in transaction: borrowing Transaction
  ) throws(StoreError) {
    let range: [SQLValue] = [.integer(Int64(clamping: position)), .integer(Int64(clamping: last))]
    try transaction.run(
      """
      DELETE FROM events WHERE position > $1 AND position <= $2 AND NOT EXISTS (
        SELECT 1 FROM event_receivers WHERE event_receivers.floor < events.position AND NOT EXISTS (
          SELECT 1 FROM event_deliveries WHERE event_deliveries.receiver = event_receivers.receiver
          AND event_deliveries.life = events.life AND event_deliveries.id >= events.id))
      """, range)
  }

  /// Deletes what is said of events of which none is left.
  static func forgetGone(upTo position: UInt64, in transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run(
      """
      DELETE FROM event_deliveries WHERE position <= $1 AND NOT EXISTS (
        SELECT 1 FROM events WHERE events.life = event_deliveries.life AND events.id <= event_deliveries.id)
      """, [.integer(Int64(clamping: position))])
  }

  /// How many rows there are, and the bytes of their bodies.
  static func size(
    after position: UInt64, upTo last: UInt64, in transaction: borrowing Transaction
  ) throws(StoreError) -> (rows: Int, bytes: Int) {
    let left = try transaction.run(
      "SELECT count(*), sum(length(body)) FROM events WHERE position > $1 AND position <= $2",
      [.integer(Int64(clamping: position)), .integer(Int64(clamping: last))]
    ).first
    return (Int(clamping: try left?.integer(0) ?? 0), Int(clamping: try left?.optionalInteger(1) ?? 0))
  }

  /// - Returns: for each receiver, how many events in that range it has still to hear.
  static func waiting(
    after position: UInt64, upTo last: UInt64, in transaction: borrowing Transaction
  ) throws(StoreError) -> [String: UInt64] {
    let rows = try transaction.run(
      """
      SELECT event_receivers.receiver, count(*) FROM event_receivers, events
      WHERE events.position > $1 AND events.position <= $2 AND event_receivers.floor < events.position
      AND NOT EXISTS (
        SELECT 1 FROM event_deliveries WHERE event_deliveries.receiver = event_receivers.receiver
        AND event_deliveries.life = events.life AND event_deliveries.id >= events.id)
      GROUP BY event_receivers.receiver
      """, [.integer(Int64(clamping: position)), .integer(Int64(clamping: last))])
    var waiting: [String: UInt64] = [:]
    for row in rows { waiting[try row.string(0)] = UInt64(clamping: try row.integer(1)) }
    return waiting
  }
}
