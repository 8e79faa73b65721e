import Calls
import TestStores
import Testing

@testable import CallDesk

@Suite("Calls while the time of day jumps", .timeLimit(.minutes(1)))
struct CallClockTests {
  @Test(arguments: StoreKind.allCases, [Int64(-3_600_000), 86_400_000])
  func `a call has lasted as long as it did, and a ring rings as long as it may`(
    kind: StoreKind, jump: Int64
  ) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let ringing = try await test.start("eve", "kim")
      await test.media(true, ("eve", ringing))
      await test.pass(10_000)
      test.clock.jump(jump)
      await test.pass(5_000)
      let left = try await test.desk.leave(
        mine.call.state.id, by: TestDesk.caller("bob"), reason: .userLeft)
      let end = try #require(left.state.end)
      #expect(end.duration == 15_000 && end.outcome == .answered && end.at == test.clock.now.wall)
      await test.pass(14_999)
      #expect(try await test.call(ringing, for: "eve").invited == [PersonID("kim")])
      await test.pass(1)
      #expect(try await test.call(ringing, for: "eve")[PersonID("kim")]?.leaveReason == .timedOut)
    }
  }
}
