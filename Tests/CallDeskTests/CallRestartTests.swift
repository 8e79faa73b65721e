import Calls
import Storage
import TestStores
import Testing

@testable import CallDesk

@Suite("Calls over a restart", .timeLimit(.minutes(2)))
struct CallRestartTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  @Test(arguments: StoreKind.allCases)
  func `people have 30 s to return, and rings go on to their old end`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      _ = try await test.desk.invite([eve], to: mine.call.state.id, by: TestDesk.caller("ada"))
      try await test.again(after: 10_000) { back in
        let rooms = try await back.desk.recover().rooms
        #expect(rooms == [try #require(mine.call.room)])
        await back.pass(19_999)
        #expect(try await back.call(mine, for: "ada").invited == [eve])
        await back.pass(1)
        let call = try await back.call(mine, for: "ada")
        #expect(call[eve]?.leaveReason == .timedOut && call.active == [ada, bob])
        await back.media(true, ("ada", mine))
        await back.pass(10_000)
        #expect(try await back.call(mine, for: "ada").active == [ada])
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a ring that was over meanwhile is so now, and wakes no one`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      let last = try await test.heard("bob").count
      try await test.again(after: 3_600_000) { back in
        let rooms = try await back.desk.recover().rooms
        #expect(rooms.isEmpty)
        let call = try await back.call(entry, for: "bob")
        #expect(call[bob]?.leaveReason == .timedOut && call.isEnded)
        #expect(back.outlet.rings.isEmpty && back.outlet.ringsEnded.isEmpty)
        #expect(try await back.kinds("bob", after: Int64(last)) == [.ringEnded, .ended])
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `many are taken on, each once`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      for number in 0..<150 { _ = try await test.start("ada\(number)", "bob\(number)") }
      try await test.again(after: 1_000) { back in
        let rooms = try await back.desk.recover().rooms
        #expect(rooms.count == 150)
        await back.pass(29_000)
        for _ in 0..<5 { _ = await back.desk.advance() }
        #expect(back.outlet.steps.count { $0 == .ended } == 150)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `while nothing can be written nothing is answered, and media is written down afterwards`(
    kind: StoreKind
  )
    async throws
  {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      let theirs = try await test.desk.join(entry.call.state.id, by: TestDesk.caller("bob"))
      try await test.store.setCallsAway(true)
      await #expect(throws: CallProblem.storeUnavailable) { try await test.start("ada", "eve") }
      await #expect(throws: CallProblem.storeUnavailable) { try await test.call(entry, for: "ada") }
      await test.media(true, ("ada", entry), ("bob", theirs))
      #expect(test.desk.hasUnwrittenPresence)
      let came = test.clock.now
      test.clock.move(5_000)
      try await test.store.setCallsAway(false)
      await test.desk.writePresence()
      #expect(!test.desk.hasUnwrittenPresence)
      #expect(try await test.call(entry, for: "ada").connectedAt == came)
    }
  }
}
