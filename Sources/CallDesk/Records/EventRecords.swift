internal import Calls
internal import FoundationEssentials
internal import Storage

/// What each person hears of calls, in order.
enum EventRecords {
  static func append(
    _ kind: PersonEvent.Kind, to person: PersonID, call: CallUUID?, device: DeviceID? = nil,
    body: some Encodable,
    keeping most: Int, at now: CallTime, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int64 {
    let bytes = encoded(body)
    let number = try PersonRecords.nextEvent(of: person, transaction)
    try transaction.run(
      "INSERT INTO call_events (person, number, time, kind, call, device, body) VALUES ($1, $2, $3, $4, $5, $6, $7)",
      [
        .bytes(of: person.text), .integer(number), .integer(now.wall), .text(kind.rawValue),
        .optional(call) { .text($0.text) }, .optional(device) { .bytes(of: $0.text) }, .bytes(bytes),
      ])
    // Now and then, so that it costs little.
    let gone = number - Int64(most)
    if gone > 0, gone % 64 == 0 { try drop(upTo: gone, of: .bytes(of: person.text), transaction) }
    return number
  }

  /// A body as it is kept; the same one is the same bytes.
  static func encoded(_ body: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    guard let bytes = try? encoder.encode(body) else {
      preconditionFailure("texts, numbers and flags are always JSON")
    }
    return Array(bytes)
  }

  private static func drop(
    upTo number: Int64, of person: SQLValue, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let values: [SQLValue] = [person, .integer(number)]
    try transaction.run("DELETE FROM call_events WHERE person = $1 AND number <= $2", values)
    try transaction.run("UPDATE persons SET gone_event = $2 WHERE person = $1 AND gone_event < $2", values)
  }

  /// Rows that are read at once: of the largest they have some MiB.
  private static let group = 32

  /// What follows a number. An event that can't be understood is left out, and keeps none behind it back.
  /// - Parameters:
  ///   - moment: an event from before it is gone with all that has a lower number, whether it is there still or not.
  ///   - most: bytes of what is kept of them together; the last one may be more.
  static func page(
    of person: PersonID, after number: Int64, since moment: Int64, limit: Int, bytes most: Int,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> PersonEventPage {
    let (last, gone) = try PersonRecords.events(of: person, transaction)
    // One that was never given is of another database. A row there may say anything, also that more is gone than there was.
    guard number >= gone, number <= last else {
      return PersonEventPage(events: [], last: last, reached: number, isGone: true)
    }
    var page = PersonEventPage(events: [], last: last, reached: number, isGone: false)
    var (count, bytes) = (0, 0)
    while count < limit {
      let wanted = min(limit - count, group)
      let rows = try transaction.run(
        """
        SELECT number, time, kind, call, device, body FROM call_events WHERE person = $1 AND number > $2
        ORDER BY number LIMIT $3
        """, [.bytes(of: person.text), .integer(page.reached), .integer(wanted)])
      for row in rows {
        if let event = try understood(row) {
          if event.time < moment {
            return PersonEventPage(events: [], last: last, reached: number, isGone: true)
          }
          page.events.append(event)
          bytes += event.body.count
        }
        page.reached = try row.integer(0)
        if bytes >= most { return page }
      }
      // Where there were fewer than might have been, there are no more.
      if rows.count < wanted {
        page.reached = last
        return page
      }
      count += rows.count
    }
    return page
  }

  /// - Returns: nil: it can't be.
  private static func understood(_ row: SQLRow) throws(StoreError) -> PersonEvent? {
    do throws(StoreError) { return try read(row) } catch {
      guard case .unreadable = error else { throw error }
      return nil
    }
  }

  private static func read(_ row: SQLRow) throws(StoreError) -> PersonEvent {
    guard let kind = PersonEvent.Kind(rawValue: try row.text(2)) else {
      throw .unreadable("an event is of no known kind")
    }
    let call: CallUUID? = row.values[3] == .null ? nil : CallUUID(try row.text(3))
    let device = try row.optionalBytes(4).map { DeviceID(String(decoding: $0, as: UTF8.self)) }
    return PersonEvent(
      number: try row.integer(0), time: try row.integer(1), kind: kind, call: call, device: device,
      body: try row.bytes(5))
  }

  static let signalsBeyond: SQLStatement = """
    SELECT count(*), CAST(coalesce(sum(length(body)), 0) AS BIGINT) FROM call_events
    WHERE person = $1 AND number > $2 AND call = $3 AND kind = 'call.signal'
    """

  /// How many signals, and how many bytes of them, a person has been sent beyond a number.
  static func signals(
    for person: PersonID, in call: CallUUID, after number: Int64, _ transaction: borrowing Transaction
  ) throws(StoreError) -> (count: Int64, bytes: Int64) {
    let rows = try transaction.run(
      signalsBeyond, [.bytes(of: person.text), .integer(number), .text(call.text)])
    guard let row = rows.first else { return (0, 0) }
    return (try row.integer(0), try row.integer(1))
  }

  /// Takes of the signals that a person has heard in a call the oldest, so that about so many bytes are left, or those that it hasn't
  /// heard.
  /// - Returns: the bytes that are left.
  static func dropSignals(
    for person: PersonID, in call: CallUUID, upTo heard: Int64, beyond most: Int64,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> Int64 {
    let place: [SQLValue] = [.bytes(of: person.text), .text(call.text)]
    // As many as events of a person are kept, at most.
    let rows = try transaction.run(
      """
      SELECT number, CAST(length(body) AS BIGINT) FROM call_events
      WHERE person = $1 AND call = $2 AND kind = 'call.signal' ORDER BY number DESC
      """, place)
    var left: Int64 = 0
    for row in rows {
      let (number, size) = (try row.integer(0), try row.integer(1))
      guard left + size > most, number <= heard else {
        left += size
        continue
      }
      try transaction.run(
        "DELETE FROM call_events WHERE person = $1 AND call = $2 AND kind = 'call.signal' AND number <= $3",
        place + [.integer(number)])
      break
    }
    return left
  }

  /// By what is there still, as wrapped keys are looked for.
  static let endedSignals: SQLStatement = """
    SELECT DISTINCT s.call FROM call_signals s CROSS JOIN calls c WHERE c.id = s.call AND c.ended <= $1 LIMIT $2
    """

  /// The last of a call's signals that was emptied.
  struct SignalPlace: Sendable {
    let call: SQLValue
    let person: SQLValue
    let number: SQLValue
  }

  /// Signals of a call that have something in them, behind one of them.
  static let filledSignals: SQLStatement = """
    SELECT person, number, CAST(LENGTH(body) AS BIGINT) FROM call_events
    WHERE call = $1 AND kind = 'call.signal' AND (person, number) > ($4, $5) AND LENGTH(body) > CAST($2 AS BIGINT)
    ORDER BY person, number LIMIT $3
    """

  /// Leaves of the signals of calls that ended by then that they were, and takes all that is in them; of each call once. It goes by
  /// the numbers of signals, which a call has that had any, and which aren't needed any more: none is sent in it.
  /// - Parameter place: where the portion before has ended: what is before that isn't looked at once more.
  /// - Returns: where this one has ended; nil: with a call.
  @discardableResult
  static func emptySignals(
    endedBefore moment: Int64, from place: SignalPlace? = nil, _ portion: inout Portion,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> SignalPlace? {
    let calls = try transaction.run(endedSignals, [.integer(moment), .integer(portion.limit)])
    portion.noteFound(calls.count)
    for row in calls {
      let (call, limit) = (row.values[0], portion.limit)
      var reached = place?.call == call ? place : nil
      let signals = try transaction.run(
        filledSignals,
        [
          call, .integer(PersonEvent.empty.count), .integer(limit), reached?.person ?? .bytes([]),
          reached?.number ?? .integer(0),
        ])
      let going = try portion.take(signals, size: 2)
      try transaction.run(
        "UPDATE call_events SET body = $3 WHERE person = $1 AND number = $2",
        each: going.map { [$0.values[0], $0.values[1], .bytes(PersonEvent.empty)] })
      if let last = going.last {
        reached = SignalPlace(call: call, person: last.values[0], number: last.values[1])
      }
      guard going.count == signals.count, signals.count < limit else { return reached }
      let pairs = try transaction.run("SELECT count(*) FROM call_signals WHERE call = $1", [call])
      guard portion.takes(try 512 * (pairs.first?.integer(0) ?? 0)) else { return reached }
      try transaction.run("DELETE FROM call_signals WHERE call = $1", [call])
    }
    return nil
  }

  // MARK: - Forgetting

  /// What a person has heard before it was erased, some at a time.
  static func erase(
    _ erasure: ErasureRecords.Erasure, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    _ = try drop(upTo: erasure.event, of: .bytes(of: erasure.person.text), &portion, transaction)
  }

  /// What was for one who is forgotten, some at a time.
  /// - Returns: whether nothing is left.
  static func forget(
    of person: SQLValue, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    try drop(upTo: .max, of: person, &portion, transaction)
  }

  /// Forgets what is older, with all of its person that has a lower number, some at a time.
  static func forget(
    before moment: Int64, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) {
    let rows = try transaction.run(
      "SELECT person, number FROM call_events WHERE time < $1 ORDER BY time LIMIT $2",
      [.integer(moment), .integer(portion.limit)])
    portion.noteFound(rows.count)
    var newest: [[UInt8]: Int64] = [:]
    for row in rows {
      let person = try row.bytes(0)
      newest[person] = max(newest[person] ?? 0, try row.integer(1))
    }
    for (person, number) in newest.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
      _ = try drop(upTo: number, of: .bytes(person), &portion, transaction)
    }
  }

  /// - Returns: whether none is left up to that number.
  private static func drop(
    upTo number: Int64, of person: SQLValue, _ portion: inout Portion, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    let limit = portion.limit
    let rows = try transaction.run(
      """
      SELECT number, CAST(LENGTH(body) AS BIGINT) FROM call_events WHERE person = $1 AND number <= $2
      ORDER BY number LIMIT $3
      """, [person, .integer(number), .integer(limit)])
    let going = try portion.take(rows, size: 1)
    if let last = try going.last?.integer(0) { try drop(upTo: last, of: person, transaction) }
    return going.count == rows.count && rows.count < limit
  }
}

extension PersonEvent {
  /// The body of a signal that is kept for its number alone.
  fileprivate static let empty = Array("{}".utf8)

  mutating func empty() { body = Self.empty }

  /// It is a signal of a call that ended a while ago: nothing is in it, and it isn't given out.
  public var isEmptied: Bool { kind == .signal && body == Self.empty }
}
