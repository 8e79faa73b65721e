import Calls
import TestStores
import Testing

@testable import CallDesk

@Suite("What is asked under a key of the client's", .timeLimit(.minutes(2)))
struct KeyedRequestTests {
  private let ada = PersonID("ada")
  private let content: [UInt8] = [1, 2, 3]

  private func key<Answer: Sendable>(_ name: String, _ body: @escaping @Sendable (Answer) -> [UInt8]?)
    -> KeyedRequest<Answer>
  {
    KeyedRequest(name, content: content, by: ada, body)
  }

  @Test(arguments: StoreKind.allCases)
  func `the answer is written down with what is done, and nothing of what is refused`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob", "eve")
      let id = entry.call.state.id
      _ = try await test.desk.join(id, by: TestDesk.caller("bob"))
      let invite: KeyedRequest<CallDocument> = key("invite") { Array("\($0.state.invited.count)".utf8) }
      await #expect(throws: CallProblem.noRecipients) {
        try await test.desk.invite([ada], to: id, by: TestDesk.caller("ada"), under: invite)
      }
      #expect(try await test.desk.answer(to: "invite", content: content, by: ada) == nil)
      _ = try await test.desk.invite([PersonID("zoe")], to: id, by: TestDesk.caller("ada"), under: invite)
      // No one had to keep it: a process that ends here has it too.
      #expect(try await test.desk.answer(to: "invite", content: content, by: ada) == Array("2".utf8))
      await #expect(throws: CallProblem.idTaken) {
        try await test.desk.answer(to: "invite", content: [9], by: ada)
      }
      #expect(try await test.desk.answer(to: "invite", content: content, by: PersonID("bob")) == nil)
      let leave: KeyedRequest<CallDocument> = key("leave") { _ in [7] }
      _ = try await test.desk.leave(id, by: TestDesk.caller("ada"), reason: .userLeft, under: leave)
      #expect(try await test.desk.answer(to: "leave", content: content, by: ada) == [7])
      let forget: KeyedRequest<Void> = key("forget") { _ in nil }
      try await test.desk.forget(id, by: ada, under: forget)
      #expect(try await test.desk.answer(to: "forget", content: content, by: ada) == nil)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a start that comes again after a day is known by its call, and another by its id is refused`(
    kind: StoreKind
  )
    async throws
  {
    try await TestDesk.with(kind) { test in
      let id = TestDesk.uuid()
      _ = try await test.start("ada", "bob", id: id)
      _ = try await test.desk.leave(id, by: TestDesk.caller("ada"), reason: .userLeft)
      test.clock.move(2 * 86_400_000)
      await test.desk.tidy()
      let rings = test.outlet.rings.count
      let again = try await test.start("ada", "bob", id: id)
      #expect(again.call.state.id == id && again.call.state.isEnded && !again.isMerged)
      #expect(
        try await test.start("ada", "bob", id: id).session == again.session
          && test.outlet.rings.count == rings)
      await #expect(throws: CallProblem.idTaken) { try await test.start("ada", "eve", id: id) }
      await #expect(throws: CallProblem.idTaken) { try await test.start("eve", "bob", id: id) }
      await #expect(throws: CallProblem.idTaken) { try await test.start("bob", "bob", "ada", id: id) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one that is in the call still is answered by its session`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let id = TestDesk.uuid()
      let entry = try await test.start("ada", "bob", id: id)
      let theirs = try await test.desk.join(id, by: TestDesk.caller("bob"))
      await test.media(true, ("ada", entry), ("bob", theirs))
      test.clock.move(2 * 86_400_000)
      await test.desk.tidy()
      let again = try await test.start("ada", "bob", id: id)
      #expect(again.session == entry.session && again.device == entry.device && !again.call.state.isEnded)
    }
  }
}
