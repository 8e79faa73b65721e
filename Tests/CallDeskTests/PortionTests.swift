import Calls
import Foundation
import Storage
import TestStores
import Testing

@testable import CallDesk

/// Much of something that is forgotten with time.
enum MuchToForget: String, CaseIterable, Sendable {
  case snapshots
  case sessionEvents
  case signals
  case events
  case answers

  /// How much of it is there.
  var count: SQLStatement {
    switch self {
    case .snapshots: "SELECT count(*) FROM shared_snapshots"
    case .sessionEvents: "SELECT count(*) FROM shared_events"
    case .signals: "SELECT count(*) FROM call_events WHERE LENGTH(body) > 2"
    case .events: "SELECT count(*) FROM call_events"
    case .answers: "SELECT count(*) FROM call_answers"
    }
  }

  /// Writes some of it, of long ago, each with so many bytes; those of a later number are younger.
  func add(_ sizes: [Int], number: Int, to store: Store) async throws(StoreError) {
    let rows = sizes.enumerated().map { place, size in
      (
        place: SQLValue.integer(100 * number + place + 1), name: SQLValue.text("\(number) \(place)"),
        bytes: SQLValue.bytes([UInt8](repeating: 7, count: size))
      )
    }
    let none = SQLValue.bytes([])
    try await store.write(bytes: 1) { transaction throws(StoreError) in
      if number == 0 { try begin(transaction) }
      switch self {
      case .snapshots:
        try transaction.run(
          """
          INSERT INTO shared_sessions (id, call, ended, deadline, clock, last_event, state, has_events)
          VALUES ($1, 'c', $2, NULL, 0, NULL, $3, 0)
          """, each: rows.map { [$0.name, $0.place, none] })
        try transaction.run(
          "INSERT INTO shared_snapshots (session, seq, time, people, state) VALUES ($1, 1, 0, $2, $3)",
          each: rows.map { [$0.name, none, $0.bytes] })
      case .sessionEvents:
        try transaction.run(
          "INSERT INTO shared_events (session, seq, id, type, sender, time, data) VALUES ('s', $1, $2, $3, NULL, 0, $4)",
          each: rows.map { [$0.place, $0.name, none, $0.bytes] })
      case .signals, .events:
        let kind = SQLValue.text(self == .signals ? "call.signal" : "key.changed")
        try transaction.run(
          "INSERT INTO call_events (person, number, time, kind, call, body) VALUES ($1, $2, $2, $3, 'c', $4)",
          each: rows.map { [.bytes(of: "bob"), $0.place, kind, $0.bytes] })
      case .answers:
        try transaction.run(
          "INSERT INTO call_answers (person, request, content, time, body) VALUES ($1, $2, $3, $4, $5)",
          each: rows.map { [.bytes(of: "bob"), .bytes(of: "\($0.name)"), none, $0.place, $0.bytes] })
      }
    }
  }

  /// What it is of: a session and a call that ended long ago.
  private func begin(_ transaction: borrowing Transaction) throws(StoreError) {
    if self == .sessionEvents {
      try transaction.run(
        """
        INSERT INTO shared_sessions (id, call, ended, deadline, clock, last_event, state)
        VALUES ('s', 'c', 1, NULL, 0, NULL, $1)
        """, [.bytes([])])
    }
    guard self == .signals else { return }
    try transaction.run(
      """
      INSERT INTO calls (id, room, api_key, created, ended, deadline, clock, request, state)
      VALUES ('c', NULL, $1, 0, 1, NULL, 0, $1, $1)
      """, [.bytes([])])
    try transaction.run(
      "INSERT INTO call_signals (call, sender, recipient, last) VALUES ('c', $1, $2, 1)",
      [.bytes(of: "ada"), .bytes(of: "bob")])
  }

