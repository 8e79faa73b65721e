import TestStores
import Testing

@testable import Storage

@Suite("Version 9 of the schema", .timeLimit(.minutes(1)))
struct SchemaLookupsTests {
  @Test(arguments: StoreKind.allCases)
  func `signals of before keep their numbers, and count from none`(kind: StoreKind) throws {
    let database = try kind.makeLocation().makeDatabase()
    try database.open()
    defer { database.close() }
    try Schema.apply(Schema.steps.filter { $0.version < 9 }, to: database)
    _ = try database.run(
      "INSERT INTO call_signals (call, sender, recipient, last) VALUES ('c', $1, $2, 7)",
      [.bytes(of: "ada"), .bytes(of: "bob")])
    #expect(try Schema.apply(to: database) == 8)
    let rows = try database.run("SELECT last, bytes FROM call_signals", [])
    #expect(rows.map(\.values) == [[.integer(7), .integer(0)]])
  }
}
