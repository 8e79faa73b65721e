import TestStores
import Testing

@testable import Storage

@Suite("Version 7 of the schema", .timeLimit(.minutes(1)))
struct SchemaRepeatsTests {
  @Test(arguments: StoreKind.allCases)
  func `sessions of before know which of their events have gone`(kind: StoreKind) throws {
    let database = try kind.makeLocation().makeDatabase()
    try database.open()
    defer { database.close() }
    try Schema.apply(Schema.steps.filter { $0.version < 7 }, to: database)
    let sessions: [(id: String, ended: SQLValue, events: [Int])] = [
      ("compacted", .null, [5, 6, 7]), ("ended", .integer(900), []), ("ending", .integer(900), [1, 2]),
      ("new", .null, []),
    ]
    for session in sessions {
      _ = try database.run(
        """
        INSERT INTO shared_sessions (id, call, ended, deadline, clock, last_event, state)
        VALUES ($1, 'c', $2, NULL, 0, NULL, $3)
        """, [.text(session.id), session.ended, .bytes([])])
      for seq in session.events {
        _ = try database.run(
          """
          INSERT INTO shared_events (session, seq, id, type, sender, time, data) VALUES ($1, $2, $3, $4, NULL, 0, $4)
          """, [.text(session.id), .integer(seq), .text("\(seq)"), .bytes([1])])
      }
    }
    #expect(try Schema.apply(to: database) == 6)
    let rows = try database.run("SELECT id, floor, has_events FROM shared_sessions ORDER BY id", [])
    #expect(
      rows.map(\.values) == [
        [.text("compacted"), .integer(4), .integer(1)], [.text("ended"), .integer(Int64.max), .integer(0)],
        [.text("ending"), .integer(0), .integer(1)], [.text("new"), .integer(0), .integer(1)],
      ])
    let digests = try database.run("SELECT digest FROM shared_events", [])
    #expect(digests.map(\.values) == Array(repeating: [.null], count: 5))
  }
}
