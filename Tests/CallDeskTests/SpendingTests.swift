import Calls
import TestStores
import Testing

@testable import CallDesk

/// What people do while nothing can be stored is taken from none of their budgets: each act is tried ten times as often as its budget
/// allows, and behind that there is as much of it as ever, and no more.
@Suite("Budgets while nothing can be stored", .timeLimit(.minutes(2)))
struct SpendingTests {
  private let bob = PersonID("bob")
  private let most = 3

  private var terms: CallDeskTerms {
    var terms = CallDeskTerms()
    (terms.rates.starts, terms.rates.rings, terms.changesPerMinute) = (most, most, most)
    (terms.keys.entriesPerMinute, terms.keys.changesPerMinute) = (most, most)
    return terms
  }

  /// Tries something while nothing can be stored, and then as often as it goes.
  private func expectMost(_ test: TestDesk, _ act: () async throws -> Void) async throws {
    try await test.store.setEventsAway(true)
    for _ in 0..<10 * most {
      do {
        try await act()
        Issue.record("it is stored all the same")
      } catch { #expect(error as? CallProblem == .storeUnavailable) }
    }
    try await test.store.setEventsAway(false)
    for _ in 0..<most { try await act() }
    do {
      try await act()
      Issue.record("more than the budget allows")
    } catch { #expect(error as? CallProblem == .tooMany(wait: 60_000)) }
  }

  @Test(arguments: StoreKind.allCases) func `calls that begin`(kind: StoreKind) async throws {
    try await TestDesk.with(kind, terms) { test in
      var number = 0
      try await expectMost(test) {
        number += 1
        _ = try await test.start("ada", "bob\(number)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases) func `rings of a call`(kind: StoreKind) async throws {
    try await TestDesk.with(kind, terms) { test in
      let id = try await test.start("ada", "eve").call.state.id
      try await expectMost(test) {
        _ = try await test.desk.invite([bob], to: id, by: TestDesk.caller("ada"))
        _ = try await test.desk.leave(id, by: TestDesk.caller("bob"), reason: .rejected)
      }
    }
  }

  @Test(arguments: StoreKind.allCases) func `changes of a call`(kind: StoreKind) async throws {
    try await TestDesk.with(kind, terms) { test in
      let id = try await test.start("ada", "bob").call.state.id
      var number = 0
      try await expectMost(test) {
        number += 1
        let change = CallChange(metadata: "\(number)")
        _ = try await test.desk.change(id, change, by: TestDesk.caller("ada"))
      }
    }
  }

  @Test(arguments: StoreKind.allCases) func `coming into a call`(kind: StoreKind) async throws {
    try await TestDesk.with(kind, terms) { test in
      let (id, me) = (try await test.start("ada", "bob").call.state.id, TestDesk.caller("bob"))
      try await expectMost(test) {
        _ = try await test.desk.join(id, by: me)
        _ = try await test.desk.leave(id, by: me, reason: .networkError)
      }
    }
  }

  @Test(arguments: StoreKind.allCases) func `entries of the log of keys`(kind: StoreKind) async throws {
    try await TestDesk.with(kind, terms) { test in
      try await expectMost(test) { try await test.publish("ada") }
    }
  }

  @Test(arguments: StoreKind.allCases) func `other keys of a call`(kind: StoreKind) async throws {
    try await TestDesk.with(kind, terms) { test in
      try await test.publishEach("bob")
      let id = try await test.startEncrypted("word", by: "ada", "bob").call.state.id
      let keys = try await test.wrap("another", for: "bob")
      var number: Int64 = 0
      try await expectMost(test) {
        number += 1
        _ = try await test.desk.changeKey(keys, to: number, of: id, by: TestDesk.caller("ada"))
      }
    }
  }
}
