internal import Calls
internal import Storage

/// Lists of a person's calls. The store's indexes pass over what isn't shown and what is of the other state, so that a page costs what it
/// has. Whether another person is of a call as well is looked at with each, and so with no more than some for a page.
extension CallRecords {
  /// Which calls of a person are asked for.
  struct HistoryFilter {
    let person: PersonID
    /// Who is of them as well; nil: that doesn't matter.
    var other: PersonID?
    /// They aren't over, or are; nil: both.
    var isOpen: Bool?
    /// They are older; nil: all.
    var place: Place?
  }

  static let pageOfAll = page()
  static let pageOfState = page(where: "AND open = $8")
  static let edgeOfAll = edge()
  static let edgeOfState = edge(where: "AND open = $5")

  /// - Parameter state: what is asked of a call beside that it is the person's, and shown.
  private static func page(where state: StaticString = "") -> SQLStatement {
    SQLStatement(
      of: """
        SELECT c.state, c.room, c.api_key, c.id, p.created FROM (
          SELECT s.call, s.created FROM (
            SELECT call, created FROM call_people
            WHERE person = $1 AND hidden = 0 AND forgotten = 0 AND (created, call) < ($2, $3)
        """, state,
      """
            ORDER BY created DESC, call DESC LIMIT $4
          ) s
          WHERE CAST($5 AS BIGINT) = 0
            OR (SELECT count(*) FROM call_people q WHERE q.person = $6 AND q.call = s.call) > 0
          ORDER BY s.created DESC, s.call DESC LIMIT $7
        ) p JOIN calls c ON c.id = p.call
        ORDER BY p.created DESC, p.call DESC
      """)
  }

  /// The last of so many that are looked at.
  private static func edge(where state: StaticString = "") -> SQLStatement {
    SQLStatement(
      of: """
        SELECT created, call FROM call_people
        WHERE person = $1 AND hidden = 0 AND forgotten = 0 AND (created, call) < ($2, $3)
        """, state, "ORDER BY created DESC, call DESC LIMIT 1 OFFSET $4")
  }

  /// Some of a person's history, the newest first. What can't be understood is left out, and keeps no others back.
  /// - Returns: with where it goes on, also where none of those that were looked at is shown.
  static func history(
    _ filter: HistoryFilter, limit: Int, _ transaction: borrowing Transaction
  ) throws(StoreError) -> Page {
    let most = filter.other == nil ? limit + 1 : CallPage.mostLookedAt
    let state = filter.isOpen.map { SQLValue.integer($0 ? 1 : 0) }
    let start: [SQLValue] = [
      .bytes(of: filter.person.text), .integer(filter.place?.created ?? .max),
      .text(filter.place?.id ?? ""),
    ]
    let values: [SQLValue] =
      start + [
        .integer(most), .integer(filter.other == nil ? 0 : 1), .bytes(of: filter.other?.text ?? ""),
        .integer(limit + 1),
      ]
    let rows: [SQLRow] =
      if let state {
        try transaction.run(pageOfState, values + [state])
      } else {
        try transaction.run(pageOfAll, values)
      }
    let shown = Array(rows.prefix(limit))
    var page = Page(rows: try found(shown, CallTerms()).rows, count: shown.count)
    if rows.count > limit, let last = shown.last {
      page.next = Place(created: try last.integer(4), id: try last.text(3))
    } else {
      // Those that were looked at may be of no other, or be no calls any more.
      let edge: [SQLValue] = start + [.integer(most - 1)]
      let edges: [SQLRow] =
        if let state {
          try transaction.run(edgeOfState, edge + [state])
        } else {
          try transaction.run(edgeOfAll, edge)
        }
      if let last = edges.first {
        page.next = Place(created: try last.integer(0), id: try last.text(1))
        page.count = most
      }
    }
    return page
  }
}

extension CallRecords.Place {
  init(_ place: CallPage.Place) { self.init(created: place.created, id: place.id.text) }

  /// As who reads the list says it. What has no call's id is passed over with all of its moment, so that the list goes on.
  var page: CallPage.Place? {
    if let id = CallUUID(id) { return CallPage.Place(created: created, id: id) }
    guard created > .min, let last = CallUUID("ffffffff-ffff-ffff-ffff-ffffffffffff") else { return nil }
    return CallPage.Place(created: created - 1, id: last)
  }
}
