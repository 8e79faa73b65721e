import AccessTokens
import Model
import Synchronization
import Testing

@testable import Rooms

/// Writes down what it is given, in order, and gives it back as a process after this one finds it.
private final class RecordingJournal: RoomJournal {
  private struct State {
    var lines: [String] = []
    var settings: [(life: RoomLife, settings: RoomSettings)] = []
    var removals: [Removal] = []
  }

  private let state = Mutex(State())

  var lines: [String] { state.withLock { $0.lines } }

  /// What had not finished, and all removals.
  var recovery: RoomRecovery {
    state.withLock { state in
      RoomRecovery(
        rooms: state.settings.map { RoomRecovery.Room(name: $0.life.name, settings: $0.settings) },
        removals: state.removals)
    }
  }

  func record(_ event: RoomEvent, at position: UInt64) {
    state.withLock { state in
      state.lines.append("\(event.room.name) \(event.id) \(event.kind.rawValue)")
      if event.kind == .roomFinished { state.settings.removeAll { $0.life.id == event.room.id } }
    }
  }

  func keep(_ settings: RoomSettings, of life: RoomLife) {
    state.withLock { state in
      state.lines.append("\(life.name) keeps \(settings.metadata ?? "-")")
      state.settings.removeAll { $0.life.name == life.name }
      state.settings.append((life, settings))
    }
  }

  func giveUpName(of room: RoomID) {
    state.withLock { state in
      let name = state.settings.first { $0.life.id == room }?.life.name ?? "?"
      state.lines.append("\(name) is given up")
    }
  }

  func giveUp(_ events: GivenUpEvents) {}
  func keep(_ invitation: Invitation) {
    state.withLock { $0.lines.append("\(invitation.room) invites") }
  }
  func forget(_ invitation: InvitationID) { state.withLock { $0.lines.append("an invitation is over") } }
  /// All of them, at once.
  var stored: UInt64 { .max }
  func whenStored(_ body: @escaping @Sendable () -> Void) {}
  func synced() async throws(JournalError) {}

  func remember(_ removal: Removal) {
    state.withLock { state in
      state.lines.append("\(removal.room) removes \(removal.identity)")
      state.removals.removeAll { ($0.room, $0.identity) == (removal.room, removal.identity) }
      state.removals.append(removal)
    }
  }

  func forget(_ removal: Removal) {
    state.withLock { state in
      state.lines.append("\(removal.room) forgets \(removal.identity)")
      state.removals.removeAll { ($0.room, $0.identity) == (removal.room, removal.identity) }
    }
  }
}

