import Calls
import Foundation
import KeyDirectory
import Storage
import TestStores
import Testing

@testable import CallDesk

@Suite("Erasing people with a large history", .timeLimit(.minutes(2)))
struct ErasureTests {
  private static let count = 700
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  /// All that there is of a person and goes with it.
  private static let rows: SQLStatement = """
    SELECT (SELECT count(*) FROM call_events WHERE person = $1) + (SELECT count(*) FROM call_answers WHERE person = $1)
      + (SELECT count(*) FROM call_deliveries WHERE person = $1) + (SELECT count(*) FROM call_keys WHERE person = $1)
      + (SELECT count(*) FROM blocks WHERE person = $1 OR blocked = $1)
      + (SELECT count(*) FROM devices WHERE person = $1) + (SELECT count(*) FROM key_people WHERE person = $1)
      + (SELECT count(*) FROM key_entries WHERE person = $1)
      + (SELECT count(*) FROM current_keys WHERE person = $1) + (SELECT count(*) FROM erasures WHERE person = $1)
    """

  private func rows(_ test: TestDesk, of person: String) async throws -> Int64 {
    try await test.store.read { transaction throws(StoreError) in
      try transaction.run(Self.rows, [.bytes(of: person)]).first?.integer(0) ?? 0
    }
  }

  /// Gives a person who has come as much of each as takes many transactions.
  private func fill(_ test: TestDesk, of person: String) async throws {
    let (name, now) = (SQLValue.bytes(of: person), SQLValue.integer(test.clock.now.wall))
    let numbers = 1...Self.count
    // Each has one place in the log.
    let leaf = 1_000_000 + (person == "bob" ? 0 : Self.count)
    try await test.store.write(bytes: 1) { transaction throws(StoreError) in
      try transaction.run(
        "INSERT INTO call_events (person, number, time, kind, body) VALUES ($1, $2, $3, 'key.changed', $1)",
        each: numbers.map { [name, .integer(1_000 + $0), now] })
      try transaction.run("UPDATE persons SET last_event = 9000 WHERE person = $1", [name])
      let texts = (1...Self.count).map { SQLValue.bytes(of: "n\($0)") }
      try transaction.run(
        "INSERT INTO call_answers (person, request, content, time, body) VALUES ($1, $2, $1, $3, $1)",
        each: texts.map { [name, $0, now] })
      try transaction.run(
        """
        INSERT INTO call_deliveries (call, person, device, ring, kind, platform, state, reason, time, tries)
        VALUES ('c', $1, $2, 'r', 'ring', 'webhook', 'delivered', '', $3, 1)
        """, each: texts.map { [name, $0, now] })
      try transaction.run(
        "INSERT INTO blocks (person, blocked, time) VALUES ($2, $1, $3)", each: texts.map { [name, $0, now] })
      try transaction.run(
        """
        INSERT INTO call_keys (call, person, device, round, key_id, sender, ciphertext)
        VALUES ('c', $1, $2, 0, $1, $1, $1)
        """, each: texts.map { [name, $0] })
      try transaction.run(
        """
        INSERT INTO key_entries (leaf, person, device, algorithm, public_key, time)
        VALUES ($2, $1, $1, 0, $1, $3)
        """, each: numbers.map { [name, .integer(leaf + $0), now] })
    }
  }

  /// One who has come, with a name, a device, a key and a block, and much else.
  private func comes(_ person: String, _ test: TestDesk) async throws {
    try await test.publish(person)
    _ = try await test.desk.register(
      Device(DeviceID("phone"), platform: .webhook, topic: "", token: "of \(person)"),
      by: TestDesk.caller(person))
    try await test.desk.block(PersonID("zoe"), by: PersonID(person))
    try await fill(test, of: person)
  }

