import Calls
import Foundation
import KeyDirectory
import TestStores
import Testing

@testable import CallDesk

@Suite("Another key for a call", .timeLimit(.minutes(2)))
struct CallKeyChangeTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  /// An encrypted call of ada, bob and eve, all of whom are in it.
  private func together(_ test: TestDesk) async throws -> CallUUID {
    try await test.publishEach("ada", "bob", "eve")
    let entry = try await test.startEncrypted("k0", by: "ada", "bob", "eve")
    let id = entry.call.state.id
    var entries = [("ada", entry)]
    for person in ["bob", "eve"] {
      entries.append((person, try await test.desk.join(id, by: TestDesk.caller(person))))
    }
    for (person, entry) in entries { await test.media(true, (person, entry)) }
    return id
  }

  private func bodies(_ test: TestDesk, _ person: String) async throws -> [CallKeyBody] {
    try await test.heardAll(person).filter { $0.kind == .callKey }
      .map { try JSONDecoder().decode(CallKeyBody.self, from: Data($0.body)) }
  }

  @Test(arguments: StoreKind.allCases)
  func `the others hear of it, each device gets its own, and a join brings the last one`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let id = try await together(test)
      let keys = try await test.wrap("k1", for: "ada", "bob")
      _ = try await test.desk.leave(id, by: TestDesk.caller("eve"), reason: .userLeft)
      let changed = try await test.desk.changeKey(keys, to: 1, of: id, by: TestDesk.caller("ada"))
      #expect(changed.index == 1 && changed.people == [ada, bob])
      #expect(try await bodies(test, "bob") == [CallKeyBody(index: 1, from: ada)])
      #expect(try await bodies(test, "ada").isEmpty)
      #expect(try await bodies(test, "eve").isEmpty)
      #expect(try await test.unwrapped(id, "bob") == "k1")
      #expect(try await test.unwrapped(id, "ada") == "k1")
      // Who has left has no part in it, nor anything of the one before.
      #expect(try await test.unwrapped(id, "eve") == nil)
      #expect(try await test.desk.join(id, by: TestDesk.caller("eve")).key == nil)
      let moved = try await test.desk.join(id, by: TestDesk.caller("bob"))
      #expect(moved.key?.index == 1 && moved.key?.from == ada)
      // And an invitation now has to bring that very key.
      let zoe = PersonID("zoe")
      try await test.publishEach("zoe")
      let wrapped = try await test.wrap("k1", for: "zoe")
      for index in [Int64(0), 2] {
        await #expect(throws: CallProblem.staleKey([], index: 1)) {
          try await test.desk.invite([zoe], to: id, keys: wrapped, index: index, by: TestDesk.caller("bob"))
        }
      }
      _ = try await test.desk.invite([zoe], to: id, keys: wrapped, index: 1, by: TestDesk.caller("bob"))
      #expect(test.outlet.rings.last?.keys[DeviceID("zoe1")]?.index == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the same again is answered as before; another by a number that was, and an earlier one, are refused`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let id = try await together(test)
      let (mine, theirs) = (TestDesk.caller("ada"), TestDesk.caller("bob"))
      let keys = try await test.wrap("k3", for: "bob", "eve")
      let other = try await test.wrap("x3", for: "bob", "eve")
      let bobs = try await test.wrap("y3", for: "ada", "eve")
      for _ in 0..<3 {
        #expect(try await test.desk.changeKey(keys, to: 3, of: id, by: mine).people == [bob, eve])
      }
      #expect(try await bodies(test, "eve").count == 1)
      await #expect(throws: CallProblem.idTaken) {
        try await test.desk.changeKey(other, to: 3, of: id, by: mine)
      }
      for index in [Int64(0), 1, 2, 3, -1] {
        await #expect(throws: CallProblem.idTaken) {
          try await test.desk.changeKey(bobs, to: index, of: id, by: theirs)
        }
      }
      #expect(try await test.desk.changeKey(bobs, to: 4, of: id, by: theirs).index == 4)
      // Behind that one too, and nothing is changed by it.
      #expect(try await test.desk.changeKey(keys, to: 3, of: id, by: mine).index == 3)
      #expect(try await test.unwrapped(id, "eve") == "y3")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `no one takes all numbers that others could use, nor wears out what they hear`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let id = try await together(test)
      let keys = try await test.wrap("k", for: "ada", "bob", "eve")
      for index in [Int64.max, 1_001] {
        await #expect(throws: CallProblem.tooLarge("index")) {
          try await test.desk.changeKey(keys, to: index, of: id, by: TestDesk.caller("eve"))
        }
      }
      _ = try await test.desk.changeKey(keys, to: 1_000, of: id, by: TestDesk.caller("eve"))
      for index in 1_001..<1_020 {
        _ = try await test.desk.changeKey(keys, to: Int64(index), of: id, by: TestDesk.caller("eve"))
      }
      await #expect(throws: CallProblem.tooMany(wait: 60_000)) {
        try await test.desk.changeKey(keys, to: 1_020, of: id, by: TestDesk.caller("eve"))
      }
      // Another one isn't held up.
      _ = try await test.desk.changeKey(keys, to: 1_020, of: id, by: TestDesk.caller("bob"))
      test.clock.move(60_000)
      await #expect(throws: CallProblem.tooLarge("ciphertext")) {
        try await test.desk.changeKey(
          keys.map { WrappedKey($0.person, $0.device, keyID: $0.keyID, ciphertext: []) }, to: 1_021, of: id,
          by: TestDesk.caller("eve"))
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `everyone who is rung or in the call needs one, but for those who have no key any more`(
    kind: StoreKind
  )
    async throws
  {
    try await TestDesk.with(kind) { test in
      let id = try await together(test)
      try await test.publishEach("zoe")
      _ = try await test.desk.invite(
        [PersonID("zoe")], to: id, keys: try await test.wrap("k0", for: "zoe"), by: TestDesk.caller("bob"))
      let keys = try await test.wrap("k1", for: "bob")
      let mine = TestDesk.caller("ada")
      await #expect(throws: CallProblem.keyMissing([eve, PersonID("zoe")])) {
        try await test.desk.changeKey(keys, to: 1, of: id, by: mine)
      }
      _ = try await test.desk.leave(id, by: TestDesk.caller("zoe"), reason: .rejected)
      // Whom none can be wrapped for, it is for no longer; and one of its own that was replaced is stale.
      let eves = try await test.wrap("k1", for: "eve")
      _ = try await test.desk.revokeKey(of: DeviceID("eve1"), by: TestDesk.caller("eve"))
      await #expect(throws: CallProblem.staleKey([], index: nil)) {
        try await test.desk.changeKey(keys + eves, to: 1, of: id, by: mine)
      }
      #expect(try await test.desk.changeKey(keys, to: 1, of: id, by: mine).people == [bob])
      #expect(try await test.unwrapped(id, "eve") == nil)
      #expect(try await test.unwrapped(id, "bob") == "k1")
      // It hears that there is another, and that it has none.
      #expect(try await bodies(test, "eve") == [CallKeyBody(index: 1, from: ada)])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `it is for people who are in the call, and reaches none who was removed or never was of it`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let id = try await together(test)
      try await test.publishEach("mallory", "zoe")
      let keys = try await test.wrap("k1", for: "ada", "bob", "eve", "mallory")
      for call in [id, TestDesk.uuid()] {
        await #expect(throws: CallProblem.notFound) {
          try await test.desk.changeKey(keys, to: 1, of: call, by: TestDesk.caller("mallory"))
        }
      }
      _ = try await test.desk.invite(
        [PersonID("zoe")], to: id, keys: try await test.wrap("k0", for: "zoe"), by: TestDesk.caller("ada"))
      await #expect(throws: CallProblem.notAllowed) {
        try await test.desk.changeKey(keys, to: 1, of: id, by: TestDesk.caller("zoe"))
      }
      _ = try await test.desk.leave(id, by: TestDesk.caller("zoe"), reason: .rejected)
      _ = try await test.desk.remove(eve, from: id)
      await #expect(throws: CallProblem.removed) {
        try await test.desk.changeKey(keys, to: 1, of: id, by: TestDesk.caller("eve"))
      }
      let changed = try await test.desk.changeKey(keys, to: 1, of: id, by: TestDesk.caller("bob"))
      #expect(changed.people == [ada, bob])
      #expect(try await test.unwrapped(id, "eve") == nil)
      #expect(try await bodies(test, "eve").isEmpty)
      #expect(try await bodies(test, "mallory").isEmpty)
      _ = try await test.desk.end(id)
      await #expect(throws: CallProblem.callEnded) {
        try await test.desk.changeKey(keys, to: 2, of: id, by: TestDesk.caller("bob"))
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `of two who change it at once one does, and the other by the next number`(kind: StoreKind) async throws
  {
    try await TestDesk.with(kind) { test in
      let id = try await together(test)
      let keys = try await test.wrap("k1", for: "ada", "bob", "eve")
      let done = await withTaskGroup(of: Result<Int64, CallProblem>.self) { group in
        for person in ["ada", "bob", "eve"] {
          group.addTask {
            do throws(CallProblem) {
              return .success(
                try await test.desk.changeKey(keys, to: 1, of: id, by: TestDesk.caller(person)).index)
            } catch { return .failure(error) }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(done.count { $0 == .success(1) } == 1 && done.count { $0 == .failure(.idTaken) } == 2)
      #expect(try await test.desk.changeKey(keys, to: 2, of: id, by: TestDesk.caller("eve")).index == 2)
    }
  }
}
