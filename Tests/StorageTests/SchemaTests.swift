import TestStores
import Testing

@testable import Storage

@Suite("The schema and its steps", .timeLimit(.minutes(2)))
struct SchemaTests {
  private static func database(_ kind: StoreKind) throws -> any Database {
    let database = try kind.makeLocation().makeDatabase()
    try database.open()
    return database
  }

  private static let steps = [
    Schema(version: 1, statements: ["CREATE TABLE things (id INTEGER NOT NULL PRIMARY KEY) STRICT"]),
    Schema(
      version: 2,
      statements: [
        "ALTER TABLE things ADD COLUMN body BLOB",
        "INSERT INTO things (id) SELECT 1 + coalesce(max(id), 0) FROM things",
      ]
    ),
  ]

  @Test func `versions are counted without gaps, from 1`() {
    #expect(Schema.steps.map(\.version) == Array(1...Schema.steps.count))
  }

  @Test(arguments: StoreKind.allCases)
  func `a database of any earlier version is brought to the newest, with what is in it`(kind: StoreKind)
    throws
  {
    let database = try Self.database(kind)
    #expect(try Schema.apply([Self.steps[0]], to: database) == 0)
    _ = try database.run("INSERT INTO things (id) VALUES ($1)", [.integer(5)])
    #expect(try Schema.apply(Self.steps, to: database) == 1)
    #expect(
      try database.run("SELECT id, body FROM things ORDER BY id", []).map(\.values) == [
        [.integer(5), .null], [.integer(6), .null],
      ])
    // What is done is done once.
    #expect(try Schema.apply(Self.steps, to: database) == 2)
    #expect(try database.run("SELECT id FROM things", []).count == 2)
  }

  @Test(arguments: StoreKind.allCases)
  func `a newer database is refused, and stays as it is`(kind: StoreKind) async throws {
    let location = try kind.makeLocation()
    let store = try await Store.open(location)
    try await store.write(bytes: 1) { transaction throws(StoreError) in
      try transaction.run("INSERT INTO schema_version (version) VALUES (99)")
    }
    await store.close()
    let known = Schema.steps.count
    let error = await #expect(throws: StoreError.newerSchema(found: 99, known: known)) {
      _ = try await Store.open(location)
    }
    #expect("\(error ?? .closed)".contains("start the newer version again"))
  }

  @Test(arguments: StoreKind.allCases)
  func `a step that fails leaves nothing of itself behind`(kind: StoreKind) throws {
    let database = try Self.database(kind)
    try Schema.apply([Self.steps[0]], to: database)
    let broken = Schema(
      version: 2,
      statements: [
        "CREATE TABLE others (id INTEGER NOT NULL PRIMARY KEY)", "ALTER TABLE nowhere ADD COLUMN x TEXT",
      ])
    #expect(throws: StoreError.self) { try Schema.apply([Self.steps[0], broken], to: database) }
    #expect(throws: StoreError.self) { try database.run("SELECT id FROM others", []) }
    #expect(try Schema.apply(Self.steps, to: database) == 1)
  }

  @Test func `a step takes as long as it takes, and what comes behind it is waited for as ever`() throws {
    let database = PostgreSQLDatabase(try PostgreSQLServer.shared().makeDatabase().text)
    try database.open()
    defer { database.close() }
    database.patience = .seconds(1)
    let long = Schema(
      version: 1,
      statements: [
        "SELECT pg_sleep(1.5)", "CREATE TABLE limits AS SELECT current_setting('statement_timeout') AS word",
      ])
    #expect(try Schema.apply([long], to: database) == 0)
    #expect(try database.run("SELECT word FROM limits", []).map(\.values) == [[.text("0")]])
    #expect(
      try database.run("SELECT current_setting('statement_timeout')", []).map(\.values) == [[.text("30s")]])
    let error = #expect(throws: StoreError.self) { try database.execute("SELECT pg_sleep(1.5)") }
    #expect(error?.reason == "connectionLost")
  }

  @Test func `words of SQLite become those of PostgreSQL, and nothing else does`() {
    let sql = "CREATE TABLE blobs (id INTEGER NOT NULL, body BLOB, BLOBS TEXT) STRICT"
    #expect(SQLDialect.sqlite.translated(sql) == sql)
    #expect(
      SQLDialect.postgreSQL.translated(sql)
        == "CREATE TABLE blobs (id BIGINT NOT NULL, body BYTEA, BLOBS TEXT) ")
  }
}
