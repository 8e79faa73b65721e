import AccessTokens
import Model
import Storage
import Testing

@testable import Rooms

@Suite("Rooms after a restart", .timeLimit(.minutes(2)))
struct RecoveryTests {
  private static func kinds(_ events: [RoomEvent]) -> [String] {
    events.map {
      "\($0.id) \($0.kind.rawValue) \($0.participant?.identity ?? "-") \($0.reason?.rawValue ?? "-")"
    }
  }

  @Test func `an old life goes on under its id and its numbers, once everybody who was in has left`()
    async throws
  {
    let journals = try await Journals()
    let first = try await journals.serve()
    let settings = RoomSettings(emptyTimeout: 77, departureTimeout: 7, maxParticipants: 9, metadata: "kept")
    let made = try await first.server.directory.create("r", settings).room
    let ada = try await first.server.join("ada")
    _ = try await ada.offer([.audio])
    _ = try await first.server.join("ghost", hidden: true)
    _ = try await first.server.join("bob")
    let gone = try await first.server.join("gone")
    await gone.session.leave()
    try await first.server.directory.synced()
    let before = try first.server.directory.events.events(of: "r", after: nil)
    first.running.cancel()

    let second = try await journals.serve()
    let directory = second.server.directory
    let room = try #require(await directory.rooms(after: nil, limit: 10).first)
    #expect(room.info.id == made.info.id && room.settings == settings && room.created == made.created)
    #expect(room.participants == 0)
    let all = try directory.events.events(of: "r", after: nil)
    #expect(all.events.map(\.id) == Array(1...all.lastEvent))
    #expect(Self.kinds(Array(all.events.prefix(before.events.count))) == Self.kinds(before.events))
    // As if the server had closed each session; who was hidden is in none.
    let since = try directory.events.events(of: "r", after: before.lastEvent)
    let last = before.lastEvent
    #expect(
      Self.kinds(since.events) == [
        "\(last + 1) track.unpublished ada -", "\(last + 2) participant.left ada serverShutdown",
        "\(last + 3) participant.left bob serverShutdown",
      ])
    let carol = try await second.server.join("carol")
    #expect(carol.session.joined.lastEvent == last + 4 && carol.session.joined.room.id == made.info.id)
    #expect(carol.session.joined.participants.isEmpty)
    try await directory.synced()
    second.running.cancel()

