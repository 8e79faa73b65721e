import KeyDirectory
import KeyLog
import Model
import Storage
import Testing

@Suite("A person that is erased from the directory of keys", .timeLimit(.minutes(2)))
struct KeyErasureTests {
  private static let tables: [SQLStatement] = [
    "SELECT * FROM key_log", "SELECT * FROM key_nodes", "SELECT * FROM key_people",
    "SELECT * FROM key_entries", "SELECT * FROM current_keys",
  ]

  @Test(arguments: Place.allCases)
  func `has no keys any more, and every proof of others holds as before`(place: Place) async throws {
    let log = try await TestLog(place)
    var client = log.client
    for number in 0..<20 { try await log.put(["ada", "bob", "eve"][number % 3], "device \(number % 6)") }
    try await log.revoke("ada", "device 0")
    let before = try await log.keys("bob", from: 0)
    try client.take(before, of: "bob")
    let old = try await log.keys("ada")
    #expect(!old.keys.isEmpty)

    #expect(try await log.directory.erase("ada"))
    let erased = try await log.keys("ada", from: client.size)
    #expect(erased.keys.isEmpty && erased.salt == nil)
    try client.take(erased, of: "ada")
    #expect(try await log.directory.history(of: "ada", at: TestLog.time).entries.isEmpty)
    #expect(try await log.directory.currentKeyIDs(of: "ada").isEmpty)
    for proven in old.keys {
      #expect(try await !log.directory.isCurrent(proven.entry.id, of: "ada", device: proven.entry.device))
    }
    // The tree is what it was.
    let after = try await log.keys("bob", from: client.size)
    #expect(after.head.root == before.head.root && after.keys == before.keys)
    try client.take(after, of: "bob")
    // Those who have the salt of then can still show what was there.
    for proven in old.keys { try client.check(proven, of: "ada", salt: try #require(old.salt), in: old.head) }
    try await log.put("eve", "another")
    try client.take(try await log.keys("eve", from: client.size), of: "eve")
    // There is nothing to erase twice, nor of one who never had a key.
    #expect(try await !log.directory.erase("ada"))
    #expect(try await !log.directory.erase("fay"))
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `leaves none of its names, its salt or its keys in any table`(place: Place) async throws {
    let log = try await TestLog(place)
    let receipt = try await log.put("a person with a name", "a device with a name")
    try await log.put("bob", "phone")
    let key = try #require(receipt.proven.entry.key)
    let secrets = [
      Array("a person with a name".utf8), Array("a device with a name".utf8), receipt.salt, key.bytes,
    ]
    func found() async throws -> Set<[UInt8]> {
      var found: Set<[UInt8]> = []
      for statement in Self.tables {
        for case .bytes(let value) in try await log.rows(statement).joined() where secrets.contains(value) {
          found.insert(value)
        }
      }
      return found
    }
    #expect(try await found() == Set(secrets))
    try await log.directory.erase("a person with a name")
    #expect(try await found().isEmpty)
    #expect(try await log.keys("bob").keys.count == 1)
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `is another to the log when it comes back`(place: Place) async throws {
    let log = try await TestLog(place)
    let first = try await log.put("ada", "phone")
    try await log.directory.erase("ada")
    let second = try await log.put("ada", "phone", first.proven.entry.key)
    #expect(second.isNew && second.salt != first.salt && second.proven.entry.leaf == 1)
    #expect(second.proven.entry.id != first.proven.entry.id)
    #expect(try await log.directory.history(of: "ada", at: TestLog.time).entries.count == 1)
    let revoked = try await log.directory.revoke(device: "tablet", of: "ada", at: TestLog.time)
    #expect(revoked == .failure(.unknownDevice))
    await log.close()
  }

  @Test func `is erased with whatever else is done in the same transaction`() async throws {
    let log = try await TestLog(.memory)
    try await log.put("ada", "phone")
    await #expect(throws: StoreError.refused("no")) {
      try await log.store.write(bytes: 1) { [directory = log.directory] transaction throws(StoreError) in
        try directory.erase("ada", in: transaction)
        throw .refused("no")
      }
    }
    #expect(try await log.keys("ada").keys.count == 1)
    await log.close()
  }
}
