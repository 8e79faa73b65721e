import TestStores
import Testing

@testable import Storage

@Suite("Version 13 of the schema", .timeLimit(.minutes(1)))
struct SchemaInvitationsTests {
  @Test(arguments: StoreKind.allCases)
  func `rooms of before ask no one, are open and keep nothing`(kind: StoreKind) throws {
    let database = try kind.makeLocation().makeDatabase()
    try database.open()
    defer { database.close() }
    try Schema.apply(Schema.steps.filter { $0.version < 13 }, to: database)
    _ = try database.run(
      """
      INSERT INTO lives (id, name, created, last_event, empty_timeout, departure_timeout, stands, reborn)
      VALUES ('RM_1', $1, 1, 2, 3, 4, 1, 0)
      """, [.bytes(of: "demo")])
    #expect(try Schema.apply(to: database) == 12)
    let rows = try database.run("SELECT last_event, admission, locked, data_history FROM lives", [])
    #expect(rows.map(\.values) == [[.integer(2), .integer(0), .integer(0), .null]])
    _ = try database.run(
      "INSERT INTO invitations (id, life, body) VALUES ('IV_1', 'RM_1', $1)", [.bytes([1])])
    #expect(try database.run("SELECT life FROM invitations", []).map(\.values) == [[.text("RM_1")]])
  }
}
