import Calls
import Storage
import TestStores
import Testing

@testable import CallDesk

@Suite("What is looked at for one who may know nothing of a call", .timeLimit(.minutes(1)))
struct StrangerStatementsTests {
  @Test(arguments: StoreKind.allCases)
  func `a stranger is refused by whose the call is, before a session of it is looked for`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let (call, session, caller) = (mine.call.state.id, TestDesk.uuid(), TestDesk.caller("ada"))
      _ = try await test.desk.startSession(session, in: call, experience: "story", by: caller)
      // What asks for sessions fails from now on.
      try await test.store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run("ALTER TABLE shared_sessions RENAME TO sessions_away")
      }
      let (mallory, other) = (TestDesk.caller("mallory"), TestDesk.uuid())
      for place in [call, other] {
        await #expect(throws: CallProblem.notFound) {
          _ = try await test.desk.eventPage(
            of: session, in: place, after: 0, limit: 9, for: mallory.person)
        }
        await #expect(throws: CallProblem.notFound) {
          _ = try await test.desk.snapshot(of: session, in: place, for: mallory.person)
        }
        await #expect(throws: CallProblem.notFound) {
          _ = try await test.desk.snapshotSize(of: session, in: place, for: mallory.person)
        }
        await #expect(throws: CallProblem.notFound) {
          _ = try await test.desk.joinSession(session, in: place, by: mallory)
        }
        await #expect(throws: CallProblem.notFound) {
          _ = try await test.desk.append(
            TestDesk.uuid(), type: "page", data: [UInt8(ascii: "1")], to: session, in: place, by: mallory)
        }
      }
      await #expect(throws: CallProblem.storeUnavailable) {
        _ = try await test.desk.snapshot(of: session, in: call, for: caller.person)
      }
      try await test.store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run("ALTER TABLE sessions_away RENAME TO shared_sessions")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who runs a room finds the calls of that one alone`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let call = try await test.start("ada", "bob").call
      let room = try #require(call.room)
      #expect(try await test.desk.call(call.state.id, inRoom: room).state.id == call.state.id)
      for (id, other) in [(call.state.id, "another"), (call.state.id, ""), (TestDesk.uuid(), room)] {
        await #expect(throws: CallProblem.notFound) { _ = try await test.desk.call(id, inRoom: other) }
      }
    }
  }
}