    // Who was said to have left is not said so again.
    let third = try await journals.serve()
    try await third.server.directory.synced()
    let rest = try third.server.directory.events.events(of: "r", after: last + 4)
    #expect(Self.kinds(rest.events) == ["\(last + 5) participant.left carol serverShutdown"])
    third.running.cancel()
  }

  @Test func `who waited to be let in waits no longer after it, and is said so once`() async throws {
    let journals = try await Journals()
    let first = try await journals.serve()
    let directory = first.server.directory
    for (name, identities) in [("r", ["ann", "bob", "gone"]), ("other", ["cid"])] {
      _ = try await directory.create(name, RoomSettings(admission: true))
      for identity in identities {
        let entry = try await directory.enter(
          room: name, identity: identity, name: nil, grants: .join(name), isAdmitted: false,
          patience: .seconds(600))
        if case .waiting(let place) = entry, identity == "gone" { await place.stop(.left) }
      }
    }
    try await directory.synced()
    let last = try directory.events.events(of: "r", after: nil).lastEvent
    first.running.cancel()

    let second = try await journals.serve()
    try await second.server.directory.synced()
    let events = second.server.directory.events
    let since = try events.events(of: "r", after: last).events
    #expect(since.map(\.kind) == [.waitingEnded, .waitingEnded] && since.map(\.id) == [last + 1, last + 2])
    #expect(since.map(\.waiting?.waiter.identity) == ["ann", "bob"])
    #expect(since.map(\.waiting?.reason) == [.serverShutdown, .serverShutdown])
    #expect(try events.events(of: "other", after: nil).events.last?.waiting?.waiter.identity == "cid")
    second.running.cancel()

    let third = try await journals.serve()
    try await third.server.directory.synced()
    #expect(try third.server.directory.events.events(of: "r", after: last).events.count == 2)
    third.running.cancel()
  }

  @Test func `cursors of before lead on, without a gap and without an event twice`() async throws {
    let journals = try await Journals()
    let first = try await journals.serve()
    _ = try await first.server.join("ada", room: "one")
    try await Task.sleep(for: .milliseconds(5))
    _ = try await first.server.join("bob", room: "two")
    try await first.server.directory.synced()
    let page = try first.server.directory.events.events(after: nil, limit: 3)
    #expect(page.events.count == 3 && !page.isLast)
    let latest = first.server.directory.events.latestCursor
    first.running.cancel()
    let second = try await journals.serve()
    try await second.server.directory.synced()
    let events = second.server.directory.events
    #expect(
      try events.events(after: page.cursor).events.map { "\($0.event.room.name) \($0.event.kind.rawValue)" }
        == [
          "two participant.joined", "one participant.left", "two participant.left",
        ])
    #expect(try events.events(after: latest).events.count == 2)
    second.running.cancel()
  }

  @Test func `cursors and numbers of a log that is lost are answered as gone`() async throws {
    let journals = try await Journals()
    let first = try await journals.serve()
    _ = try await first.server.join("ada")
    try await first.server.directory.synced()
    let early = try first.server.directory.events.events(after: nil, limit: 1).cursor
    let latest = first.server.directory.events.latestCursor
    first.running.cancel()
    try await journals.run("DELETE FROM events WHERE id = 2")
    let second = try await journals.serve()
    try await second.server.directory.synced()
    let events = second.server.directory.events
    #expect(throws: EventLogError.self) { try events.events(after: early) }
    #expect(try events.events(after: latest).events.map(\.event.kind) == [.participantLeft])
    // What lies before a gap is not read on from.
    #expect(throws: EventLogError.self) { try events.events(of: "r", after: 1) }
    #expect(try events.events(of: "r", after: 2).events.map(\.id) == [3])
    second.running.cancel()
  }

  @Test func `positions go on where all events are gone, so that no old cursor skips new ones`() async throws
  {
    let journals = try await Journals()
    let first = try await journals.serve()
    _ = try await first.server.join("ada")
    try await first.server.directory.synced()
    let cursor = first.server.directory.events.latestCursor
    first.running.cancel()
    try await journals.run("DELETE FROM events")
    let second = try await journals.serve()
    try await second.server.directory.synced()
    #expect(try second.server.directory.events.events(after: cursor).events.map(\.event.id) == [3])
    second.running.cancel()
  }

  @Test func `a room that has finished is over, and its events can be read still`() async throws {
    let journals = try await Journals()
    let first = try await journals.serve()
    let made = try await first.server.directory.create("r", RoomSettings()).room
    try await first.server.directory.close(room: "r")
    _ = try await first.server.directory.create("r", RoomSettings(metadata: "second"))
    try await first.server.directory.synced()
    first.running.cancel()
    let second = try await journals.serve()
    let directory = second.server.directory
    #expect(await directory.rooms(after: nil, limit: 10).map(\.settings.metadata) == ["second"])
    let old = try directory.events.events(of: "r", life: made.info.id.text, after: 0)
    #expect(old.events.map(\.kind) == [.roomStarted, .roomFinished])
    // A number alone may be of either, as before the restart.
    #expect(throws: EventLogError.self) { try directory.events.events(of: "r", after: 1) }
    second.running.cancel()
  }

  @Test func `a room that was closed with somebody on the way in comes back no more, and ends`() async throws
  {
    let journals = try await Journals()
    let first = try await journals.serve()
    let directory = first.server.directory
    let made = try await directory.create("r", RoomSettings()).room
    // On the way in.
    _ = try directory.registry.withRooms { rooms throws(JoinError) in
      try rooms.begin("late", in: "r") { directory.make("r", RoomSettings(), number: $0) }
    }
    try await directory.close(room: "r")
    try await directory.synced()
    first.running.cancel()
    let second = try await journals.serve()
    try await second.server.directory.synced()
    #expect(await second.server.directory.rooms(after: nil, limit: 10).isEmpty)
    let events = try second.server.directory.events.events(of: "r", life: made.info.id.text, after: nil)
    #expect(events.events.map(\.kind) == [.roomStarted, .roomFinished])
    second.running.cancel()
    let third = try await journals.serve()
    #expect(try await journals.count("SELECT count(*) FROM lives") == 0)
    third.running.cancel()
  }

  @Test func `rooms beyond a lower limit end, and the others go on`() async throws {
    let journals = try await Journals()
    let first = try await journals.serve()
    for name in ["a", "b"] {
      _ = try await first.server.directory.create(name, RoomSettings())
      // They come back in the order of their times.
      try await Task.sleep(for: .milliseconds(5))
    }
    _ = try await first.server.join("ada", room: "b")
    try await first.server.directory.synced()
    first.running.cancel()
    let second = try await journals.serve(rooms: 1)
    try await second.server.directory.synced()
    #expect(await second.server.directory.rooms(after: nil, limit: 10).map(\.info.name) == ["a"])
    let b = try second.server.directory.events.events(of: "b", after: nil)
    #expect(
      Self.kinds(b.events).suffix(2) == ["3 participant.left ada serverShutdown", "4 room.finished - -"])
    second.running.cancel()
  }

  @Test func `removals hold, for as long as they would have`() async throws {
    let journals = try await Journals()
    let first = try await journals.serve(wallSeconds: { 10_000 })
    try await first.server.directory.remove("eve", from: "r")
    try await first.server.directory.synced()
    first.running.cancel()
    let second = try await journals.serve(wallSeconds: { 10_060 })
    #expect(second.server.directory.forbids("eve", in: "r", issued: 10_000))
    #expect(!second.server.directory.forbids("eve", in: "r", issued: 10_001))
    try await second.server.directory.synced()
    second.running.cancel()
    let third = try await journals.serve(wallSeconds: { 10_000 + 31 * 86_400 })
    #expect(!third.server.directory.forbids("eve", in: "r", issued: 9_000))
    try await third.server.directory.synced()
    #expect(try await journals.count("SELECT count(*) FROM removals") == 0)
    third.running.cancel()
  }

  @Test func `an event is given to readers once it is stored, and to those who are in at once`() async throws
  {
    let journals = try await Journals()
    let (server, journal, running) = try await journals.serve()
    _ = try await server.directory.create("r", RoomSettings())
    try await server.directory.synced()
    let cursor = server.directory.events.latestCursor
    try await journals.hurt()
    let ada = try await server.join("ada")
    #expect(ada.session.joined.lastEvent == 2)
    let bob = try await server.join("bob")
    #expect(await ada.next(until: "3 ") == "3 participant.joined bob")
    _ = try? await server.directory.synced()
    let events = server.directory.events
    let page = try events.events(of: "r", after: nil)
    #expect(page.events.map(\.id) == [1] && page.lastEvent == 1)
    #expect(throws: EventLogError.gone(room: page.room.id, oldest: 1, latest: 1)) {
      try events.events(of: "r", after: 99)
    }
    // One that was given to those who are in is no error to ask for.
    #expect(try events.events(of: "r", after: bob.session.joined.lastEvent).events.isEmpty)
    let all = try events.events(after: cursor)
    #expect(all.events.isEmpty && all.isLast && all.cursor == cursor && events.latestCursor == cursor)
    let (changes, noted) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let watch = events.watch(page.room.id) { noted.yield() }
    try await journals.mend()
    for _ in 0..<100 {
      if (try? await server.directory.synced()) != nil { break }
    }
    var waiting = changes.makeAsyncIterator()
    _ = try #require(await waiting.next())
    #expect(try events.events(of: "r", after: 1).events.map(\.id) == [2, 3] && journal.stored >= 3)
    #expect(try events.events(after: cursor).events.count == 2)
    withExtendedLifetime(watch) { running.cancel() }
  }

  @Test func `a crash before anything was stored makes no event of before another one for a reader`()
    async throws
  {
    let journals = try await Journals()
    let first = try await journals.serve()
    _ = try await first.server.directory.create("r", RoomSettings())
    try await first.server.directory.synced()
    try await journals.hurt()
    _ = try await first.server.join("ada")
    // Tried once, and not again before the end.
    _ = try? await first.server.directory.synced()
    let seen = try first.server.directory.events.events(of: "r", after: nil).events.map(\.id)
    first.running.cancel()
    try await journals.mend()
    // Ada was in, and no one outside has heard of it.
    let second = try await journals.serve()
    _ = try await second.server.join("bob")
    try await second.server.directory.synced()
    let events = try second.server.directory.events.events(of: "r", after: seen.last)
    #expect(Self.kinds(events.events) == ["2 participant.joined bob -"])
    second.running.cancel()
  }
}

