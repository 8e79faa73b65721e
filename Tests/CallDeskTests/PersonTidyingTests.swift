import Calls
import Storage
import TestStores
import Testing

@testable import CallDesk

@Suite("What is kept of people, and for how long", .timeLimit(.minutes(2)))
struct PersonTidyingTests {
  private static let day: Int64 = 86_400_000
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")

  private func people(_ test: TestDesk) async throws -> [String] {
    try await test.store.read { transaction throws(StoreError) in
      var people: [String] = []
      for row in try transaction.run("SELECT person FROM persons ORDER BY person") {
        people.append(try row.string(0))
      }
      return people
    }
  }

  private func count(
    _ test: TestDesk, _ statement: SQLStatement, _ values: [SQLValue] = []
  ) async throws(StoreError) -> Int64? {
    try await test.store.read { transaction throws(StoreError) in
      try transaction.run(statement, values).first?.integer(0)
    }
  }

  /// Somebody calls others and hangs up at once.
  private func ring(_ test: TestDesk, _ caller: String, _ others: String...) async throws {
    let entry = try await test.desk.start(
      CallDesk.Start(id: TestDesk.uuid(), recipients: others.map { PersonID($0) }, media: .audio),
      by: TestDesk.caller(caller))
    _ = try await test.desk.leave(entry.call.state.id, by: TestDesk.caller(caller), reason: .userLeft)
  }

  private func listed(_ test: TestDesk) async throws -> [PersonID] {
    try await test.desk.people(after: nil, limit: 200).map(\.person)
  }

  // MARK: - Rows

