import Calls
import Foundation
import TestStores
import Testing

@testable import CallDesk
@testable import Storage

@Suite("What is forgotten of calls and shared sessions", .timeLimit(.minutes(2)))
struct SharedTidyingTests {
  private let bob = PersonID("bob")

  private func count(
    _ test: TestDesk, _ statement: SQLStatement, _ values: [SQLValue] = []
  ) async throws(StoreError) -> Int64? {
    try await test.store.read { transaction throws(StoreError) in
      try transaction.run(statement, values).first?.integer(0)
    }
  }

  private func send(_ test: TestDesk, _ count: Int, in call: CallUUID) async throws {
    for _ in 0..<count {
      _ = try await test.desk.signal(
        CallDesk.Signal(id: TestDesk.uuid(), to: bob, kind: "offer", payload: "AAAA"), in: call,
        by: TestDesk.caller("ada"))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `signals are emptied once, however long ago their call ended, and those of others stay`(
    kind: StoreKind
  )
    async throws
  {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      try await send(test, 5, in: mine.call.state.id)
      _ = try await test.desk.leave(mine.call.state.id, by: TestDesk.caller("ada"), reason: .userLeft)
      test.clock.move(3 * 86_400_000)
      let (next, _) = try await test.talk("ada", "bob")
      try await send(test, 2, in: next.call.state.id)
      await test.desk.tidy()
      let signals = try await test.heardAll("bob").filter { $0.kind == .signal }
      #expect(signals.map(\.isEmptied) == [true, true, true, true, true, false, false])
      // What was emptied is looked at no more.
      #expect(try await count(test, "SELECT count(*) FROM call_signals") == 1)
      try await send(test, 1, in: next.call.state.id)
      let last = try #require(try await test.heardAll("bob").last { $0.kind == .signal })
      #expect(try JSONDecoder().decode(CallDesk.SignalBody.self, from: Data(last.body)).number == 3)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `many signals are emptied some at a time`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      for _ in 0..<3 {
        let (mine, _) = try await test.talk("ada", "bob")
        try await send(test, 4, in: mine.call.state.id)
        _ = try await test.desk.leave(mine.call.state.id, by: TestDesk.caller("ada"), reason: .userLeft)
      }
      let now = test.clock.now.wall
      var left: [Int] = []
      var isMore = true
      while isMore, left.count < 20 {
        isMore = try await test.store.write(bytes: 1) { transaction throws(StoreError) -> Bool in
          var portion = Portion(rows: 5)
          try EventRecords.emptySignals(endedBefore: now, &portion, transaction)
          return portion.isMore
        }
        left.append(try await test.heardAll("bob").count { $0.kind == .signal && !$0.isEmptied })
      }
      #expect(left.last == 0 && zip([12] + left, left).allSatisfy { $0 - $1 <= 5 }, "\(left)")
      #expect(try await count(test, "SELECT count(*) FROM call_signals") == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `each portion of a call's signals begins behind the one before`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      try await MuchToForget.signals.add(Array(repeating: 9, count: 12), number: 0, to: test.store)
      let filled: SQLStatement = "SELECT count(*) FROM call_events WHERE LENGTH(body) > 2"
      var place: EventRecords.SignalPlace?
      var left: [Int64?] = []
      for _ in 0..<3 {
        let from = place
        place = try await test.store.write(bytes: 1) {
          transaction throws(StoreError) -> EventRecords.SignalPlace? in
          var portion = Portion(rows: 5)
          let next = try EventRecords.emptySignals(
            endedBefore: 10_000, from: from, &portion, transaction)
          // The first one of all is as it was: it is behind all the portions that follow.
          try transaction.run("UPDATE call_events SET body = $1 WHERE number = 1", [.bytes(of: "{\"a\":1}")])
          return next
        }
        left.append(try await count(test, filled))
      }
      #expect(left == [8, 3, 1])
      #expect(place == nil)
      #expect(try await count(test, "SELECT count(*) FROM call_signals") == 0)
    }
  }

