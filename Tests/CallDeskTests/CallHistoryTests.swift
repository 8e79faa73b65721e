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

  @Test(arguments: StoreKind.allCases)
  func `a list goes on behind calls that are there no more, also where what names them is no id of a call`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let id = try await test.start("ada", "eve").call.state.id
      try await add(50, of: ada, to: test)
      let created = test.clock.now.wall
      try await test.store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run(
          "INSERT INTO call_people (person, call, created, open, hidden, forgotten) VALUES ($1, $2, $3, 0, 0, 0)",
          each: (1...80).map { [.bytes(of: "ada"), .text("!\($0)"), .integer(created + 50 + $0)] })
      }
      let whole = try await test.desk.calls(of: ada, limit: 200)
      #expect(whole.calls.map(\.state.id) == [id] && whole.next == nil)
      // A page passes over some, and the next one over others.
      var (found, place, pages) = ([CallUUID](), CallPage.Place?.none, 0)
      repeat {
        let page = try await test.desk.calls(of: ada, before: place, limit: 1)
        found += page.calls.map(\.state.id)
        (place, pages) = (page.next, pages + 1)
      } while place != nil && pages < 9
      #expect(found == [id] && pages == 2)
    }
  }

  private static let call = "sqlite_autoindex_calls_1 (id=?)"
  private static let active = "call_people_active (person=?"

  /// Each step of what SQLite does, as it reads a table or what it has read before. A table is never read through.
  private static var plans: [(statement: SQLStatement, steps: [String])] {
    let place = "(created,call)<(?,?))"
    let shown = "call_people_shown (person=? AND hidden=? AND forgotten=? AND \(place)"
    let ofState = "call_people_by_state (person=? AND open=? AND hidden=? AND forgotten=? AND \(place)"
    let other = "sqlite_autoindex_call_people_1 (person=? AND call=?)"
    return [
      (CallRecords.pageOfAll, [shown, "SCAN s", other, "SCAN p", call]), (CallRecords.edgeOfAll, [shown]),
      (CallRecords.pageOfState, [ofState, "SCAN s", other, "SCAN p", call]),
      (CallRecords.edgeOfState, [ofState]),
      (CallRecords.openOfPerson, ["call_people_open (person=?)", call]),
      (EventRecords.signalsBeyond, ["call_events_of_signals (call=? AND person=? AND number>?)"]),
      (CallRecords.activeOfPerson, [active + " AND (created,call)>(?,?))", call]),
      (CallRecords.activeIDs, [active + ")"]),
      (CallRecords.standingOfPerson, [call, active + ")", "SCAN s", call]),
      (CallRecords.sharedByPeople, [active + ")", "SCAN s", other, call]),
    ]
  }

  /// PostgreSQL goes by what it has counted; SQLite by the shapes of indexes alone, and so by the same ones always.
  @Test
  func `SQLite finds what is listed, isn't over or waits by an index of just that, and all that is joined`()
    async throws
  {
    try await TestDesk.with(.sqlite) { test in
      for (statement, wanted) in Self.plans {
        let steps = try await plan(of: statement, test).filter {
          $0.hasPrefix("SEARCH") || $0.hasPrefix("SCAN")
        }
        let isWanted =
          steps.count == wanted.count
          && zip(steps, wanted).allSatisfy { step, wanted in
            wanted.hasPrefix("SCAN") ? step == wanted : step.contains(wanted)
          }
        #expect(isWanted, "\(steps)")
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
    let statements: [(statement: SQLStatement, index: String)] = [
      (CallKeyRecords.endedRounds, Self.call), (EventRecords.endedSignals, Self.call),
      (CallKeyRecords.endedRounds, "call_keys_1 (call=?)"),
      (SessionRecords.ended, "shared_snapshots_1 (session=?)"),
      (ErasureRecords.newest, "call_answers_of_person (person=?)"),
      (ErasureRecords.newest, "call_deliveries_of_person (person=?)"),
      (ErasureRecords.newest, "blocks_of_blocked (blocked=?)"),
      (DeliveryRecords.erasure, "call_deliveries_of_person (person=?)"),
      (BlockRecords.erasure, "blocks_of_blocked (blocked=?)"),
    ]
    try await TestDesk.with(.sqlite) { test in
      for (statement, index) in statements {
        let steps = try await plan(of: statement, test)
        #expect(steps.contains { $0.contains(index) }, "\(steps)")
        // Those that ended long ago are many; and of tables of people no step is a scan.
        #expect(!steps.contains { $0.contains("calls_by_end") || $0.hasPrefix("SCAN blocks") }, "\(steps)")
        let tables = ["call_deliveries", "call_answers", "k", "n", "c"]
        #expect(!steps.contains { step in tables.contains { step.hasPrefix("SCAN \($0)") } }, "\(steps)")
      }
    }
  }
}
