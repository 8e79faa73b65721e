import Calls
import Storage
import TestStores
import Testing

@testable import CallDesk

/// By a clock that the test moves. Nothing is forgotten here: that comes up to a minute later.
@Suite("Nothing is given out behind its time, whether it is there still or not", .timeLimit(.minutes(2)))
struct ReadByAgeTests {
  private static let day: Int64 = 86_400_000
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")

  /// Moves the clock to so long behind a moment.
  private func move(_ test: TestDesk, _ span: Int64, behind began: Int64) {
    test.clock.move(began + span - test.clock.now.wall)
  }

  @Test(arguments: StoreKind.allCases)
  func `what became of pushes`(kind: StoreKind) async throws {
    var terms = CallDeskTerms()
    terms.deliveries = 7_200_000
    try await TestDesk.with(kind, terms) { test in
      let id = try await test.start("ada", "bob").call.state.id
      let began = test.clock.now.wall
      try await test.desk.keep([
        CallDelivery(
          call: id, person: bob, device: DeviceID("phone"), ring: TestDesk.uuid(), kind: .ring,
          platform: "webhook", state: "delivered", reason: "", time: began, tries: 1)
      ])
      for (more, isShown) in [(Int64(0), true), (1, false)] {
        move(test, terms.deliveries + more, behind: began)
        #expect(try await test.desk.deliveries(of: id, for: bob, limit: 9).items.count == (isShown ? 1 : 0))
        let caller = try await test.desk.deliveries(of: id, for: ada, limit: 9)
        #expect(caller.people == [bob: isShown ? .reached : .unknown])
        #expect(try await test.desk.deliveries(of: id, for: nil, limit: 9).items.isEmpty == !isShown)
      }
    }
  }

