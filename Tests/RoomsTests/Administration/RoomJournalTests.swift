import AccessTokens
import Model
import Synchronization
import Testing

@testable import Rooms

/// Writes down what it is given, in order, and gives it back as a process after this one finds it.
private final class RecordingJournal: RoomJournal {
  private struct State {
    var lines: [String] = []
    var settings: [(room: RoomInfo, settings: RoomSettings)] = []
    var removals: [Removal] = []
  }

  private let state = Mutex(State())

  var lines: [String] { state.withLock { $0.lines } }

  /// What had not finished, and all removals.
  var recovery: RoomRecovery {
    state.withLock { state in
      RoomRecovery(
        rooms: state.settings.map { RoomRecovery.Room(name: $0.room.name, settings: $0.settings) },
        removals: state.removals)
    }
  }

  func record(_ event: RoomEvent) {
    state.withLock { state in
      state.lines.append("\(event.room.name) \(event.id) \(event.kind.rawValue)")
      if event.kind == .roomFinished { state.settings.removeAll { $0.room.id == event.room.id } }
    }
  }

  func keep(_ settings: RoomSettings, of room: RoomInfo) {
    state.withLock { state in
      state.lines.append("\(room.name) keeps \(settings.metadata ?? "-")")
      state.settings.removeAll { $0.room.id == room.id }
      state.settings.append((room, settings))
    }
  }

  func remember(_ removal: Removal) {
    state.withLock { state in
      state.lines.append("\(removal.room) removes \(removal.identity)")
      state.removals.append(removal)
    }
  }
}

@Suite("What outlives the process", .timeLimit(.minutes(2)))
struct RoomJournalTests {
  @Test func `settings, events and removals are written down in the order in which they happen`() async throws {
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

  @Test func `the next process has the rooms, their settings and the removals of the one before`() async throws {
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

  @Test func `removals of a clock that ran ahead hold from now on, and for no longer than any`() async throws {
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