  func forget(_ portion: inout Portion, _ transaction: borrowing Transaction) throws(StoreError) {
    switch self {
    case .snapshots: try SessionRecords.forget(endedBefore: 10_000, &portion, transaction)
    case .sessionEvents: try SessionRecords.forgetEvents(endedBefore: 10_000, &portion, transaction)
    case .signals: try EventRecords.emptySignals(endedBefore: 10_000, &portion, transaction)
    case .events: try EventRecords.forget(before: 10_000, &portion, transaction)
    case .answers: try AnswerRecords.forget(before: 10_000, &portion, transaction)
    }
  }
}

@Suite("How much is forgotten in one transaction", .timeLimit(.minutes(4)))
struct PortionTests {
  private func count(
    _ test: TestDesk, _ statement: SQLStatement, _ values: [SQLValue] = []
  ) async throws(StoreError) -> Int64 {
    try await test.store.read { transaction throws(StoreError) in
      try transaction.run(statement, values).first?.integer(0) ?? -1
    }
  }

  /// How much is left of something behind each transaction, until no more is said to be there.
  private func left(
    _ test: TestDesk, _ statement: SQLStatement,
    _ body: @escaping @Sendable (inout Portion, borrowing Transaction) throws(StoreError) -> Void
  ) async throws -> [Int64] {
    var (left, isMore) = ([Int64](), true)
    while isMore, left.count < 20 {
      isMore = try await test.store.write(bytes: 1) { transaction throws(StoreError) -> Bool in
        var portion = Portion()
        try body(&portion, transaction)
        return portion.isMore
      }
      left.append(try await count(test, statement))
    }
    return left
  }

  /// Bytes of the file that SQLite writes each transaction into first.
  private func log(in directory: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/roost.db-wal")
    return (attributes[.size] as? NSNumber)?.intValue ?? -1
  }

  /// 1,000 pages of 4 KiB, at which it is written into the file and used again, and the largest transaction: some 5 MiB.
  private static let mostLog = 8 * 1_048_576

  @Test(arguments: MuchToForget.allCases)
  func `however much is forgotten, SQLite's log stays as small as while that was written`(much: MuchToForget)
    async throws
  {
    let directory = temporaryDirectory()
    try await TestDesk.with(.sqlite, at: .directory(directory)) { test in
      let sizes = much == .snapshots ? [1_048_576] : Array(repeating: 65_536, count: 16)
      for number in 0..<24 { try await much.add(sizes, number: number, to: test.store) }
      #expect(try await count(test, much.count) == Int64(24 * sizes.count))
      #expect(try log(in: directory) <= Self.mostLog)
      await test.desk.tidy()
      #expect(try await count(test, much.count) == 0)
      #expect(try log(in: directory) <= Self.mostLog)
    }
  }

