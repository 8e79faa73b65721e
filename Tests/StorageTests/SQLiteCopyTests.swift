import Foundation
import TestStores
import Testing

@testable import Storage

@Suite("Copies of SQLite's file from before migrations", .timeLimit(.minutes(1)))
struct SQLiteCopyTests {
  private static let first = Schema(
    version: 1, statements: ["CREATE TABLE things (id INTEGER NOT NULL PRIMARY KEY) STRICT"])
  private static let second = Schema(version: 2, statements: ["ALTER TABLE things ADD COLUMN body BLOB"])
  private static let broken = Schema(
    version: 2, statements: ["ALTER TABLE nowhere ADD COLUMN body BLOB"])

  /// A database of version 1 in which something is.
  private func database() throws -> (directory: String, database: SQLiteDatabase) {
    let directory = temporaryDirectory()
    let database = SQLiteDatabase(directory: directory)
    try database.open()
    try Schema.apply([Self.first], to: database)
    try add(5, to: database)
    return (directory, database)
  }

  private func add(_ number: Int, to database: SQLiteDatabase) throws {
    _ = try database.run("INSERT INTO things (id) VALUES ($1)", [.integer(number)])
  }

  private func copies(_ directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasPrefix("roost.db.") }
      .sorted()
  }

  /// What is in a copy, as a server reads it that is started on it.
  private func things(_ copy: String) throws -> (version: SQLValue?, ids: [SQLValue?]) {
    let directory = temporaryDirectory()
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: copy, toPath: directory + "/roost.db")
    let database = SQLiteDatabase(directory: directory)
    try database.open()
    defer { database.close() }
    return (
      try database.run("SELECT max(version) FROM schema_version", []).first?.values.first,
      try database.run("SELECT id FROM things ORDER BY id", []).map(\.values.first)
    )
  }

  @Test func `what is there is copied aside before it is brought to a newer version, and not otherwise`()
    throws
  {
    let (directory, database) = try database()
    #expect(try copies(directory).isEmpty, "it was empty")
    #expect(try Schema.apply([Self.first], to: database) == 1)
    #expect(try copies(directory).isEmpty, "nothing is newer")
    #expect(try Schema.apply([Self.first, Self.second], to: database) == 1)
    #expect(try copies(directory) == ["roost.db.v1"])
    let copy = directory + "/roost.db.v1"
    let found = try things(copy)
    #expect(found.version == .integer(1) && found.ids == [.integer(5)])
    let attributes = try FileManager.default.attributesOfItem(atPath: copy)
    #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    #expect(try Schema.apply([Self.first, Self.second], to: database) == 2)
    #expect(try copies(directory) == ["roost.db.v1"])
  }

  @Test func `no copy is written over, and the same isn't kept twice`() throws {
    let (directory, database) = try database()
    for _ in 0..<3 {
      #expect(throws: StoreError.self) { try Schema.apply([Self.first, Self.broken], to: database) }
      #expect(try copies(directory) == ["roost.db.v1"])
    }
    try add(6, to: database)
    for _ in 0..<2 {
      #expect(throws: StoreError.self) { try Schema.apply([Self.first, Self.broken], to: database) }
      #expect(try copies(directory) == ["roost.db.v1", "roost.db.v1.2"])
    }
    #expect(try things(directory + "/roost.db.v1").ids == [.integer(5)])
    #expect(try things(directory + "/roost.db.v1.2").ids == [.integer(5), .integer(6)])
  }

  @Test func `what a start before has left unfinished is no copy`() throws {
    let (directory, database) = try database()
    try "half of it".write(toFile: directory + "/roost.db.v1.part", atomically: false, encoding: .utf8)
    try Schema.apply([Self.first, Self.second], to: database)
    #expect(try copies(directory) == ["roost.db.v1"])
    #expect(try things(directory + "/roost.db.v1").ids == [.integer(5)])
  }

  @Test func `where it can't be copied it stays as it is, and that is said`() throws {
    let (directory, database) = try database()
    // What stands in the way can't be taken away.
    let path = directory + "/roost.db.v1.part"
    try FileManager.default.createDirectory(atPath: path + "/x", withIntermediateDirectories: true)
    let error = #expect(throws: StoreError.self) {
      try Schema.apply([Self.first, Self.second], to: database)
    }
    let words = "\(error ?? .closed)"
    #expect(error?.reason == "cannotOpen" && words.contains("schema version 1"), "\(words)")
    #expect(words.contains("\(directory)/roost.db.v1"), "\(words)")
    #expect(
      try database.run("SELECT max(version) FROM schema_version", []).first?.values == [.integer(1)])
    #expect(throws: StoreError.self) { try database.run("SELECT body FROM things", []) }
    try FileManager.default.removeItem(atPath: path)
    #expect(try Schema.apply([Self.first, Self.second], to: database) == 1)
  }

  @Test func `a database in memory has no copy`() throws {
    let database = SQLiteDatabase(directory: nil)
    try database.open()
    try Schema.apply([Self.first], to: database)
    #expect(try Schema.apply([Self.first, Self.second], to: database) == 1)
  }
}
