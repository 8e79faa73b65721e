import Calls
import Storage
import Synchronization
import TestStores
import Testing

@testable import CallDesk

/// Media comes and goes, and people are removed, while nothing can be stored: behind that it is as if it had been written down at once.
@Suite("Calls while nothing can be stored", .timeLimit(.minutes(2)))
struct CallOutageTests {
  private let ada = PersonID("ada")
  private let bob = PersonID("bob")

  /// What the desk does first once the store is back.
  enum First: String, CaseIterable, Sendable {
    case time
    case words
    case request
  }

  private func go(_ first: First, on call: CallUUID, _ test: TestDesk) async throws {
    switch first {
    case .time: _ = await test.desk.advance()
    case .words: await test.desk.writePresence()
    case .request:
      _ = try await test.desk.change(call, CallChange(media: .video), by: TestDesk.caller("ada"))
    }
  }

  // MARK: - Media

  @Test(arguments: StoreKind.allCases, First.allCases)
  func `one whose media came while nothing could be stored is in the call, connected since then`(
    kind: StoreKind, first: First
  ) async throws {
    try await TestDesk.with(kind) { test in
      let mine = try await test.start("ada", "bob")
      await test.media(true, ("ada", mine))
      let theirs = try await test.desk.join(mine.call.state.id, by: TestDesk.caller("bob"))
      test.clock.move(1_000)
      let came = test.clock.now
      try await test.store.setCallsAway(true)
      await test.media(true, ("bob", theirs))
      #expect(test.desk.hasUnwrittenPresence)
      test.clock.move(21_000)
      try await test.store.setCallsAway(false)
      try await go(first, on: mine.call.state.id, test)
      await test.desk.writePresence()
      let call = try await test.call(mine, for: "ada")
      #expect(call.active == [ada, bob] && call.connectedAt == came)
      #expect(test.outlet.closes.isEmpty && !test.desk.hasUnwrittenPresence)
    }
  }

