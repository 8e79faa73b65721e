import Foundation
import TestStores
import Testing

@testable import Storage

@Suite("SQLite's file and its directory", .timeLimit(.minutes(1)))
struct SQLiteTests {
  private static func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
  }

  @Test func `the directory is made, and others can't read what is in it`() async throws {
    let directory = temporaryDirectory()
    let store = try await Store.open(.directory(directory))
    try await store.makeNumbers()
    #expect(try Self.mode(directory) == 0o700)
    for name in ["roost.db", "roost.db-wal", "roost.lock"] {
      #expect(try Self.mode("\(directory)/\(name)") == 0o600, "\(name)")
    }
    await store.close()
  }

  @Test func `each commit is synced, in a log that others can read beside`() async throws {
    let store = try await Store.open(.directory(temporaryDirectory()))
    let found = try await store.read { transaction throws(StoreError) in
      [
        try transaction.run("PRAGMA journal_mode").first?.values,
        try transaction.run("PRAGMA synchronous").first?.values,
        try transaction.run("PRAGMA locking_mode").first?.values,
      ]
    }
    // 2 is FULL.
    #expect(found == [[.text("wal")], [.integer(2)], [.text("normal")]])
    await store.close()
  }

  @Test func `what is deleted is overwritten in the file, also where it had pages of its own`() async throws {
    let directory = temporaryDirectory()
    let words = ["a short word that stands nowhere else", "a long word that stands nowhere else"]
    func found() throws -> [Bool] {
      let bytes = try Data(contentsOf: URL(filePath: directory + "/roost.db"))
      return words.map { bytes.range(of: Data($0.utf8)) != nil }
    }
    var store = try await Store.open(.directory(directory))
    try await store.write(bytes: 1) { transaction throws(StoreError) in
      try transaction.run("CREATE TABLE words (id INTEGER NOT NULL PRIMARY KEY, text BLOB NOT NULL)")
      try transaction.run(
        "INSERT INTO words (id, text) VALUES ($1, $2)",
        each: [
          [.integer(1), .bytes(of: words[0])],
          [.integer(2), .bytes(of: String(repeating: words[1], count: 900))],
        ])
    }
    await store.close()
    #expect(try found() == [true, true])
    store = try await Store.open(.directory(directory))
    try await store.write(bytes: 1) { transaction throws(StoreError) in
      try transaction.run("DELETE FROM words")
    }
    await store.close()
    #expect(try found() == [false, false])
  }

  @Test func `a file that is no database is refused, and stays as it is`() async throws {
    let directory = temporaryDirectory()
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let path = directory + "/roost.db"
    let text = String(repeating: "no database. ", count: 1_000)
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    let error = await #expect(throws: StoreError.self) { _ = try await Store.open(.directory(directory)) }
    #expect(error?.reason == "cannotOpen" && "\(error ?? .closed)".contains(path))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
    // Nor is the directory locked any more.
    try FileManager.default.removeItem(atPath: path)
    await (try Store.open(.directory(directory))).close()
  }

  @Test func `a directory that can't be made or written is named with what to do`() async throws {
    for directory in ["/nowhere/at/all", "/dev/null"] {
      let error = await #expect(throws: StoreError.self) { _ = try await Store.open(.directory(directory)) }
      #expect(error?.reason == "cannotOpen")
      #expect("\(error ?? .closed)".contains("storage.directory \(directory)"))
      #expect("\(error ?? .closed)".contains("give a directory"))
    }
  }

  @Test func `the lock says who has it for as long as it is held`() async throws {
    let directory = temporaryDirectory()
    let store = try await Store.open(.directory(directory))
    let words = try String(contentsOfFile: directory + "/roost.lock", encoding: .utf8)
    #expect(words.hasPrefix("process \(getpid()) on ") && words.hasSuffix("Z\n"), "\(words)")
    await store.close()
    #expect(try Data(contentsOf: URL(filePath: directory + "/roost.lock")).isEmpty)
  }

  @Test func `what others write into the lock's file is one line of bounded length`() {
    #expect(StoreError.words("a\n\u{1B}[31m b\u{0}c") == "a [31m b c")
    #expect(StoreError.words(String(repeating: "x", count: 1_000)).count == 200)
    #expect(StoreError.words("\n").isEmpty)
  }
}
