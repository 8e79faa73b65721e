internal import Model
internal import Storage

/// The rows of `StoredDeliveries`, on the store's thread.
enum DeliveryRows {
  struct Page: Sendable {
    var events: [StoredEvent] = []
    /// Of all rows, those that can't be read among them.
    var last: DeliveryProgress.Settled?
    /// Nothing follows of what was asked for.
    var isWhole = true
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

  /// The next events in the order of all.
  /// - Parameter bytes: of their rows, about; one is given in any case.
  static func events(
    after position: UInt64, upTo last: UInt64, bytes: Int, in transaction: borrowing Transaction
  ) throws(StoreError) -> Page {
    let range: [SQLValue] = [.integer(Int64(clamping: position)), .integer(Int64(clamping: last))]
    let sizes = try transaction.run(
      """
      SELECT position, length(body) FROM events WHERE position > $1 AND position <= $2
      ORDER BY position LIMIT $3
      """, range + [.integer(Self.pageRows)])
    guard let (end, isWhole) = try end(of: sizes, bytes: bytes) else { return Page() }
    let rows = try transaction.run(
      """
      SELECT position, life, id, time, body FROM events WHERE position > $1 AND position <= $2
      ORDER BY position
      """, [range[0], .integer(end)])
    return try page(rows, isWhole: isWhole)
  }

  /// The next events of one room.
  /// - Parameter bytes: of their rows, about; one is given in any case.
  static func events(
    of room: RoomID, ids: ClosedRange<Int>, bytes: Int, in transaction: borrowing Transaction
  ) throws(StoreError) -> Page {
    let range: [SQLValue] = [.text(room.text), .integer(ids.lowerBound), .integer(ids.upperBound)]
    let sizes = try transaction.run(
      "SELECT id, length(body) FROM events WHERE life = $1 AND id >= $2 AND id <= $3 ORDER BY id LIMIT $4",
      range + [.integer(Self.pageRows)])
    guard let (end, isWhole) = try end(of: sizes, bytes: bytes) else { return Page() }
    let rows = try transaction.run(
      """
      SELECT position, life, id, time, body FROM events WHERE life = $1 AND id >= $2 AND id <= $3
      ORDER BY id
      """, [range[0], range[1], .integer(end)])
    return try page(rows, isWhole: isWhole)
  }

  /// Rows of a page, whatever their size.
  private static let pageRows = 1_024

  /// How far a page goes.
  /// - Parameter sizes: of the rows that there are, each with its place and its bytes.
  /// - Returns: the place of its last row, and whether none follows; nil: there are none.
  private static func end(
    of sizes: [SQLRow], bytes: Int
  ) throws(StoreError) -> (place: Int64, isWhole: Bool)? {
    var (count, left) = (0, bytes)
    for row in sizes {
      left -= Int(clamping: try row.integer(1))
      guard left >= 0 || count == 0 else { break }
      count += 1
    }
    guard count > 0 else { return nil }
    return (try sizes[count - 1].integer(0), count == sizes.count && count < Self.pageRows)
  }

  private static func page(_ rows: [SQLRow], isWhole: Bool) throws(StoreError) -> Page {
    var page = Page(isWhole: isWhole)
    for row in rows {
      let mark = DeliveryProgress.Settled(
        id: Int(clamping: try row.integer(2)), position: UInt64(clamping: try row.integer(0)))
      page.last = mark
      let event = try? RecordBytes.event(
        try row.bytes(4), id: mark.id, time: WallTime(milliseconds: try row.integer(3)),
        of: RoomID(naming: try row.text(1)))
      if let event { page.events.append(StoredEvent(position: mark.position, event: event)) }
    }
    return page
  }

  /// There are no receivers any more.
  static func forgetAll(in transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run("DELETE FROM event_deliveries")
    try transaction.run("DELETE FROM event_receivers")
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
    guard changes.isFloorNew else { return }
    try transaction.run(
      "DELETE FROM event_deliveries WHERE receiver = $1 AND position <= $2",
      [.bytes(of: receiver), .integer(floor)])
  }
}
