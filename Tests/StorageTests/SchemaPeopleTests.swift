import TestStores
import Testing

@testable import Storage

@Suite("Version 8 of the schema", .timeLimit(.minutes(1)))
struct SchemaPeopleTests {
  @Test(arguments: StoreKind.allCases)
  func `who has come, who was called and who is erased are known apart, and what is of no call has gone`(
    kind: StoreKind
  ) throws {
    let database = try kind.makeLocation().makeDatabase()
    try database.open()
    defer { database.close() }
    try Schema.apply(Schema.steps.filter { $0.version < 8 }, to: database)
    let people: [(id: String, name: SQLValue, erased: Int)] = [
      ("called", .null, 0), ("erased", .null, 1), ("heard", .null, 0), ("invented", .null, 0),
      ("keyed", .null, 0), ("named", .bytes(of: "Ada"), 0), ("woken", .null, 0),
    ]
    for person in people {
      _ = try database.run(
        "INSERT INTO persons (person, name, last_event, gone_event, erased) VALUES ($1, $2, 3, 0, $3)",
        [.bytes(of: person.id), person.name, .integer(person.erased)])
    }
    _ = try database.run(
      "INSERT INTO call_people (person, call, created, open, hidden, forgotten) VALUES ($1, 'c', 0, 0, 0, 0)",
      [.bytes(of: "called")])
    _ = try database.run(
      "INSERT INTO call_events (person, number, time, kind, body) VALUES ($1, 3, 0, 'call.ended', $2)",
      [.bytes(of: "heard"), .bytes([])])
    _ = try database.run(
      "INSERT INTO key_people (person, salt) VALUES ($1, $2)", [.bytes(of: "keyed"), .bytes([1])])
    _ = try database.run(
      """
      INSERT INTO devices (person, device, platform, topic, token, environment, screen, registered, used)
      VALUES ($1, $1, 'webhook', $1, $1, 'production', 'system', 0, 0)
      """, [.bytes(of: "woken")])
    _ = try database.run(
      "INSERT INTO call_steps (call, kind, session, time) VALUES ('gone', 'call.started', '', 0)", [])
    #expect(try Schema.apply(to: database) == 7)
    let rows = try database.run("SELECT person, came, erased FROM persons ORDER BY person", [])
    let expected: [(String, Int, Int)] = [
      ("called", 0, 0), ("erased", 0, 1), ("heard", 0, 0), ("keyed", 1, 0), ("named", 1, 0), ("woken", 1, 0),
    ]
    #expect(rows.map(\.values) == expected.map { [.bytes(of: $0.0), .integer($0.1), .integer($0.2)] })
    #expect(try database.run("SELECT call FROM call_steps", []).isEmpty)
  }
}