  @Test func `what is forgotten of a large call is looked at once, however many portions that takes`()
    async throws
  {
    try await TestDesk.with(.sqlite) { test in
      let count = 3 * Portion.mostRows
      for number in 0..<6 {
        let sizes = Array(repeating: 9, count: count / 6)
        try await MuchToForget.signals.add(sizes, number: number, to: test.store)
      }
      let now = test.clock.now.wall
      // As the second portion comes to one of its signals, the first of all has something in it again.
      try await test.store.write(bytes: 1) { transaction throws(StoreError) in
        // They are heard still, though their call is long over.
        try transaction.run("UPDATE call_events SET time = $1", [.integer(now)])
        try transaction.run(
          """
          CREATE TRIGGER filled AFTER UPDATE ON call_events WHEN new.number = 301 BEGIN
            UPDATE call_events SET body = X'616263' WHERE number = 1;
          END
          """)
      }
      await test.desk.tidy()
      let rows = try await test.store.read { transaction throws(StoreError) -> [SQLRow] in
        try transaction.run("SELECT number FROM call_events WHERE LENGTH(body) > 2")
      }
      #expect(rows.map(\.values) == [[.integer(1)]])
      #expect(try await self.count(test, "SELECT count(*) FROM call_signals") == 0)
      let plan = try await test.store.read { transaction throws(StoreError) -> [SQLRow] in
        try transaction.run(SQLStatement(planOf: EventRecords.filledSignals))
      }
      let steps = try plan.map { row throws(StoreError) in try row.text(3) }
      let wanted = "call_events_of_signals (call=? AND (person,number)>(?,?))"
      #expect(steps.count == 1 && steps[0].contains(wanted), "\(steps)")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the events of a session go some at a time, each session once, and no one reads a part`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let call = mine.call.state.id
      let sessions = [TestDesk.uuid(), TestDesk.uuid()]
      for (place, session) in sessions.enumerated() {
        _ = try await test.desk.startSession(
          session, in: call, experience: "story", by: TestDesk.caller("ada"))
        for number in 1...7 {
          _ = try await test.desk.append(
            TestDesk.uuid(), type: "page", data: Array("\(number)".utf8), to: session, in: call,
            by: TestDesk.caller("ada"))
        }
        if place == 0 {
          _ = try await test.desk.endSession(session, in: call, by: TestDesk.caller("ada"))
        }
      }
      let now = test.clock.now.wall
      var isMore = true
      var left: [Int64] = []
      while isMore, left.count < 20 {
        isMore = try await test.store.write(bytes: 1) { transaction throws(StoreError) -> Bool in
          var portion = Portion(rows: 3)
          try SessionRecords.forgetEvents(endedBefore: now, &portion, transaction)
          return portion.isMore
        }
        left.append(
          try await count(
            test, "SELECT count(*) FROM shared_events WHERE session = $1", [.text(sessions[0].text)]) ?? -1)
        await #expect(throws: CallProblem.sessionEnded) {
          try await test.desk.events(
            of: sessions[0], in: call, after: 0, limit: 9, for: PersonID("ada"))
        }
      }
      #expect(left == [5, 2, 0])
      let waiting: SQLStatement = "SELECT count(*) FROM shared_sessions WHERE has_events = 1 AND ended <= $1"
      #expect(try await count(test, waiting, [.integer(now)]) == 0)
      // The one that goes on has all of its own.
      let all = try await test.desk.events(
        of: sessions[1], in: call, after: 0, limit: 9, for: PersonID("ada"))
      #expect(all.map(\.seq) == Array(1...7))
      // A week later nothing is left of the first.
      test.clock.move(7 * 86_400_000 + 1)
      await test.desk.tidy()
      #expect(
        try await test.desk.sessions(of: call, isOpen: false, for: PersonID("ada")).map(\.state.id)
          == [sessions[1]])
    }
  }
}
