import CallDesk
import Calls
import TestStores
import Testing

@Suite("Signals to one who has blocked the caller", .timeLimit(.minutes(3)))
struct BlockedSignalsTests {
  private static let seeds: [UInt64] = [1, UInt64.random(in: 0 ... .max)]

  /// Random numbers that a seed decides.
  private struct Draw {
    var state: UInt64
    mutating func below(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int((state >> 33) % UInt64(bound))
    }
  }

  /// What a signal to a person is answered.
  private func answer(
    _ payload: String, to person: String, in call: CallUUID, by caller: String, _ test: TestDesk
  ) async -> Result<Int64, CallProblem> {
    let signal = CallDesk.Signal(id: TestDesk.uuid(), to: PersonID(person), kind: "offer", payload: payload)
    do throws(CallProblem) {
      return .success(try await test.desk.signal(signal, in: call, by: TestDesk.caller(caller)))
    } catch { return .failure(error) }
  }

  @Test(arguments: StoreKind.allCases, [40, 9_000, 60_000])
  func `whatever is sent, it is answered as for one who isn't there`(
    kind: StoreKind, longest: Int
  ) async throws {
    for seed in Self.seeds {
      var draw = Draw(state: seed)
      try await TestDesk.with(kind) { test in
        // Bob reads nothing; kim has blocked ada.
        try await test.desk.block(PersonID("ada"), by: PersonID("kim"))
        let call = try await test.start("ada", "bob", "kim", "eve").call.state.id
        _ = try await test.desk.join(call, by: TestDesk.caller("eve"))
        var (offline, blocked): ([Result<Int64, CallProblem>], [Result<Int64, CallProblem>]) = ([], [])
        for _ in 0..<280 {
          // As long as it is sent, and longer as it is kept.
          let payload = String(repeating: draw.below(2) == 0 ? "A" : "/", count: draw.below(longest))
          let caller = draw.below(4) == 0 ? "eve" : "ada"
          offline.append(await answer(payload, to: "bob", in: call, by: caller, test))
          blocked.append(await answer(payload, to: "kim", in: call, by: caller, test))
        }
        #expect(offline == blocked, "seed \(seed)")
        // A bound was met.
        #expect(offline.contains(.failure(.tooMany(wait: 1_000))), "seed \(seed)")
        #expect(try await test.heard("kim").isEmpty, "seed \(seed)")
      }
    }
  }
}
