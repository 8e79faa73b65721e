import Model
import Storage
import TestStores
import Testing

@testable import Rooms

@Suite("Old events leave the store in portions", .timeLimit(.minutes(2)))
struct EventDeletionsTests {
  /// Many small ones, some large ones, and one that is larger than a portion.
  private static func fill(_ journals: Journals, _ room: RoomID) async throws -> Int {
    let sizes = Array(repeating: 100, count: 2_500) + Array(repeating: 100_000, count: 30) + [3_000_000, 100]
    try await journals.store.write(bytes: 1) { transaction throws(StoreError) in
      try transaction.run(
        "INSERT INTO events (position, life, id, time, body) VALUES ($1, $2, $1, 0, $3)",
        each: sizes.enumerated().map { place, size in
          [.integer(place + 1), .text(room.text), .bytes([UInt8](repeating: 1, count: size))]
        })
    }
    return sizes.count
  }

  @Test(arguments: StoreKind.allCases, [true, false])
  func `no write deletes more than a portion, and all go in the end`(kind: StoreKind, byPosition: Bool)
    async throws
  {
    let journals = try await Journals(on: kind)
    let room = RoomID(naming: "RM_a")
    let count = try await Self.fill(journals, room)
    var deletions = EventDeletions()
    var gone = GivenUpEvents()
    if byPosition { gone.position = UInt64(count - 1) } else { gone.rooms = [room: count - 1] }
    deletions.giveUp(gone, said: 1)
    var (left, bytes, writes) = (count, Int.max, 0)
    while let portion = deletions.next(stored: .max) {
      let outcome = try await journals.store.write(bytes: 1) { transaction throws(StoreError) in
        try RecordWriter.delete(portion, from: transaction)
      }
      deletions.finish(outcome, said: 1)
      let rest = try await journals.count("SELECT count(*) FROM events")
      let size = try await journals.count("SELECT CAST(sum(length(body)) AS BIGINT) FROM events")
      #expect(left - rest <= 1_000)
      if bytes != .max { #expect(bytes - size <= 1_048_576 || left - rest == 1) }
      (left, bytes, writes) = (rest, size, writes + 1)
      try #require(writes < 20)
    }
    #expect(left == 1)
    await journals.store.close()
  }

  @Test(arguments: StoreKind.allCases)
  func `what was held for a receiver that is taken out goes bit by bit, while events are stored`(
    kind: StoreKind
  ) async throws {
    let journals = try await Journals(on: kind)
    var room = WritingRoom("r")
    do {
      let process = try await DeliveringProcess(journals, to: ["stuck", "y"])
      defer { process.running.cancel() }
      for position in 1...5_000 { process.journal.record(room.event(.roomUpdated), at: UInt64(position)) }
      try await process.journal.synced()
      process.settle(await process.all(for: "y"), for: "y")
      await process.deliveries.flush()
      try await process.giveUp(5_000, at: 5_001)
      #expect(try await journals.count("SELECT count(*) FROM events") == 5_001)
    }
    let process = try await DeliveringProcess(journals, to: ["y"])
    defer { process.running.cancel() }
    let before = journals.store.report.syncs
    process.journal.giveUp(GivenUpEvents(position: 5_000, rooms: [:]))
    process.journal.record(room.event(.roomUpdated), at: 5_002)
    try await process.journal.synced()
    // Each of its own group.
    var (groups, meanwhile) = (1, 0)
    while process.journal.hasDeletions {
      process.journal.record(room.event(.roomUpdated), at: UInt64(5_002 + groups))
      try await process.journal.synced()
      (groups, meanwhile) = (groups + 1, meanwhile + (process.journal.hasDeletions ? 1 : 0))
    }
    #expect(meanwhile >= 3)
    #expect(journals.store.report.syncs - before >= UInt64(groups + 5))
    #expect(try await journals.count("SELECT count(*) FROM events") == groups + 1)
    #expect(try await journals.count("SELECT min(position) FROM events") == 5_001)
  }

  @Test func `where nothing can be deleted events are stored all the same, and it is caught up with`()
    async throws
  {
    let journals = try await Journals()
    let (journal, _, running) = try await journals.begin()
    defer { running.cancel() }
    var (room, other) = (WritingRoom("r"), WritingRoom("other"))
    journal.record(other.event(.roomStarted), at: 1)
    for position in 2...1_500 { journal.record(room.event(.roomUpdated), at: UInt64(position)) }
    try await journal.synced()
    try await journals.run(
      "CREATE TRIGGER stuck BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'stuck'); END")
    for position in 1_501...1_520 {
      journal.giveUp(GivenUpEvents(position: 1_400, rooms: [room.info.id: position - 10]))
      journal.record(room.event(.roomUpdated), at: UInt64(position))
      try await journal.synced()
    }
    #expect(journal.stored == 1_520 && journal.hasDeletions)
    #expect(try await journals.count("SELECT count(*) FROM events") == 1_520)
    try await journals.run("DROP TRIGGER stuck")
    try await journal.deleted()
    // Of the room the last that was given up by its number is the last but eleven.
    #expect(try await journals.count("SELECT count(*) FROM events") == 9)
  }

  @Test func `what is given up before it is written goes once it is`() {
    var deletions = EventDeletions()
    let room = RoomID(naming: "RM_a")
    deletions.giveUp(GivenUpEvents(position: 9, rooms: [room: 4]), said: 7)
    #expect(deletions.next(stored: 0) == nil)
    var portion = deletions.next(stored: 5)
    #expect(portion?.last == 5 && portion?.rooms.isEmpty == true)
    portion = deletions.next(stored: 7)
    #expect(portion?.last == 7 && portion?.rooms.map(\.number) == [4])
    // What comes meanwhile is another portion's.
    deletions.giveUp(GivenUpEvents(position: 0, rooms: [room: 6]), said: 8)
    deletions.finish(EventDeletions.Outcome(reached: 7, rooms: [room]), said: 8)
    #expect(deletions.next(stored: 7) == nil)
    portion = deletions.next(stored: 9)
    #expect(portion?.after == 7 && portion?.last == 9 && portion?.rooms.map(\.number) == [6])
  }
}