  @Test(arguments: StoreKind.allCases)
  func `who was only called is kept as long as a call that names it, and listed nowhere`(kind: StoreKind)
    async throws
  {
    var terms = CallDeskTerms()
    terms.historyDays = 1
    try await TestDesk.with(kind, terms) { test in
      try await ring(test, "ada", "bob", "ghost", "spook")
      try await test.desk.noteReader(Caller(bob, apiKey: "devkey"))
      #expect(try await people(test) == ["ada", "bob", "ghost", "spook"])
      #expect(try await listed(test) == [ada, bob])
      test.clock.move(Self.day / 2)
      try await ring(test, "ada", "spook")
      test.clock.move(Self.day / 2)
      await test.desk.tidy()
      #expect(try await people(test) == ["ada", "bob", "spook"])
      let events: SQLStatement = "SELECT count(*) FROM call_events WHERE person = $1"
      #expect(try await count(test, events, [.bytes(of: "ghost")]) == 0)
      #expect(try await count(test, events, [.bytes(of: "bob")]) == 3)
      test.clock.move(Self.day / 2)
      await test.desk.tidy()
      #expect(try await people(test) == ["ada", "bob"])
      // One that is called once more begins from nothing.
      _ = try await test.start("ada", "ghost")
      #expect(try await test.heard("ghost").map(\.number) == [1])
      #expect(try await test.heard("bob").map(\.number) == [1, 2, 3])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who is refused hasn't come, and is kept and listed no more than one who never asked`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let id = try await test.start("ada", "bob").call.state.id
      for call in [id, TestDesk.uuid()] {
        await #expect(throws: CallProblem.notFound) {
          _ = try await test.desk.join(call, by: TestDesk.caller("mallory"))
        }
      }
      await #expect(throws: CallProblem.noRecipients) { _ = try await test.start("mallory", "mallory") }
      await #expect(throws: CallProblem.idTaken) { _ = try await test.start("mallory", "bob", id: id) }
      #expect(try await people(test) == ["ada", "bob"])
      #expect(try await listed(test) == [ada])
      _ = try await test.desk.join(id, by: TestDesk.caller("bob"))
      #expect(try await listed(test) == [ada, bob])
    }
  }

  // MARK: - Erasure

  private func caller(issued: Int64?) -> Caller {
    Caller(bob, name: "Bob", device: DeviceID("bob1"), apiKey: "devkey", issuedAt: issued)
  }

  @Test(arguments: StoreKind.allCases)
  func `a token of before an erasure brings no name back, whatever it does, and a later one does`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let id = mine.call.state.id
      _ = try await test.desk.leave(id, by: TestDesk.caller("bob"), reason: .networkError)
      let erased = test.clock.now.wall
      try await test.desk.erase(bob)
      for issued in [nil, erased - 1_000, erased] {
        let caller = caller(issued: issued)
        _ = try await test.desk.join(id, by: caller)
        try await test.desk.noteReader(caller)
        _ = try await test.desk.register(
          Device(DeviceID("phone"), platform: .webhook, topic: "", token: "t"), by: caller)
        _ = try await test.desk.publish(try TestDesk.key(), of: DeviceID("bob1"), by: caller)
        let document = try await test.desk.call(id, for: ada)
        #expect(document.names == [ada: "Ada"] && document.erased == [bob])
        #expect(try await listed(test) == [ada])
        _ = try await test.desk.leave(id, by: caller, reason: .networkError)
      }
      try await test.desk.noteReader(caller(issued: erased + 1))
      let document = try await test.desk.call(id, for: ada)
      #expect(document.names == [ada: "Ada", bob: "Bob"] && document.erased.isEmpty)
      #expect(try await listed(test) == [ada, bob])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who was erased is remembered as such as long as calls are kept, and as one that names it`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      try await ring(test, "ada", "bob")
      try await test.desk.erase(bob)
      try await test.desk.erase(PersonID("kim"))
      test.clock.move(100 * Self.day)
      try await ring(test, "ada", "bob")
      test.clock.move(79 * Self.day)
      await test.desk.tidy()
      #expect(try await people(test) == ["ada", "bob", "kim"])
      test.clock.move(Self.day)
      await test.desk.tidy()
      // A call names it still.
      #expect(try await people(test) == ["ada", "bob"])
      test.clock.move(100 * Self.day)
      await test.desk.tidy()
      #expect(try await people(test) == ["ada"])
    }
  }

  // MARK: - Answers, and how far people have heard

  @Test(arguments: StoreKind.allCases)
  func `of a person's answers the last are kept, and what came before is done once more`(kind: StoreKind)
    async throws
  {
    var terms = CallDeskTerms()
    terms.answers.ofPerson = 10
    try await TestDesk.with(kind, terms) { test in
      let id = try await test.start("ada", "bob").call.state.id
      _ = try await test.start("eve", "kim")
      var signals: [CallDesk.Signal] = []
      for number in 1...200 {
        test.clock.move(1)
        let signal = CallDesk.Signal(id: TestDesk.uuid(), to: bob, kind: "offer", payload: "AAAA")
        signals.append(signal)
        #expect(try await test.desk.signal(signal, in: id, by: TestDesk.caller("ada")) == Int64(number))
      }
      let answers: SQLStatement = "SELECT count(*) FROM call_answers WHERE person = $1"
      let kept = try #require(try await count(test, answers, [.bytes(of: "ada")]))
      #expect((10..<(10 + 64)).contains(kept))
      #expect(try await count(test, answers, [.bytes(of: "eve")]) == 1)
      #expect(try await test.desk.signal(signals[199], in: id, by: TestDesk.caller("ada")) == 200)
      #expect(try await test.desk.signal(signals[0], in: id, by: TestDesk.caller("ada")) == 201)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `of all people's answers together the last are kept, though their day isn't over`(kind: StoreKind)
    async throws
  {
    var terms = CallDeskTerms()
    terms.answers.ofAll = 5
    try await TestDesk.with(kind, terms) { test in
      let people = (0..<8).map { PersonID("p\($0)") }
      for person in people {
        test.clock.move(1)
        try await test.desk.keep([7], to: "key", content: [1], by: person)
      }
      await test.desk.tidy()
      for (place, person) in people.enumerated() {
        let answer = try await test.desk.answer(to: "key", content: [1], by: person)
        let kept: [UInt8]? = place < 3 ? nil : [7]
        #expect(answer == kept, "\(place)")
      }
    }
  }

  @Test func `every so many answers of a person it is its turn, whatever others do`() {
    let turns = AnswerTurns(span: 3, capacity: 2)
    #expect((0..<6).map { _ in turns.take(ada) } == [false, false, true, false, false, true])
    #expect(!turns.take(ada) && !turns.take(bob) && !turns.take(ada) && turns.take(ada) && !turns.take(bob))
    // With more people than there is room for, counting begins again, and goes on.
    for number in 0..<50 { #expect(!turns.take(PersonID("p\(number)"))) }
    #expect((0..<9).count { _ in turns.take(bob) } == 3)
  }

  @Test func `who has heard nothing for the longest is forgotten for another, and no one else`() {
    let heard = HeardEvents(capacity: 3)
    let (eve, kim, zoe) = (PersonID("eve"), PersonID("kim"), PersonID("zoe"))
    func numbers(_ people: PersonID...) -> [Int64] { people.map { heard.number(of: $0, by: nil) } }
    heard.note(5, by: ada, nil)
    heard.note(6, by: bob, nil)
    heard.note(7, by: eve, nil)
    heard.note(4, by: ada, nil)
    heard.note(1, by: kim, nil)
    #expect(numbers(ada, bob, eve, kim) == [5, 0, 7, 1])
    for number in 0..<100 { heard.note(Int64(number), by: kim, nil) }
    #expect(numbers(ada, bob, eve, kim) == [5, 0, 7, 99])
    // One that was erased leaves room, and comes last when it is back.
    heard.forget(ada)
    heard.note(2, by: bob, nil)
    #expect(numbers(ada, bob, eve, kim) == [0, 2, 7, 99])
    heard.note(3, by: ada, nil)
    heard.note(8, by: zoe, nil)
    #expect(numbers(ada, bob, eve, kim, zoe) == [3, 2, 0, 0, 8])
  }

  @Test func `each device has heard what it was given, and one that says no name what is for any`() {
    let heard = HeardEvents()
    let (phone, tablet) = (DeviceID("phone"), DeviceID("tablet"))
    heard.note(3, by: ada, phone)
    heard.note(9, by: ada, tablet)
    #expect(heard.number(of: ada, by: phone) == 3 && heard.number(of: ada, by: tablet) == 9)
    #expect(heard.number(of: ada, by: nil) == 9 && heard.number(of: ada, by: DeviceID("desk")) == 0)
    heard.note(7, by: ada, nil)
    #expect(heard.number(of: ada, by: phone) == 7 && heard.number(of: ada, by: tablet) == 9)
    #expect(heard.number(of: bob, by: phone) == 0)
  }

  @Test func `however many devices one person makes up, they take no one else's place`() {
    let heard = HeardEvents(capacity: HeardEvents.mostOfPerson + 1)
    let phone = DeviceID("phone")
    heard.note(5, by: bob, phone)
    for number in 1...1_000 { heard.note(Int64(number), by: ada, DeviceID("d\(number)")) }
    #expect(heard.number(of: bob, by: phone) == 5 && heard.number(of: ada, by: nil) == 1_000)
    let known = (1...1_000).count { heard.number(of: ada, by: DeviceID("d\($0)")) > 0 }
    #expect(known == HeardEvents.mostOfPerson)
  }
}
