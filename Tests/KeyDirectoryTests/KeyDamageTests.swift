import Glibc
import KeyDirectory
import KeyLog
import Model
import Storage
import Testing

/// What others have written to the database: a request ends with an error of the store, or with what is still there.
@Suite("Damaged rows of the directory of keys", .timeLimit(.minutes(2)))
struct KeyDamageTests {
  private enum Request: CaseIterable { case ids, keys, history, head, consistency, append, revoke }

  private struct Damage: Sendable {
    let statement: SQLStatement
    let values: [SQLValue]
    /// What of ada's fails.
    let fails: Set<Request>
    /// Whether bob notices nothing.
    let isAdas: Bool

    init(
      _ statement: SQLStatement, _ values: [SQLValue] = [], fails: Set<Request>, isAdas: Bool = false
    ) {
      self.statement = statement
      self.values = values
      self.fails = fails
      self.isAdas = isAdas
    }
  }

  private static let all = Set(Request.allCases)

  // Ada's phone, tablet and laptop are the leaves 0, 2 and 4, bob's phone and tablet 1 and 3.
  private static let log = [
    Damage("DELETE FROM key_log", fails: all.subtracting([.ids])),
    Damage("UPDATE key_log SET size = -1", fails: all.subtracting([.ids])),
    Damage("UPDATE key_log SET size = 281474976710657", fails: all.subtracting([.ids])),
    Damage("UPDATE key_log SET size = 9223372036854775807", fails: all.subtracting([.ids])),
    Damage("UPDATE key_log SET size = 8", fails: [.keys, .history, .head, .append, .revoke]),
    Damage("UPDATE key_log SET size = 2", fails: [.keys, .append, .revoke]),
    Damage("DELETE FROM key_nodes", fails: all),
    Damage("UPDATE key_nodes SET hash = $1", [.bytes([1, 2, 3])], fails: all),
    Damage("UPDATE key_nodes SET hash = $1", [.bytes([])], fails: all),
    Damage(
      "UPDATE key_nodes SET hash = $1 WHERE node = 0", [.bytes(MerkleHash.empty.bytes)],
      fails: [.keys, .history], isAdas: true),
  ]

  private static let entries = [
    Damage("DELETE FROM key_entries WHERE leaf = 0", fails: [.keys, .append], isAdas: true),
    Damage("UPDATE key_entries SET leaf = 77 WHERE leaf = 0", fails: [.keys, .append], isAdas: true),
    Damage(
      "UPDATE key_entries SET leaf = -7 WHERE leaf = 0", fails: [.keys, .history, .append], isAdas: true),
    Damage(
      "UPDATE key_entries SET algorithm = 0 WHERE leaf = 0", fails: [.keys, .history, .append], isAdas: true),
    Damage(
      "UPDATE key_entries SET algorithm = 99 WHERE leaf = 0", fails: [.keys, .history, .append], isAdas: true),
    Damage(
      "UPDATE key_entries SET algorithm = -1 WHERE leaf = 0", fails: [.keys, .history, .append], isAdas: true),
    Damage(
      "UPDATE key_entries SET algorithm = 257 WHERE leaf = 0", fails: [.keys, .history, .append], isAdas: true
    ),
    Damage("UPDATE key_entries SET algorithm = 2 WHERE leaf = 0", fails: [.keys, .history], isAdas: true),
    Damage(
      "UPDATE key_entries SET public_key = $1 WHERE leaf = 0", [.bytes([])],
      fails: [.keys, .history, .append], isAdas: true),
    Damage(
      "UPDATE key_entries SET public_key = $1 WHERE leaf = 0", [.bytes([UInt8](repeating: 4, count: 4_096))],
      fails: [.keys, .history], isAdas: true),
    Damage(
      "UPDATE key_entries SET public_key = $1 WHERE leaf = 0", [.bytes([UInt8](repeating: 4, count: 4_097))],
      fails: [.keys, .history, .append], isAdas: true),
    Damage(
      "UPDATE key_entries SET public_key = $1 WHERE leaf = 0", [.bytes([UInt8](repeating: 4, count: 70_000))],
      fails: [.keys, .history, .append], isAdas: true),
    Damage(
      "UPDATE key_entries SET time = -9223372036854775807 WHERE leaf = 0", fails: [.keys, .history],
      isAdas: true),
    Damage(
      "UPDATE key_entries SET device = $1 WHERE leaf = 0", [.bytes([0xFF, 0xFE])],
      fails: [.keys, .history, .append], isAdas: true),
  ]

