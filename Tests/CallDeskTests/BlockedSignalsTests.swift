import Calls
import Synchronization
import TestStores
import Testing

@testable import CallDesk

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
        #expect(offline.contains(.failure(.tooMany(wait: 2_000))), "seed \(seed)")
        #expect(try await test.heard("kim").isEmpty, "seed \(seed)")
      }
    }
  }

  /// - Parameter pace: they read each that comes, as by a stream, or now and then as many.
  @Test(arguments: StoreKind.allCases, [1, 200, 300])
  func `for one who reads and has blocked the caller it is answered as for another who reads as much`(
    kind: StoreKind, pace: Int
  ) async throws {
    try await TestDesk.with(kind) { test in
      let (bob, kim) = (PersonID("bob"), PersonID("kim"))
      try await test.desk.block(PersonID("ada"), by: kim)
      let call = try await test.start("ada", "bob", "kim").call.state.id
      if pace == 1 {
        test.outlet.reading.withLock {
          $0 = [bob: EventReaders([DeviceID("bob1")]), kim: EventReaders([DeviceID("kim1")])]
        }
      }
      var (open, blocked): ([Result<Int64, CallProblem>], [Result<Int64, CallProblem>]) = ([], [])
      for number in 1...700 {
        open.append(await answer("AAAA", to: "bob", in: call, by: "ada", test))
        blocked.append(await answer("AAAA", to: "kim", in: call, by: "ada", test))
        // What was sent a moment ago waits in any case, and isn't what is asked here.
        test.clock.move(20)
        guard number % pace == 0 else { continue }
        test.desk.noteHeard(try await test.desk.state(of: bob).last, by: bob, DeviceID("bob1"))
        // A stream has nothing to give: who has blocked the other hears nothing.
        if pace > 1 {
          test.desk.noteHeard(try await test.desk.state(of: kim).last, by: kim, DeviceID("kim1"))
        }
      }
      #expect(open == blocked)
      #expect(open.contains(.failure(.tooMany(wait: 2_000))) == (pace > 256))
      #expect(try await test.heard("kim").isEmpty)
    }
  }

  /// - Parameter pace: how many come before bob's stream has read them; none of kim's does ever.
  @Test(arguments: StoreKind.allCases, [1, 2, 16])
  func `a burst of the largest signals doesn't tell whether one who reads has blocked the caller`(
    kind: StoreKind, pace: Int
  ) async throws {
    try await TestDesk.with(kind) { test in
      let (bob, kim) = (PersonID("bob"), PersonID("kim"))
      try await test.desk.block(PersonID("ada"), by: kim)
      let call = try await test.start("ada", "bob", "kim").call.state.id
      test.outlet.reading.withLock {
        $0 = [bob: EventReaders([DeviceID("bob1")]), kim: EventReaders([DeviceID("kim1")])]
      }
      let payload = String(repeating: "A", count: 87_384)
      for burst in 0..<3 {
        var (open, blocked): ([Result<Int64, CallProblem>], [Result<Int64, CallProblem>]) = ([], [])
        for number in 1...16 {
          open.append(await answer(payload, to: "bob", in: call, by: "ada", test))
          blocked.append(await answer(payload, to: "kim", in: call, by: "ada", test))
          guard number % pace == 0 else { continue }
          test.desk.noteHeard(try await test.desk.state(of: bob).last, by: bob, DeviceID("bob1"))
        }
        #expect(open == blocked, "burst \(burst)")
        let first = Int64(11 * burst + 1)
        let taken = (first..<first + 11).map { Result<Int64, CallProblem>.success($0) }
        #expect(Array(open.prefix(11)) == taken)
        #expect(open.suffix(5).allSatisfy { $0 == .failure(.tooMany(wait: 2_000)) })
        // As the answer says.
        test.clock.move(2_000)
      }
      #expect(try await test.heard("kim").isEmpty)
    }
  }

  /// - Parameter pace: how many come before bob's stream has read them.
  @Test(arguments: StoreKind.allCases, [1, 100])
  func `nor does a burst of many small ones`(kind: StoreKind, pace: Int) async throws {
    try await TestDesk.with(kind) { test in
      let (bob, kim) = (PersonID("bob"), PersonID("kim"))
      try await test.desk.block(PersonID("ada"), by: kim)
      let call = try await test.start("ada", "bob", "kim").call.state.id
      test.outlet.reading.withLock {
        $0 = [bob: EventReaders([DeviceID("bob1")]), kim: EventReaders([DeviceID("kim1")])]
      }
      for burst in 0..<2 {
        var (open, blocked): ([Result<Int64, CallProblem>], [Result<Int64, CallProblem>]) = ([], [])
        for number in 1...300 {
          open.append(await answer("AAAA", to: "bob", in: call, by: "ada", test))
          blocked.append(await answer("AAAA", to: "kim", in: call, by: "ada", test))
          guard number % pace == 0 else { continue }
          test.desk.noteHeard(try await test.desk.state(of: bob).last, by: bob, DeviceID("bob1"))
        }
        #expect(open == blocked, "burst \(burst)")
        #expect(open.firstIndex(of: .failure(.tooMany(wait: 2_000))) == 256, "burst \(burst)")
        test.clock.move(2_000)
      }
    }
  }

  @Test func `what was sent within two seconds counts, and beyond so many people and calls all is forgotten`()
  {
    let recent = RecentSignals(capacity: 2)
    let (first, second, kim) = (TestDesk.uuid(), TestDesk.uuid(), PersonID("kim"))
    for moment: Int64 in [0, 50, 99, 100, 900] { recent.note(bytes: 10, for: kim, in: first, at: moment) }
    let sums = [900, 1_999, 2_000, 2_099, 2_100, 2_899, 2_900].map { recent.sum(for: kim, in: first, at: $0) }
    #expect(sums.map(\.bytes) == [50, 50, 20, 20, 10, 10, 0] && sums.map(\.count) == [5, 5, 2, 2, 1, 1, 0])
    #expect(recent.sum(for: PersonID("bob"), in: first, at: 900) == UnheardSignals.Sum())
    recent.note(bytes: 7, for: kim, in: second, at: 950)
    // What is over makes room.
    recent.note(bytes: 1, for: PersonID("bob"), in: second, at: 2_930)
    #expect(recent.sum(for: kim, in: second, at: 2_930).bytes == 7)
    recent.note(bytes: 1, for: PersonID("eve"), in: second, at: 2_940)
    #expect(recent.sum(for: kim, in: second, at: 2_940).bytes == 0)
    #expect(recent.sum(for: PersonID("eve"), in: second, at: 2_940).bytes == 1)
  }

  @Test func `beyond so many people and calls what was read counts as waiting until more is read`() {
    let signals = UnheardSignals(capacity: 1)
    let (first, second, kim) = (TestDesk.uuid(), TestDesk.uuid(), PersonID("kim"))
    func waiting(_ sent: Int64, in call: CallUUID, word: UInt64, isReading: Bool = false) -> Int64 {
      signals.waiting(
        of: UnheardSignals.Sum(count: sent, bytes: 10 * sent), for: kim, in: call, word: word,
        isReading: isReading
      ).count
    }
    #expect(waiting(5, in: first, word: 1) == 5 && waiting(6, in: first, word: 2) == 0)
    #expect(waiting(9, in: first, word: 2) == 3 && waiting(9, in: first, word: 2, isReading: true) == 0)
    #expect(waiting(2, in: second, word: 2) == 2)
    #expect(waiting(10, in: first, word: 2) == 10 && waiting(10, in: first, word: 3) == 0)
  }
}