@Suite("The log of events, gone on with", .timeLimit(.minutes(1)))
struct EventLogRestoreTests {
  private static func log(_ limits: EventLog.Limits = EventLog.Limits()) -> EventLog {
    EventLog(limits: limits) { Instant(nanoseconds: 5_000_000_000) }
  }

  private static func kept(_ positions: [UInt64], _ room: inout WritingRoom, every: Int64 = 0)
    -> RoomRecovery.Events
  {
    var kept = RoomRecovery.Events(run: 7)
    for (index, position) in positions.enumerated() {
      kept.events.append((position, room.event(.participantUpdated, at: Int64(index) * every)))
    }
    kept.lastPosition = positions.last ?? 0
    return kept
  }

  @Test func `events that are too old or too many by now are given up`() throws {
    var room = WritingRoom("r")
    let kept = Self.kept(Array(1...100), &room, every: 60_000)
    let log = Self.log(EventLog.Limits(events: 50))
    log.restore(kept, of: [], wallTime: WallTime(milliseconds: 100 * 60_000))
    #expect(try log.events(of: "r", after: nil).events.map(\.id) == Array(51...100))
    let aged = Self.log()
    aged.restore(kept, of: [], wallTime: WallTime(milliseconds: 120 * 60_000))
    #expect(try aged.events(of: "r", after: nil).events.map(\.id) == Array(61...100))
    let small = Self.log(EventLog.Limits(bytes: 10_000))
    small.restore(kept, of: [], wallTime: WallTime(milliseconds: 100 * 60_000))
    #expect(small.size.bytes <= 10_000 && small.size.events > 10)
  }

