import Calls
import Storage
import TestStores
import Testing

@testable import CallDesk

@Suite("What is asked of shared sessions again, and what is left of them", .timeLimit(.minutes(2)))
struct SharedRepeatsTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")

  private func append(
    _ test: TestDesk, _ number: Int, to session: CallUUID, in call: CallUUID, by person: String = "ada",
    type: String = "page", id: CallUUID = TestDesk.uuid()
  ) async throws(CallProblem) -> SharedEvent {
    try await test.desk.append(
      id, type: type, data: Array("\(number)".utf8), to: session, in: call, by: TestDesk.caller(person))
  }

  private func keep(
    _ test: TestDesk, _ seq: Int64, of session: CallUUID, in call: CallUUID, state: String = "7"
  ) async throws(CallProblem) {
    try await test.desk.keepSnapshot(
      SharedSnapshot(seq: seq, people: Array("{}".utf8), state: Array(state.utf8)), of: session, in: call,
      by: TestDesk.caller("ada"))
  }

  /// One number that the store has.
  private func number(
    _ test: TestDesk, _ statement: SQLStatement, _ values: [SQLValue] = []
  ) async throws(StoreError) -> Int64? {
    try await test.store.read { transaction throws(StoreError) in
      try transaction.run(statement, values).first?.optionalInteger(0)
    }
  }

  /// A call of two who talk, and a session of theirs that ada owns.
  private func together(_ test: TestDesk) async throws -> (call: CallUUID, session: CallUUID) {
    let (mine, _) = try await test.talk("ada", "bob")
    let (call, session) = (mine.call.state.id, TestDesk.uuid())
    _ = try await test.desk.startSession(session, in: call, experience: "story", by: TestDesk.caller("ada"))
    _ = try await test.desk.joinSession(session, in: call, by: TestDesk.caller("bob"))
    return (call, session)
  }

  @Test(arguments: StoreKind.allCases)
  func `an event that is sent again gets its first number, also when only the snapshot has it still`(
    kind: StoreKind
  ) async throws {
    var terms = CallDeskTerms()
    (terms.sharing.eventsBehindSnapshot, terms.sharing.idsBehindEvents) = (1, 5)
    try await TestDesk.with(kind, terms) { test in
      let (call, session) = try await together(test)
      let ids = (0..<10).map { _ in TestDesk.uuid() }
      var first: [SharedEvent] = []
      for (place, id) in ids.enumerated() {
        first.append(try await append(test, place, to: session, in: call, id: id))
      }
      #expect(first.map(\.seq) == Array(2...11))
      test.clock.move(1_000)
      try await keep(test, 11, of: session, in: call)
      await #expect(throws: CallProblem.compacted(11)) {
        try await test.desk.events(of: session, in: call, after: 9, limit: 9, for: bob)
      }
      let said = test.outlet.all.flatMap(\.sharedEvents).count
      // 6 to 10 have no content any more, and 11 has.
      for place in 4..<10 {
        #expect(try await append(test, place, to: session, in: call, id: ids[place]) == first[place])
      }
      #expect(test.outlet.all.flatMap(\.sharedEvents).count == said + 1, "what is in the snapshot isn't said")
      for place in [4, 9] {
        await #expect(throws: CallProblem.idTaken) {
          try await append(test, 99, to: session, in: call, id: ids[place])
        }
        await #expect(throws: CallProblem.idTaken) {
          try await append(test, place, to: session, in: call, by: "bob", id: ids[place])
        }
        await #expect(throws: CallProblem.idTaken) {
          try await append(test, place, to: session, in: call, type: "pagf", id: ids[place])
        }
      }
      // None of them was numbered, and what is known has an end.
      #expect(try await append(test, 0, to: session, in: call, id: ids[0]).seq == 12)
      #expect(try await number(test, "SELECT count(*) FROM shared_events") == 7)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one from before there were digests keeps its number by its id`(kind: StoreKind) async throws {
    var terms = CallDeskTerms()
    terms.sharing.eventsBehindSnapshot = 0
    try await TestDesk.with(kind, terms) { test in
      let (call, session) = try await together(test)
      let id = TestDesk.uuid()
      #expect(try await append(test, 1, to: session, in: call, id: id).seq == 2)
      try await test.store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run("UPDATE shared_events SET digest = NULL")
      }
      await #expect(throws: CallProblem.idTaken) { try await append(test, 2, to: session, in: call, id: id) }
      #expect(try await append(test, 1, to: session, in: call, id: id).seq == 2)
      try await keep(test, 2, of: session, in: call)
      #expect(try await append(test, 1, to: session, in: call, id: id).seq == 2)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `behind the end who asks for events is sent to a snapshot that leads on, and to nothing else`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      for hasSnapshot in [false, true] {
        let (call, session) = try await together(test)
        for number in 2...5 { _ = try await append(test, number, to: session, in: call) }
        if hasSnapshot { try await keep(test, 3, of: session, in: call) }
        let last = try await test.desk.endSession(session, in: call, by: TestDesk.caller("ada")).state.lastSeq
        func read(_ after: Int64) async throws(CallProblem) -> [Int64] {
          try await test.desk.events(of: session, in: call, after: after, limit: 99, for: bob).map(\.seq)
        }
        test.clock.move(59_000)
        await test.desk.tidy()
        #expect(try await read(0) == Array(1...last))
        test.clock.move(1_000)
        await test.desk.tidy()
        await #expect(throws: hasSnapshot ? CallProblem.compacted(3) : .sessionEnded) { try await read(1) }
        // Behind the snapshot there is nothing to begin again with.
        await #expect(throws: CallProblem.sessionEnded) { try await read(3) }
        #expect(try await read(last).isEmpty)
        if hasSnapshot {
          #expect(try await test.desk.snapshot(of: session, in: call, for: bob).seq == 3)
        }
        _ = try await test.desk.end(call)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a session begins with no snapshot that its starter couldn't read at that moment`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let mine = try await test.start("ada", "bob", "eve", "zoe")
      let call = mine.call.state.id
      var entries = [("ada", mine)]
      for person in ["bob", "eve", "zoe"] {
        entries.append((person, try await test.desk.join(call, by: TestDesk.caller(person))))
      }
      for (person, entry) in entries { await test.media(true, (person, entry)) }
      let session = TestDesk.uuid()
      _ = try await test.desk.startSession(session, in: call, experience: "story", by: TestDesk.caller("ada"))
      for person in ["bob", "eve"] {
        _ = try await test.desk.joinSession(session, in: call, by: TestDesk.caller(person))
      }
      try await keep(test, 1, of: session, in: call)
      _ = try await test.desk.leave(call, by: TestDesk.caller("bob"), reason: .userLeft)
      // What happens behind one's back is nothing of one's own.
      try await keep(test, 2, of: session, in: call, state: "secret")
      let other = try await test.start("bob", "kim").call.state.id
      func begin(_ experience: String, by person: String, in call: CallUUID) async throws(CallProblem)
        -> Int64?
      {
        try await test.desk.startSession(
          TestDesk.uuid(), in: call, experience: experience, from: session, by: TestDesk.caller(person)
        ).session.state.snapshotSeq
      }
      await #expect(throws: CallProblem.notFound) { try await begin("a", by: "bob", in: other) }
      #expect(try await test.desk.snapshotSize(of: session, for: bob) == 0)
      // Who is in the call but not in the session takes nothing along either.
      await #expect(throws: CallProblem.notFound) { try await begin("b", by: "zoe", in: call) }
      #expect(try await begin("c", by: "eve", in: call) == 0)
      #expect(try await test.desk.snapshotSize(of: session, for: PersonID("eve")) == 8)
      _ = try await test.desk.endSession(session, in: call, by: TestDesk.caller("ada"))
      #expect(try await begin("d", by: "bob", in: other) == 0)
      _ = try await test.desk.remove(bob, from: call)
      await #expect(throws: CallProblem.notFound) { try await begin("e", by: "bob", in: other) }
      #expect(try await test.desk.snapshotSize(of: session, for: bob) == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a start that is sent again is answered as it was first, whatever goes on by then`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let (call, first) = try await together(test)
      func start(
        _ id: CallUUID, _ experience: String = "story", from earlier: CallUUID? = nil,
        by person: String = "ada"
      ) async throws(CallProblem) -> CallUUID {
        try await test.desk.startSession(
          id, in: call, experience: experience, from: earlier, by: TestDesk.caller(person)
        ).session.state.id
      }
      let asked = TestDesk.uuid()
      #expect(try await start(asked, by: "bob") == first, "that runs")
      _ = try await test.desk.endSession(first, in: call, by: TestDesk.caller("ada"))
      let second = TestDesk.uuid()
      #expect(try await start(second, by: "bob") == second)
      #expect(try await start(first) == first)
      #expect(try await start(asked, by: "bob") == first)
      // Other content under an id is another request, also where what it asks for runs.
      await #expect(throws: CallProblem.idTaken) { try await start(first, "board") }
      await #expect(throws: CallProblem.idTaken) { try await start(first, from: second) }
      await #expect(throws: CallProblem.idTaken) { try await start(second, by: "ada") }
      await #expect(throws: CallProblem.idTaken) { try await start(asked, "board", by: "bob") }
      // Behind the day for which answers are kept, the session itself is known.
      test.clock.move(86_400_001)
      await test.desk.tidy()
      #expect(try await start(second, by: "bob") == second)
      await #expect(throws: CallProblem.idTaken) { try await start(second, by: "ada") }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `with as many snapshots of a call as may be kept none is started, until they are forgotten`(
    kind: StoreKind
  ) async throws {
    var terms = CallDeskTerms()
    terms.sharing.snapshotsOfCall = 1
    try await TestDesk.with(kind, terms) { test in
      let (call, session) = try await together(test)
      func start() async throws(CallProblem) -> Bool {
        try await test.desk.startSession(
          TestDesk.uuid(), in: call, experience: "board", by: TestDesk.caller("ada")
        ).isNew
      }
      try await keep(test, 1, of: session, in: call)
      _ = try await test.desk.endSession(session, in: call, by: TestDesk.caller("ada"))
      do throws(CallProblem) {
        _ = try await start()
        Issue.record("it is started")
      } catch {
        if case .tooLarge = error {} else { Issue.record("\(error)") }
      }
      test.clock.move(7 * 86_400_000 + 1)
      await test.desk.tidy()
      #expect(try await start())
      #expect(try await number(test, "SELECT count(*) FROM shared_snapshots") == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a snapshot counts as a change, and one that is there already isn't written again`(kind: StoreKind)
    async throws
  {
    var terms = CallDeskTerms()
    terms.sharing.changesPerMinute = 5
    try await TestDesk.with(kind, terms) { test in
      let (call, session) = try await together(test)
      let time: SQLStatement = "SELECT time FROM shared_snapshots"
      try await keep(test, 1, of: session, in: call)
      let begun = test.clock.now.wall
      test.clock.move(10)
      try await keep(test, 1, of: session, in: call)
      #expect(try await number(test, time) == begun)
      try await keep(test, 1, of: session, in: call, state: "8")
      #expect(try await number(test, time) == begun + 10)
      #expect(try await test.desk.snapshot(of: session, in: call, for: bob).state == Array("8".utf8))
      try await keep(test, 1, of: session, in: call)
      await #expect(throws: CallProblem.tooMany(wait: 59_990)) {
        try await keep(test, 1, of: session, in: call)
      }
      test.clock.move(60_000)
      try await keep(test, 1, of: session, in: call)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the bytes of what is kept are those that came without those that went`(kind: StoreKind) async throws {
    var terms = CallDeskTerms()
    terms.sharing.eventsBehindSnapshot = 3
    try await TestDesk.with(kind, terms) { test in
      let (call, session) = try await together(test)
      for number in 2...60 {
        _ = try await append(test, number, to: session, in: call, by: number % 2 == 0 ? "ada" : "bob")
        if number % 7 == 0 { try await keep(test, Int64(number - number % 5), of: session, in: call) }
        let state = try await test.desk.sessions(of: call, isOpen: true, for: ada)[0].state
        let bytes = try await self.number(
          test,
          """
          SELECT CAST(COALESCE(SUM(LENGTH(data)), 0) AS BIGINT) FROM shared_events WHERE sender IS NOT NULL
          """)
        #expect(state.eventBytes == bytes, "\(number)")
        test.clock.move(1_000)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a session that can't be read is over, and neither time nor its call stands still for it`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let (call, broken) = try await together(test)
      let sound = TestDesk.uuid()
      _ = try await test.desk.startSession(sound, in: call, experience: "board", by: TestDesk.caller("ada"))
      _ = try await test.desk.joinSession(sound, in: call, by: TestDesk.caller("bob"))
      func spoil(_ id: CallUUID) async throws(StoreError) {
        try await test.store.write(bytes: 1) { transaction throws(StoreError) in
          try transaction.run(
            "UPDATE shared_sessions SET state = $1 WHERE id = $2", [.bytes(of: "{"), .text(id.text)])
        }
      }
      let open: SQLStatement =
        "SELECT count(*) FROM shared_sessions WHERE id = $1 AND (ended IS NULL OR deadline IS NOT NULL)"
      for session in [broken, sound] {
        _ = try await test.desk.leaveSession(session, in: call, by: TestDesk.caller("ada"))
      }
      try await spoil(broken)
      // What asks for it alone hears that it can't be had, and what doesn't is done.
      await #expect(throws: CallProblem.storeUnavailable) {
        try await test.desk.joinSession(broken, in: call, by: TestDesk.caller("ada"))
      }
      await test.pass(5_000)
      #expect(try await number(test, open, [.text(broken.text)]) == 0)
      let left = try await test.desk.sessions(of: call, isOpen: false, for: bob)
      #expect(left.map(\.state.id) == [sound] && left[0].state.status == .degraded)
      // It has no time any more that could be over.
      _ = try await test.desk.answerOffer(sound, in: call, accepts: true, by: TestDesk.caller("bob"))
      try await spoil(sound)
      _ = try await test.desk.leave(call, by: TestDesk.caller("ada"), reason: .userLeft)
      #expect(try await test.desk.call(call, for: bob).state.isEnded)
      #expect(try await number(test, open, [.text(sound.text)]) == 0)
    }
  }

  @Test func `one that can't be read isn't in the way of those behind it as the server starts`() async throws
  {
    try await TestDesk.with(.sqlite) { test in
      let (call, session) = try await together(test)
      _ = try await test.desk.leaveSession(session, in: call, by: TestDesk.caller("ada"))
      // As many as are read at once stand before it.
      try await test.store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run(
          """
          INSERT INTO shared_sessions (id, call, ended, deadline, clock, last_event, state)
          VALUES ($1, 'none', NULL, 9000000000, 0, NULL, $2)
          """, each: (0..<100).map { [.text("!\($0)"), .bytes([])] })
      }
      try await test.again(after: 1_000) { back in
        _ = try await back.desk.recover()
        let found = try await back.desk.session(session, in: call, for: PersonID("bob"))
        #expect(found.state.offer.map { $0.until <= back.clock.now.steady + 5_000 } == true)
      }
    }
  }

  @Test func `the server's types can't be taken, by whatever characters they are written`() async throws {
    try await TestDesk.with(.sqlite) { test in
      let (call, session) = try await together(test)
      for type in ["system.left", "system.\u{301}left"] {
        await #expect(throws: CallProblem.reservedType) {
          try await append(test, 1, to: session, in: call, type: type)
        }
      }
      #expect(try await append(test, 1, to: session, in: call, type: "systemic").seq == 2)
    }
  }
}
