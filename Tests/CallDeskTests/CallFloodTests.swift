import Calls
import TestStores
import Testing

@testable import CallDesk

@Suite("What people of a call can be made to hear", .timeLimit(.minutes(2)))
struct CallFloodTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let kim = PersonID("kim")

  /// A call of ada and eve, whose media stands, to which bob and kim are invited.
  private func talk(_ test: TestDesk) async throws -> CallUUID {
    let mine = try await test.start("ada", "eve", "bob", "kim")
    let id = mine.call.state.id
    let theirs = try await test.desk.join(id, by: TestDesk.caller("eve"))
    await test.media(true, ("ada", mine), ("eve", theirs))
    return id
  }

  @Test(arguments: StoreKind.allCases)
  func `who has declined or was removed hears how, nothing of what others do behind it, and the end`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let id = try await talk(test)
      _ = try await test.desk.leave(id, by: TestDesk.caller("bob"), reason: .rejected)
      _ = try await test.desk.remove(kim, from: id)
      #expect(try await test.kinds("bob").suffix(2) == [.ringEnded, .updated])
      #expect(try await test.kinds("kim").suffix(2) == [.ringEnded, .updated])
      test.clock.move(1)
      let (ofBob, ofKim) = (try await test.heard("bob").count, try await test.heard("kim").count)
      let ofAda = try await test.heard("ada").count
      for number in 0..<5 {
        _ = try await test.desk.change(id, CallChange(metadata: "\(number)"), by: TestDesk.caller("eve"))
      }
      let session = TestDesk.uuid()
      _ = try await test.desk.startSession(session, in: id, experience: "story", by: TestDesk.caller("eve"))
      _ = try await test.desk.joinSession(session, in: id, by: TestDesk.caller("ada"))
      #expect(try await test.kinds("bob", after: Int64(ofBob)).isEmpty)
      #expect(try await test.kinds("kim", after: Int64(ofKim)).isEmpty)
      // Those who are in it hear all of it.
      let all: [PersonEvent.Kind] = [
        .updated, .updated, .updated, .updated, .updated, .sessionStarted, .sessionUpdated,
      ]
      #expect(try await test.kinds("ada", after: Int64(ofAda)) == all)
      _ = try await test.desk.end(id)
      #expect(try await test.kinds("bob", after: Int64(ofBob)) == [.ended])
      #expect(try await test.kinds("kim", after: Int64(ofKim)) == [.ended])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who has declined and blocks the caller hears nothing of being invited again`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let id = try await talk(test)
      _ = try await test.desk.leave(id, by: TestDesk.caller("bob"), reason: .rejected)
      try await test.desk.block(ada, by: bob)
      let known = try await test.heard("bob").count
      let rung = try await test.desk.invite([bob], to: id, by: TestDesk.caller("ada"))
      #expect(rung.state.invited.contains(bob))
      _ = try await test.desk.change(id, CallChange(metadata: "x"), by: TestDesk.caller("ada"))
      await test.pass(30_000)
      #expect(try await test.desk.call(id).state[bob]?.leaveReason == .timedOut)
      #expect(try await test.kinds("bob", after: Int64(known)).isEmpty)
      _ = try await test.desk.end(id)
      #expect(try await test.kinds("bob", after: Int64(known)) == [.ended])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one person changes calls only so often, whatever others do`(kind: StoreKind) async throws {
    var terms = CallDeskTerms()
    terms.changesPerMinute = 3
    try await TestDesk.with(kind, terms) { test in
      let id = try await talk(test)
      let other = try await test.start("zoe", "max").call.state.id
      for number in 0..<3 {
        _ = try await test.desk.change(id, CallChange(metadata: "\(number)"), by: TestDesk.caller("ada"))
      }
      let heard = try await test.heard("eve").count
      for _ in 0..<9 {
        await #expect(throws: CallProblem.tooMany(wait: 60_000)) {
          try await test.desk.change(id, CallChange(metadata: "x"), by: TestDesk.caller("ada"))
        }
      }
      #expect(try await test.heard("eve").count == heard)
      _ = try await test.desk.change(other, CallChange(metadata: "x"), by: TestDesk.caller("zoe"))
      test.clock.move(60_000)
      let changed = try await test.desk.change(id, CallChange(metadata: "y"), by: TestDesk.caller("ada"))
      #expect(changed.state.metadata == "y")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one person comes into calls only so often, and always may go or come again by the same device`(
    kind: StoreKind
  ) async throws {
    var terms = CallDeskTerms()
    terms.changesPerMinute = 3
    try await TestDesk.with(kind, terms) { test in
      let id = try await talk(test)
      let room = try #require(try await test.desk.call(id).room)
      for _ in 0..<3 {
        for _ in 0..<5 { _ = try await test.desk.join(id, by: TestDesk.caller("bob")) }
        _ = try await test.desk.leave(id, by: TestDesk.caller("bob"), reason: .networkError)
      }
      await #expect(throws: CallProblem.tooMany(wait: 60_000)) {
        try await test.desk.join(id, by: TestDesk.caller("bob"))
      }
      await #expect(throws: CallProblem.tooMany(wait: 60_000)) {
        try await test.desk.connect(bob, device: DeviceID("bob1"), inRoom: room)
      }
      #expect(try await test.desk.call(id).state[bob]?.leaveReason == .networkError)
      // Others may, and what was refused counts for nothing.
      _ = try await test.desk.join(id, by: TestDesk.caller("kim"))
      test.clock.move(60_000)
      let back = try await test.desk.join(id, by: TestDesk.caller("bob"))
      #expect(back.call.state.active.contains(bob))
    }
  }
}
