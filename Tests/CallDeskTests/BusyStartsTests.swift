import Calls
import TestStores
import Testing

@testable import CallDesk

@Suite("Calls that begin at once with one who is in a call, or comes into one", .timeLimit(.minutes(2)))
struct BusyStartsTests {
  @Test(arguments: StoreKind.allCases)
  func `two who call one that is in a call at once both find it busy`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      for number in 0..<8 {
        let bob = PersonID("bob\(number)")
        _ = try await test.talk(bob.text, "kim\(number)")
        async let one = test.start("ada\(number)", bob.text)
        async let two = test.start("eve\(number)", bob.text)
        for entry in try await [one, two] {
          let call = entry.call.state
          #expect(call[bob]?.leaveReason == .busy && call.end?.outcome == .busy)
        }
        #expect(try await !test.kinds(bob.text).contains(.ringing))
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one who starts a call as it is called is rung before it did, or is busy`(kind: StoreKind) async throws
  {
    try await TestDesk.with(kind) { test in
      for number in 0..<16 {
        let (zoe, max) = ("zoe\(number)", PersonID("max\(number)"))
        async let one = test.start(zoe, max.text)
        async let two = test.start(max.text, "lea\(number)")
        let (first, second) = try await (one, two)
        let isRung = try await test.kinds(max.text).contains(.ringing)
        let call = try await test.call(first, for: zoe)
        #expect((call[max]?.leaveReason == .busy) == !isRung && call.isEnded == !isRung)
        #expect(call.invited == (isRung ? [max] : []))
        #expect(try await test.call(second, for: max.text).active == [max])
      }
    }
  }
}
