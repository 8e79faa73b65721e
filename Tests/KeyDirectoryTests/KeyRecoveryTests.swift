import Crypto
import Foundation
import KeyDirectory
import KeyLog
import Model
import Storage
import TestStores
import Testing

@Suite("The directory of keys after a restart", .timeLimit(.minutes(2)))
struct KeyRecoveryTests {
  @Test(arguments: StoreKind.allCases)
  func `goes on with its key, its entries and its proofs`(kind: StoreKind) async throws {
    let location = try kind.makeLocation()
    var log = try await TestLog(location)
    var client = log.client
    for number in 0..<5 {
      for device in ["phone", "tablet"] { try await log.put("person \(number)", device) }
      try client.take(try await log.keys("person 0", from: client.size), of: "person 0")
      await log.close()
      log = try await TestLog(location)
      #expect(log.directory.publicKey == client.logKey)
      let answer = try await log.keys("person \(number)", from: client.size)
      let keys = try client.take(answer, of: "person \(number)")
      #expect(keys.count == 2 && answer.head.size == 2 * number + 2)
    }
    await log.close()
  }

  @Test func `has what was answered, when the server is killed right after`() async throws {
    let directory = temporaryDirectory()
    let log = try await TestLog(.directory(directory))
    for number in 0..<20 {
      let (receipt, erased) = (try await log.put("ada", "device \(number % 8)"), number % 4 == 3)
      try await log.put("bob", "phone")
      if erased { try await log.directory.erase("bob") }
      // What a process leaves that ends at this moment.
      let copy = temporaryDirectory()
      try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
      for name in ["roost.db", "roost.db-wal"] {
        try FileManager.default.copyItem(atPath: "\(directory)/\(name)", toPath: "\(copy)/\(name)")
      }
      let next = try await TestLog(.directory(copy))
      var client = log.client
      try client.take(receipt.head, nil)
      let keys = try client.take(try await next.keys("ada", from: client.size), of: "ada")
      #expect(keys[receipt.proven.entry.device] == receipt.proven.entry.key)
      #expect(try await next.keys("bob").keys.isEmpty == erased)
      #expect(try await next.head().size == 2 * number + 2)
      await next.close()
    }
    await log.close()
  }

  @Test func `has what was answered, when PostgreSQL ends its session right after`() async throws {
    let server = try PostgreSQLServer.shared()
    let (name, text) = try server.makeDatabase()
    let log = try await TestLog(.postgreSQL(text))
    var client = log.client
    try client.take(try await log.put("ada", "phone").head, nil)
    try server.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)' AND application_name = 'roost'",
      in: "postgres")
    await #expect(throws: StoreError.self) { try await log.put("ada", "tablet") }
    try await log.put("ada", "tablet")
    let keys = try client.take(try await log.keys("ada", from: client.size), of: "ada")
    #expect(keys.count == 2)
    await log.close()
  }

  // MARK: - The key that signs

  /// nil: it is opened.
  private func refusal(_ log: TestLog, signingKey: String?) async -> KeyDirectoryError? {
    do throws(KeyDirectoryError) {
      _ = try await KeyDirectory.open(in: log.store, signingKey: signingKey)
      return nil
    } catch { return error }
  }

  @Test(arguments: Place.allCases)
  func `signs with the key that is given, and then with no other`(place: Place) async throws {
    let key = try SigningKey()
    let pem = try key.pem()
    let log = try await TestLog(place.makeLocation(), signingKey: pem)
    #expect(log.directory.publicKey == key.publicKey)
    // Of a key that is given the store keeps nothing secret.
    let kept = try await log.rows("SELECT private_key FROM key_log")
    #expect(kept == [[.null]])
    var client = log.client
    let head = try await log.put("ada", "phone").head
    try client.take(head, nil)
    let refusals = [
      await refusal(log, signingKey: try SigningKey().pem()), await refusal(log, signingKey: nil),
      await refusal(log, signingKey: pem),
    ]
    #expect(refusals == [.keyOfAnother, .keyMissing, nil])
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `takes another key as long as the log has no leaf`(place: Place) async throws {
    let (key, other) = (try SigningKey(), try SigningKey().pem())
    let pem = try key.pem()
    let log = try await TestLog(place)
    #expect(log.directory.publicKey != key.publicKey)
    #expect(await refusal(log, signingKey: pem) == nil)
    #expect(await refusal(log, signingKey: nil) == .keyMissing)
    let directory = try await KeyDirectory.open(in: log.store, signingKey: pem)
    #expect(directory.publicKey == key.publicKey)
    _ = try await directory.append(.random(), of: "ada", device: "phone", at: TestLog.time).get()
    #expect(await refusal(log, signingKey: other) == .keyOfAnother)
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `keeps the key that it has made, also where the same is given later`(place: Place) async throws {
    let log = try await TestLog(place)
    try await log.put("ada", "phone")
    guard case .bytes(let stored)? = try await log.rows("SELECT private_key FROM key_log").first?.first else {
      Issue.record("no key is kept")
      return
    }
    let pem = String(decoding: stored, as: UTF8.self)
    #expect(await refusal(log, signingKey: pem) == nil)
    let again = try await KeyDirectory.open(in: log.store)
    #expect(again.publicKey == log.directory.publicKey)
    await log.close()
  }

  @Test func `a key that is none is refused before the store is touched`() async throws {
    let log = try await TestLog(.memory)
    for text in ["", "key", "-----BEGIN PRIVATE KEY-----\n"] {
      let error = try #require(await refusal(log, signingKey: text))
      guard case .badKey = error else {
        Issue.record("\(error)")
        continue
      }
    }
    await log.close()
  }
}