  @Test func `an event from a clock that ran ahead is as old as can be said`() throws {
    var room = WritingRoom("r")
    let log = Self.log()
    log.restore(Self.kept([1, 2], &room, every: 1_000_000_000), of: [], wallTime: WallTime(milliseconds: 0))
    #expect(try log.events(of: "r", after: nil).events.count == 2)
  }

  @Test func `a room without events goes on counting, and one of its name before is remembered`() throws {
    var old = WritingRoom("r", id: "RM_old")
    let present = WritingRoom("r", id: "RM_new")
    let log = Self.log()
    var goesOn = RoomRecovery.Room(name: "r", settings: RoomSettings(), life: present.life)
    goesOn.lastEvent = 40
    log.restore(Self.kept([3], &old), of: [goesOn], wallTime: WallTime(milliseconds: 0))
    var writing = WritingRoom("r", id: "RM_new", last: 40)
    log.append(writing.event(.participantUpdated))
    let page = try log.events(of: "r", after: nil)
    #expect(page.room.id == present.info.id && page.events.map(\.id) == [41] && page.lastEvent == 41)
    #expect(throws: EventLogError.gone(room: present.info.id, oldest: 41, latest: 41)) {
      try log.events(of: "r", after: 40)
    }
    #expect(try log.events(of: "r", life: "RM_new", after: 40).events.map(\.id) == [41])
    #expect(try log.events(of: "r", life: "RM_old", after: 0).events.map(\.id) == [1])
  }
}
