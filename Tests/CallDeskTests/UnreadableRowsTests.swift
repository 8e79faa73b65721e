import Calls
import Logging
import Storage
import Synchronization
import TestStores
import Testing

@testable import CallDesk

@Suite("Rows of calls that can't be understood", .timeLimit(.minutes(2)))
struct UnreadableRowsTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  private func write(
    _ store: Store, _ statement: SQLStatement, _ values: [SQLValue] = []
  ) async throws(StoreError) {
    try await store.write(bytes: 1) { transaction throws(StoreError) in
      try transaction.run(statement, values)
    }
  }

  private func count(
    _ test: TestDesk, _ statement: SQLStatement, _ values: [SQLValue] = []
  ) async throws(StoreError) -> Int64? {
    try await test.store.read { transaction throws(StoreError) in
      try transaction.run(statement, values).first?.integer(0)
    }
  }

  private func spoil(_ call: CallUUID, _ store: Store) async throws(StoreError) {
    try await write(store, "UPDATE calls SET state = $1 WHERE id = $2", [.bytes(of: "{"), .text(call.text)])
  }

  private static let waiting: SQLStatement =
    "SELECT count(*) FROM calls WHERE id = $1 AND (ended IS NULL OR deadline IS NOT NULL)"

  @Test(arguments: StoreKind.allCases)
  func
    `where an erasure can't be read all that is old is forgotten all the same, and others come to their end`(
      kind: StoreKind
    )
    async throws
  {
    try await TestDesk.with(kind) { test in
      try await test.desk.keep([7], to: "key", content: [1], by: ada)
      test.clock.move(86_400_001)
      try await write(
        test.store, "INSERT INTO erasures (person, time, event) VALUES ($1, 0, 0)", [.bytes([0xFF])])
      // One behind it comes to its end.
      try await write(
        test.store, "INSERT INTO erasures (person, time, event) VALUES ($1, 1, 0)", [.bytes(of: "kim")])
      let answers: SQLStatement = "SELECT count(*) FROM call_answers"
      #expect(try await count(test, answers) == 1)
      await test.desk.tidy()
      #expect(try await count(test, answers) == 0)
      let erased: SQLStatement = "SELECT count(*) FROM erasures WHERE person = $1"
      #expect(try await count(test, erased, [.bytes(of: "kim")]) == 0)
      #expect(try await count(test, erased, [.bytes([0xFF])]) == 1)
    }
  }

  // MARK: - Calls

  @Test(arguments: StoreKind.allCases)
  func `a call that can't be read is refused alone, and over once its time is, with time going on for all`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let old = try await test.start("ada", "bob").call.state.id
      _ = try await test.desk.leave(old, by: TestDesk.caller("ada"), reason: .userLeft)
      test.clock.move(1_000)
      let broken = try await test.start("ada", "bob").call.state.id
      _ = try await test.desk.join(broken, by: TestDesk.caller("bob"))
      let sound = try await test.start("eve", "kim")
      try await spoil(broken, test.store)
      await #expect(throws: CallProblem.storeUnavailable) { try await test.desk.call(broken, for: ada) }
      // No one is busy in it, and it hides none of the others in histories and in how all stands.
      _ = try await test.start("zoe", "bob")
      #expect(test.outlet.rings.count { $0.person == bob } == 3)
      let page = try await test.desk.calls(of: ada, limit: 1)
      #expect(page.calls.map(\.state.id) == [old] && page.next == nil)
      #expect(try await test.desk.state(of: ada).calls.isEmpty)
      await test.pass(30_000)
      #expect(try await test.call(sound, for: "eve").isEnded)
      #expect(try await count(test, Self.waiting, [.text(broken.text)]) == 0)
    }
  }

  @Test(arguments: StoreKind.allCases, [0, 1])
  func `who is in two calls is busy by the one that can be read, whichever that is`(
    kind: StoreKind, broken: Int
  ) async throws {
    try await TestDesk.with(kind) { test in
      // In one of them nothing is waited for, and in the other one who is rung.
      let first = try await test.talk("ada", "bob").0.call.state.id
      let second = try await test.start("bob", "kim").call.state.id
      try await spoil([first, second][broken], test.store)
      let busy = try await test.start("zoe", "bob").call.state
      #expect(busy[bob]?.leaveReason == .busy && busy.end?.outcome == .busy)
      try await spoil([second, first][broken], test.store)
      #expect(try await test.start("zoe", "bob").call.state.invited == [bob])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a page has as many calls as are asked for, however many among them can't be read`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      var calls: [CallUUID] = []
      for _ in 0..<6 {
        test.clock.move(1_000)
        let id = try await test.start("ada", "bob").call.state.id
        _ = try await test.desk.leave(id, by: TestDesk.caller("ada"), reason: .userLeft)
        calls.insert(id, at: 0)
        test.clock.move(60_000)
      }
      for place in [0, 1, 3] { try await spoil(calls[place], test.store) }
      let page = try await test.desk.calls(of: ada, limit: 2)
      #expect(page.calls.map(\.state.id) == [calls[2], calls[4]])
      let next = try #require(page.next)
      let last = try await test.desk.calls(of: ada, before: next, limit: 2)
      #expect(last.calls.map(\.state.id) == [calls[5]] && last.next == nil)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `media is written down beside a call that can't be read, and in it nothing waits`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let (mine, answered) = try await test.talk("ada", "bob")
      let theirs = try await test.start("eve", "kim")
      let other = try await test.desk.join(theirs.call.state.id, by: TestDesk.caller("kim"))
      try await spoil(mine.call.state.id, test.store)
      test.desk.media(.lost, of: bob, stay: answered.session, inRoom: try #require(mine.call.room))
      await test.media(true, ("ada", mine), ("eve", theirs), ("kim", other))
      #expect(!test.desk.hasUnwrittenPresence)
      #expect(try await test.call(theirs, for: "eve").connectedAt != nil)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `at the start calls that can't be read are over, however many they are, and the others go on`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      // They stand before it, and are more than are read at once.
      try await test.store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run(
          """
          INSERT INTO calls (id, room, api_key, created, ended, deadline, clock, request, state)
          VALUES ($1, NULL, $2, 0, NULL, NULL, 0, $2, $2)
          """, each: (0..<100).map { [.text("!\($0)"), .bytes([])] })
      }
      try await test.again(after: 1_000) { back in
        let recovered = try await back.desk.recover()
        #expect(recovered.rooms == [try #require(entry.call.room)] && recovered.calls == 1)
        #expect(try await back.desk.runningRings().map(\.ring.person) == [bob])
        #expect(try await count(back, "SELECT count(*) FROM calls WHERE ended IS NULL") == 1)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `steps of what can't be read are left out, and go with their calls`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let (id, session) = (mine.call.state.id, TestDesk.uuid())
      _ = try await test.desk.startSession(session, in: id, experience: "story", by: TestDesk.caller("ada"))
      let broken = try await test.start("eve", "kim").call.state.id
      #expect(try await test.desk.unsaidSteps().count == 4)
      try await write(
        test.store, "UPDATE shared_sessions SET state = $1 WHERE id = $2",
        [.bytes(of: "{"), .text(session.text)])
      try await spoil(broken, test.store)
      let steps = try await test.desk.unsaidSteps()
      #expect(steps.map(\.kind) == [.started, .answered] && steps.allSatisfy { $0.call.id == id })
      _ = try await test.desk.leave(id, by: TestDesk.caller("ada"), reason: .userLeft)
      await test.pass(30_000)
      test.clock.move(181 * 86_400_000)
      await test.desk.tidy()
      #expect(try await count(test, "SELECT count(*) FROM calls") == 0)
      #expect(try await count(test, "SELECT count(*) FROM call_steps") == 0)
    }
  }

  // MARK: - Devices, deliveries, keys and events

  @Test(arguments: StoreKind.allCases, ["devices", "call_deliveries", "call_keys"])
  func `a row of no known kind fails what asks for it, and no other write`(kind: StoreKind, table: String)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      let id = entry.call.state.id
      switch table {
      case "devices":
        _ = try await test.desk.register(
          Device(DeviceID("phone"), platform: .webhook, topic: "", token: "t"), by: TestDesk.caller("bob"))
        try await write(test.store, "UPDATE devices SET platform = 'pigeon'")
      case "call_deliveries":
        try await test.desk.keep([
          CallDelivery(
            call: id, person: bob, device: DeviceID("phone"), ring: TestDesk.uuid(), kind: .ring,
            platform: "webhook", state: "delivered", reason: "", time: 1, tries: 1)
        ])
        try await write(test.store, "UPDATE call_deliveries SET kind = 'other'")
      default:
        try await write(
          test.store,
          """
          INSERT INTO call_keys (call, person, device, round, key_id, sender, ciphertext)
          VALUES ($1, $2, $2, 0, $2, $2, $2)
          """, [.text(id.text), .bytes(of: "bob")])
      }
      let error = await #expect(throws: StoreError.self) {
        try await test.store.read { transaction throws(StoreError) -> Void in
          switch table {
          case "devices": _ = try DeviceRecords.all(of: bob, transaction)
          case "call_deliveries":
            _ = try DeliveryRecords.page(of: id, person: bob, since: 0, before: nil, limit: 9, transaction)
          default: _ = try CallKeyRecords.keys(of: bob, in: id, transaction)
          }
        }
      }
      #expect(error?.reason == "unreadable")
      // One that was asked for at the same time, and is of another person.
      _ = try await test.start("eve", "kim")
      #expect(try await test.kinds("kim") == [.ringing])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an event of no known kind is left out, and who reads goes on behind it`(kind: StoreKind) async throws
  {
    try await TestDesk.with(kind) { test in
      let id = try await test.start("ada", "bob").call.state.id
      for number in 0..<5 {
        _ = try await test.desk.change(id, CallChange(metadata: "\(number)"), by: TestDesk.caller("ada"))
      }
      try await write(
        test.store, "UPDATE call_events SET kind = 'call.later' WHERE person = $1 AND number IN (2, 3, 6)",
        [.bytes(of: "bob")])
      let first = try await test.desk.events(of: bob, after: 1, limit: 2)
      #expect(first.events.isEmpty && first.reached == 3 && first.last == 6 && !first.isGone)
      let second = try await test.desk.events(of: bob, after: first.reached, limit: 2)
      #expect(second.events.map(\.number) == [4, 5] && second.reached == 5)
      let third = try await test.desk.events(of: bob, after: second.reached, limit: 2)
      #expect(third.events.isEmpty && third.reached == 6)
      let last = try await test.desk.events(of: bob, after: 6, limit: 2)
      #expect(last.events.isEmpty && last.reached == 6 && !last.isGone)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a person of whose events more are gone than there were reads how all stands`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      _ = try await test.start("ada", "bob")
      try await write(
        test.store, "UPDATE persons SET gone_event = last_event + 5 WHERE person = $1", [.bytes(of: "bob")])
      for number in [Int64(0), 1, 6, .max] {
        let page = try await test.desk.events(of: bob, after: number, limit: 9)
        #expect(page.isGone && page.events.isEmpty && page.last == 1, "\(number)")
      }
      #expect(try await test.desk.state(of: bob).last == 1)
    }
  }

  // MARK: - The operator

  @Test func `what can't be read is said to the operator with its place, once a minute`() async throws {
    let lines = Mutex<[String]>([])
    let store = try await Store.open(.memory, log: Log(level: .error) { _ in })
    let clock = TestDesk.Clock(CallTime(wall: 1_790_000_000_000, steady: 5_000))
    let log = Log(level: .error) { line in lines.withLock { $0.append(line) } }
    let desk = CallDesk(
      store: store, outlet: TestDesk.Outlet(), log: log,
      random: { (UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max)) }, clock: { clock.now })
    let id = TestDesk.uuid()
    _ = try await desk.start(
      CallDesk.Start(id: id, recipients: [bob], media: .audio), by: TestDesk.caller("ada"))
    try await spoil(id, store)
    for _ in 0..<3 {
      await #expect(throws: CallProblem.storeUnavailable) { try await desk.call(id, for: ada) }
    }
    #expect(lines.withLock { $0.count } == 1)
    #expect(lines.withLock { $0.first }?.contains("can't be read") == true)
    #expect(lines.withLock { $0.first }?.contains(id.text) == true)
    clock.move(60_000)
    await #expect(throws: CallProblem.storeUnavailable) { try await desk.call(id, for: ada) }
    #expect(lines.withLock { $0.count } == 2)
    await store.close()
  }
}
