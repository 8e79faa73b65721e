internal import Calls
internal import Storage

/// What became of pushes.
enum DeliveryRecords {
  static func keep(_ delivery: CallDelivery, _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run(
      """
      INSERT INTO call_deliveries (call, person, device, ring, kind, platform, state, reason, time, tries)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
      ON CONFLICT (call, person, device, ring, kind) DO UPDATE SET platform = excluded.platform, state = excluded.state,
        reason = excluded.reason, time = excluded.time, tries = excluded.tries
      """,
      [
        .text(delivery.call.text), .bytes(of: delivery.person.text), .bytes(of: delivery.device.text),
        .text(delivery.ring.text), .text(delivery.kind.rawValue), .text(delivery.platform),
        .text(delivery.state),
        .text(delivery.reason), .integer(delivery.time), .integer(delivery.tries),
      ])
  }

  /// Of a call, in the order of their times; some at most.
  /// - Parameter person: nil: all people's.
  static func all(
    of call: CallUUID, person: PersonID? = nil, most: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [CallDelivery] {
    let rows =
      if let person {
        try transaction.run(
          """
          SELECT person, device, ring, kind, platform, state, reason, time, tries FROM call_deliveries
          WHERE call = $1 AND person = $2 ORDER BY time, device LIMIT $3
          """, [.text(call.text), .bytes(of: person.text), .integer(most)])
      } else {
        try transaction.run(
          """
          SELECT person, device, ring, kind, platform, state, reason, time, tries FROM call_deliveries
          WHERE call = $1 ORDER BY time, person, device LIMIT $2
          """, [.text(call.text), .integer(most)])
      }
    var found: [CallDelivery] = []
    for row in rows {
      guard let ring = CallUUID(try row.text(2)), let kind = CallDelivery.Kind(rawValue: try row.text(3))
      else {
        throw .failed("a delivery in the database is of no known kind")
      }
      found.append(
        CallDelivery(
          call: call, person: PersonID(try row.string(0)), device: DeviceID(try row.string(1)), ring: ring,
          kind: kind,
          platform: try row.text(4), state: try row.text(5), reason: try row.text(6),
          time: try row.integer(7),
          tries: Int(try row.integer(8))))
    }
    return found
  }

  /// Which devices of a person have an outcome of a ring, and whether they took it.
  static func outcomes(
    of ring: CallUUID, for person: PersonID, in call: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [(device: DeviceID, isReached: Bool)] {
    let rows = try transaction.run(
      """
      SELECT device, state FROM call_deliveries WHERE call = $1 AND person = $2 AND ring = $3 AND kind = $4
      """,
      [
        .text(call.text), .bytes(of: person.text), .text(ring.text), .text(CallDelivery.Kind.ring.rawValue),
      ])
    var found: [(device: DeviceID, isReached: Bool)] = []
    for row in rows { found.append((DeviceID(try row.string(0)), try row.text(1) == "delivered")) }
    return found
  }

  static func forget(before moment: Int64, _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run("DELETE FROM call_deliveries WHERE time < $1", [.integer(moment)])
  }

  static func erase(_ person: PersonID, _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run("DELETE FROM call_deliveries WHERE person = $1", [.bytes(of: person.text)])
  }
}
