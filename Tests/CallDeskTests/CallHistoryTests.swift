import Calls
import TestStores
import Testing

@testable import CallDesk
@testable import Storage

@Suite("What lists of calls look at", .timeLimit(.minutes(2)))
struct CallHistoryTests {
  private let ada = PersonID("ada")
  private let eve = PersonID("eve")

  /// Calls of a person that are over, each a millisecond younger than the one before.
  private func add(_ count: Int, of person: PersonID, to test: TestDesk) async throws {
    let created = test.clock.now.wall
    try await test.store.write(bytes: 1) { transaction throws(StoreError) in
      try transaction.run(
        "INSERT INTO call_people (person, call, created, open, hidden, forgotten) VALUES ($1, $2, $3, 0, 0, 0)",
        each: (1...count).map { number in
          [
            .bytes(of: person.text), .text(CallUUID(random: (high: 1, low: UInt64(number))).text),
            .integer(created + Int64(number)),
          ]
        })
    }
  }

  /// How many calls each page of a list has.
  private func sizes(_ test: TestDesk, isOpen: Bool?) async throws -> [Int] {
    var (sizes, place) = ([Int](), CallPage.Place?.none)
    repeat {
      let page = try await test.desk.calls(of: ada, with: eve, isOpen: isOpen, before: place, limit: 1)
      sizes.append(page.calls.count)
      place = page.next
    } while place != nil && sizes.count < 9
    return sizes
  }

  @Test(arguments: StoreKind.allCases)
  func `calls with one other are looked for among a thousand at a time, and the list goes on from there`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let id = try await test.start("ada", "eve").call.state.id
      _ = try await test.desk.leave(id, by: TestDesk.caller("ada"), reason: .userLeft)
      try await add(2_500, of: ada, to: test)
      #expect(try await sizes(test, isOpen: nil) == [0, 0, 1])
      #expect(try await sizes(test, isOpen: false) == [0, 0, 1])
      #expect(try await sizes(test, isOpen: true) == [0])
    }
  }

  /// PostgreSQL goes by what it has counted; SQLite by the shapes of indexes alone, and so by the same ones always.
  @Test func `SQLite finds what is listed, isn't over or waits by an index of just that`() async throws {
    let place = "(created,call)<(?,?))"
    let shown = "call_people_shown (person=? AND hidden=? AND forgotten=? AND \(place)"
    let ofState = "call_people_by_state (person=? AND open=? AND hidden=? AND forgotten=? AND \(place)"
    let statements: [(statement: SQLStatement, index: String)] = [
      (CallRecords.pageOfAll, shown), (CallRecords.edgeOfAll, shown), (CallRecords.pageOfState, ofState),
      (CallRecords.edgeOfState, ofState), (CallRecords.openOfPerson, "call_people_open (person=?)"),
      (EventRecords.signalsBeyond, "call_events_of_signals (call=? AND person=? AND number>?)"),
      (CallRecords.activeOfPerson, "call_people_active (person=? AND (created,call)>(?,?))"),
      (CallRecords.activeIDs, "call_people_active (person=?)"),
      (CallRecords.standingOfPerson, "call_people_active (person=?)"),
      (CallRecords.sharedByPeople, "call_people_active (person=?)"),
    ]
    try await TestDesk.with(.sqlite) { test in
      for (statement, index) in statements {
        let steps = try await plan(of: statement, test)
        #expect(steps.contains { $0.contains(index) }, "\(steps)")
      }
    }
  }

  /// What SQLite does for a statement, step by step.
  private func plan(of statement: SQLStatement, _ test: TestDesk) async throws -> [String] {
    let plan = try await test.store.read { transaction throws(StoreError) -> [SQLRow] in
      try transaction.run(SQLStatement(planOf: statement))
    }
    return try plan.map { row throws(StoreError) in try row.text(3) }
  }

  @Test
  func `SQLite finds what goes with a call, or with a person, without a look at calls and people of others`()
    async throws
  {
    let call = "calls_1 (id=?)"
    let statements: [(statement: SQLStatement, index: String)] = [
      (CallKeyRecords.endedRounds, call), (EventRecords.endedSignals, call),
      (DeliveryRecords.erasure, "call_deliveries_of_person (person=?)"),
      (BlockRecords.erasure, "blocks_of_blocked (blocked=?)"),
    ]
    try await TestDesk.with(.sqlite) { test in
      for (statement, index) in statements {
        let steps = try await plan(of: statement, test)
        #expect(steps.contains { $0.contains(index) }, "\(steps)")
        // Those that ended long ago are many; and of tables of people no step is a scan.
        #expect(!steps.contains { $0.contains("calls_by_end") || $0.hasPrefix("SCAN blocks") }, "\(steps)")
        #expect(!steps.contains { $0.hasPrefix("SCAN call_deliveries") }, "\(steps)")
      }
    }
  }
}
