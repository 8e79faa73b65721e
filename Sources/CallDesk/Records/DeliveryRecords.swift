internal import Calls
internal import Storage

/// What became of pushes.
enum DeliveryRecords {
  static func keep(_ delivery: CallDelivery, _ transaction: borrowing Transaction) throws(StoreError) {
    try write(delivery, kind: delivery.kind.rawValue, transaction)
  }

  /// A kind of its own, which is no push: of a person who has blocked who rings.
  private static let unheard = "unheard"

  static func keepUnheard(_ delivery: CallDelivery, _ transaction: borrowing Transaction) throws(StoreError) {
    try write(delivery, kind: unheard, transaction)
  }

  /// Of one who was erased after a push had left, and whose device went with that, nothing is written down.
  private static func write(
    _ delivery: CallDelivery, kind: String, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let erased = try transaction.run(
      """
      SELECT 1 FROM persons n WHERE n.person = $1 AND n.erased > 0
        AND NOT EXISTS (SELECT 1 FROM devices d WHERE d.person = n.person AND d.device = $2)
      """, [.bytes(of: delivery.person.text), .bytes(of: delivery.device.text)])
    guard erased.isEmpty else { return }
    let time = try ErasureRecords.time(of: delivery.person, at: delivery.time, transaction)
    try transaction.run(
      """
      INSERT INTO call_deliveries (call, person, device, ring, kind, platform, state, reason, time, tries)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      ON CONFLICT (call, person, device, ring, kind) DO UPDATE SET platform = excluded.platform, state = excluded.state,
        reason = excluded.reason, time = excluded.time, tries = excluded.tries
      """,
      [
        .text(delivery.call.text), .bytes(of: delivery.person.text), .bytes(of: delivery.device.text),
        .text(delivery.ring.text), .text(kind), .text(delivery.platform),
        .text(delivery.state),
        .text(delivery.reason), .integer(time), .integer(delivery.tries),
      ])
  }

  /// Some of a call's, the last first.
  /// - Parameters:
  ///   - person: nil: all people's.
  ///   - moment: those from before it are left out.
  static func page(
    of call: CallUUID, person: PersonID?, since moment: Int64, before place: CallDeliveries.Place?,
    limit: Int,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> (items: [CallDelivery], next: CallDeliveries.Place?) {
    let rows = try transaction.run(
      """
      SELECT person, device, ring, kind, platform, state, reason, time, tries FROM call_deliveries
      WHERE call = $1 AND (person = $2 OR CAST($3 AS BIGINT) = 1) AND time >= $10 AND kind <> $11
        AND (time, person, device, ring, kind) < ($4, $5, $6, $7, $8)
      ORDER BY time DESC, person DESC, device DESC, ring DESC, kind DESC LIMIT $9
      """,
      [
        .text(call.text), .bytes(of: person?.text ?? ""), .integer(person == nil ? 1 : 0),
        .integer(place?.time ?? .max), .bytes(of: place?.person.text ?? ""),
        .bytes(of: place?.device.text ?? ""), .text(place?.ring.text ?? ""),
        .text(place?.kind.rawValue ?? ""), .integer(limit + 1), .integer(moment), .text(unheard),
      ])
    var items: [CallDelivery] = []
    for row in rows.prefix(limit) { items.append(try read(row, of: call)) }
    return (items, rows.count > limit ? items.last.map { CallDeliveries.Place($0) } : nil)
  }

  private static func read(_ row: SQLRow, of call: CallUUID) throws(StoreError) -> CallDelivery {
    guard let ring = CallUUID(try row.text(2)), let kind = CallDelivery.Kind(rawValue: try row.text(3)) else {
      throw .unreadable("a delivery is of no known kind")
    }
    return CallDelivery(
      call: call, person: PersonID(try row.string(0)), device: DeviceID(try row.string(1)), ring: ring,
      kind: kind, platform: try row.text(4), state: try row.text(5), reason: try row.text(6),
      time: try row.integer(7), tries: Int(clamping: try row.integer(8)))
  }

  /// Returns, for each person a call rang by push, whether a device accepted the push.
  ///
  /// A person who blocks the caller appears as soon as the push that is made up for them has an outcome, so that a block doesn't show.
  /// - Parameter moment: what is from before it is left out.
  static func reached(
    in call: CallUUID, since moment: Int64, at now: Int64, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [PersonID: Bool] {
    let rows = try transaction.run(
      """
      SELECT person, MAX(CASE WHEN state = 'delivered' THEN 1 ELSE 0 END) FROM call_deliveries
      WHERE call = $1 AND time >= $2 AND (kind = $3 OR kind = $4 AND time <= $5) GROUP BY person
      """,
      [
        .text(call.text), .integer(moment), .text(CallDelivery.Kind.ring.rawValue), .text(unheard),
        .integer(now),
      ])
    var reached: [PersonID: Bool] = [:]
    for row in rows { reached[PersonID(try row.string(0))] = try row.integer(1) == 1 }
    return reached
  }

  /// Which devices of a person have an outcome of a ring, or of its end, and whether they took it.
  static func outcomes(
    of ring: CallUUID, _ kind: CallDelivery.Kind = .ring, for person: PersonID, in call: CallUUID,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> [(device: DeviceID, isReached: Bool)] {
    let rows = try transaction.run(
      """
      SELECT device, state FROM call_deliveries WHERE call = $1 AND person = $2 AND ring = $3 AND kind = $4
      """,
      [
        .text(call.text), .bytes(of: person.text), .text(ring.text), .text(kind.rawValue),
      ])
    var found: [(device: DeviceID, isReached: Bool)] = []
    for row in rows { found.append((DeviceID(try row.string(0)), try row.text(1) == "delivered")) }
    return found
  }

  /// Those from before a moment, the oldest first, some at a time.
  static func forget(
    before moment: Int64, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let rows = try transaction.run(
      "SELECT call, device, ring, kind, person FROM call_deliveries WHERE time < $1 ORDER BY time LIMIT $2",
      [.integer(moment), .integer(portion.limit)])
    try remove(portion.take(rows), transaction)
  }

  static let erasure: SQLStatement = """
    SELECT call, device, ring, kind, person FROM call_deliveries WHERE person = $1 AND time <= $2 LIMIT $3
    """

  /// Those to a person, some at a time.
  static func erase(
    _ erasure: ErasureRecords.Erasure, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let rows = try transaction.run(
      Self.erasure, [.bytes(of: erasure.person.text), .integer(erasure.time), .integer(portion.limit)])
    try remove(portion.take(rows), transaction)
  }

  private static func remove(_ rows: [SQLRow], _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run(
      """
      DELETE FROM call_deliveries WHERE call = $1 AND device = $2 AND ring = $3 AND kind = $4 AND person = $5
      """, each: rows.map(\.values))
  }
}
