internal import Calls
internal import Storage

/// The calls that a person is in. They are found by `active`, which is set for those who have joined a call and not left it. A call that
/// only names the person isn't among them, so calls that others start neither hide the person's own nor count among them.
extension CallRecords {
  /// Behind which of a person's calls a list goes on.
  struct Place {
    var created: Int64
    var id: String
  }

  /// Calls of one page, and behind which the next one begins; nil: there is none.
  struct Page {
    var rows: [Row] = []
    var next: Place?
    /// How many were looked at, with those that can't be understood.
    var count = 0
  }

  static let activeOfPerson: SQLStatement = """
    SELECT c.state, c.room, c.api_key, c.id, p.created FROM call_people p JOIN calls c ON c.id = p.call
    WHERE p.person = $1 AND p.active = 1 AND (p.created, p.call) > ($2, $3) ORDER BY p.created, p.call LIMIT $4
    """

  /// Some of the calls that a person is in, by when they began. What can't be understood is left out: no one is in that.
  static func active(
    of person: PersonID, after place: Place? = nil, limit: Int, terms: CallTerms,
    _ transaction: borrowing Transaction
  ) throws(StoreError) -> Page {
    let rows = try transaction.run(
      activeOfPerson,
      [
        .bytes(of: person.text), .integer(place?.created ?? .min), .text(place?.id ?? ""), .integer(limit),
      ])
    var page = Page(rows: try found(rows, terms).rows, count: rows.count)
    if rows.count == limit, let last = rows.last {
      page.next = Place(created: try last.integer(4), id: try last.text(3))
    }
    return page
  }

  static let activeIDs: SQLStatement = """
    SELECT call FROM call_people WHERE person = $1 AND active = 1 ORDER BY created, call LIMIT $2
    """

  /// Whether a person is in so many calls, or in more.
  static func isActive(
    _ person: PersonID, inAtLeast most: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Bool {
    try transaction.run(activeIDs, [.bytes(of: person.text), .integer(most)]).count >= most
  }

  /// Of those that a person is in, as many are looked at for who is busy. It may be in that many but for those of before there was a bound.
  private static let mostCompared: Int64 = 64

  static let standingOfPerson: SQLStatement = """
    SELECT state, room, api_key, id FROM calls WHERE id = (
      SELECT s.call FROM (
        SELECT call FROM call_people WHERE person = $1 AND active = 1 ORDER BY created, call LIMIT $2
      ) s CROSS JOIN calls d WHERE d.id = s.call AND s.call <> $3
      ORDER BY CASE WHEN d.deadline IS NULL THEN 0 ELSE 1 END, d.deadline DESC, s.call LIMIT 1 OFFSET $4
    )
    """

  /// Of the calls that each of some people is in, beside one, the one in which nothing is over for the longest: who is in another is
  /// so in that. One that can't be understood hides none of those behind it.
  static func standing(
    of people: [PersonID], beside call: CallUUID, terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [CallUUID: Row] {
    var standing: [CallUUID: Row] = [:]
    for person in people {
      for place in 0..<mostCompared {
        let rows = try transaction.run(
          standingOfPerson,
          [.bytes(of: person.text), .integer(mostCompared), .text(call.text), .integer(place)])
        if let row = try found(rows, terms).rows.first {
          standing[row.state.id] = row
          break
        }
        if rows.isEmpty { break }
      }
    }
    return standing
  }

  static let sharedByPeople: SQLStatement = """
    SELECT c.state, c.room, c.api_key, c.id FROM (
      SELECT call FROM call_people WHERE person = $1 AND active = 1 ORDER BY created, call LIMIT $2
    ) s CROSS JOIN call_people q CROSS JOIN calls c
    WHERE q.person = $3 AND q.call = s.call AND q.open = 1 AND q.active = 0 AND c.id = s.call
    """

  /// Those of the calls that a person is in to which another one belongs, who isn't in them: by one of these it may be rung.
  static func active(
    of person: PersonID, naming other: PersonID, terms: CallTerms, _ transaction: borrowing Transaction
  ) throws(StoreError) -> [CallUUID: Row] {
    let rows = try transaction.run(
      sharedByPeople, [.bytes(of: person.text), .integer(mostCompared), .bytes(of: other.text)])
    var shared: [CallUUID: Row] = [:]
    for row in try found(rows, terms).rows { shared[row.state.id] = row }
    return shared
  }

  /// Who is in a call that the process before has begun: it may have been one that didn't write that down.
  static func writePresence(of call: CallState, _ transaction: borrowing Transaction) throws(StoreError) {
    try transaction.run(
      "UPDATE call_people SET active = $3 WHERE person = $1 AND call = $2",
      each: call.people.map { person in
        [
          .bytes(of: person.id.text), .text(call.id.text), .integer(person.session == nil ? 0 : 1),
        ]
      })
  }
}