  @Test(arguments: StoreKind.allCases, First.allCases)
  func `one who came back in time stays, however often it came and went meanwhile`(
    kind: StoreKind, first: First
  ) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, theirs) = try await test.talk("ada", "bob")
      let id = mine.call.state.id
      func say(_ word: CallPresence) {
        test.desk.media(word, of: bob, session: theirs.session, in: id)
      }
      say(.gone)
      await test.desk.writePresence()
      try await test.store.setCallsAway(true)
      for (word, span) in [(CallPresence.stands, Int64(10_000)), (.gone, 1_000), (.stands, 14_000)] {
        test.clock.move(span)
        say(word)
        await test.desk.writePresence()
      }
      test.clock.move(60_000)
      try await test.store.setCallsAway(false)
      try await go(first, on: id, test)
      await test.desk.writePresence()
      #expect(try await test.call(mine, for: "ada").active == [ada, bob])
      #expect(test.outlet.closes.isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who didn't come back is out as soon as that can be stored, and so is who came too late`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, theirs) = try await test.talk("ada", "bob")
      let other = try await test.start("eve", "kim")
      await test.media(true, ("eve", other))
      let late = try await test.desk.join(other.call.state.id, by: TestDesk.caller("kim"))
      try await test.store.setCallsAway(true)
      test.desk.media(.gone, of: bob, session: theirs.session, in: mine.call.state.id)
      test.clock.move(20_000)
      test.desk.media(.stands, of: PersonID("kim"), session: late.session, in: other.call.state.id)
      await test.desk.writePresence()
      try await test.store.setCallsAway(false)
      await test.desk.writePresence()
      #expect(try await test.call(mine, for: "ada")[bob]?.leaveReason == .networkError)
      #expect(try await test.call(other, for: "eve")[PersonID("kim")]?.leaveReason == .networkError)
      #expect(Set(test.outlet.closes.map(\.session)) == [theirs.session, late.session])
    }
  }

  @Test(arguments: StoreKind.allCases, First.allCases)
  func `those who come back behind a restart stay, also if nothing can be stored then`(
    kind: StoreKind, first: First
  ) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, theirs) = try await test.talk("ada", "bob")
      try await test.again(after: 1_000) { back in
        _ = try await back.desk.recover()
        try await back.store.setCallsAway(true)
        back.clock.move(5_000)
        await back.media(true, ("ada", mine), ("bob", theirs))
        back.clock.move(60_000)
        try await back.store.setCallsAway(false)
        try await go(first, on: mine.call.state.id, back)
        await back.desk.writePresence()
        #expect(try await back.call(mine, for: "ada").active == [ada, bob])
        #expect(back.outlet.closes.isEmpty)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a direct call goes on for those who have read their events meanwhile`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      func read(_ person: PersonID, _ devices: Set<DeviceID>) {
        test.outlet.reading.withLock { $0[person] = EventReaders(devices) }
        test.desk.readersChanged(of: person)
      }
      read(ada, [DeviceID("ada1")])
      read(bob, [DeviceID("bob1")])
      var start = CallDesk.Start(id: test.desk.uuid(), recipients: [bob], media: .audio)
      start.path = .direct
      _ = try await test.desk.start(start, by: TestDesk.caller("ada"))
      _ = try await test.desk.join(start.id, by: TestDesk.caller("bob"))
      await test.desk.writePresence()
      read(bob, [])
      await test.desk.writePresence()
      try await test.store.setCallsAway(true)
      // It is away for 40 s, and for 39 s once more.
      let reads: [(Set<DeviceID>, Int64)] = [
        ([DeviceID("bob1")], 40_000), ([], 1_000), ([DeviceID("bob1")], 39_000),
      ]
      for (devices, span) in reads {
        test.clock.move(span)
        read(bob, devices)
      }
      test.clock.move(10_000)
      try await test.store.setCallsAway(false)
      _ = await test.desk.advance()
      await test.desk.writePresence()
      #expect(try await test.desk.call(start.id).state.active == [ada, bob])
    }
  }

  // MARK: - Those who run rooms

  @Test(arguments: StoreKind.allCases)
  func `who is removed from the room while nothing can be stored is out of the call, and not let in again`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, theirs) = try await test.talk("ada", "bob")
      let (id, room) = (mine.call.state.id, try #require(mine.call.room))
      try await test.store.setCallsAway(true)
      #expect(await test.desk.remove(bob, fromRoom: room) == .kept)
      #expect(test.desk.hasUnwrittenPresence)
      test.clock.move(5_000)
      try await test.store.setCallsAway(false)
      // Neither by a request nor by a connection, also before it is written down.
      let caller = TestDesk.caller("bob")
      await #expect(throws: CallProblem.removed) { try await test.desk.requireOpen(id, to: bob) }
      await #expect(throws: CallProblem.removed) {
        _ = try await test.desk.requireConnect(bob, device: caller.device, inRoom: room)
      }
      await #expect(throws: CallProblem.removed) { _ = try await test.desk.join(id, by: caller) }
      #expect(try await test.call(mine, for: "ada")[bob]?.leaveReason == .removed)
      // The other one is alone then, which ends the call.
      #expect(test.outlet.closes.map(\.session) == [theirs.session, mine.session])
      await test.desk.writePresence()
      #expect(test.outlet.all.flatMap { $0.revoked.map { $0.person } } == [bob])
      #expect(!test.desk.hasUnwrittenPresence)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a room that is closed while nothing can be stored ends its call, once`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let (id, room) = (mine.call.state.id, try #require(mine.call.room))
      try await test.store.setCallsAway(true)
      #expect(await test.desk.end(room: room) == .kept)
      try await test.store.setCallsAway(false)
      await #expect(throws: CallProblem.callEnded) { try await test.desk.requireOpen(id, to: bob) }
      await test.desk.writePresence()
      #expect(try await test.call(mine, for: "ada").isEnded)
      #expect(await test.desk.end(room: room) == .stored)
      await test.desk.writePresence()
      #expect(test.outlet.steps == [.started, .answered, .ended])
      #expect(!test.desk.hasUnwrittenPresence)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what is said of a room that is no call's is forgotten`(kind: StoreKind) async throws {
    try await TestDesk.with(kind) { test in
      #expect(await test.desk.remove(bob, fromRoom: "call-of-none") == .stored)
      #expect(await test.desk.end(room: "call-of-none") == .stored)
      #expect(!test.desk.hasUnwrittenPresence)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who is removed while nothing can be stored reads no more of what others share, and no key`(
    kind: StoreKind
  ) async throws {
    try await TestDesk.with(kind) { test in
      try await test.publishEach("bob")
      let mine = try await test.startEncrypted("word", by: "ada", "bob")
      let (id, room) = (mine.call.state.id, try #require(mine.call.room))
      let theirs = try await test.desk.join(id, by: TestDesk.caller("bob"))
      await test.media(true, ("ada", mine), ("bob", theirs))
      let (session, caller) = (TestDesk.uuid(), TestDesk.caller("ada"))
      _ = try await test.desk.startSession(session, in: id, experience: "story", by: caller)
      _ = try await test.desk.append(
        TestDesk.uuid(), type: "page", data: [UInt8(ascii: "1")], to: session, in: id, by: caller)
      try await test.desk.keepSnapshot(
        SharedSnapshot(seq: 1, people: [], state: [UInt8(ascii: "1")]), of: session, in: id, by: caller)
      #expect(try await test.desk.events(of: session, in: id, after: 0, limit: 9, for: bob).count == 1)
      #expect(try await test.unwrapped(id, "bob") == "word")
      // What can't be written can be read, as on a disk that is full.
      try await test.store.setEventsAway(true)
      #expect(await test.desk.remove(bob, fromRoom: room) == .kept)
      await #expect(throws: CallProblem.removed) {
        _ = try await test.desk.sessions(of: id, isOpen: true, for: bob)
      }
      await #expect(throws: CallProblem.removed) {
        _ = try await test.desk.session(session, in: id, for: bob)
      }
      await #expect(throws: CallProblem.removed) {
        _ = try await test.desk.events(of: session, in: id, after: 0, limit: 9, for: bob)
      }
      await #expect(throws: CallProblem.removed) {
        _ = try await test.desk.snapshot(of: session, in: id, for: bob)
      }
      #expect(try await test.unwrapped(id, "bob") == nil)
      #expect(try await test.desk.sessions(of: id, isOpen: true, for: ada).count == 1)
      try await test.store.setEventsAway(false)
      await test.desk.writePresence()
      #expect(try await test.call(mine, for: "ada")[bob]?.leaveReason == .removed)
    }
  }

  @Test func `more of it than is kept is refused, and nothing of it holds`() async throws {
    try await TestDesk.with(.sqlite) { test in
      let (mine, _) = try await test.talk("ada", "bob")
      let room = try #require(mine.call.room)
      try await test.store.setCallsAway(true)
      let now = test.clock.now
      for number in 0..<65_536 { test.desk.words.say(.ended, of: .end("call-\(number)"), at: now) }
      #expect(await test.desk.remove(bob, fromRoom: room) == .refused)
      try await test.store.setCallsAway(false)
      try await test.desk.requireOpen(mine.call.state.id, to: bob)
    }
  }
}