  private static let people = [
    Damage("DELETE FROM key_people", fails: []),
    Damage(
      "UPDATE key_people SET salt = $1", [.bytes([7])], fails: [.keys, .history, .append, .revoke]),
    Damage(
      "UPDATE key_people SET salt = $1", [.bytes([UInt8](repeating: 7, count: 32))],
      fails: [.keys, .history]),
    Damage(
      "UPDATE current_keys SET leaf = 999 WHERE leaf = 0", fails: [.ids, .keys, .append], isAdas: true),
    Damage("UPDATE current_keys SET leaf = -1 WHERE leaf = 0", fails: [.ids, .keys, .append], isAdas: true),
    Damage(
      "UPDATE current_keys SET leaf = 9223372036854775807 WHERE leaf = 0", fails: [.ids, .keys, .append],
      isAdas: true),
    Damage(
      "UPDATE current_keys SET device = $1 WHERE leaf = 0", [.bytes([0xFF])], fails: [.ids, .keys, .append],
      isAdas: true),
  ]

  @Test(arguments: Place.allCases)
  func `of the log and its hashes are errors of the store`(place: Place) async throws {
    for damage in Self.log { try await tryOut(damage, at: place) }
  }

  @Test(arguments: Place.allCases)
  func `of an entry are errors of the store, for its person alone`(place: Place) async throws {
    for damage in Self.entries { try await tryOut(damage, at: place) }
  }

  @Test(arguments: Place.allCases)
  func `of people and what they have now are errors of the store`(place: Place) async throws {
    for damage in Self.people { try await tryOut(damage, at: place) }
  }

