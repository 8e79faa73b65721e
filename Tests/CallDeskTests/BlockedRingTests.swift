import TestStores
import Testing

@testable import CallDesk
@testable import Calls

@Suite("Rings that are kept from a person", .timeLimit(.minutes(2)))
struct BlockedRingTests {
  private let bob = PersonID("bob")
  private let mallory = PersonID("mallory")

  private func invite(_ call: CallUUID, by person: String, _ test: TestDesk) async throws {
    _ = try await test.desk.invite([bob], to: call, by: TestDesk.caller(person))
  }

  @Test(arguments: StoreKind.allCases)
  func `they keep no one else's from it, and who is blocked sees no difference`(kind: StoreKind) async throws
  {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("mallory", "carol")
      let call = mine.call.state.id
      try await test.desk.block(mallory, by: bob)
      try await invite(call, by: "mallory", test)
      #expect(try await test.kinds("bob").isEmpty)
      let before = try await test.desk.call(call, for: mallory)
      test.clock.move(10_000)
      let heard = try await test.heardAll("mallory").count
      try await invite(call, by: "carol", test)
      #expect(try await test.kinds("bob") == [.ringing])
      #expect(test.outlet.rings.map(\.person) == [PersonID("carol"), bob])
      #expect(try await test.desk.calls(of: bob, limit: 9).calls.map(\.state.id) == [call])
      #expect(try await test.desk.call(call, for: mallory).state.looksLike(before.state))
      #expect(try await test.heardAll("mallory").count == heard)
      // No further one takes the place of one that is heard.
      for person in ["mallory", "carol"] { try await invite(call, by: person, test) }
      #expect(try await test.kinds("bob") == [.ringing])
      // It ends when the first one would have.
      await test.pass(19_999)
      #expect(try await test.desk.call(call).state.invited == [bob])
      await test.pass(1)
      #expect(try await test.desk.call(call).state[bob]?.leaveReason == .timedOut)
      #expect(try await test.kinds("bob").contains(.ringEnded))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one who blocks another no longer is rung by it, and can join`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("mallory", "carol")
      let call = mine.call.state.id
      try await test.desk.block(mallory, by: bob)
      for _ in 0..<3 { try await invite(call, by: "mallory", test) }
      #expect(try await test.kinds("bob").isEmpty)
      await #expect(throws: CallProblem.notFound) {
        try await test.desk.join(call, by: TestDesk.caller("bob"))
      }
      try await test.desk.unblock(mallory, by: bob)
      try await invite(call, by: "mallory", test)
      #expect(try await test.kinds("bob") == [.ringing])
      _ = try await test.desk.join(call, by: TestDesk.caller("bob"))
      #expect(try await test.desk.call(call).state.active.contains(bob))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who is in another call meanwhile is not given away by an invitation of one that it hears`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("mallory", "carol")
      let call = mine.call.state.id
      try await test.desk.block(mallory, by: bob)
      try await invite(call, by: "mallory", test)
      _ = try await test.talk("bob", "eve")
      let before = try await test.desk.call(call, for: mallory)
      let kinds = try await test.kinds("bob")
      try await invite(call, by: "carol", test)
      #expect(try await test.desk.call(call, for: mallory).state.looksLike(before.state))
      #expect(try await test.kinds("bob") == kinds)
    }
  }
}
