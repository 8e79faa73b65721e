import Foundation
import Logging
import Model
import Storage
import Synchronization
import Testing

@testable import Rooms

@Suite("Receivers of stored events", .timeLimit(.minutes(2)))
struct StoredDeliveriesTests {
  @Test func `a receiver gets what is stored since it is named, each event once`() async throws {
    let journals = try await Journals()
    var room = WritingRoom("r")
    do {
      let (journal, _, running) = try await journals.begin()
      journal.record(room.event(.roomStarted), at: 1)
      try await journal.synced()
      running.cancel()
    }
    let process = try await DeliveringProcess(journals)
    defer { process.running.cancel() }
    #expect(await process.numbers(for: "x") == [])
    for position in 2...6 { process.journal.record(room.event(.roomUpdated), at: UInt64(position)) }
    try await process.journal.synced()
    // A page is of bytes, and of one event in any case.
    #expect(await process.numbers(for: "x", bytes: 1) == [2])
    #expect(await process.numbers(for: "x") == [3, 4, 5, 6])
    #expect(await process.numbers(for: "x") == [])
    #expect(await process.numbers(for: "y") == [2, 3, 4, 5, 6])
    #expect(await process.numbers(for: "z") == [])
  }

  @Test func `after a crash what was not settled comes again, and what was settled does not`() async throws {
    let journals = try await Journals()
    var rooms = [WritingRoom("a"), WritingRoom("b")]
    do {
      let process = try await DeliveringProcess(journals)
      for position in 1...6 {
        process.journal.record(rooms[position % 2].event(.roomUpdated), at: UInt64(position))
      }
      try await process.journal.synced()
      // Of the room b, whose first event is the first of all, one.
      let came = await process.events(for: "x")
      process.settle(came.filter { $0.event.room.name == "b" && $0.event.id == 1 }, for: "x")
      process.settle(came.filter { $0.event.room.name == "a" && $0.event.id < 3 }, for: "x")
      await process.deliveries.flush()
      process.running.cancel()
    }
    let process = try await DeliveringProcess(journals, to: ["x"])
    defer { process.running.cancel() }
    let left = await process.events(for: "x")
    #expect(left.map { "\($0.event.room.name)\($0.event.id)" } == ["b2", "b3", "a3"])
    // The other is named no more.
    #expect(try await journals.count("SELECT count(*) FROM event_receivers") == 1)
  }