@Suite("What outlives the process", .timeLimit(.minutes(2)))
struct RoomJournalTests {
  @Test func `settings, events and removals are written down in the order in which they happen`() async throws
  {
    let journal = RecordingJournal()
    let server = try TestServer(journal: journal)
    _ = try await server.directory.create("r", RoomSettings(departureTimeout: 0, metadata: "first"))
    // One that stands stays as it is, and nothing is said of it.
    _ = try await server.directory.create("r", RoomSettings(metadata: "other"))
    let ada = try await server.join("ada")
    var patch = RoomPatch()
    patch.metadata = .set("second")
    let room = try #require(server.directory.administration(of: "r"))
    _ = try await room.change(patch)
    // A change to what holds already is none.
    _ = try await room.change(patch)
    try await server.directory.remove("eve", from: "r")
    try await server.directory.remove("ada", from: "r")
    #expect(await ada.next(until: "closed") == "closed removed")
    #expect(
      journal.lines == [
        "r keeps first", "r 1 room.started", "r 2 participant.joined", "r keeps second", "r 3 room.updated",
        "r removes eve", "r removes ada", "r 4 participant.left", "r 5 room.finished",
      ])
  }

  @Test func `a room that its first participant made has its settings written down as well`() async throws {
    let journal = RecordingJournal()
    let server = try TestServer(journal: journal)
    _ = try await server.join("ada", room: "quiet")
    #expect(journal.recovery.rooms == [.init(name: "quiet", settings: server.directory.defaults)])
  }

  @Test func `the next process has the rooms, their settings and the removals of the one before`()
    async throws
  {
    let journal = RecordingJournal()
    let seconds = Mutex(10_000)
    let clock: @Sendable () -> Int = { seconds.withLock { $0 } }
    let settings = RoomSettings(emptyTimeout: 77, departureTimeout: 7, maxParticipants: 2, metadata: "kept")
    do {
      let server = try TestServer(journal: journal, wallSeconds: clock)
      _ = try await server.directory.create("stands", settings)
      _ = try await server.directory.create("finishes", RoomSettings())
      try await server.directory.close(room: "finishes")
      try await server.directory.remove("eve", from: "stands")
    }
    seconds.withLock { $0 = 10_060 }
    let server = try TestServer(wallSeconds: clock)
    await server.directory.recover(journal.recovery)
    let rooms = await server.directory.rooms(after: nil, limit: 10)
    #expect(rooms.map(\.info.name) == ["stands"])
    #expect(rooms.map(\.settings) == [settings])
    #expect(server.directory.forbids("eve", in: "stands", issued: 10_000))
    #expect(!server.directory.forbids("eve", in: "stands", issued: 10_001), "a token of after the removal")
    #expect(!server.directory.forbids("ada", in: "stands", issued: 10_000))
    await #expect(throws: JoinError.removed) {
      _ = try await server.directory.join(
        room: "stands", identity: "eve", name: nil, grants: .join("stands"), issued: 9_999)
    }
  }

  @Test func `a room of before has one place in the journal, however often the process is another one`()
    async throws
  {
    let journal = RecordingJournal()
    let first = try TestServer(journal: journal)
    _ = try await first.directory.create("r", RoomSettings(metadata: "first"))
    let second = try TestServer(journal: journal)
    await second.directory.recover(journal.recovery)
    var patch = RoomPatch()
    patch.metadata = .set("second")
    _ = try await #require(second.directory.administration(of: "r")).change(patch)
    let third = try TestServer(journal: journal)
    await third.directory.recover(journal.recovery)
    #expect(await third.directory.rooms(after: nil, limit: 10).map(\.settings.metadata) == ["second"])
    try await third.directory.close(room: "r")
    #expect(journal.recovery.rooms.isEmpty, "what processes before kept of the name is over with it")
  }

  @Test func `a room that is closed before it begins leaves nothing in the journal`() async throws {
    let journal = RecordingJournal()
    let server = try TestServer(journal: journal)
    let directory = server.directory
    // Made, and not started yet.
    let (room, _) = try directory.registry.withRooms { rooms throws(AdministrationError) in
      try rooms.create("r", patience: 0, now: directory.media.now) {
        directory.make("r", RoomSettings(), number: $0)
      }
    }
    await directory.sweep()
    _ = await room.handle(.start)
    #expect(journal.lines.isEmpty)
  }

  @Test func `a room that was closed takes no settings any more, whose name may be another's by now`()
    async throws
  {
    let journal = RecordingJournal()
    let server = try TestServer(journal: journal)
    _ = try await server.directory.create("r", RoomSettings(metadata: "old"))
    let old = try #require(server.directory.administration(of: "r"))
    try await server.directory.close(room: "r")
    _ = try await server.directory.create("r", RoomSettings(metadata: "new"))
    var patch = RoomPatch()
    patch.metadata = .set("late")
    await #expect(throws: AdministrationError.unknownRoom) { _ = try await old.change(patch) }
    #expect(journal.recovery.rooms.map(\.settings.metadata) == ["new"])
  }

  private static func records(_ journal: RecordingJournal) -> RoomRecords {
    RoomRecords(events: EventLog { Instant(nanoseconds: 0) }, memory: 100, journal: journal)
  }

  @Test func `a removal's end is written down, by its age or because newer ones have its place`() async throws
  {
    let journal = RecordingJournal()
    let records = Self.records(journal)
    #expect(records.remove("ada", from: "r", now: 1_000) && records.remove("bob", from: "s", now: 1_050))
    records.expire(now: 1_099)
    #expect(journal.lines == ["r removes ada", "s removes bob"])
    // By the hour: until then a removal that is too old holds no longer, and is in the journal.
    records.expire(now: 1_101)
    #expect(journal.recovery.removals.count == 2 && !records.forbids("ada", in: "r", issued: nil, now: 1_101))
    // One's own older removal is over before the next is remembered.
    #expect(records.remove("ada", from: "r", now: 1_120))
    #expect(journal.lines.suffix(2) == ["r forgets ada", "r removes ada"])
    records.expire(now: 1_099 + RoomRecords.sweeping)
    #expect(journal.recovery.removals.isEmpty)
    for number in 0...Removals.perRoom { _ = records.remove("\(number)", from: "flood", now: 9_000) }
    #expect(journal.recovery.removals.count == Removals.perRoom)
    #expect(journal.lines.suffix(2) == ["flood forgets 0", "flood removes \(Removals.perRoom)"])
  }

  @Test func `removals of before that are too old by now are forgotten by the journal as well`() async throws
  {
    let journal = RecordingJournal()
    let kept = [("eve", 1_000), ("bob", 2_000), ("bob", 5_000)].map {
      Removal(identity: $0, room: "r", time: $1)
    }
    for removal in kept { journal.remember(removal) }
    let records = Self.records(journal)
    records.recover(kept, now: 5_010)
    #expect(journal.recovery.removals == [kept[2]])
    #expect(records.forbids("bob", in: "r", issued: 4_000, now: 5_010))
  }

  @Test func `removals of a clock that ran ahead hold from now on, and for no longer than any`() async throws
  {
    let server = try TestServer(wallSeconds: { 10_000 })
    await server.directory.recover(
      RoomRecovery(removals: [Removal(identity: "eve", room: "r", time: 4_000_000_000)]))
    #expect(server.directory.forbids("eve", in: "r", issued: 10_000))
    #expect(!server.directory.forbids("eve", in: "r", issued: 10_001))
  }

  @Test func `rooms beyond a lower limit are left out, and the others stand`() async throws {
    let server = try TestServer(rooms: 1)
    await server.directory.recover(
      RoomRecovery(rooms: [
        .init(name: "a", settings: RoomSettings()), .init(name: "b", settings: RoomSettings()),
      ]))
    #expect(await server.directory.rooms(after: nil, limit: 10).map(\.info.name) == ["a"])
  }
}
