internal import Calls
internal import FoundationEssentials
internal import Storage

/// Rings in what people have heard.
extension EventRecords {
  /// The end of a ring, as its person has heard it.
  struct EndedRing {
    let person: PersonID
    let call: CallUUID
    /// Milliseconds since 1970.
    let time: Int64
    let body: RingEndedBody
  }

  /// Rings that ended since then, the last first; some at most. What can't be read is left out.
  static func endedRings(
    since moment: Int64, limit: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [EndedRing] {
    let rows = try transaction.run(
      """
      SELECT person, call, time, body FROM call_events WHERE time >= $1 AND kind = $2
      ORDER BY time DESC, person, number LIMIT $3
      """, [.integer(moment), .text(PersonEvent.Kind.ringEnded.rawValue), .integer(limit)])
    // A row throws nothing else.
    return rows.compactMap { row in try? endedRing(row) }
  }

  private static func endedRing(_ row: SQLRow) throws(StoreError) -> EndedRing? {
    let bytes = try row.bytes(3)
    guard let call = CallUUID(try row.text(1)),
      let body = try? JSONDecoder().decode(RingEndedBody.self, from: Data(bytes))
    else { return nil }
    return EndedRing(person: PersonID(try row.string(0)), call: call, time: try row.integer(2), body: body)
  }

  /// Whether the end of a ring at that moment is written down.
  /// - Parameter moment: milliseconds since 1970.
  static func hasEnded(
    _ end: Aftermath.RingEnded, at moment: Int64, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    let rows = try transaction.run(
      "SELECT person, call, time, body FROM call_events WHERE person = $1 AND call = $2 AND kind = $3 AND time = $4",
      [
        .bytes(of: end.person.text), .text(end.call.text), .text(PersonEvent.Kind.ringEnded.rawValue),
        .integer(moment),
      ])
    for row in rows {
      if let found = try endedRing(row), found.body.ringId == end.ring { return true }
    }
    return false
  }

  /// How a person heard of a ring, and when; nil: it isn't kept any more.
  static func ringing(
    _ ring: CallUUID, of person: PersonID, in call: CallUUID, _ transaction: borrowing Transaction
  ) throws(StoreError) -> (body: RingingBody, time: Int64)? {
    let rows = try transaction.run(
      """
      SELECT body, time FROM call_events WHERE person = $1 AND call = $2 AND kind = $3
      ORDER BY number DESC LIMIT 16
      """, [.bytes(of: person.text), .text(call.text), .text(PersonEvent.Kind.ringing.rawValue)])
    for row in rows {
      let bytes = try row.bytes(0)
      if let body = try? JSONDecoder().decode(RingingBody.self, from: Data(bytes)), body.ringId == ring {
        return (body, try row.integer(1))
      }
    }
    return nil
  }
}