  @Test func `what the log has given up stays until the last receiver has it`() async throws {
    let journals = try await Journals()
    let process = try await DeliveringProcess(journals)
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
      try await process.journal.deleted()
      return try await journals.count("SELECT count(*) FROM events")
    }
    #expect(try await left(10) == 10)
    var came: [String: [StoredEvent]] = [:]
    for receiver in ["x", "y"] { came[receiver] = await process.events(for: receiver) }
    process.settle(came["x"]?.dropLast() ?? [], for: "x")
    await process.deliveries.flush()
    #expect(try await left(11) == 11)
    process.settle(came["y"].map { Array($0[..<3]) } ?? [], for: "y")
    await process.deliveries.flush()
    #expect(try await left(12) == 9)
    process.settle(came["y"].map { Array($0[3...]) } ?? [], for: "y")
    await process.deliveries.flush()
    // Eight by number, of which the log said so, and the others remain.
    #expect(try await left(13) == 5)
  }

  @Test func `settled events reach the store by themselves, and rows of rooms that are done go`() async throws
  {
    let journals = try await Journals()
    let process = try await DeliveringProcess(journals, to: ["x"])
    defer { process.running.cancel() }
    var rooms = (0..<20).map { WritingRoom("r\($0)") }
    var position: UInt64 = 0
    for index in rooms.indices {
      position += 1
      process.journal.record(rooms[index].event(.roomStarted), at: position)
    }
    try await process.journal.synced()
    let came = await process.events(for: "x")
    process.settle(Array(came.dropFirst()), for: "x")
    try await eventually { try await journals.count("SELECT count(*) FROM event_deliveries") == 19 }
    process.settle(Array(came.prefix(1)), for: "x")
    try await eventually { try await journals.count("SELECT count(*) FROM event_deliveries") == 0 }
    #expect(try await journals.count("SELECT floor FROM event_receivers") == 20)
  }

  @Test func `what is written at the same time is written in its order`() async throws {
    let journals = try await Journals()
    for round in 0..<5 as Range<UInt64> {
      let process = try await DeliveringProcess(journals, to: ["x"])
      defer { process.running.cancel() }
      var rooms = (0..<20).map { WritingRoom("r\($0)") }
      for position in 1...200 as ClosedRange<UInt64> {
        process.journal.record(
          rooms[Int(position % 20)].event(.roomUpdated), at: 200 * round + position)
      }
      try await process.journal.synced()
      let came = await process.all(for: "x")
      await withTaskGroup(of: Void.self) { group in
        for entry in came {
          process.deliveries.settle(
            entry.event.id, of: entry.event.room.id.text, at: entry.position, next: nil, for: "x")
          group.addTask { await process.deliveries.flush() }
          await Task.yield()
        }
      }
      #expect(try await journals.count("SELECT floor FROM event_receivers") == Int(200 * round + 200))
      #expect(try await journals.count("SELECT count(*) FROM event_deliveries") == 0)
    }
  }

  @Test func `while the store can't be read or written nothing is lost`() async throws {
    let journals = try await Journals()
    let process = try await DeliveringProcess(journals, to: ["x"])
    defer { process.running.cancel() }
    var room = WritingRoom("r")
    process.journal.record(room.event(.roomStarted), at: 1)
    process.journal.record(room.event(.roomUpdated), at: 2)
    try await process.journal.synced()
    let came = await process.events(for: "x", bytes: 1)
    #expect(came.map(\.event.id) == [1])
    try await journals.hurt()
    try await journals.run("ALTER TABLE event_receivers RENAME TO receivers_away")
    #expect(await process.deliveries.next(for: "x", bytes: 1) == nil)
    process.settle(came, for: "x")
    try await Task.sleep(for: .milliseconds(300))
    try await journals.mend()
    try await journals.run("ALTER TABLE receivers_away RENAME TO event_receivers")
    #expect(await process.numbers(for: "x") == [2])
    try await eventually { try await journals.count("SELECT floor FROM event_receivers") == 1 }
  }

  @Test func `that the store can't be read is said once, and once that it can`() async throws {
    let journals = try await Journals()
    let lines = Mutex<[String]>([])
    let process = try await DeliveringProcess(
      journals, log: Log(level: .info) { line in lines.withLock { $0.append(line) } })
    defer { process.running.cancel() }
    var room = WritingRoom("r")
    process.journal.record(room.event(.roomStarted), at: 1)
    try await process.journal.synced()
    try await journals.hurt()
    for _ in 0..<3 {
      for receiver in ["x", "y"] { #expect(await process.deliveries.next(for: receiver, bytes: 1) == nil) }
    }
    #expect(lines.withLock { $0 }.count == 1)
    try await journals.mend()
    for receiver in ["x", "y"] { #expect(await process.numbers(for: receiver) == [1]) }
    let said = lines.withLock { $0 }
    #expect(said.count == 2 && said[0].contains("warning") && said[1].contains("info"), "\(said)")
  }

  @Test func `a room can be read again, by itself and by pages`() async throws {
    let journals = try await Journals()
    let process = try await DeliveringProcess(journals, to: ["x"])
    defer { process.running.cancel() }
    var rooms = [WritingRoom("a"), WritingRoom("b")]
    for position in 1...20 {
      process.journal.record(rooms[position % 2].event(.roomUpdated), at: UInt64(position))
    }
    try await process.journal.synced()
    _ = await process.events(for: "x")
    let room = rooms[1].info.id.text
    let all = try #require(await process.deliveries.events(of: room, ids: 3...9, bytes: 1_000_000))
    #expect(all.events.map(\.event.id) == Array(3...9) && all.rest == nil)
    #expect(all.events.map(\.position) == stride(from: 5, through: 17, by: 2).map { $0 })
    let first = try #require(await process.deliveries.events(of: room, ids: 3...9, bytes: 1))
    #expect(first.events.map(\.event.id) == [3] && first.rest?.id == 4 && first.rest?.position == 6)
    let none = try #require(await process.deliveries.events(of: room, ids: 11...19, bytes: 1))
    #expect(none.events.isEmpty && none.rest == nil)
  }

  @Test func `a page has as many bytes as are asked for, however many events those are`() async throws {
    let journals = try await Journals()
    let process = try await DeliveringProcess(journals, to: ["x"])
    defer { process.running.cancel() }
    var room = WritingRoom("r")
    for position in 1...40 {
      let info = ParticipantInfo.test(
        "i", metadata: String(repeating: "x", count: position > 30 ? 50_000 : 10))
      process.journal.record(room.event(.participantUpdated, .whole(info)), at: UInt64(position))
    }
    try await process.journal.synced()
    var counts: [Int] = []
    while true {
      let numbers = await process.numbers(for: "x", bytes: 120_000)
      if numbers.isEmpty { break }
      counts.append(numbers.count)
    }
    #expect(counts == [32, 2, 2, 2, 2])
  }

  private func eventually(_ holds: () async throws -> Bool) async throws {
    for _ in 0..<100 {
      if try await holds() { return }
      try await Task.sleep(for: .milliseconds(50))
    }
    Issue.record("not within 5 s")
  }
}
