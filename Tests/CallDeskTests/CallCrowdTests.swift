import Calls
import Storage
import Synchronization
import TestStores
import Testing

@testable import CallDesk

@Suite("In how many calls a person is", .timeLimit(.minutes(3)))
struct CallCrowdTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")
  private let eve = PersonID("eve")
  private let zoe = PersonID("zoe")

  /// So many calls at once, as often as one likes, also with people who are in others.
  private static func terms(_ calls: Int) -> CallDeskTerms {
    var terms = CallDeskTerms()
    (terms.book.calls, terms.changesPerMinute) = (calls, 1_000)
    (terms.rates.starts, terms.rates.rings) = (1_000, 1_000)
    terms.book.ringsBusy = true
    return terms
  }

  private func read(_ test: TestDesk, _ person: PersonID, _ readers: EventReaders) {
    test.outlet.reading.withLock { $0[person] = readers }
    test.desk.readersChanged(of: person)
  }

  @Test(arguments: StoreKind.allCases)
  func `one is in so many at once, by start, join or room, and in another once it has left one`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind, Self.terms(3)) { test in
      let me = TestDesk.caller("ada")
      let mine = try await test.start("ada", "bob").call.state.id
      _ = try await test.start("ada", "eve")
      let theirs = try await test.start("kim", "ada").call.state.id
      _ = try await test.desk.join(theirs, by: me)
      let crowded = CallProblem.tooMany(wait: 5_000)
      await #expect(throws: crowded) { try await test.start("ada", "zoe") }
      let other = try await test.start("max", "ada", "zoe")
      await #expect(throws: crowded) { try await test.desk.join(other.call.state.id, by: me) }
      let room = try #require(other.call.room)
      await #expect(throws: crowded) { try await test.desk.connect(ada, device: me.device, inRoom: room) }
      // Nor is it let into the room for a moment.
      await #expect(throws: crowded) {
        try await test.desk.requireConnect(ada, device: me.device, inRoom: room)
      }
      #expect(test.outlet.steps == [.started, .started, .started, .started])
      // Where it is in already it may join again.
      _ = try await test.desk.join(theirs, by: me)
      _ = try await test.desk.leave(mine, by: me, reason: .userLeft)
      _ = try await test.desk.connect(ada, device: me.device, inRoom: room)
      await #expect(throws: crowded) { try await test.start("ada", "zoe") }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who has come into calls too often isn't let into a room, and to be let in there counts as nothing`(
    kind: StoreKind
  ) async throws {
    var terms = CallDeskTerms()
    terms.changesPerMinute = 2
    try await TestDesk.with(kind, terms) { test in
      let entry = try await test.start("ada", "bob", "eve")
      let (id, room, me) = (entry.call.state.id, try #require(entry.call.room), TestDesk.caller("bob"))
      for _ in 0..<2 {
        for _ in 0..<5 {
          #expect(try await test.desk.requireConnect(bob, device: me.device, inRoom: room) == nil)
        }
        _ = try await test.desk.connect(bob, device: me.device, inRoom: room)
        // Who is in it is let in as often as it likes.
        #expect(try await test.desk.requireConnect(bob, device: me.device, inRoom: room) != nil)
        _ = try await test.desk.leave(id, by: me, reason: .networkError)
      }
      let tooMany = CallProblem.tooMany(wait: 60_000)
      await #expect(throws: tooMany) {
        try await test.desk.requireConnect(bob, device: me.device, inRoom: room)
      }
      await #expect(throws: tooMany) { try await test.desk.join(id, by: me) }
      #expect(try await test.desk.requireConnect(eve, device: DeviceID("eve1"), inRoom: room) == nil)
    }
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func `calls of others that name one fill none of its places, leave it busy, and hide none of its own`(
    kind: StoreKind, isBlocked: Bool
  ) async throws {
    var terms = Self.terms(80)
    terms.book.ringsBusy = false
    try await TestDesk.with(kind, terms) { test in
      let (own, _) = try await test.talk("zoe", "bob")
      if isBlocked { try await test.desk.block(PersonID("mallory"), by: zoe) }
      for number in 0..<70 {
        test.clock.move(1)
        let entry = try await test.start("mallory", "zoe", "eve\(number)")
        #expect((entry.call.state[zoe]?.leaveReason == .busy) == !isBlocked)
      }
      let state = try await test.desk.state(of: zoe).calls.map(\.state.id)
      #expect(state.contains(own.call.state.id) && state.count == (isBlocked ? 1 : 65))
      let late = try await test.start("kim", "zoe")
      #expect(late.call.state.end?.outcome == .busy)
    }
    var few = Self.terms(2)
    few.book.ringsBusy = false
    try await TestDesk.with(kind, few) { test in
      for number in 0..<9 { _ = try await test.start("m\(number)", "zoe", "eve\(number)") }
      _ = try await test.start("zoe", "bob")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `however many direct calls two are in, each is over once they have read no events for 45 s`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind, Self.terms(1_000)) { test in
      for name in ["ada", "bob"] { read(test, PersonID(name), EventReaders([DeviceID(name + "1")])) }
      var calls: [CallUUID] = []
      for _ in 0..<70 {
        var start = CallDesk.Start(id: TestDesk.uuid(), recipients: [bob], media: .audio)
        start.path = .direct
        calls.append(try await test.desk.start(start, by: TestDesk.caller("ada")).call.state.id)
        _ = try await test.desk.join(start.id, by: TestDesk.caller("bob"))
      }
      await test.desk.writePresence()
      test.clock.move(60_000)
      await test.desk.turn()
      for id in calls { #expect(try await test.desk.call(id).state.active == [ada, bob]) }
      for person in [ada, bob] { read(test, person, EventReaders()) }
      await test.desk.writePresence()
      #expect(!test.desk.hasUnwrittenPresence)
      let deadline = test.clock.now.steady + 45_000
      for id in calls { #expect(try await test.desk.call(id).state.deadline == deadline) }
      test.clock.move(45_000)
      await test.desk.turn()
      for id in calls { #expect(try await test.desk.call(id).state.isEnded) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a server that takes calls on knows who is in them, also where the one before didn't say`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      _ = try await test.talk("ada", "bob")
      try await test.store.write(bytes: 1) { transaction throws(StoreError) in
        try transaction.run("UPDATE call_people SET active = 0")
      }
      var terms = Self.terms(1)
      terms.book.ringsBusy = false
      try await test.again(after: 1_000, terms) { back in
        _ = try await back.desk.recover()
        #expect(try await back.start("kim", "bob").call.state.end?.outcome == .busy)
        // Each is in as many as it may.
        for name in ["ada", "bob"] {
          await #expect(throws: CallProblem.tooMany(wait: 5_000)) { try await back.start(name, "zoe") }
        }
        _ = try await back.start("kim", "zoe")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `nothing is read of those who are in the call already, nor where the invitation is too often`(
    kind: StoreKind
  ) async throws {
    var terms = CallDeskTerms()
    terms.rates.rings = 1
    try await TestDesk.with(kind, terms) { test in
      let me = TestDesk.caller("ada")
      let id = try await test.start("ada", "bob", "eve").call.state.id
      _ = try await test.desk.join(id, by: TestDesk.caller("eve"))
      _ = try await test.desk.leave(id, by: TestDesk.caller("bob"), reason: .rejected)
      try await test.store.setBlocksAway(true)
      await #expect(throws: CallProblem.tooMany(wait: 60_000)) {
        try await test.desk.invite([zoe, bob, bob], to: id, by: me)
      }
      let same = try await test.desk.invite([eve, eve, ada], to: id, by: me)
      #expect(same.state.active == [ada, eve] && same.state.invited.isEmpty)
      await #expect(throws: CallProblem.storeUnavailable) {
        try await test.desk.invite([zoe], to: id, by: me)
      }
      try await test.store.setBlocksAway(false)
      #expect(try await test.desk.invite([zoe, zoe, eve], to: id, by: me).state.invited == [zoe])
    }
  }
}
