import Foundation
import TestStores
import Testing

@testable import Storage

@Suite("PostgreSQL, as it comes and goes", .timeLimit(.minutes(2)))
struct PostgreSQLTests {
  @Test func `a connection that is cut is made again by the next write, and nothing is lost or done twice`()
    async throws
  {
    let server = try PostgreSQLServer.shared()
    let (name, text) = try server.makeDatabase()
    let store = try await Store.open(.postgreSQL(text))
    try await store.makeNumbers()
    for number in 0..<5 {
      try await store.add(number)
      try server.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)' AND application_name = 'roost'",
        in: "postgres")
      let error = await #expect(throws: StoreError.self) { try await store.add(100 + number) }
      #expect(error?.reason == "connectionLost" && error?.mayBeDone == true)
    }
    try await store.add(5)
    #expect(try await store.numbers() == Array(0...5))
    #expect(store.report.failures["connectionLost"] == 5)
    await store.close()
  }

  @Test func `while another session has the lock nothing is written, and the store says so`() async throws {
    let server = try PostgreSQLServer.shared()
    let (name, text) = try server.makeDatabase()
    let store = try await Store.open(.postgreSQL(text))
    try await store.makeNumbers()
    try server.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)' AND application_name = 'roost'",
      in: "postgres")
    await #expect(throws: StoreError.self) { try await store.add(1) }
    let other = PostgreSQLDatabase(text)
    try other.open()
    let error = await #expect(throws: StoreError.self) { try await store.add(2) }
    #expect(error?.reason == "inUse")
    other.close()
    // PostgreSQL notices a moment later that the other has gone.
    for _ in 0..<100 {
      if (try? await store.add(4)) != nil { break }
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(try await store.numbers() == [4])
    await store.close()
  }

  @Test func `behind another server nothing is stored ever again, and the log says what to do`()
    async throws
  {
    let relay = try PostgreSQLRelay()
    let lines = Lines()
    let store = try await Store.open(relay.location, log: lines.log)
    try await store.makeNumbers()
    relay.cut(.beforeCommit)
    await #expect(throws: StoreError.self) { try await store.add(1) }
    // PostgreSQL notices a moment later that the first has gone.
    let other = try await Store.open(relay.location)
    try await other.add(2)
    await other.close()
    for _ in 0..<200 {
      let error = await #expect(throws: StoreError.self) { try await store.add(3) }
      if error?.isForGood == true { break }
      #expect(error?.reason == "inUse")
      try await Task.sleep(for: .milliseconds(20))
    }
    for _ in 0..<3 {
      let error = await #expect(throws: StoreError.self) { _ = try await store.numbers() }
      #expect(error?.reason == "inUse" && error?.isForGood == true)
      await #expect(throws: StoreError.self) { try await store.add(4) }
    }
    let said = lines.all.filter { $0.contains("nothing is stored any more") }
    #expect(said.count == 1 && said.first?.contains("restart this one") == true)
    await store.close()
    let again = try await Store.open(relay.location)
    #expect(try await again.numbers() == [2])
    await again.close()
  }

  @Test func `a server that comes back to what it has left goes on, however often`() async throws {
    let relay = try PostgreSQLRelay()
    let store = try await Store.open(relay.location)
    try await store.makeNumbers()
    for number in 0..<3 {
      relay.cut(.behindCommit)
      await #expect(throws: StoreError.self) { try await store.add(number) }
    }
    // The lock of the connection before is free a moment later.
    for _ in 0..<200 {
      if (try? await store.add(3)) != nil { break }
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(try await store.numbers().last == 3)
    await store.close()
  }

  @Test func `a connection string that can't be read is refused without a word of it`() async throws {
    let error = await #expect(throws: StoreError.self) {
      _ = try await Store.open(.postgreSQL("postgress://roost:hush@host/roost"))
    }
    #expect(error?.reason == "cannotOpen" && !"\(error ?? .closed)".contains("hush"))
    #expect("\(error ?? .closed)".contains("postgresql://user@host/database"))
  }

  @Test func `where no server listens, or none of that name, the reason is said`() async throws {
    let error = await #expect(throws: StoreError.self) {
      _ = try await Store.open(.postgreSQL("host=/nowhere dbname=roost password=hush"))
    }
    #expect(error?.reason == "unreachable" && "\(error ?? .closed)".contains("/nowhere"))
    #expect(!"\(error ?? .closed)".contains("hush"))
    let server = try PostgreSQLServer.shared()
    let absent = await #expect(throws: StoreError.self) {
      _ = try await Store.open(.postgreSQL("host=\(server.directory) user=roost dbname=absent"))
    }
    #expect("\(absent ?? .closed)".contains("absent"))
  }

  @Test func `a database in another encoding is refused with what to do`() async throws {
    let server = try PostgreSQLServer.shared()
    let (_, text) = try server.makeDatabase("ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    let error = await #expect(throws: StoreError.self) { _ = try await Store.open(.postgreSQL(text)) }
    #expect(error?.reason == "cannotOpen" && "\(error ?? .closed)".contains("createdb --encoding UTF8"))
  }

  @Test func `to a user that may not make the schema it is said what the owner has to run`() async throws {
    let server = try PostgreSQLServer.shared()
    let (name, _) = try server.makeDatabase()
    try server.query("DROP ROLE IF EXISTS guest; CREATE ROLE guest LOGIN", in: "postgres")
    let text = "host=\(server.directory) user=guest dbname=\(name)"
    let error = await #expect(throws: StoreError.self) { _ = try await Store.open(.postgreSQL(text)) }
    #expect("\(error ?? .closed)".contains("CREATE SCHEMA roost AUTHORIZATION"))
    try server.query("CREATE SCHEMA roost AUTHORIZATION guest", in: name)
    await (try Store.open(.postgreSQL(text))).close()
  }

  @Test func `text with a zero byte is refused alone, and the session goes on`() async throws {
    let store = try await Store.open(.postgreSQL(try PostgreSQLServer.shared().makeDatabase().text))
    let error = await #expect(throws: StoreError.self) {
      try await store.read { transaction throws(StoreError) in
        try transaction.run("SELECT $1::text", [.text("a\u{0}b")])
      }
    }
    #expect(error?.reason == "refused")
    #expect(
      try await store.read { transaction throws(StoreError) in
        try transaction.run("SELECT $1::text", [.text("ab")]).map(\.values)
      } == [[.text("ab")]])
    await store.close()
  }

  @Test func `a database that usually doesn't sync does so for the store`() async throws {
    let server = try PostgreSQLServer.shared()
    let (name, text) = try server.makeDatabase()
    try server.query("ALTER DATABASE \(name) SET synchronous_commit = off", in: "postgres")
    let store = try await Store.open(.postgreSQL(text))
    let setting = try await store.read { transaction throws(StoreError) in
      try transaction.run("SELECT current_setting('synchronous_commit')").first?.values
    }
    #expect(setting == [.text("on")])
    await store.close()
  }
}
