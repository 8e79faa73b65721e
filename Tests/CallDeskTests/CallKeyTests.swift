import Calls
import Foundation
import KeyDirectory
import KeyLog
import Model
import TestStores
import Testing

@testable import CallDesk

@Suite("Keys of calls", .timeLimit(.minutes(2)))
struct CallKeyTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  // MARK: - The ring and join

  @Test(arguments: StoreKind.allCases)
  func `each device gets the key that was wrapped for it, by the ring and by join`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      try await test.publish("bob")
      try await test.publish("bob", "bob2")
      let entry = try await test.startEncrypted("k0", by: "ada", "bob")
      let id = entry.call.state.id
      #expect(entry.key == nil && entry.call.state.isEncrypted)
      let ring = try #require(test.outlet.rings.first)
      #expect(ring.keys.mapValues(\.word) == [DeviceID("bob1"): "k0", DeviceID("bob2"): "k0"])
      #expect(ring.keys.values.allSatisfy { $0.from == ada && $0.index == 0 })
      #expect(ring.keys[DeviceID("bob2")]?.ciphertext == Array("k0 for bob/bob2".utf8))
      // A device that has no key of its own gets none.
      #expect(try await test.unwrapped(id, "bob", "bob3") == nil)
      let joined = try await test.desk.join(id, by: TestDesk.caller("bob", "bob2"))
      #expect(joined.key == ring.keys[DeviceID("bob2")])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a ring has the head of who rings, and of no other`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      try await test.publishEach("bob", "eve", "zoe")
      let heads = [7, 9].map { CallHead(size: $0, root: String(repeating: "\($0)", count: 64)) }
      let entry = try await test.startEncrypted(
        "ada", ["bob"], try await test.wrap("k0", for: "bob"), head: heads[0])
      let id = entry.call.state.id
      _ = try await test.desk.join(id, by: TestDesk.caller("bob"))
      _ = try await test.desk.invite(
        [eve], to: id, keys: try await test.wrap("k0", for: "eve"), head: heads[1], by: TestDesk.caller("bob")
      )
      _ = try await test.desk.invite(
        [PersonID("zoe")], to: id, keys: try await test.wrap("k0", for: "zoe"), by: TestDesk.caller("bob"))
      #expect(test.outlet.rings.map(\.head) == [heads[0], heads[1], nil])
      #expect(test.outlet.rings.map { $0.keys.values.map(\.from) } == [[ada], [bob], [bob]])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `without a key for every recipient no one is rung`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      try await test.publishEach("bob", "eve")
      let keys = try await test.wrap("k0", for: "bob")
      let id = TestDesk.uuid()
      await #expect(throws: CallProblem.keyMissing([eve, PersonID("zoe")])) {
        try await test.startEncrypted("ada", ["eve", "bob", "zoe", "eve", "ada"], keys, id: id)
      }
      #expect(test.outlet.rings.isEmpty)
      await #expect(throws: CallProblem.notFound) { try await test.desk.call(id) }
      // Nothing is taken of the starts of a minute.
      for _ in 0..<20 { _ = try? await test.startEncrypted("ada", ["eve"], []) }
      _ = try await test.startEncrypted("ada", ["bob"], keys, id: id)
      await #expect(throws: CallProblem.keyMissing([eve])) {
        try await test.desk.invite([eve, bob], to: id, keys: keys, by: TestDesk.caller("ada"))
      }
      #expect(try await test.desk.call(id).state.invited == [bob])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a key that was replaced between start and invite is answered with those of now`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      try await test.publishEach("bob", "eve")
      let old = try await test.wrap("k0", for: "bob", "eve")
      let entry = try await test.startEncrypted("ada", ["bob"], old.filter { $0.person == bob })
      let id = entry.call.state.id
      let (new, tablet) = (try await test.publish("eve"), try await test.publish("eve", "tablet"))
      let now = [
        CurrentKey(person: eve, device: DeviceID("eve1"), keyID: new),
        CurrentKey(person: eve, device: DeviceID("tablet"), keyID: tablet),
      ]
      let ada = TestDesk.caller("ada")
      let stale = old.filter { $0.person == eve }
      await #expect(throws: CallProblem.staleKey(now, index: nil)) {
        try await test.desk.invite([eve], to: id, keys: stale, by: ada)
      }
      await #expect(throws: CallProblem.staleKey(now, index: nil)) {
        try await test.startEncrypted("zoe", ["bob", "eve"], old)
      }
      // One that was revoked is as good as replaced.
      _ = try await test.desk.revokeKey(of: DeviceID("eve1"), by: TestDesk.caller("eve"))
      await #expect(throws: CallProblem.staleKey([now[1]], index: nil)) {
        try await test.desk.invite([eve], to: id, keys: stale, by: ada)
      }
      #expect(test.outlet.rings.map(\.person) == [bob])
      _ = try await test.desk.invite([eve], to: id, keys: try await test.wrap("k0", for: "eve"), by: ada)
      #expect(try await test.unwrapped(id, "eve", "tablet") == "k0")
      #expect(try await test.unwrapped(id, "eve") == nil)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `keys are for encrypted calls, and bounded`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      try await test.publishEach("bob", "eve")
      let keys = try await test.wrap("k0", for: "bob")
      var plain = CallDesk.Start(id: TestDesk.uuid(), recipients: [bob], media: .audio)
      plain.keys = keys
      let wanted = plain
      let ada = TestDesk.caller("ada")
      await #expect(throws: CallProblem.notEncrypted) { try await test.desk.start(wanted, by: ada) }
      let id = try await test.start("ada", "bob").call.state.id
      await #expect(throws: CallProblem.notEncrypted) {
        try await test.desk.invite([eve], to: id, keys: try await test.wrap("k0", for: "eve"), by: ada)
      }
      await #expect(throws: CallProblem.notEncrypted) {
        try await test.desk.changeKey(keys, to: 1, of: id, by: ada)
      }
      #expect(try await test.keptKeys() == 0)
      var long = keys
      long[0].ciphertext = Array(repeating: 7, count: 1_025)
      let tooLong = long
      await #expect(throws: CallProblem.tooLarge("ciphertext")) {
        try await test.startEncrypted("ada", ["bob"], tooLong)
      }
      let many = Array(repeating: keys[0], count: 513)
      await #expect(throws: CallProblem.tooLarge("keys")) {
        try await test.startEncrypted("ada", ["bob"], many)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `32 people with 16 devices each and the longest keys are rung`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let others = (0..<31).map { "p\($0)" }
      var keys: [WrappedKey] = []
      for person in others {
        for device in 0..<16 {
          let name = String(repeating: "d", count: 120) + "\(device)"
          _ = try await test.directory.append(
            try TestDesk.key(), of: person, device: name, at: WallTime(milliseconds: 1)
          ).get()
        }
        for var key in try await test.wrap("k", for: person) {
          key.ciphertext = Array(repeating: UInt8(keys.count % 251), count: 1_024)
          keys.append(key)
        }
      }
      let all = keys
      #expect(all.count == 496)
      let entry = try await test.startEncrypted("ada", others, all)
      #expect(try await test.keptKeys() == 496)
      #expect(test.outlet.rings.count == 31 && test.outlet.rings.allSatisfy { $0.keys.count == 16 })
      // The event of each has none of it: it is read as it is given out.
      let heard = try await test.heard("p0")
      #expect(heard.count == 1 && heard[0].body.count < 512)
      let last = try #require(all.last)
      let key = try await test.desk.callKey(
        of: entry.call.state.id, for: last.person, device: last.device)
      #expect(key?.ciphertext == last.ciphertext && key?.keyID == last.keyID)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the same start again is answered with the same, and with other keys it is another`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      try await test.publishEach("bob", "ada")
      let keys = try await test.wrap("k0", for: "bob")
      let id = TestDesk.uuid()
      let first = try await test.startEncrypted("ada", ["bob"], keys, id: id)
      #expect(try await test.startEncrypted("ada", ["bob"], keys, id: id).session == first.session)
      let others = try await test.wrap("k1", for: "bob")
      await #expect(throws: CallProblem.idTaken) {
        try await test.startEncrypted("ada", ["bob"], others, id: id)
      }
      let head = CallHead(size: 1, root: String(repeating: "0", count: 64))
      await #expect(throws: CallProblem.idTaken) {
        try await test.startEncrypted("ada", ["bob"], keys, id: id, head: head)
      }
      #expect(try await test.unwrapped(id, "bob") == "k0")
      // Who calls back meanwhile joins this call, with its key, and the other one is no one's.
      let back = try await test.startEncrypted("k9", by: "bob", "ada")
      #expect(back.isMerged && back.key?.word == "k0" && back.key?.from == ada)
      #expect(try await test.unwrapped(id, "ada") == nil)
      #expect(try await test.keptKeys() == 1)
    }
  }

  // MARK: - Who reads it

  @Test(arguments: StoreKind.allCases)
  func `no stranger, none who was removed and no one of an ended call reads a key`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      try await test.publishEach("bob", "eve", "kim", "mallory")
      let entry = try await test.startEncrypted("k0", by: "ada", "bob", "eve", "kim")
      let id = entry.call.state.id
      for call in [id, TestDesk.uuid()] {
        await #expect(throws: CallProblem.notFound) { try await test.unwrapped(call, "mallory") }
        // Also not by the name of a device of another.
        await #expect(throws: CallProblem.notFound) { try await test.unwrapped(call, "mallory", "bob1") }
      }
      #expect(try await test.unwrapped(id, "ada", "bob1") == nil)
      #expect(try await test.unwrapped(id, "bob") == "k0")
      for person in ["bob", "kim"] { _ = try await test.desk.join(id, by: TestDesk.caller(person)) }
      _ = try await test.desk.remove(bob, from: id)
      #expect(try await test.unwrapped(id, "bob") == nil)
      // One who has left may come back, and needs it then.
      _ = try await test.desk.leave(id, by: TestDesk.caller("eve"), reason: .rejected)
      #expect(try await test.unwrapped(id, "eve") == "k0")
      #expect(try await test.desk.join(id, by: TestDesk.caller("eve")).key?.word == "k0")
      _ = try await test.desk.end(id)
      #expect(try await test.unwrapped(id, "eve") == nil)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one who was removed isn't answered the key of its own start again`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      try await test.publishEach("ada", "bob", "eve")
      let keys = try await test.wrap("k0", for: "ada", "bob", "eve")
      let id = TestDesk.uuid()
      #expect(try await test.startEncrypted("ada", ["bob", "eve"], keys, id: id).key?.word == "k0")
      _ = try await test.desk.join(id, by: TestDesk.caller("bob"))
      _ = try await test.desk.join(id, by: TestDesk.caller("eve"))
      _ = try await test.desk.remove(ada, from: id)
      #expect(try await test.startEncrypted("ada", ["bob", "eve"], keys, id: id).key == nil)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who has blocked the caller is rung by no key, until another one rings`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      try await test.publishEach("bob", "eve")
      try await test.desk.block(ada, by: bob)
      let entry = try await test.startEncrypted("k0", by: "ada", "bob", "eve")
      let id = entry.call.state.id
      #expect(test.outlet.rings.map(\.person) == [eve])
      await #expect(throws: CallProblem.notFound) { try await test.unwrapped(id, "bob") }
      let theirs = try await test.desk.join(id, by: TestDesk.caller("eve"))
      await test.media(true, ("ada", entry), ("eve", theirs))
      await test.pass(30_000)
      let keys = try await test.wrap("k0 again", for: "bob")
      _ = try await test.desk.invite([bob], to: id, keys: keys, by: TestDesk.caller("eve"))
      #expect(try await test.unwrapped(id, "bob") == "k0 again")
      let key = try await test.desk.callKey(of: id, for: bob, device: DeviceID("bob1"))
      #expect(key?.from == eve)
    }
  }

  // MARK: - Its end

  @Test(arguments: StoreKind.allCases)
  func `a minute behind the call its keys are gone, and those of others stay`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      try await test.publishEach("bob", "eve")
      let over = try await test.startEncrypted("k0", by: "ada", "bob").call.state.id
      let on = try await test.startEncrypted("k1", by: "zoe", "eve").call.state.id
      _ = try await test.desk.end(over)
      test.clock.move(59_999)
      await test.desk.tidy()
      #expect(try await test.keptKeys() == 2)
      test.clock.move(1)
      await test.desk.tidy()
      #expect(try await test.keptKeys() == 1)
      #expect(try await test.unwrapped(on, "eve") == "k1")
      // Nothing of it is among what people have heard.
      for event in try await test.heardAll("bob") {
        #expect(!String(decoding: event.body, as: UTF8.self).contains("k0"))
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `keys outlive a restart, and the number of the last one`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      try await test.publishEach("bob")
      let head = CallHead(size: 1, root: String(repeating: "a", count: 64))
      let id = try await test.startEncrypted(
        "ada", ["bob"], try await test.wrap("k0", for: "bob"), head: head
      ).call.state.id
      _ = try await test.desk.changeKey(
        try await test.wrap("k5", for: "bob"), to: 5, of: id, by: TestDesk.caller("ada"))
      try await test.again(after: 1_000) { back in
        _ = try await back.desk.recover()
        let state = try await back.desk.call(id).state
        #expect(state[bob]?.ring?.head == head)
        #expect(try await back.unwrapped(id, "bob") == "k5")
        let keys = try await back.wrap("k4", for: "bob")
        await #expect(throws: CallProblem.idTaken) {
          try await back.desk.changeKey(keys, to: 4, of: id, by: TestDesk.caller("ada"))
        }
        let joined = try await back.desk.join(id, by: TestDesk.caller("bob"))
        #expect(joined.key?.word == "k5" && joined.key?.index == 5)
      }
    }
  }
}
