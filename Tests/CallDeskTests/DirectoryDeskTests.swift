import Calls
import Foundation
import KeyDirectory
import Logging
import Model
import Storage
import TestStores
import Testing

@testable import CallDesk

@Suite("The log of keys, as the desk has it", .timeLimit(.minutes(2)))
struct DirectoryDeskTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")

  private func changes(_ test: TestDesk, _ person: String) async throws -> [String] {
    try await test.heardAll(person).filter { $0.kind == .keyChanged }
      .map { try JSONDecoder().decode(KeyChangedBody.self, from: Data($0.body)).person.text }
  }

  @Test(arguments: StoreKind.allCases)
  func `a key is there once it is answered, and the same once more appends nothing`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let key = try TestDesk.key()
      let phone = DeviceID("phone")
      let first = try await test.desk.publish(key, of: phone, by: TestDesk.caller("ada"))
      #expect(first.isNew && first.head.size == 1 && first.head.time.milliseconds == test.clock.now.wall)
      for _ in 0..<30 {
        #expect(try await !test.desk.publish(key, of: phone, by: TestDesk.caller("ada")).isNew)
      }
      let found = try await test.desk.keys(of: ada, from: 0)
      #expect(found.keys.map(\.entry.id) == [first.proven.entry.id] && found.consistency == [])
      #expect(try await test.desk.keyHead().size == 1)
      #expect(test.desk.logKey == test.directory.publicKey)
      let revoked = try await test.desk.revokeKey(of: phone, by: TestDesk.caller("ada"))
      #expect(revoked.isNew && revoked.proven.entry.key == nil)
      #expect(try await !test.desk.revokeKey(of: phone, by: TestDesk.caller("ada")).isNew)
      #expect(try await test.desk.keys(of: ada, from: nil).keys.isEmpty)
      let history = try await test.desk.keyHistory(of: ada, before: nil, limit: 1)
      #expect(history.entries.map(\.entry.leaf) == [1] && history.next == 1)
      #expect(
        try await test.desk.keyHistory(of: ada, before: 1, limit: 9).entries.map(\.entry.leaf) == [0])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a person appends three times a minute and twenty times an hour, and keeps no other from it`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      for number in 0..<20 {
        if number > 0, number % 3 == 0 {
          await #expect(throws: CallProblem.tooMany(wait: 60_000)) { try await test.publish("ada") }
          test.clock.move(60_000)
        }
        try await test.publish("ada", "device \(number % 5)")
      }
      test.clock.move(60_000)
      await #expect(throws: CallProblem.self) { try await test.publish("ada") }
      await #expect(throws: CallProblem.self) {
        try await test.desk.revokeKey(of: DeviceID("device 1"), by: TestDesk.caller("ada"))
      }
      try await test.publish("bob")
      // To forget a person gives it no more.
      try await test.desk.erase(ada)
      await #expect(throws: CallProblem.self) { try await test.publish("ada") }
      #expect(try await test.desk.keyHead().size == 21)
      test.clock.move(3_600_000)
      try await test.publish("ada")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what isn't there, or is too much, is said by name`(kind: StoreKind) async throws {
    var terms = CallDeskTerms()
    (terms.keys.entriesPerMinute, terms.keys.entriesPerHour) = (100, 100)
    try await TestDesk.with(kind, terms) { test in
      await #expect(throws: CallProblem.notFound) {
        try await test.desk.revokeKey(of: DeviceID("phone"), by: TestDesk.caller("ada"))
      }
      for number in 0..<16 { try await test.publish("ada", "device \(number)") }
      await #expect(throws: CallProblem.tooLarge("devices")) { try await test.publish("ada", "another") }
      // In the place of an earlier one there is room.
      try await test.publish("ada", "device 3")
      await #expect(throws: CallProblem.noSuchHead(size: 17)) {
        try await test.desk.keys(of: bob, from: 18)
      }
      await #expect(throws: CallProblem.noSuchHead(size: 17)) {
        try await test.desk.keyConsistency(from: 3, to: 18)
      }
      await #expect(throws: CallProblem.noSuchHead(size: 3)) {
        try await test.desk.keyConsistency(from: 4, to: 3)
      }
      #expect(try await test.desk.keyConsistency(from: 17, to: 17).isEmpty)
      #expect(try await test.desk.keys(of: bob, from: 17).salt == nil)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a changed key is heard of by the person and by those of its calls, and by no stranger`(
    kind: StoreKind
  )
    async throws
  {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob", "eve", "kim")
      let id = entry.call.state.id
      _ = try await test.desk.join(id, by: TestDesk.caller("bob"))
      _ = try await test.desk.leave(id, by: TestDesk.caller("eve"), reason: .rejected)
      _ = try await test.start("mallory", "zoe")
      try await test.publish("bob")
      #expect(try await changes(test, "bob") == ["bob"])
      #expect(try await changes(test, "ada") == ["bob"])
      #expect(try await changes(test, "kim") == ["bob"])
      for stranger in ["eve", "mallory", "zoe"] {
        #expect(try await changes(test, stranger).isEmpty, "\(stranger)")
      }
      _ = try await test.desk.revokeKey(of: DeviceID("bob1"), by: TestDesk.caller("bob"))
      #expect(try await changes(test, "ada").count == 2)
      // Neither what changes nothing nor what comes behind the call is heard of.
      _ = try await test.desk.revokeKey(of: DeviceID("bob1"), by: TestDesk.caller("bob"))
      _ = try await test.desk.end(id)
      try await test.publish("bob")
      #expect(try await changes(test, "ada").count == 2)
      #expect(try await changes(test, "bob").count == 3)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who has blocked a caller hears nothing of its keys, and one who was removed is heard of no more`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      try await test.desk.block(ada, by: bob)
      let id = try await test.start("ada", "bob", "eve").call.state.id
      try await test.publish("ada")
      #expect(try await changes(test, "bob").isEmpty)
      #expect(try await changes(test, "eve") == ["ada"])
      // The caller sees no difference.
      try await test.publish("bob")
      #expect(try await changes(test, "ada") == ["ada", "bob"])
      _ = try await test.desk.remove(PersonID("eve"), from: id)
      try await test.publish("eve")
      #expect(try await changes(test, "ada") == ["ada", "bob"])
      #expect(try await changes(test, "eve") == ["ada", "bob", "eve"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one who is erased has no salt, no key and nothing wrapped, and others hear of it`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      try await test.publishEach("bob", "eve")
      let stale = try await test.wrap("k0", for: "bob")
      let id = try await test.startEncrypted("k0", by: "ada", "bob", "eve").call.state.id
      let before = try await test.desk.keyHead()
      try await test.desk.erase(bob)
      #expect(try await changes(test, "ada") == ["bob"])
      #expect(try await changes(test, "eve") == ["bob"])
      #expect(try await test.heardAll("bob").isEmpty)
      let found = try await test.desk.keys(of: bob, from: before.size)
      #expect(found.salt == nil && found.keys.isEmpty && found.head.root == before.root)
      #expect(try await test.unwrapped(id, "bob") == nil)
      #expect(try await test.unwrapped(id, "eve") == "k0")
      #expect(try await test.keptKeys() == 1)
      await #expect(throws: CallProblem.staleKey([], index: nil)) {
        try await test.startEncrypted("zoe", ["bob"], stale)
      }
      await #expect(throws: CallProblem.keyMissing([bob])) {
        try await test.startEncrypted("zoe", ["bob"], [])
      }
      // Who had no key leaves no trace by being erased.
      try await test.desk.erase(PersonID("kim"))
      #expect(try await changes(test, "ada") == ["bob"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `while nothing can be stored no key is published or read`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      _ = try await test.start("ada", "bob")
      await test.store.close()
      await #expect(throws: CallProblem.storeUnavailable) { try await test.publish("bob") }
      await #expect(throws: CallProblem.storeUnavailable) { try await test.desk.keyHead() }
      await #expect(throws: CallProblem.storeUnavailable) { try await test.desk.keys(of: bob, from: nil) }
    }
  }

  @Test func `without a directory there are no keys, and no call is encrypted`() async throws {
    let store = try await Store.open(.memory, log: Log(level: .error) { _ in })
    let desk = CallDesk(
      store: store, outlet: TestDesk.Outlet(), log: Log(level: .error) { _ in },
      random: { (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max)) },
      clock: { CallTime(wall: 1_790_000_000_000, steady: 5_000) })
    let key = try TestDesk.key()
    await #expect(throws: CallProblem.notFound) {
      try await desk.publish(key, of: DeviceID("phone"), by: TestDesk.caller("ada"))
    }
    await #expect(throws: CallProblem.notFound) { try await desk.keys(of: ada, from: nil) }
    await #expect(throws: CallProblem.notFound) { try await desk.keyHead() }
    #expect(desk.logKey == nil)
    var start = CallDesk.Start(id: TestDesk.uuid(), recipients: [bob], media: .audio)
    start.isEncrypted = true
    let wanted = start
    await #expect(throws: CallProblem.keyMissing([bob])) {
      try await desk.start(wanted, by: TestDesk.caller("ada"))
    }
    await store.close()
  }
}