  @Test(arguments: StoreKind.allCases, [Int64(5_000), 60_000])
  func `signals behind the end of their call`(kind: StoreKind, span: Int64) async throws {
    var terms = CallDeskTerms()
    terms.afterCall = span
    try await TestDesk.with(kind, terms) { test in
      let id = try await test.start("ada", "bob").call.state.id
      let going = try await test.start("eve", "bob").call.state.id
      for (sender, call) in [("ada", id), ("eve", going)] {
        _ = try await test.desk.signal(
          CallDesk.Signal(id: TestDesk.uuid(), to: bob, kind: "offer", payload: "AAAA"), in: call,
          by: TestDesk.caller(sender))
      }
      _ = try await test.desk.leave(id, by: TestDesk.caller("ada"), reason: .userLeft)
      let ended = test.clock.now.wall
      for (more, isKept) in [(Int64(-1), true), (0, false)] {
        move(test, span + more, behind: ended)
        let signals = try await test.heardAll("bob").filter { $0.kind == .signal }
        // That of the call that goes on stays.
        #expect(signals.map(\.isEmptied) == [!isKept, false], "\(more)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what a person hears`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      _ = try await test.start("ada", "bob")
      let began = test.clock.now.wall
      move(test, 7 * Self.day, behind: began)
      #expect(try await test.kinds("bob") == [.ringing])
      move(test, 7 * Self.day + 1, behind: began)
      let page = try await test.desk.events(of: bob, after: 0, limit: 9)
      #expect(page.isGone && page.events.isEmpty)
      // Who has heard all goes on where it is.
      #expect(try await !test.desk.events(of: bob, after: 1, limit: 9).isGone)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what a person heard behind something else, which a clock that was ahead has written`(kind: StoreKind)
    async throws
  {
    try await TestDesk.with(kind) { test in
      test.clock.jump(Self.day)
      _ = try await test.start("ada", "bob")
      test.clock.jump(-Self.day)
      _ = try await test.start("eve", "bob")
      let began = test.clock.now.wall
      for (more, isGone) in [(Int64(0), false), (1, true)] {
        move(test, 7 * Self.day + more, behind: began)
        let page = try await test.desk.events(of: bob, after: 0, limit: 9)
        #expect(page.isGone == isGone && page.events.count == (isGone ? 0 : 2), "\(more)")
      }
      // As it is once that is forgotten.
      await test.desk.tidy()
      #expect(try await test.desk.events(of: bob, after: 0, limit: 9).isGone)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `answers to requests`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      try await test.desk.keep([7], to: "key", content: [1], by: ada)
      let began = test.clock.now.wall
      move(test, Self.day, behind: began)
      #expect(try await test.desk.answer(to: "key", content: [1], by: ada) == [7])
      await #expect(throws: CallProblem.idTaken) {
        try await test.desk.answer(to: "key", content: [2], by: ada)
      }
      move(test, Self.day + 1, behind: began)
      for content in [UInt8(1), 2] {
        #expect(try await test.desk.answer(to: "key", content: [content], by: ada) == nil)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a device that isn't used, to which nothing is pushed any more either`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let began = test.clock.now.wall
      _ = try await test.desk.register(
        Device(DeviceID("phone"), platform: .webhook, topic: "", token: "t"), by: TestDesk.caller("bob"))
      for (more, count) in [(Int64(0), 1), (1, 0)] {
        move(test, 90 * Self.day + more, behind: began)
        #expect(try await test.desk.devices(of: bob).devices.count == count)
        _ = try await test.start("ada", "bob")
        #expect(test.outlet.rings.last?.devices.count == count, "\(more)")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `events of a session, and the session with its snapshot`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let (call, session, caller) = (mine.call.state.id, TestDesk.uuid(), TestDesk.caller("ada"))
      _ = try await test.desk.startSession(session, in: call, experience: "story", by: caller)
      _ = try await test.desk.append(
        TestDesk.uuid(), type: "page", data: [UInt8(ascii: "1")], to: session, in: call, by: caller)
      try await test.desk.keepSnapshot(
        SharedSnapshot(seq: 1, people: [], state: [UInt8(ascii: "1")]), of: session, in: call, by: caller)
      _ = try await test.desk.endSession(session, in: call, by: caller)
      let ended = test.clock.now.wall
      move(test, 59_999, behind: ended)
      #expect(
        try await test.desk.events(of: session, in: call, after: 0, limit: 9, for: ada).map(\.seq) == [1, 2])
      move(test, 60_000, behind: ended)
      await #expect(throws: CallProblem.compacted(1)) {
        _ = try await test.desk.events(of: session, in: call, after: 0, limit: 9, for: ada)
      }
      move(test, 7 * Self.day - 1, behind: ended)
      #expect(try await test.desk.snapshot(of: session, in: call, for: ada).seq == 1)
      #expect(try await test.desk.sessions(of: call, isOpen: false, for: ada).count == 1)
      #expect(try await test.desk.snapshotSize(of: session, for: ada) > 0)
      move(test, 7 * Self.day, behind: ended)
      await #expect(throws: CallProblem.notFound) {
        _ = try await test.desk.snapshot(of: session, in: call, for: ada)
      }
      #expect(try await test.desk.sessions(of: call, isOpen: false, for: ada).isEmpty)
      #expect(try await test.desk.snapshotSize(of: session, for: ada) == 0)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a call in the histories`(kind: StoreKind) async throws {
    var terms = CallDeskTerms()
    terms.historyDays = 2
    try await TestDesk.with(kind, terms) { test in
      let id = try await test.start("ada", "bob").call.state.id
      _ = try await test.desk.leave(id, by: TestDesk.caller("ada"), reason: .userLeft)
      let ended = test.clock.now.wall
      move(test, 2 * Self.day - 1, behind: ended)
      #expect(try await test.desk.calls(of: bob, limit: 9).calls.map(\.state.id) == [id])
      #expect(try await test.desk.call(id).state.id == id)
      move(test, 2 * Self.day, behind: ended)
      #expect(try await test.desk.calls(of: bob, limit: 9).calls.isEmpty)
      await #expect(throws: CallProblem.notFound) { _ = try await test.desk.call(id, for: ada) }
      await #expect(throws: CallProblem.notFound) { _ = try await test.desk.call(id) }
    }
  }

  /// What people of a call and those who run its room ask of it.
  private func asks(
    _ test: TestDesk, of call: CallUUID, room: String, session: CallUUID
  ) -> [(name: String, ask: () async throws -> Void)] {
    let (desk, me, ada) = (test.desk, TestDesk.caller("ada"), self.ada)
    let device = DeviceID("ada1")
    return [
      ("call", { _ = try await desk.call(call, for: ada) }), ("of any", { _ = try await desk.call(call) }),
      ("of a room", { _ = try await desk.call(call, inRoom: room) }),
      ("open", { try await desk.requireOpen(call, to: ada) }),
      ("active", { try await desk.requireActive(ada, in: call) }),
      ("connect", { _ = try await desk.requireConnect(ada, device: device, inRoom: room) }),
      ("connected", { _ = try await desk.connect(ada, device: device, inRoom: room) }),
      ("room", { try await desk.requireRoom(room) }), ("join", { _ = try await desk.join(call, by: me) }),
      ("leave", { _ = try await desk.leave(call, by: me, reason: .userLeft) }),
      ("invite", { _ = try await desk.invite([PersonID("eve")], to: call, by: me) }),
      ("end", { _ = try await desk.end(call) }), ("forget", { try await desk.forget(call, by: ada) }),
      ("key", { _ = try await desk.callKey(of: call, for: ada, device: device) }),
      ("own pushes", { _ = try await desk.deliveries(of: call, for: ada, limit: 9) }),
      ("all pushes", { _ = try await desk.deliveries(of: call, for: nil, limit: 9) }),
      ("session", { _ = try await desk.session(session, in: call, for: ada) }),
      ("sessions", { _ = try await desk.sessions(of: call, isOpen: false, for: ada) }),
      ("events", { _ = try await desk.events(of: session, in: call, after: 0, limit: 9, for: ada) }),
      ("snapshot", { _ = try await desk.snapshot(of: session, in: call, for: ada) }),
      ("its size", { _ = try await desk.snapshotSize(of: session, in: call, for: ada) }),
    ]
  }

  private func problem(_ ask: () async throws -> Void) async -> CallProblem? {
    do {
      try await ask()
      return nil
    } catch { return error as? CallProblem }
  }

  @Test(arguments: StoreKind.allCases)
  func `a call, by whatever is asked of it, and what its people share`(kind: StoreKind) async throws {
    var terms = CallDeskTerms()
    (terms.historyDays, terms.deliveries) = (2, 5 * Self.day)
    try await TestDesk.with(kind, terms) { test in
      let caller = TestDesk.caller("ada")
      let start = CallDesk.Start(id: TestDesk.uuid(), recipients: [bob], media: .audio)
      let mine = try await test.desk.start(start, by: caller)
      let theirs = try await test.desk.join(start.id, by: TestDesk.caller("bob"))
      await test.media(true, ("ada", mine), ("bob", theirs))
      let (call, session, room) = (start.id, TestDesk.uuid(), try #require(mine.call.room))
      _ = try await test.desk.startSession(session, in: call, experience: "story", by: caller)
      try await test.desk.keepSnapshot(
        SharedSnapshot(seq: 0, people: [], state: [UInt8(ascii: "1")]), of: session, in: call, by: caller)
      _ = try await test.desk.leave(call, by: caller, reason: .userLeft)
      let ended = test.clock.now.wall
      let all = asks(test, of: call, room: room, session: session)
      for (more, isKept) in [(Int64(-1), true), (0, false)] {
        move(test, 2 * Self.day + more, behind: ended)
        for (name, ask) in all {
          let problem = await problem(ask)
          #expect((problem == .notFound) == !isKept, "\(name) at \(more): \(String(describing: problem))")
        }
        #expect(try await (test.desk.callIfKnown(call, for: ada) != nil) == isKept)
        #expect(try await test.desk.isStarted(start, by: ada) == isKept)
        #expect(try await (test.desk.snapshotSize(of: session, for: ada) > 0) == isKept)
      }
      // Its id is free once it is forgotten, and not before.
      await #expect(throws: CallProblem.idTaken) { try await test.desk.start(start, by: caller) }
      await test.desk.tidy()
      #expect(try await test.desk.start(start, by: caller).call.state.id == call)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a session, while its call goes on`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let (call, session, caller) = (mine.call.state.id, TestDesk.uuid(), TestDesk.caller("ada"))
      _ = try await test.desk.startSession(session, in: call, experience: "story", by: caller)
      _ = try await test.desk.endSession(session, in: call, by: caller)
      let ended = test.clock.now.wall
      move(test, 7 * Self.day - 1, behind: ended)
      #expect(try await test.desk.session(session, in: call, for: bob).state.id == session)
      move(test, 7 * Self.day, behind: ended)
      await #expect(throws: CallProblem.notFound) {
        try await test.desk.session(session, in: call, for: bob)
      }
      // To start it once more is no way to it.
      await #expect(throws: CallProblem.sessionEnded) {
        try await test.desk.startSession(session, in: call, experience: "story", by: caller)
      }
    }
  }
}
