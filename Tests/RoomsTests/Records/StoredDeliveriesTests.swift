import Foundation
import Logging
import Model
import Storage
import Testing

@testable import Rooms

@Suite("Receivers of stored events", .timeLimit(.minutes(2)))
struct StoredDeliveriesTests {
  /// A process: what it finds, its journal and its receivers.
  private struct Process {
    let journal: StoredJournal
    let deliveries: StoredDeliveries
    let running: Task<Void, Never>

    init(_ journals: Journals, to receivers: [String] = ["x", "y"]) async throws {
      let log = Log(level: .error) { _ in }
      journal = StoredJournal(store: journals.store, log: log)
      _ = try await journal.recover()
      deliveries = try await StoredDeliveries(to: receivers, in: journals.store, journal: journal, log: log)
      running = Task { [journal] in await journal.run() }
    }

    func numbers(for receiver: String, limit: Int = 100) async -> [Int] {
      await deliveries.next(for: receiver, limit: limit).map(\.id)
    }
  }

  @Test func `a receiver gets what is stored since it is named, each event once`() async throws {
    let journals = try await Journals()
    var room = WritingRoom("r")
    do {
      let (journal, _, running) = try await journals.begin()
      journal.record(room.event(.roomStarted), at: 1)
      try await journal.synced()
      running.cancel()
    }
    let process = try await Process(journals)
    defer { process.running.cancel() }
    #expect(await process.numbers(for: "x") == [])
    for position in 2...6 { process.journal.record(room.event(.roomUpdated), at: UInt64(position)) }
    try await process.journal.synced()
    #expect(await process.numbers(for: "x", limit: 2) == [2, 3])
    #expect(await process.numbers(for: "x") == [4, 5, 6])
    #expect(await process.numbers(for: "x") == [])
    #expect(await process.numbers(for: "y") == [2, 3, 4, 5, 6])
    #expect(await process.numbers(for: "z") == [])
  }

  @Test func `after a crash what was not settled comes again, and what was settled does not`() async throws {
    let journals = try await Journals()
    var rooms = [WritingRoom("a"), WritingRoom("b")]
    do {
      let process = try await Process(journals)
      for position in 1...6 {
        process.journal.record(rooms[position % 2].event(.roomUpdated), at: UInt64(position))
      }
      try await process.journal.synced()
      _ = await process.numbers(for: "x")
      // Of the room b, whose first event is the first of all,.
      process.deliveries.settle(1, of: rooms[1].info.id.text, for: "x")
      process.deliveries.settle(1, of: rooms[0].info.id.text, for: "x")
      process.deliveries.settle(2, of: rooms[0].info.id.text, for: "x")
      await process.deliveries.flush()
      process.running.cancel()
    }
    let process = try await Process(journals, to: ["x"])
    defer { process.running.cancel() }
    let left = await process.deliveries.next(for: "x", limit: 100)
    #expect(left.map { "\($0.room.name)\($0.id)" } == ["b2", "b3", "a3"])
    // The other is named no more.
    #expect(try await journals.count("SELECT count(*) FROM event_receivers") == 1)
  }

  @Test func `what the log has given up stays until the last receiver has it`() async throws {
    let journals = try await Journals()
    let process = try await Process(journals)
    defer { process.running.cancel() }
    var room = WritingRoom("r")
    for position in 1...9 { process.journal.record(room.event(.roomUpdated), at: UInt64(position)) }
    try await process.journal.synced()
    var gone = GivenUpEvents()
    gone.position = 6
    gone.rooms = [room.info.id: 8]
    func left(_ position: UInt64) async throws -> Int {
      process.journal.giveUp(gone)
      process.journal.record(room.event(.roomUpdated), at: position)
      try await process.journal.synced()
      return try await journals.count("SELECT count(*) FROM events")
    }
    #expect(try await left(10) == 10)
    for receiver in ["x", "y"] { _ = await process.numbers(for: receiver) }
    for id in 1...9 { process.deliveries.settle(id, of: room.info.id.text, for: "x") }
    await process.deliveries.flush()
    #expect(try await left(11) == 11)
    for id in 1...3 { process.deliveries.settle(id, of: room.info.id.text, for: "y") }
    await process.deliveries.flush()
    #expect(try await left(12) == 9)
    for id in 4...10 { process.deliveries.settle(id, of: room.info.id.text, for: "y") }
    await process.deliveries.flush()
    // Eight by number, of which the log said so, and the others remain.
    #expect(try await left(13) == 5)
  }

  @Test func `settled events reach the store by themselves, and rows of rooms that are done go`() async throws
  {
    let journals = try await Journals()
    let process = try await Process(journals, to: ["x"])
    defer { process.running.cancel() }
    var rooms = (0..<20).map { WritingRoom("r\($0)") }
    var position: UInt64 = 0
    for index in rooms.indices {
      position += 1
      process.journal.record(rooms[index].event(.roomStarted), at: position)
    }
    try await process.journal.synced()
    _ = await process.numbers(for: "x")
    for room in rooms.dropFirst() { process.deliveries.settle(1, of: room.info.id.text, for: "x") }
    try await eventually { try await journals.count("SELECT count(*) FROM event_deliveries") == 19 }
    process.deliveries.settle(1, of: rooms[0].info.id.text, for: "x")
    try await eventually { try await journals.count("SELECT count(*) FROM event_deliveries") == 0 }
    #expect(try await journals.count("SELECT floor FROM event_receivers") == 20)
  }

  @Test func `while the store can't be read or written nothing is lost`() async throws {
    let journals = try await Journals()
    let process = try await Process(journals, to: ["x"])
    defer { process.running.cancel() }
    var room = WritingRoom("r")
    process.journal.record(room.event(.roomStarted), at: 1)
    process.journal.record(room.event(.roomUpdated), at: 2)
    try await process.journal.synced()
    #expect(await process.numbers(for: "x", limit: 1) == [1])
    try await journals.hurt()
    try await journals.run("ALTER TABLE event_receivers RENAME TO receivers_away")
    async let next = process.numbers(for: "x")
    process.deliveries.settle(1, of: room.info.id.text, for: "x")
    try await Task.sleep(for: .milliseconds(300))
    try await journals.mend()
    try await journals.run("ALTER TABLE receivers_away RENAME TO event_receivers")
    #expect(await next == [2])
    try await eventually { try await journals.count("SELECT floor FROM event_receivers") == 1 }
  }

  private func eventually(_ holds: () async throws -> Bool) async throws {
    for _ in 0..<100 {
      if try await holds() { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    Issue.record("not within 5 s")
  }
}
