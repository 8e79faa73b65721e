import CallDesk
import Calls
import TestStores
import Testing

/// What a person is, and what becomes of it: each row of the table in the contract, and its sentences.
@Suite("What becomes of people of a call", .timeLimit(.minutes(2)))
struct CallRowsTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")

  @Test(arguments: StoreKind.allCases)
  func `invited, joins: active, and the ring ends on the other devices`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      #expect(entry.call.state.active == [ada] && entry.call.state.invited == [bob])
      #expect(test.outlet.rings.map(\.person) == [bob])
      let joined = try await test.desk.join(entry.call.state.id, by: TestDesk.caller("bob"))
      #expect(joined.call.state.active == [ada, bob] && joined.session != entry.session)
      #expect(test.outlet.ringsEnded.map(\.reason) == [.answeredElsewhere])
      #expect(try await test.kinds("bob") == [.ringing, .ringEnded, .updated])
      #expect(try await test.kinds("ada") == [.updated, .updated])
      #expect(joined.call.names == [ada: "Ada", bob: "Bob"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `invited, leaves on any device: left, rejected`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      let left = try await test.desk.leave(
        entry.call.state.id, by: TestDesk.caller("bob", "bob2"), reason: .userLeft)
      #expect(left.state[bob]?.leaveReason == .rejected && left.state.end?.outcome == .declined)
      #expect(test.outlet.steps == [.started, .ended])
      #expect(try await test.kinds("ada") == [.updated, .ended])
    }
  }

  @Test(arguments: StoreKind.allCases, ["ring time is over", "the call ends", "is busy"])
  func `invited, and not reached: left`(kind: StoreKind, why: String) async throws {
    try await TestDesk.with(kind) { test in
      if why == "is busy" { _ = try await test.talk("eve", "bob") }
      let entry = try await test.start("ada", "bob")
      await test.media(true, ("ada", entry))
      switch why {
      case "ring time is over": await test.pass(30_000)
      case "the call ends":
        _ = try await test.desk.leave(entry.call.state.id, by: TestDesk.caller("ada"), reason: .userLeft)
      default: break
      }
      let call = try await test.call(entry, for: "ada")
      let expected: (LeaveReason, CallOutcome) =
        switch why {
        case "ring time is over": (.timedOut, .missed)
        case "the call ends": (.cancelled, .cancelled)
        default: (.busy, .busy)
        }
      #expect(call[bob]?.leaveReason == expected.0 && call.end?.outcome == expected.1)
      #expect(call.outcome(for: bob) == .missed)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `active, leaves: left, with the reason given, and the first counts`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob", "eve")
      _ = try await test.desk.join(entry.call.state.id, by: TestDesk.caller("bob"))
      let left = try await test.desk.leave(
        entry.call.state.id, by: TestDesk.caller("bob"), reason: .serverError)
      #expect(left.state[bob]?.leaveReason == .serverError && !left.state.isEnded)
      let again = try await test.desk.leave(
        entry.call.state.id, by: TestDesk.caller("bob"), reason: .userLeft)
      #expect(again.state[bob]?.leaveReason == .serverError)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `active, no media 20 s after joining, or gone too long: left, networkError`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob", "eve")
      let theirs = try await test.desk.join(entry.call.state.id, by: TestDesk.caller("bob"))
      await test.media(true, ("ada", entry))
      await test.pass(20_000)
      #expect(try await test.call(entry, for: "ada")[bob]?.leaveReason == .networkError)
      #expect(test.outlet.closes.map(\.session) == [theirs.session])
      let back = try await test.desk.join(entry.call.state.id, by: TestDesk.caller("bob"))
      await test.media(true, ("bob", back))
      #expect(try await test.call(entry, for: "ada").connectedAt != nil)
      await test.media(false, ("bob", back))
      await test.pass(1_000)
      #expect(try await test.call(entry, for: "ada")[bob]?.leaveReason == .networkError)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `active, removed by an admin: left, removed, and may not come back`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob", "eve")
      _ = try await test.desk.join(entry.call.state.id, by: TestDesk.caller("bob"))
      let document = try await test.desk.remove(bob, from: entry.call.state.id)
      #expect(document.state[bob]?.leaveReason == .removed)
      await #expect(throws: CallProblem.removed) {
        try await test.desk.join(entry.call.state.id, by: TestDesk.caller("bob"))
      }
      #expect(test.outlet.all.flatMap(\.revoked).map(\.person) == [bob])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `left, joins: active; is invited: invited, and rung by another ring`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob", "eve")
      let id = entry.call.state.id
      for person in ["bob", "eve"] {
        _ = try await test.desk.leave(id, by: TestDesk.caller(person), reason: .rejected)
        if person == "bob" { _ = try await test.desk.join(id, by: TestDesk.caller("bob")) }
      }
      #expect(try await test.call(entry, for: "ada").active == [ada, bob])
      let rung = try await test.desk.invite([eve, bob], to: id, by: TestDesk.caller("bob"))
      #expect(rung.state.invited == [eve] && rung.state.active == [ada, bob])
      #expect(Set(test.outlet.rings.filter { $0.person == eve }.map(\.ring.id)).count == 2)
      // Unchanged, not rung twice.
      _ = try await test.desk.invite([eve, ada], to: id, by: TestDesk.caller("bob"))
      #expect(test.outlet.rings.count { $0.person == eve } == 2)
    }
  }

  // MARK: - Sentences

  @Test(arguments: StoreKind.allCases)
  func `of two devices that answer at once one wins, and the other learns where`(kind: StoreKind) async throws
  {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      let id = entry.call.state.id
      let answers = await withTaskGroup(of: Result<CallEntry, CallProblem>.self) { group in
        for device in ["bob1", "bob2", "bob3"] {
          group.addTask {
            do throws(CallProblem) {
              return .success(try await test.desk.join(id, by: TestDesk.caller("bob", device)))
            } catch { return .failure(error) }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      let won = answers.compactMap { try? $0.get() }
      #expect(won.count == 1)
      #expect(answers.count { if case .failure(.activeElsewhere) = $0 { true } else { false } } == 2)
      let ended = try #require(try await test.heard("bob").first { $0.kind == .ringEnded })
      #expect(String(decoding: ended.body, as: UTF8.self).contains(won[0].device.text))
      // With `takeover` the call moves, and the person stays in it throughout.
      let other = answers.count == 3 && won[0].device == DeviceID("bob1") ? "bob2" : "bob1"
      let moved = try await test.desk.join(id, by: TestDesk.caller("bob", other), takeover: true)
      #expect(test.outlet.closes.map(\.reason) == [.movedElsewhere] && moved.call.state.active == [ada, bob])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `two who call each other at once are in one call`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      async let first = test.start("ada", "bob")
      async let second = test.start("bob", "ada")
      let entries = try await [first, second]
      #expect(entries[0].call.state.id == entries[1].call.state.id && entries.count(where: \.isMerged) == 1)
      let call = try await test.call(entries[0], for: "ada")
      #expect(Set(call.active) == [ada, bob])
      #expect(test.outlet.rings.count == 1)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one alone in a call that was joined stays a minute, and what has ended is over for good`(
    kind: StoreKind
  )
    async throws
  {
    try await TestDesk.with(kind) { test in
      let (mine, theirs) = try await test.talk("ada", "bob")
      test.clock.move(5_000)
      await test.media(false, ("bob", theirs))
      await test.pass(1_000)
      #expect(try await test.call(mine, for: "ada").active == [ada])
      await test.pass(59_999)
      #expect(try await test.call(mine, for: "ada").isEnded == false)
      await test.pass(1)
      let call = try await test.call(mine, for: "ada")
      #expect(call.end?.outcome == .answered && call.end?.duration == 66_000)
      await #expect(throws: CallProblem.callEnded) {
        try await test.desk.join(call.id, by: TestDesk.caller("bob"))
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the other one of two hangs up, and it is over at once`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let left = try await test.desk.leave(mine.call.state.id, by: TestDesk.caller("bob"), reason: .userLeft)
      #expect(left.state.end?.by == bob && test.outlet.closes.map(\.reason) == [.left, .callEnded])
      #expect(test.outlet.steps == [.started, .answered, .ended])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who has blocked the caller hears nothing of the call, and the caller no difference`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      try await test.desk.block(ada, by: bob)
      #expect(try await test.desk.blocks(of: bob).people == [ada])
      let entry = try await test.start("ada", "bob")
      await test.media(true, ("ada", entry))
      #expect(entry.call.state.invited == [bob] && test.outlet.rings.isEmpty)
      await test.pass(30_000)
      #expect(try await test.call(entry, for: "ada").end?.outcome == .missed)
      #expect(try await test.heard("bob").isEmpty && test.outlet.ringsEnded.isEmpty)
      await #expect(throws: CallProblem.notFound) { try await test.call(entry, for: "bob") }
      #expect(try await test.desk.calls(of: bob, limit: 50).calls.isEmpty)
      try await test.desk.unblock(ada, by: bob)
      _ = try await test.start("ada", "bob")
      #expect(test.outlet.rings.map(\.person) == [bob])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a stranger is answered like one who asks for a call that never was`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let entry = try await test.start("ada", "bob")
      for id in [entry.call.state.id, TestDesk.uuid()] {
        let mallory = TestDesk.caller("mallory")
        await #expect(throws: CallProblem.notFound) { try await test.desk.call(id, for: mallory.person) }
        await #expect(throws: CallProblem.notFound) { try await test.desk.join(id, by: mallory) }
        await #expect(throws: CallProblem.notFound) {
          try await test.desk.leave(id, by: mallory, reason: .userLeft)
        }
        await #expect(throws: CallProblem.notFound) { try await test.desk.invite([eve], to: id, by: mallory) }
        await #expect(throws: CallProblem.notFound) {
          try await test.desk.change(id, CallChange(media: .video), by: mallory)
        }
        await #expect(throws: CallProblem.notFound) { try await test.desk.forget(id, by: mallory.person) }
        await #expect(throws: CallProblem.notFound) {
          try await test.desk.signal(
            CallDesk.Signal(id: TestDesk.uuid(), to: bob, kind: "offer", payload: ""), in: id, by: mallory)
        }
      }
      #expect(try await test.heard("mallory").isEmpty)
    }
  }
}
