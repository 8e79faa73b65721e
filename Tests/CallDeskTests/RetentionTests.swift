import Calls
import Storage
import TestStores
import Testing

@testable import CallDesk

/// By a clock that the test moves: what is kept is there at the last moment of its time, and behind that it isn't.
@Suite("What is kept of calls, and until when", .timeLimit(.minutes(2)))
struct RetentionTests {
  private static let hour: Int64 = 3_600_000
  private static let day: Int64 = 86_400_000
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")

  /// Moves the clock to so long behind a moment, and forgets what is old by then.
  private func forget(_ test: TestDesk, _ span: Int64, behind began: Int64) async {
    test.clock.move(began + span - test.clock.now.wall)
    await test.desk.tidy()
  }

  private func signal(_ test: TestDesk, _ id: CallUUID, in call: CallUUID) async throws -> Int64 {
    try await test.desk.signal(
      CallDesk.Signal(id: id, to: bob, kind: "offer", payload: "AAAA"), in: call, by: TestDesk.caller("ada"))
  }

  // MARK: - What became of pushes, and answers

  private func delivery(_ call: CallUUID, to device: String, at time: Int64) -> CallDelivery {
    CallDelivery(
      call: call, person: bob, device: DeviceID(device), ring: TestDesk.uuid(), kind: .ring,
      platform: "webhook", state: "delivered", reason: "", time: time, tries: 1)
  }

