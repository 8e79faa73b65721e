import CallDesk
import Calls
import TestStores
import Testing

@Suite("What is asked again, and what is too much", .timeLimit(.minutes(2)))
struct CallRepeatsTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  @Test(arguments: StoreKind.allCases)
  func `the same start again is answered as before, and another by its id is refused`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let id = TestDesk.uuid()
      let first = try await test.start("ada", "bob", id: id)
      let second = try await test.start("ada", "bob", id: id)
      #expect(second.session == first.session && test.outlet.rings.count == 1)
      await #expect(throws: CallProblem.idTaken) { try await test.start("ada", "bob", id: id, media: .video) }
      await #expect(throws: CallProblem.idTaken) { try await test.start("eve", "bob", id: id) }
      // Also behind its end, and when its answer is forgotten.
      _ = try await test.desk.leave(id, by: TestDesk.caller("ada"), reason: .userLeft)
      #expect(try await test.start("ada", "bob", id: id).call.state.isEnded)
      test.clock.move(2 * 86_400_000)
      await test.desk.tidy()
      await #expect(throws: CallProblem.idTaken) { try await test.start("ada", "eve", id: id) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a start that has joined the other's call is answered so again`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let first = try await test.start("bob", "ada")
      let id = TestDesk.uuid()
      for _ in 0..<2 {
        let entry = try await test.start("ada", "bob", id: id)
        #expect(entry.isMerged && entry.call.state.id == first.call.state.id)
      }
      _ = try await test.desk.leave(first.call.state.id, by: TestDesk.caller("ada"), reason: .userLeft)
      #expect(try await test.start("ada", "bob", id: id).call.state.isEnded)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `no recipient, too many, too long, too often`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      await #expect(throws: CallProblem.noRecipients) { try await test.start("ada", "ada") }
      let crowd = (0..<32).map { PersonID("p\($0)") }
      let (ada, bob) = (TestDesk.caller("ada"), PersonID("bob"))
      await #expect(throws: CallProblem.tooManyPeople(most: 32)) {
        try await test.desk.start(
          CallDesk.Start(id: TestDesk.uuid(), recipients: crowd, media: .audio), by: ada)
      }
      var long = CallDesk.Start(id: TestDesk.uuid(), recipients: [bob], media: .audio)
      long.metadata = String(repeating: "x", count: 4_097)
      let tooLong = long
      await #expect(throws: CallProblem.tooLarge("metadata")) { try await test.desk.start(tooLong, by: ada) }
      for _ in 0..<3 {
        let entry = try await test.start("ada", "bob")
        _ = try await test.desk.leave(entry.call.state.id, by: ada, reason: .userLeft)
      }
      await #expect(throws: CallProblem.tooMany(wait: 60_000)) { try await test.start("ada", "bob") }
      test.clock.move(60_000)
      _ = try await test.start("ada", "bob")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `history is of each person, newest first, in pages, and what is forgotten is so for one`(
    kind: StoreKind
  )
    async throws
  {
    try await TestDesk.with(kind) { test in
      var ids: [CallUUID] = []
      for number in 0..<5 {
        let entry = try await test.start("ada", number % 2 == 0 ? "bob" : "eve")
        ids.append(entry.call.state.id)
        if number < 4 {
          _ = try await test.desk.leave(entry.call.state.id, by: TestDesk.caller("ada"), reason: .userLeft)
        }
        test.clock.move(number == 2 ? 0 : 25_000)
      }
      let all = try await test.desk.calls(of: ada, limit: 200).calls.map(\.state.id)
      #expect(all.count == 5 && Set(all) == Set(ids) && all.first == ids[4])
      var pages: [CallUUID] = []
      var place: CallPage.Place?
      repeat {
        let page = try await test.desk.calls(of: ada, before: place, limit: 2)
        pages += page.calls.map(\.state.id)
        place = page.next
      } while place != nil
      #expect(pages == all)
      #expect(try await test.desk.calls(of: ada, with: eve, limit: 9).calls.count == 2)
      #expect(try await test.desk.calls(of: ada, isOpen: true, limit: 9).calls.map(\.state.id) == [ids[4]])
      #expect(try await test.desk.calls(of: bob, isOpen: false, limit: 9).calls.count == 2)
      try await test.desk.forget(ids[0], by: ada)
      #expect(try await test.desk.calls(of: ada, limit: 9).calls.count == 4)
      #expect(try await test.desk.calls(of: bob, limit: 9).calls.count == 3)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who took a call that goes on out of its history has it there again once it is rung or in it`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let id = try await test.start("ada", "bob", "eve").call.state.id
      _ = try await test.desk.join(id, by: TestDesk.caller("eve"))
      _ = try await test.desk.leave(id, by: TestDesk.caller("bob"), reason: .rejected)
      try await test.desk.forget(id, by: bob)
      // What others do changes nothing of that.
      _ = try await test.desk.change(id, CallChange(metadata: "m"), by: TestDesk.caller("ada"))
      #expect(try await test.desk.calls(of: bob, limit: 9).calls.isEmpty)
      _ = try await test.desk.invite([bob], to: id, by: TestDesk.caller("ada"))
      #expect(try await test.desk.calls(of: bob, limit: 9).calls.map(\.state.id) == [id])
      try await test.desk.forget(id, by: bob)
      _ = try await test.desk.join(id, by: TestDesk.caller("bob"))
      #expect(try await test.desk.calls(of: bob, isOpen: true, limit: 9).calls.map(\.state.id) == [id])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a join is known by either name of its device when it is asked again`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let id = try await test.start("ada", "bob").call.state.id
      let reader = DeviceID("reader-1")
      // Its token stands for it, and then it says which it is.
      let unnamed = Caller(bob, device: reader, apiKey: "devkey")
      var named = Caller(bob, device: DeviceID("phone"), apiKey: "devkey")
      named.reader = reader
      _ = try await test.desk.join(id, by: unnamed, under: ("first", [1]))
      let second = try await test.desk.join(id, by: named, under: ("second", [2]))
      let again = try await test.desk.join(id, by: unnamed, under: ("first", [1]))
      #expect(again.session == second.session && again.isIn && again.device == DeviceID("phone"))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what is old is forgotten, each at its time`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      _ = try await test.desk.leave(entry.call.state.id, by: TestDesk.caller("ada"), reason: .userLeft)
      test.clock.move(6 * 86_400_000)
      await test.desk.tidy()
      #expect(try await test.kinds("bob") == [.ringing, .ringEnded, .ended])
      test.clock.move(2 * 86_400_000)
      await test.desk.tidy()
      // Gone: who asks from there begins with the state.
      #expect(try await test.desk.events(of: bob, after: 1, limit: 9).isGone)
      #expect(try await !test.desk.events(of: bob, after: 3, limit: 9).isGone)
      #expect(try await test.desk.calls(of: bob, limit: 9).calls.count == 1)
      test.clock.move(180 * 86_400_000)
      await test.desk.tidy()
      #expect(try await test.desk.calls(of: bob, limit: 9).calls.isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `of a person's events so many are kept, and their numbers have no gap`(kind: StoreKind) async throws {
    var terms = CallDeskTerms()
    (terms.events, terms.changesPerMinute) = (100, 1_000)
    try await TestDesk.with(kind, terms) { test in
      let entry = try await test.start("ada", "bob")
      for number in 0..<200 {
        _ = try await test.desk.change(
          entry.call.state.id, CallChange(metadata: "\(number)"), by: TestDesk.caller("ada"))
      }
      let page = try await test.desk.events(of: bob, after: 150, limit: 200)
      #expect(page.events.map(\.number) == Array(151...201) && page.last == 201)
      #expect(try await test.desk.events(of: bob, after: 0, limit: 200).isGone)
      #expect(try await test.desk.events(of: bob, after: 999, limit: 200).isGone)
    }
  }
}
