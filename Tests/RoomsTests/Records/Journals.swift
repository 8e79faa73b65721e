import Logging
import Model
import Storage
import TestStores

@testable import Rooms

/// A journal on a store, which one process after the other goes on with.
final class Journals: Sendable {
  let store: Store

  /// - Parameter kind: of the store; nil: it is in memory.
  init(on kind: StoreKind? = nil) async throws {
    store = try await Store.open(kind?.makeLocation() ?? .memory, log: Log(level: .error) { _ in })
  }

  /// A journal as a process has it from its start, running.
  func begin(pendingBytes: Int = StoredJournal.pendingBytes) async throws -> (
    journal: StoredJournal, recovery: RoomRecovery, running: Task<Void, Never>
  ) {
    let journal = StoredJournal(store: store, pendingBytes: pendingBytes, log: Log(level: .error) { _ in })
    let recovery = try await journal.recover()
    return (journal, recovery, Task { await journal.run() })
  }

  /// What was made of a server: rooms that go on where the process before ended.
  func serve(wallSeconds: (@Sendable () -> Int)? = nil, rooms: Int = 50) async throws -> (
    server: TestServer, journal: StoredJournal, running: Task<Void, Never>
  ) {
    let (journal, recovery, running) = try await begin()
    let server = try TestServer(rooms: rooms, journal: journal, wallSeconds: wallSeconds)
    await server.directory.recover(recovery)
    return (server, journal, running)
  }

  /// Nothing of events can be written until `mend`.
  func hurt() async throws { try await run("ALTER TABLE events RENAME TO events_away") }
  func mend() async throws { try await run("ALTER TABLE events_away RENAME TO events") }

  func run(_ statement: SQLStatement) async throws {
    try await store.write(bytes: 0) { transaction throws(StoreError) in _ = try transaction.run(statement) }
  }

  func count(_ statement: SQLStatement) async throws -> Int {
    Int(
      try await store.read { transaction throws(StoreError) in
        try transaction.run(statement).first?.integer(0) ?? -1
      })
  }
}

extension StoredJournal {
  /// Waits until all is deleted that may be.
  func deleted() async throws {
    for _ in 0..<6_000 where hasDeletions { try await Task.sleep(for: .milliseconds(5)) }
  }
}

/// A room that only writes, as the log and the journal hear of it.
struct WritingRoom {
  let info: RoomInfo
  let life: RoomLife
  private(set) var last: Int

  init(_ name: String, id: String? = nil, last: Int = 0) {
    var random = RandomSource.system
    let id = id.map { RoomID(naming: $0) } ?? RoomID(&random)
    info = RoomInfo(id: id, name: name)
    life = RoomLife(id: id, name: name, created: WallTime(milliseconds: 1_000), isReborn: false)
    self.last = last
  }

  mutating func event(
    _ kind: RoomEvent.Kind, _ participant: EventParticipant? = nil, _ track: TrackInfo? = nil,
    at milliseconds: Int64 = 1_000_000
  ) -> RoomEvent {
    last += 1
    return RoomEvent(
      id: last, time: WallTime(milliseconds: milliseconds), room: info, kind: kind, participant: participant,
      track: track)
  }
}

extension ParticipantInfo {
  static func test(_ identity: String, id: String? = nil, metadata: String? = nil) -> ParticipantInfo {
    ParticipantInfo(
      id: ParticipantID(known: id ?? "PA_\(identity)"), identity: identity, metadata: metadata, tracks: [])
  }
}
