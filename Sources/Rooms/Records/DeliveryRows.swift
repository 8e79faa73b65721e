internal import Model
internal import Storage

/// The rows of `StoredDeliveries`, on the store's thread.
enum DeliveryRows {
  struct Page: Sendable {
    var events: [(position: UInt64, event: RoomEvent)] = []
    /// How many there were, those that can't be read among them, and the position of the last.
    var rows = 0
    var last: UInt64 = 0
  }

  /// - Parameter position: from which on a receiver is served that isn't known.
  static func begin(
    _ receivers: [String], at position: UInt64, in transaction: borrowing Transaction
  ) throws(StoreError) -> [String: DeliveryProgress] {
    var known: [String: DeliveryProgress] = [:]
    for row in try transaction.run("SELECT receiver, floor FROM event_receivers") {
      let receiver = try row.string(0)
      guard receivers.contains(receiver) else {
        try transaction.run("DELETE FROM event_deliveries WHERE receiver = $1", [.bytes(of: receiver)])
        try transaction.run("DELETE FROM event_receivers WHERE receiver = $1", [.bytes(of: receiver)])
        continue
      }
      var rooms: [RoomID: DeliveryProgress.Settled] = [:]
      let rows = try transaction.run(
        "SELECT life, id, position FROM event_deliveries WHERE receiver = $1", [.bytes(of: receiver)])
      for row in rows {
        rooms[RoomID(naming: try row.text(0))] = DeliveryProgress.Settled(
          id: Int(clamping: try row.integer(1)), position: UInt64(clamping: try row.integer(2)))
      }
      // A floor beyond the log's end is one of another log.
      let floor = min(UInt64(clamping: try row.integer(1)), position)
      known[receiver] = DeliveryProgress(floor: floor, known: rooms)
    }
    for receiver in receivers where known[receiver] == nil {
      known[receiver] = DeliveryProgress(floor: position)
      try write(DeliveryProgress.Changes(floor: position), of: receiver, to: transaction)
    }
    return known
  }

  static func events(
    after position: UInt64, upTo last: UInt64, limit: Int, in transaction: borrowing Transaction
  ) throws(StoreError) -> Page {
    let rows = try transaction.run(
      """
      SELECT position, life, id, time, body FROM events WHERE position > $1 AND position <= $2
      ORDER BY position LIMIT $3
      """, [.integer(Int64(clamping: position)), .integer(Int64(clamping: last)), .integer(limit)])
    var page = Page(rows: rows.count)
    for row in rows {
      page.last = UInt64(clamping: try row.integer(0))
      let event = try? RecordBytes.event(
        try row.bytes(4), id: Int(clamping: try row.integer(2)),
        time: WallTime(milliseconds: try row.integer(3)),
        of: RoomID(naming: try row.text(1)))
      if let event { page.events.append((page.last, event)) }
    }
    return page
  }

  static func write(
    _ changes: DeliveryProgress.Changes, of receiver: String, to transaction: borrowing Transaction
  ) throws(StoreError) {
    let floor = Int64(clamping: changes.floor)
    try transaction.run(
      """
      INSERT INTO event_receivers (receiver, floor) VALUES ($1, $2)
      ON CONFLICT (receiver) DO UPDATE SET floor = excluded.floor
      """, [.bytes(of: receiver), .integer(floor)])
    try transaction.run(
      """
      INSERT INTO event_deliveries (receiver, life, id, position) VALUES ($1, $2, $3, $4)
      ON CONFLICT (receiver, life) DO UPDATE SET id = excluded.id, position = excluded.position
      """,
      each: changes.rooms.map {
        [.bytes(of: receiver), .text($0.text), .integer($1.id), .integer(Int64(clamping: $1.position))]
      })
    try transaction.run(
      "DELETE FROM event_deliveries WHERE receiver = $1 AND position <= $2",
      [.bytes(of: receiver), .integer(floor)])
  }
}