  @Test(arguments: StoreKind.allCases, MuchToForget.allCases)
  func `what goes at once has a mebibyte together, or is one that has more`(
    kind: StoreKind, much: MuchToForget
  ) async throws {
    try await TestDesk.with(kind) { test in
      try await much.add([1_500_000] + Array(repeating: 400_000, count: 4), number: 0, to: test.store)
      let left = try await left(test, much.count) { portion, transaction throws(StoreError) in
        try much.forget(&portion, transaction)
      }
      #expect(left == [4, 2, 0])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a call counts with all of its people, and what those would have heard who go with it goes before`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      try await test.store.write(bytes: 1) { transaction throws(StoreError) in
        let calls = 0..<70
        let people = calls.flatMap { number in
          ["ada", "bob"].map { person -> [SQLValue] in [.bytes(of: person), .text("c\(number)")] }
        }
        try transaction.run(
          """
          INSERT INTO calls (id, room, api_key, created, ended, deadline, clock, request, state)
          VALUES ($1, NULL, $2, 0, $3, NULL, 0, $2, $2)
          """, each: calls.map { [.text("c\($0)"), .bytes([]), .integer($0)] })
        try transaction.run(
          """
          INSERT INTO call_people (person, call, created, open, hidden, forgotten, active)
          VALUES ($1, $2, 0, 0, 0, 0, 0)
          """, each: people)
        try transaction.run(
          "INSERT INTO persons (person, name, last_event, gone_event, erased, came) VALUES ($1, NULL, 300, 0, 0, 0)",
          [.bytes(of: "bob")])
        try transaction.run(
          "INSERT INTO call_events (person, number, time, kind, body) VALUES ($1, $2, 0, 'key.changed', $1)",
          each: (1...300).map { [.bytes(of: "bob"), .integer($0)] })
      }
      let all: SQLStatement = "SELECT count(*) FROM calls"
      let calls = try await left(test, all) { portion, transaction throws(StoreError) in
        try CallRecords.forget(endedBefore: 100, &portion, transaction)
      }
      // 32 at once, since each of their people counts as 16 KiB; and before the last one 300 events, 128 at once with other rows.
      #expect(calls == [38, 6, 1, 1, 0])
      #expect(try await count(test, "SELECT count(*) FROM persons") == 0)
      #expect(try await count(test, "SELECT count(*) FROM call_events") == 0)
      #expect(try await count(test, "SELECT count(*) FROM call_people") == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a person that is erased loses a mebibyte at a time, or one that has more`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let sizes = [1_500_000] + Array(repeating: 400_000, count: 4)
      for much in [MuchToForget.events, .answers] { try await much.add(sizes, number: 0, to: test.store) }
      try await test.store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run(
          "INSERT INTO persons (person, name, last_event, gone_event, erased, came) VALUES ($1, NULL, 5, 0, 0, 1)",
          [.bytes(of: "bob")])
      }
      let rows: SQLStatement =
        "SELECT (SELECT count(*) FROM call_events) + (SELECT count(*) FROM call_answers)"
      try await test.desk.beginErasing(PersonID("bob"))
      var left: [Int64] = []
      while try await test.desk.eraseSome(of: PersonID("bob")), left.count < 20 {
        left.append(try await count(test, rows))
      }
      // The largest answer has a transaction to itself as well.
      #expect(left == [9, 7, 5, 4, 2])
      #expect(try await count(test, rows) == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one who starts a session takes away no more of those that are too many, and no one reads a part`(
    kind: StoreKind
  ) async throws {
    var terms = CallDeskTerms()
    terms.sharing.sessionsOfCall = 1
    try await TestDesk.with(kind, terms) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let (call, caller) = (mine.call.state.id, TestDesk.caller("ada"))
      var sessions: [CallUUID] = []
      for _ in 0..<2 {
        test.clock.move(1_000)
        let session = TestDesk.uuid()
        sessions.append(session)
        _ = try await test.desk.startSession(session, in: call, experience: "story", by: caller)
        _ = try await test.desk.endSession(session, in: call, by: caller)
      }
      let first = sessions[0].text
      try await test.store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run(
          "INSERT INTO shared_events (session, seq, id, type, sender, time, data) VALUES ($1, $2, $3, $4, NULL, 0, $4)",
          each: (2...300).map { [.text(first), .integer($0), .text("e\($0)"), .bytes(of: "x")] })
      }
      let events: SQLStatement = "SELECT count(*) FROM shared_events WHERE session = $1"
      #expect(try await count(test, events, [.text(first)]) == 300)
      var left: [Int64] = []
      for _ in 0..<3 {
        test.clock.move(1_000)
        let session = TestDesk.uuid()
        _ = try await test.desk.startSession(session, in: call, experience: "story", by: caller)
        left.append(try await count(test, events, [.text(first)]))
        if left.count < 3 {
          await #expect(throws: CallProblem.sessionEnded) {
            try await test.desk.events(of: sessions[0], in: call, after: 0, limit: 9, for: PersonID("ada"))
          }
        }
        _ = try await test.desk.endSession(session, in: call, by: caller)
      }
      // Behind the first start another session is too many each time, with its last event.
      #expect(left == [172, 46, 0])
      let listed = try await test.desk.sessions(of: call, isOpen: false, for: PersonID("ada"))
      #expect(!listed.map(\.state.id).contains(sessions[0]))
    }
  }
}