  private func tryOut(_ damage: Damage, at place: Place) async throws {
    let log = try await TestLog(place)
    for device in ["phone", "tablet"] {
      for person in ["ada", "bob"] { try await log.put(person, device) }
    }
    try await log.put("ada", "laptop")
    try await log.run(damage.statement, damage.values)
    var failed: Set<Request> = []
    for request in Request.allCases {
      if try await !isAnswered(request, by: log) { failed.insert(request) }
    }
    #expect(failed == damage.fails, "\(damage.statement)")
    if damage.isAdas {
      #expect(try await log.keys("bob").keys.count == 2, "\(damage.statement)")
      try await log.put("bob", "watch")
    }
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `of one person fail its own write alone, and none of those that are written with it`(place: Place)
    async throws
  {
    let salt = Damage(
      "UPDATE key_people SET salt = $1 WHERE person = $2", [.bytes([7]), .bytes(of: "ada")], fails: [.append],
      isAdas: true)
    let damages = (Self.entries + Self.people).filter { $0.isAdas && $0.fails.contains(.append) }
    for damage in damages + [salt] {
      let log = try await TestLog(place)
      for person in ["ada", "bob"] { try await log.put(person, "phone") }
      try await log.run(damage.statement, damage.values)
      let before = log.store.report.syncs
      let gate = Task { [store = log.store] in
        try await store.write(bytes: 1) { _ throws(StoreError) in
          for _ in 0..<10_000 where store.report.waiting < 4 { usleep(1_000) }
        }
      }
      while log.store.report.waiting == 0 { await Task.yield() }
      let ada = Task { try await log.put("ada", "watch") }
      let others = ["bob", "eve"].map { person in Task { try await log.put(person, "watch") } }
      let error = await #expect(throws: StoreError.self) { _ = try await ada.value }
      #expect(error?.reason == "unreadable", "\(damage.statement)")
      for other in others { _ = try await other.value }
      try await gate.value
      #expect(log.store.report.syncs <= before + 2)
      #expect(try await log.keys("bob").keys.count == 2, "\(damage.statement)")
      await log.close()
    }
  }

  /// Whether it ends with an answer rather than an error of the store.
  private func isAnswered(_ request: Request, by log: TestLog) async throws -> Bool {
    let key = try DeviceKey.random()
    do throws(StoreError) { try await ask(request, of: log, key) } catch {
      #expect(["unreadable", "refused"].contains(error.reason))
      return false
    }
    return true
  }

  private func ask(_ request: Request, of log: TestLog, _ key: DeviceKey) async throws(StoreError) {
    let (directory, time) = (log.directory, TestLog.time)
    switch request {
    case .ids: _ = try await directory.currentKeyIDs(of: "ada")
    case .keys: _ = try await directory.currentKeys(of: "ada", from: 1, at: time)
    case .history: _ = try await directory.history(of: "ada", at: time)
    case .head: _ = try await directory.head(at: time)
    case .consistency: _ = try await directory.consistency(from: 3, to: 5)
    case .append: _ = try await directory.append(key, of: "ada", device: "watch", at: time)
    case .revoke: _ = try await directory.revoke(device: "tablet", of: "ada", at: time)
    }
  }

  @Test(arguments: Place.allCases)
  func `of more devices than one may have are no answer without end`(place: Place) async throws {
    let log = try await TestLog(place)
    try await log.put("ada", "phone")
    for number in 0..<40 {
      try await log.run(
        "INSERT INTO current_keys (person, device, leaf) VALUES ($1, $2, 0)",
        [.bytes(of: "ada"), .bytes(of: "device \(number)")])
    }
    for request in [.ids, .keys, .append] as [Request] {
      #expect(try await !isAnswered(request, by: log), "\(request)")
    }
    await log.close()
  }

  @Test(arguments: Place.allCases)
  func `of the key that signs keep the directory from opening`(place: Place) async throws {
    let other = try await TestLog(.memory)
    let log = try await TestLog(place)
    let damages: [(SQLStatement, [SQLValue])] = [
      ("UPDATE key_log SET public_key = $1", [.bytes(other.directory.publicKey)]),
      ("UPDATE key_log SET private_key = $1", [.bytes(of: "no key")]),
      ("UPDATE key_log SET private_key = $1", [.bytes([0xFF])]),
      ("UPDATE key_log SET public_key = $1", [.bytes([])]),
    ]
    for (statement, values) in damages {
      try await log.run(statement, values)
      let error = await #expect(throws: KeyDirectoryError.self) {
        _ = try await KeyDirectory.open(in: log.store)
      }
      guard case .store(let reason) = error, reason.reason == "unreadable" else {
        Issue.record("\(statement): \(error as Any)")
        continue
      }
    }
    await log.close()
    await other.close()
  }

  @Test(arguments: Place.allCases)
  func `a log with as many leaves as one may have takes none more, and answers so`(place: Place) async throws
  {
    let log = try await TestLog(place)
    let put = try await log.put("ada", "phone")
    try await log.run("UPDATE key_log SET size = 281474976710656")
    let key = try DeviceKey.random()
    for person in ["ada", "bob"] {
      let refused = try await log.directory.append(key, of: person, device: "tablet", at: TestLog.time)
      #expect(refused == .failure(.logFull))
    }
    let refused = try await log.directory.revoke(device: "phone", of: "ada", at: TestLog.time)
    #expect(refused == .failure(.logFull))
    #expect(try await log.directory.isCurrent(put.proven.entry.id, of: "ada", device: "phone"))
    #expect(try await log.rows("SELECT person FROM key_people").count == 1)
    await log.close()
  }
}