  @Test(arguments: StoreKind.allCases)
  func `nothing is shown of who is being erased, and what is kept goes some at a time`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      for person in ["bob", "eve"] { try await comes(person, test) }
      let others = try await rows(test, of: "eve")
      try await test.desk.beginErasing(bob)
      let listed = try await test.desk.people(after: nil, limit: 9)
      #expect(listed.map(\.person) == [eve])
      #expect(try await test.desk.devices(of: bob).devices.isEmpty)
      #expect(try await test.desk.blocks(of: bob).people.isEmpty)
      #expect(try await test.desk.events(of: bob, after: 0, limit: 9).isGone)
      #expect(try await test.desk.keys(of: bob, from: nil).salt == nil)
      // By another key the entries of before would be found.
      await #expect(throws: CallProblem.tooMany(wait: 1_000)) { try await test.publish("bob") }
      var (steps, left) = (0, try await rows(test, of: "bob"))
      #expect(left > Int64(6 * Self.count))
      while try await test.desk.eraseSome(of: bob) {
        let before = left
        left = try await rows(test, of: "bob")
        steps += 1
        #expect(before - left <= Int64(Portion.mostRows) && before > left)
      }
      #expect(steps >= 6 * Self.count / Portion.mostRows)
      #expect(try await rows(test, of: "bob") == 0)
      #expect(try await rows(test, of: "eve") == others)
      try await test.publish("bob")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a server that ended on the way goes on with it as it starts`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      for person in ["bob", "eve"] { try await comes(person, test) }
      let others = try await rows(test, of: "eve")
      for person in [bob, ada] { try await test.desk.beginErasing(person) }
      #expect(try await test.desk.eraseSome(of: bob))
      try await test.again(after: 1_000) { back in
        let left = try await rows(back, of: "bob")
        #expect(left > 0)
        await back.desk.tidy()
        #expect(try await rows(back, of: "bob") == 0)
        #expect(try await rows(back, of: "ada") == 0)
        #expect(try await rows(back, of: "eve") == others)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who comes back while it goes on keeps what has come since`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      try await comes("bob", test)
      try await test.desk.beginErasing(bob)
      let gone = try await test.desk.state(of: bob).last
      test.clock.move(1_000)
      let caller = Caller(
        bob, name: "Robert", device: DeviceID("bob1"), apiKey: "devkey", issuedAt: test.clock.now.wall)
      _ = try await test.desk.register(
        Device(DeviceID("tablet"), platform: .webhook, topic: "", token: "another"), by: caller)
      let call = try await test.start("ada", "bob").call.state.id
      try await test.desk.block(bob, by: eve)
      try await test.desk.keep([7], to: "key", content: [1], by: bob)
      while try await test.desk.eraseSome(of: bob) {}
      #expect(try await test.desk.call(call, for: ada).names[bob] == "Robert")
      #expect(try await test.desk.devices(of: bob).devices.map(\.id.text) == ["tablet"])
      #expect(try await test.kinds("bob", after: gone) == [.ringing])
      #expect(try await test.desk.blocks(of: eve).people == [bob])
      #expect(try await test.desk.answer(to: "key", content: [1], by: bob) == [7])
    }
  }

  // MARK: - Times ahead of now

  @Test(arguments: StoreKind.allCases)
  func `what a clock has written that was ahead goes too, and what comes meanwhile stays`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      try await comes("bob", test)
      try await test.desk.block(bob, by: eve)
      test.clock.jump(-3_600_000)
      try await test.desk.beginErasing(bob)
      // At the same moment; one of them has blocked bob before, and does so once more.
      for person in [eve, ada] { try await test.desk.block(bob, by: person) }
      try await test.desk.keep([7], to: "key", content: [1], by: bob)
      while try await test.desk.eraseSome(of: bob) {}
      #expect(try await test.desk.blocks(of: eve).people == [bob])
      #expect(try await test.desk.blocks(of: ada).people == [bob])
      #expect(try await test.desk.answer(to: "key", content: [1], by: bob) == [7])
      #expect(try await rows(test, of: "bob") == 3)
      // Asked once more those go as well.
      try await test.desk.erase(bob)
      #expect(try await rows(test, of: "bob") == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a ring that one was spared leaves nothing of it, though it seems to arrive a moment later`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      _ = try await test.desk.register(
        Device(DeviceID("phone"), platform: .webhook, topic: "", token: "t"), by: TestDesk.caller("bob"))
      try await test.desk.block(ada, by: bob)
      _ = try await test.start("ada", "bob")
      let unheard: SQLStatement = "SELECT count(*) FROM call_deliveries WHERE person = $1 AND time > $2"
      let (name, now) = (SQLValue.bytes(of: "bob"), SQLValue.integer(test.clock.now.wall))
      let ahead = try await test.store.read { transaction throws(StoreError) in
        try transaction.run(unheard, [name, now]).first?.integer(0)
      }
      #expect(ahead == 1)
      try await test.desk.erase(bob)
      #expect(try await rows(test, of: "bob") == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what is said of a push that was under way is written down for devices alone that came later`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      for device in ["phone", "tablet"] {
        _ = try await test.desk.register(
          Device(DeviceID(device), platform: .webhook, topic: "", token: device), by: TestDesk.caller("bob"))
      }
      let id = try await test.start("ada", "bob").call.state.id
      try await test.desk.erase(bob)
      // By a token of before: it stays erased.
      _ = try await test.desk.register(
        Device(DeviceID("tablet"), platform: .webhook, topic: "", token: "tablet"),
        by: TestDesk.caller("bob"))
      try await test.desk.keep(
        ["phone", "tablet"].map { device in
          CallDelivery(
            call: id, person: bob, device: DeviceID(device), ring: TestDesk.uuid(), kind: .ring,
            platform: "webhook", state: "delivered", reason: "", time: test.clock.now.wall, tries: 1)
        })
      let kept = try await test.desk.deliveries(of: id, for: nil, limit: 9).items
      #expect(kept.map(\.device.text) == ["tablet"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a clock that was set back between two erasures brings no name back by a token of before`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      try await test.publish("bob")
      let erased = test.clock.now.wall
      try await test.desk.erase(bob)
      test.clock.jump(-3_600_000)
      try await test.desk.erase(bob)
      let steps: [(Int64, [PersonID])] = [(erased, []), (erased + 1, [bob])]
      for (issued, people) in steps {
        try await test.desk.noteReader(
          Caller(bob, name: "Robert", device: DeviceID("bob1"), apiKey: "devkey", issuedAt: issued))
        #expect(try await test.desk.people(after: nil, limit: 9).map(\.person) == people)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a device that can't be read goes with its person`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      try await comes("bob", test)
      try await test.store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run("UPDATE devices SET platform = 'pigeon'")
      }
      try await test.desk.erase(bob)
      #expect(try await rows(test, of: "bob") == 0)
      #expect(test.outlet.all.flatMap(\.devicesGone).map(\.device.text) == ["phone"])
    }
  }

  /// Words that stand nowhere but in what is kept of bob.
  private static let (name, token) = ("Bob of the seven hills", "a token that is bob's")
  private static let payload = "QmVsb25nc1RvQm9i"

  private func found(in directory: String) throws -> [Bool] {
    let bytes = try Data(contentsOf: URL(filePath: "\(directory)/roost.db"))
    let log = (try? Data(contentsOf: URL(filePath: "\(directory)/roost.db-wal"))) ?? Data()
    return [Self.name, Self.token, Self.payload].map { word in
      bytes.range(of: Data(word.utf8)) != nil || log.range(of: Data(word.utf8)) != nil
    }
  }

  @Test func `nothing that is erased is left in SQLite's file`() async throws {
    let directory = temporaryDirectory()
    try await TestDesk.with(.sqlite, at: .directory(directory)) { test in
      var caller = TestDesk.caller("bob")
      caller.name = Self.name
      _ = try await test.desk.register(
        Device(DeviceID("phone"), platform: .webhook, topic: "", token: Self.token), by: caller)
      let call = try await test.start("ada", "bob").call.state.id
      // Of some kilobytes each, so that they take pages of their own.
      let payload = String(repeating: Self.payload, count: 1_000)
      for _ in 0..<3 {
        _ = try await test.desk.signal(
          CallDesk.Signal(id: TestDesk.uuid(), to: bob, kind: "offer", payload: payload), in: call,
          by: TestDesk.caller("ada"))
      }
    }
    #expect(try found(in: directory) == [true, true, true])
    try await TestDesk.with(.sqlite, at: .directory(directory)) { test in try await test.desk.erase(bob) }
    #expect(try found(in: directory) == [false, false, false])
  }
}