  @Test(arguments: StoreKind.allCases, [Int64(1), 24])
  func `what became of pushes is kept for so many hours behind when it was known, and no longer`(
    kind: StoreKind, hours: Int64
  ) async throws {
    var terms = CallDeskTerms()
    terms.deliveries = hours * Self.hour
    let span = terms.deliveries
    try await TestDesk.with(kind, terms) { test in
      let id = try await test.start("ada", "bob").call.state.id
      let began = test.clock.now.wall
      try await test.desk.keep([
        delivery(id, to: "phone", at: began), delivery(id, to: "tablet", at: began + 600_000),
      ])
      let steps: [(Int64, [String], CallDeliveries.Reach)] = [
        (0, ["tablet", "phone"], .reached), (1, ["tablet"], .reached), (600_000, ["tablet"], .reached),
        (600_001, [], .unknown),
      ]
      for (more, devices, reach) in steps {
        await forget(test, span + more, behind: began)
        let own = try await test.desk.deliveries(of: id, for: bob, limit: 9)
        #expect(own.items.map(\.device.text) == devices, "\(more)")
        let caller = try await test.desk.deliveries(of: id, for: ada, limit: 9)
        #expect(caller.people == [bob: reach], "\(more)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the answer to a request under a key is kept for a day, and the key is free behind it`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let began = test.clock.now.wall
      try await test.desk.keep([7], to: "key", content: [1], by: ada)
      await forget(test, Self.day, behind: began)
      #expect(try await test.desk.answer(to: "key", content: [1], by: ada) == [7])
      await #expect(throws: CallProblem.idTaken) {
        _ = try await test.desk.answer(to: "key", content: [2], by: ada)
      }
      await forget(test, Self.day + 1, behind: began)
      for content in [UInt8(1), 2] {
        #expect(try await test.desk.answer(to: "key", content: [content], by: ada) == nil)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a signal that is sent again is known for a day`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let (began, id) = (test.clock.now.wall, TestDesk.uuid())
      #expect(try await signal(test, id, in: mine.call.state.id) == 1)
      await forget(test, Self.day, behind: began)
      #expect(try await signal(test, id, in: mine.call.state.id) == 1)
      await forget(test, Self.day + 1, behind: began)
      #expect(try await signal(test, id, in: mine.call.state.id) == 2)
    }
  }

  // MARK: - Calls, and what people hear of them

  @Test(arguments: StoreKind.allCases, [2, 180])
  func `a call stays in the histories for so many days behind its end`(kind: StoreKind, days: Int)
    async throws
  {
    var terms = CallDeskTerms()
    terms.historyDays = days
    try await TestDesk.with(kind, terms) { test in
      let id = try await test.start("ada", "bob").call.state.id
      test.clock.move(5_000)
      _ = try await test.desk.leave(id, by: TestDesk.caller("ada"), reason: .userLeft)
      let ended = test.clock.now.wall
      await forget(test, Int64(days) * Self.day - 1, behind: ended)
      #expect(try await test.desk.calls(of: bob, limit: 9).calls.map(\.state.id) == [id])
      await forget(test, Int64(days) * Self.day, behind: ended)
      #expect(try await test.desk.calls(of: bob, limit: 9).calls.isEmpty)
      await #expect(throws: CallProblem.notFound) { _ = try await test.desk.call(id, for: ada) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what a person hears can be read for seven days`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      _ = try await test.start("ada", "bob")
      let began = test.clock.now.wall
      await forget(test, 7 * Self.day, behind: began)
      #expect(try await test.kinds("bob") == [.ringing])
      await forget(test, 7 * Self.day + 1, behind: began)
      #expect(try await test.desk.events(of: bob, after: 0, limit: 9).isGone)
    }
  }

  @Test(arguments: StoreKind.allCases, [Int64(5_000), 60_000])
  func `signals and wrapped keys are kept for so long behind the end of their call`(
    kind: StoreKind, span: Int64
  ) async throws {
    var terms = CallDeskTerms()
    terms.afterCall = span
    try await TestDesk.with(kind, terms) { test in
      try await test.publishEach("bob")
      let id = try await test.startEncrypted("word", by: "ada", "bob").call.state.id
      _ = try await signal(test, TestDesk.uuid(), in: id)
      test.clock.move(1_000)
      _ = try await test.desk.leave(id, by: TestDesk.caller("ada"), reason: .userLeft)
      let ended = test.clock.now.wall
      for (more, isKept) in [(Int64(-1), true), (0, false)] {
        await forget(test, span + more, behind: ended)
        #expect(try await test.keptKeys() == (isKept ? 1 : 0), "\(more)")
        let signals = try await test.heardAll("bob").filter { $0.kind == .signal }
        #expect(signals.map(\.isEmptied) == [!isKept], "\(more)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a device that isn't used is kept for ninety days`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let began = test.clock.now.wall
      _ = try await test.desk.register(
        Device(DeviceID("phone"), platform: .webhook, topic: "", token: "t"), by: TestDesk.caller("bob"))
      await forget(test, 90 * Self.day, behind: began)
      #expect(try await test.desk.devices(of: bob).devices.count == 1)
      await forget(test, 90 * Self.day + 1, behind: began)
      #expect(try await test.desk.devices(of: bob).devices.isEmpty)
    }
  }

  // MARK: - What people share

  @Test(arguments: StoreKind.allCases)
  func `events of a session are read for a minute behind its end, and its snapshot for seven days`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let (call, session, caller) = (mine.call.state.id, TestDesk.uuid(), TestDesk.caller("ada"))
      _ = try await test.desk.startSession(session, in: call, experience: "story", by: caller)
      _ = try await test.desk.append(
        TestDesk.uuid(), type: "page", data: [UInt8(ascii: "1")], to: session, in: call, by: caller)
      try await test.desk.keepSnapshot(
        SharedSnapshot(seq: 1, people: [], state: [UInt8(ascii: "1")]), of: session, in: call, by: caller)
      _ = try await test.desk.endSession(session, in: call, by: caller)
      let ended = test.clock.now.wall
      await forget(test, 59_999, behind: ended)
      let events = try await test.desk.events(of: session, in: call, after: 0, limit: 9, for: ada)
      #expect(events.map(\.seq) == [1, 2])
      await forget(test, 60_000, behind: ended)
      await #expect(throws: CallProblem.self) {
        _ = try await test.desk.events(of: session, in: call, after: 0, limit: 9, for: ada)
      }
      await forget(test, 7 * Self.day - 1, behind: ended)
      #expect(try await test.desk.snapshot(of: session, in: call, for: ada).seq == 1)
      await forget(test, 7 * Self.day, behind: ended)
      await #expect(throws: CallProblem.notFound) {
        _ = try await test.desk.snapshot(of: session, in: call, for: ada)
      }
    }
  }

  // MARK: - Much of it

  @Test(arguments: StoreKind.allCases)
  func `however much is old, some of it goes at a time, also of one moment`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let id = try await test.start("ada", "bob").call.state.id
      let times: [Int64] = Array(0..<10) + Array(repeating: 10, count: 20) + [20]
      try await test.desk.keep(times.enumerated().map { delivery(id, to: "d\($0)", at: $1) })
      try await test.store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run(
          "INSERT INTO call_answers (person, request, content, time, body) VALUES ($1, $2, $3, $4, $5)",
          each: times.enumerated().map { number, time in
            [.bytes(of: "ada"), .bytes(of: "r\(number)"), .bytes([1]), .integer(time), .bytes([])]
          })
      }
      let counts: [SQLStatement] = [
        "SELECT count(*) FROM call_answers WHERE time <= 20", "SELECT count(*) FROM call_deliveries",
      ]
      var (left, isMore) = ([[Int64]](), true)
      while isMore, left.count < 9 {
        isMore = try await test.store.write(bytes: 1) { transaction throws(StoreError) -> Bool in
          var (answers, deliveries) = (Portion(rows: 5), Portion(rows: 5))
          try AnswerRecords.forget(before: 20, &answers, transaction)
          try DeliveryRecords.forget(before: 20, &deliveries, transaction)
          return answers.isMore || deliveries.isMore
        }
        left.append(
          try await test.store.read { transaction throws(StoreError) -> [Int64] in
            var found: [Int64] = []
            for count in counts { found.append(try transaction.run(count).first?.integer(0) ?? -1) }
            return found
          })
      }
      let wanted: [Int64] = [26, 21, 16, 11, 6, 1, 1]
      #expect(left.map(\.first) == wanted && left.map(\.last) == wanted)
    }
  }
}
