import Calls
import TestStores
import Testing

@testable import CallDesk

@Suite("Signals to one device of a person", .timeLimit(.minutes(2)))
struct DeviceSignalsTests {
  private let bob = PersonID("bob")
  private let phone = DeviceID("phone")
  private let tablet = DeviceID("tablet")

  private static func terms(signals: Int, bytes: Int) -> CallDeskTerms {
    var terms = CallDeskTerms()
    (terms.signals, terms.signalBytes) = (signals, bytes)
    return terms
  }

  private func send(_ length: Int = 4, in call: CallUUID, _ test: TestDesk) async throws {
    let signal = CallDesk.Signal(
      id: TestDesk.uuid(), to: bob, kind: "candidates", payload: String(repeating: "A", count: length))
    _ = try await test.desk.signal(signal, in: call, by: TestDesk.caller("ada"))
  }

  /// A device of bob's has heard all that it is to hear, and what was sent isn't of the last two seconds.
  private func hear(_ device: DeviceID?, _ test: TestDesk) async throws {
    test.clock.move(2_000)
    test.desk.noteHeard(try await test.desk.state(of: bob).last, by: bob, device)
  }

  /// Ada calls bob, who joins by the phone.
  private func talk(_ test: TestDesk) async throws -> CallUUID {
    let id = try await test.start("ada", "bob").call.state.id
    _ = try await test.desk.join(id, by: TestDesk.caller("bob", "phone"))
    return id
  }

  @Test(arguments: StoreKind.allCases)
  func `before one has joined what any device hears waits no longer, and then what that one hears`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind, Self.terms(signals: 4, bytes: 100_000)) { test in
      let id = try await test.start("ada", "bob").call.state.id
      for _ in 0..<4 { try await send(in: id, test) }
      await #expect(throws: CallProblem.tooMany(wait: 2_000)) { try await send(in: id, test) }
      try await hear(tablet, test)
      for _ in 0..<3 { try await send(in: id, test) }
      try await hear(phone, test)
      _ = try await test.desk.join(id, by: TestDesk.caller("bob", "phone"))
      for _ in 0..<4 {
        try await send(in: id, test)
        try await hear(tablet, test)
      }
      await #expect(throws: CallProblem.tooMany(wait: 2_000)) { try await send(in: id, test) }
      try await hear(phone, test)
      for _ in 0..<4 { try await send(in: id, test) }
      // One that doesn't say which it is gets what is for any, and may be that one.
      try await hear(nil, test)
      try await send(in: id, test)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what the device that has joined hasn't heard is kept, however far the person's others are`(
    kind: StoreKind
  ) async throws {
    let terms = Self.terms(signals: 1_000, bytes: 20_000)
    try await TestDesk.with(kind, terms) { test in
      let id = try await talk(test)
      var sent: [Int64] = []
      var (heard, kept) = (Int64(0), 0)
      for turn in 0..<40 {
        // What was sent within two seconds waits in any case.
        test.clock.move(520)
        try await send(4_000, in: id, test)
        let last = try await test.desk.state(of: bob).last
        sent.append(last)
        test.desk.noteHeard(last, by: bob, tablet)
        // The phone is three behind.
        if turn >= 3 {
          heard = sent[turn - 3]
          test.desk.noteHeard(heard, by: bob, phone)
        }
        let numbers = try await test.heard("bob").filter { $0.kind == .signal }.map(\.number)
        #expect(numbers.suffix(min(turn + 1, 3)) == sent.suffix(3))
        kept = numbers.count
      }
      // Of what it has heard the oldest has gone.
      #expect(kept < 30)
      test.clock.move(2_000)
      await #expect(throws: CallProblem.tooMany(wait: 2_000)) {
        for _ in 0..<5 {
          try await send(4_000, in: id, test)
          test.desk.noteHeard(try await test.desk.state(of: bob).last, by: bob, tablet)
        }
      }
      let unheard = try await test.heard("bob", after: heard).filter { $0.kind == .signal }
      let numbers = unheard.map(\.number)
      #expect(numbers.count >= 4 && numbers.starts(with: sent.suffix(3)))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what a device hasn't heard from which the call has moved keeps no one from signalling the next`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind, Self.terms(signals: 4, bytes: 100_000)) { test in
      let id = try await talk(test)
      for _ in 0..<4 { try await send(in: id, test) }
      _ = try await test.desk.join(id, by: TestDesk.caller("bob", "tablet"), takeover: true)
      try await hear(tablet, test)
      for _ in 0..<4 { try await send(in: id, test) }
      await #expect(throws: CallProblem.tooMany(wait: 2_000)) { try await send(in: id, test) }
    }
  }
}
