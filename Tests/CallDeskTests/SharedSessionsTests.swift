import CallDesk
import Calls
import TestStores
import Testing

@Suite("What people of a call share", .timeLimit(.minutes(2)))
struct SharedSessionsTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  private func append(
    _ test: TestDesk, _ number: Int, to session: CallUUID, in call: CallUUID, by person: String,
    id: CallUUID = TestDesk.uuid()
  ) async throws(CallProblem) -> SharedEvent {
    try await test.desk.append(
      id, type: "page", data: Array("\(number)".utf8), to: session, in: call, by: TestDesk.caller(person))
  }

  /// A call of two who talk, and a session of theirs that ada owns.
  private func together(_ test: TestDesk) async throws -> (call: CallUUID, session: CallUUID) {
    let (mine, _) = try await test.talk("ada", "bob")
    let (call, session) = (mine.call.state.id, TestDesk.uuid())
    let started = try await test.desk.startSession(
      session, in: call, experience: "story", by: TestDesk.caller("ada"))
    #expect(started.isNew && started.session.state.owner == ada)
    _ = try await test.desk.joinSession(session, in: call, by: TestDesk.caller("bob"))
    return (call, session)
  }

  @Test(arguments: StoreKind.allCases)
  func `an experience that runs already is that session, and can be found`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let (call, session) = try await together(test)
      let again = try await test.desk.startSession(
        TestDesk.uuid(), in: call, experience: "story", by: TestDesk.caller("bob"))
      #expect(!again.isNew && again.session.state.id == session)
      #expect(try await test.desk.sessions(of: call, isOpen: true, for: bob).map(\.state.id) == [session])
      #expect(
        try await test.kinds("bob").filter { $0.rawValue.hasPrefix("session.") } == [
          .sessionStarted, .sessionUpdated,
        ])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a call that begins under the id of one that is forgotten has none of its sessions`(kind: StoreKind)
    async throws
  {
    var terms = CallDeskTerms()
    terms.historyDays = 1
    try await TestDesk.with(kind, terms) { test in
      let (call, session) = try await together(test)
      _ = try await test.desk.leave(call, by: TestDesk.caller("ada"), reason: .userLeft)
      _ = try await test.desk.leave(call, by: TestDesk.caller("bob"), reason: .userLeft)
      #expect(try await test.desk.sessions(of: call, isOpen: false, for: bob).map(\.state.id) == [session])
      test.clock.move(86_400_000)
      await test.desk.tidy()
      _ = try await test.start("mallory", "eve", id: call)
      let mallory = PersonID("mallory")
      #expect(try await test.desk.sessions(of: call, isOpen: false, for: mallory).isEmpty)
      await #expect(throws: CallProblem.notFound) {
        try await test.desk.session(session, in: call, for: mallory)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `events are numbered in order for everybody, and a repeated one keeps its number`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let (call, session) = try await together(test)
      let id = TestDesk.uuid()
      let first = try await append(test, 1, to: session, in: call, by: "ada", id: id)
      #expect(first.seq == 2)
      #expect(try await append(test, 1, to: session, in: call, by: "ada", id: id) == first)
      await #expect(throws: CallProblem.idTaken) {
        try await append(test, 2, to: session, in: call, by: "ada", id: id)
      }
      #expect(try await append(test, 3, to: session, in: call, by: "bob").seq == 3)
      let all = try await test.desk.events(of: session, in: call, after: 0, limit: 100, for: bob)
      #expect(all.map(\.seq) == [1, 2, 3] && all.map(\.type) == ["system.joined", "page", "page"])
      #expect(all.map(\.sender) == [nil, ada, bob])
      // The repeated one is said again, by its number.
      let said = test.outlet.all.flatMap(\.sharedEvents)
      #expect(said.map(\.event) == [all[0], all[1], all[1], all[2]])
      #expect(said.allSatisfy { $0.people == [ada, bob] && $0.room != nil })
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `many append at once, and there is neither gap nor repeat`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let (call, session) = try await together(test)
      let numbers = try await withThrowingTaskGroup(of: Int64.self) { group in
        for number in 0..<40 {
          group.addTask {
            try await append(test, number, to: session, in: call, by: number % 2 == 0 ? "ada" : "bob").seq
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(numbers.sorted() == Array(2...41))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a snapshot lets events of before go, and who asks for those is sent to it`(kind: StoreKind)
    async throws
  {
    var terms = CallDeskTerms()
    terms.sharing.eventsBehindSnapshot = 2
    try await TestDesk.with(kind, terms) { test in
      let (call, session) = try await together(test)
      for number in 0..<10 { _ = try await append(test, number, to: session, in: call, by: "ada") }
      func keep(_ seq: Int64, by person: String) async throws(CallProblem) {
        try await test.desk.keepSnapshot(
          SharedSnapshot(seq: seq, people: Array("{}".utf8), state: Array("7".utf8)), of: session, in: call,
          by: TestDesk.caller(person))
      }
      await #expect(throws: CallProblem.notFound) {
        try await test.desk.snapshot(of: session, in: call, for: bob)
      }
      await #expect(throws: CallProblem.notAllowed) { try await keep(8, by: "bob") }
      await #expect(throws: CallProblem.beyondLast(11)) { try await keep(12, by: "ada") }
      try await keep(8, by: "ada")
      await #expect(throws: CallProblem.staleSnapshot(8)) { try await keep(7, by: "ada") }
      #expect(try await test.desk.snapshot(of: session, in: call, for: bob).seq == 8)
      await #expect(throws: CallProblem.compacted(8)) {
        try await test.desk.events(of: session, in: call, after: 5, limit: 9, for: bob)
      }
      #expect(
        try await test.desk.events(of: session, in: call, after: 6, limit: 9, for: bob).map(\.seq) == [
          7, 8, 9, 10, 11,
        ])
      #expect(try await test.desk.events(of: session, in: call, after: 11, limit: 9, for: bob).isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what is kept of sessions has a bound, of events and of those that ended`(kind: StoreKind) async throws
  {
    var terms = CallDeskTerms()
    (terms.sessions.eventBytes, terms.sharing.eventsBehindSnapshot, terms.sharing.sessionsOfCall) = (8, 1, 2)
    try await TestDesk.with(kind, terms) { test in
      let (call, session) = try await together(test)
      for number in 0..<8 { _ = try await append(test, number, to: session, in: call, by: "ada") }
      func isFull() async -> Bool {
        do throws(CallProblem) { _ = try await append(test, 9, to: session, in: call, by: "ada") } catch {
          if case .tooLarge = error { return true }
        }
        return false
      }
      #expect(await isFull())
      try await test.desk.keepSnapshot(
        SharedSnapshot(seq: 9, people: [], state: Array("9".utf8)), of: session, in: call,
        by: TestDesk.caller("ada"))
      // One event stays before it, and seven come.
      for number in 0..<7 { _ = try await append(test, number, to: session, in: call, by: "ada") }
      #expect(await isFull())
      _ = try await test.desk.endSession(session, in: call, by: TestDesk.caller("ada"))
      for _ in 0..<4 {
        let id = TestDesk.uuid()
        test.clock.move(10)
        _ = try await test.desk.startSession(id, in: call, experience: "story", by: TestDesk.caller("ada"))
        _ = try await test.desk.endSession(id, in: call, by: TestDesk.caller("ada"))
      }
      // The last start has left two without a snapshot, and its own is the third; the one that has one stays.
      let left = try await test.desk.sessions(of: call, isOpen: false, for: ada)
      #expect(left.count == 4 && left.contains { $0.state.id == session })
      #expect(try await test.desk.snapshot(of: session, in: call, for: ada).seq == 9)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who leaves the call leaves its sessions, and one that only reconnects stays owner`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let mine = try await test.start("ada", "bob", "eve")
      let call = mine.call.state.id
      let theirs = try await test.desk.join(call, by: TestDesk.caller("bob"))
      _ = try await test.desk.join(call, by: TestDesk.caller("eve"))
      await test.media(true, ("ada", mine), ("bob", theirs))
      let session = TestDesk.uuid()
      _ = try await test.desk.startSession(session, in: call, experience: "story", by: TestDesk.caller("ada"))
      for person in ["bob", "eve"] {
        _ = try await test.desk.joinSession(session, in: call, by: TestDesk.caller(person))
      }
      await test.media(false, ("ada", mine))
      #expect(try await test.desk.sessions(of: call, isOpen: true, for: bob)[0].state.owner == ada)
      _ = try await test.desk.leave(call, by: TestDesk.caller("ada"), reason: .userLeft)
      var state = try await test.desk.sessions(of: call, isOpen: true, for: bob)[0].state
      #expect(state.status == .degraded && state.offer?.to == bob && state.participants == [bob, eve])
      await test.pass(5_000)
      await #expect(throws: CallProblem.notAllowed) {
        try await test.desk.answerOffer(session, in: call, accepts: true, by: TestDesk.caller("bob"))
      }
      state = try await test.desk.answerOffer(session, in: call, accepts: true, by: TestDesk.caller("eve"))
        .state
      #expect(state.owner == eve && state.status == .active)
      _ = try await test.desk.end(call)
      #expect(try await test.desk.sessions(of: call, isOpen: true, for: bob).isEmpty)
      let last = try await test.kinds("bob").suffix(2)
      #expect(Set(last) == [.ended, .sessionEnded])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `without an owner for a minute it ends, also over a restart`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let mine = try await test.start("ada", "bob", "eve")
      let call = mine.call.state.id
      var entries = [("ada", mine)]
      for person in ["bob", "eve"] {
        entries.append((person, try await test.desk.join(call, by: TestDesk.caller(person))))
      }
      let session = TestDesk.uuid()
      _ = try await test.desk.startSession(session, in: call, experience: "story", by: TestDesk.caller("ada"))
      _ = try await test.desk.joinSession(session, in: call, by: TestDesk.caller("bob"))
      _ = try await test.desk.leaveSession(session, in: call, by: TestDesk.caller("ada"))
      try await test.again(after: 20_000) { back in
        _ = try await back.desk.recover()
        for (person, entry) in entries { await back.media(true, (person, entry)) }
        for _ in 0..<8 { await back.pass(5_000) }
        #expect(try await back.desk.sessions(of: call, isOpen: false, for: PersonID("bob"))[0].state.isEnded)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a session begins with the last snapshot of one in which its starter took part`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let (call, session) = try await together(test)
      try await test.desk.keepSnapshot(
        SharedSnapshot(seq: 1, people: [], state: Array("9".utf8)), of: session, in: call,
        by: TestDesk.caller("ada"))
      _ = try await test.desk.endSession(session, in: call, by: TestDesk.caller("ada"))
      let next = TestDesk.uuid()
      let begun = try await test.desk.startSession(
        next, in: call, experience: "story", from: session, by: TestDesk.caller("bob"))
      #expect(begun.session.state.snapshotSeq == 0)
      let snapshot = try await test.desk.snapshot(of: next, in: call, for: ada)
      #expect(snapshot.seq == 0 && snapshot.state == Array("9".utf8))
      await #expect(throws: CallProblem.notFound) {
        try await test.desk.startSession(
          TestDesk.uuid(), in: call, experience: "other", from: TestDesk.uuid(), by: TestDesk.caller("bob"))
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who isn't in the call, sends too much or in the server's name does nothing in it`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let (call, session) = try await together(test)
      _ = try await test.desk.invite([eve], to: call, by: TestDesk.caller("ada"))
      await #expect(throws: CallProblem.notAllowed) {
        try await test.desk.joinSession(session, in: call, by: TestDesk.caller("eve"))
      }
      await #expect(throws: CallProblem.notFound) {
        try await test.desk.joinSession(session, in: call, by: TestDesk.caller("mallory"))
      }
      await #expect(throws: CallProblem.notFound) {
        try await test.desk.events(of: session, in: call, after: 0, limit: 9, for: PersonID("mallory"))
      }
      await #expect(throws: CallProblem.reservedType) {
        try await test.desk.append(
          TestDesk.uuid(), type: "system.joined", data: [], to: session, in: call, by: TestDesk.caller("ada"))
      }
      await #expect(throws: CallProblem.tooLarge("data")) {
        try await test.desk.append(
          TestDesk.uuid(), type: "x", data: Array(repeating: 46, count: 16_385), to: session, in: call,
          by: TestDesk.caller("ada"))
      }
      for number in 0..<50 { _ = try await append(test, number, to: session, in: call, by: "ada") }
      await #expect(throws: CallProblem.tooMany(wait: 1_000)) {
        try await append(test, 50, to: session, in: call, by: "ada")
      }
      test.clock.move(1_000)
      _ = try await append(test, 51, to: session, in: call, by: "ada")
    }
  }
}
