import Calls
import Storage
import TestStores
import Testing

@testable import CallDesk

/// The connection is lost while a decision is committed: whether it is done isn't known, and what follows from it is carried out all the
/// same, once, if it is.
@Suite("Decisions whose outcome isn't known", .timeLimit(.minutes(2)))
struct UnknownOutcomeTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")

  private func with(_ body: (TestDesk, PostgreSQLRelay) async throws -> Void) async throws {
    let relay = try PostgreSQLRelay()
    try await TestDesk.with(.postgreSQL, at: relay.location) { test in try await body(test, relay) }
  }

  /// Asks for something whose transaction is cut.
  private func lose<Value>(
    _ cut: PostgreSQLRelay.Cut, _ relay: PostgreSQLRelay, _ body: () async throws -> Value
  ) async {
    let count = relay.count
    relay.cut(cut)
    do {
      _ = try await body()
      Issue.record("it is answered as if it were known")
    } catch { #expect(error as? CallProblem == .storeUnavailable) }
    #expect(relay.count == count + 1)
  }

  /// Until the store is connected again, and all that was lost is looked at.
  private func catchUp(_ test: TestDesk) async throws {
    for _ in 0..<500 {
      await test.desk.catchUp()
      if test.desk.unknown.first(1).isEmpty { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("the store isn't there again within five seconds")
  }

  @Test func `a call that has begun rings, once, and those who read events look for them`() async throws {
    try await with { test, relay in
      let id = TestDesk.uuid()
      await lose(.behindCommit, relay) { try await test.start("ada", "bob", id: id) }
      #expect(test.outlet.all.isEmpty)
      try await catchUp(test)
      let call = try await test.desk.call(id).state
      let ring = try #require(call[bob]?.ring?.id)
      #expect(test.outlet.rings.map { $0.ring.id } == [ring] && test.outlet.steps == [.started])
      #expect(test.outlet.all.reduce(into: Set()) { $0.formUnion($1.listeners) } == [ada, bob])
      // The client asks again, and nothing is done twice.
      #expect(try await test.start("ada", "bob", id: id).call.state.id == id)
      await test.desk.catchUp()
      #expect(test.outlet.rings.count == 1 && test.outlet.steps == [.started])
    }
  }

  @Test func `of one that isn't done nothing is carried out`() async throws {
    try await with { test, relay in
      let id = TestDesk.uuid()
      await lose(.beforeCommit, relay) { try await test.start("ada", "bob", id: id) }
      try await catchUp(test)
      await #expect(throws: CallProblem.notFound) { _ = try await test.desk.call(id) }
      #expect(test.outlet.rings.isEmpty && test.outlet.steps.isEmpty)
      let (mine, _) = try await test.talk("ada", "bob")
      let steps = test.outlet.steps
      await lose(.beforeCommit, relay) {
        try await test.desk.join(mine.call.state.id, by: TestDesk.caller("bob", "bob2"), takeover: true)
      }
      try await catchUp(test)
      await lose(.beforeCommit, relay) { try await test.desk.remove(bob, from: mine.call.state.id) }
      try await catchUp(test)
      await lose(.beforeCommit, relay) { try await test.desk.end(mine.call.state.id) }
      try await catchUp(test)
      #expect(try await test.call(mine, for: "ada").active == [ada, bob])
      #expect(test.outlet.closes.isEmpty && test.outlet.all.allSatisfy(\.revoked.isEmpty))
      #expect(test.outlet.steps == steps)
    }
  }

  @Test func `the device that a call was taken from is closed, and so is one who was removed`() async throws {
    try await with { test, relay in
      let (mine, theirs) = try await test.talk("ada", "bob")
      let id = mine.call.state.id
      await lose(.behindCommit, relay) {
        try await test.desk.join(id, by: TestDesk.caller("bob", "bob2"), takeover: true)
      }
      #expect(test.outlet.closes.isEmpty)
      try await catchUp(test)
      #expect(test.outlet.closes.map(\.session) == [theirs.session])
      #expect(test.outlet.closes.map(\.reason) == [.movedElsewhere])
      await lose(.behindCommit, relay) { try await test.desk.remove(bob, from: id) }
      try await catchUp(test)
      // The other one is alone then, which ends the call.
      #expect(test.outlet.closes.map(\.reason) == [.movedElsewhere, .removed, .callEnded])
      #expect(test.outlet.all.flatMap { $0.revoked.map { $0.person } } == [bob])
    }
  }

  @Test func `a ring that is over ends where it rings, and its call's end is said`() async throws {
    try await with { test, relay in
      let mine = try await test.start("ada", "bob")
      await lose(.behindCommit, relay) {
        try await test.desk.leave(mine.call.state.id, by: TestDesk.caller("ada"), reason: .userLeft)
      }
      #expect(test.outlet.ringsEnded.isEmpty)
      try await catchUp(test)
      #expect(test.outlet.ringsEnded.map(\.reason) == [.cancelled])
      #expect(test.outlet.steps == [.started, .ended])
    }
  }

  @Test func `a ring that was answered meanwhile wakes no one any more`() async throws {
    try await with { test, relay in
      let id = TestDesk.uuid()
      await lose(.behindCommit, relay) { try await test.start("ada", "bob", id: id) }
      var joined: CallEntry?
      for _ in 0..<500 where joined == nil {
        joined = try? await test.desk.join(id, by: TestDesk.caller("bob"))
        if joined == nil { try await Task.sleep(for: .milliseconds(10)) }
      }
      #expect(joined != nil)
      try await catchUp(test)
      #expect(test.outlet.rings.isEmpty && test.outlet.ringsEnded.map(\.reason) == [.answeredElsewhere])
      #expect(test.outlet.steps == [.started])
    }
  }

  @Test func `so many decisions are remembered, and no more`() {
    let unknown = UnknownDecisions()
    let decision = UnknownDecisions.Decision(aftermath: Aftermath(), at: CallTime(wall: 1, steady: 1))
    var kept = 0
    while kept <= 4_096, unknown.keep(decision) { kept += 1 }
    #expect(kept == 4_096)
    #expect(unknown.first(64).count == 64)
    unknown.removeFirst(4_096)
    #expect(unknown.first(64).isEmpty)
  }
}
