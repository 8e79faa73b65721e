import Model
import Storage
import Synchronization
import Testing

@testable import Rooms

/// Receivers that take what they like when they like, a log that forgets, a bound that gives up, and crashes.
@Suite("What receivers get through crashes and deletion", .timeLimit(.minutes(2)))
struct DeliveryCrashTests {
  private struct World {
    static let receivers = ["x", "y"]
    let journals: Journals
    var random: RandomSource
    var rooms = (0..<4).map { WritingRoom("r\($0)") }
    var position: UInt64 = 0
    /// By receiver and room: what it has settled.
    var settled: [String: [RoomID: Int]] = [:]
    /// By receiver: up to where something was given up, of whatever process.
    var givenUp: [String: UInt64] = [:]
    /// Of this process: what was given out and isn't settled, and the last that was.
    var waiting: [String: [RoomID: [StoredEvent]]] = [:]
    var given: [String: [RoomID: Int]] = [:]
    /// By room and number.
    var positions: [RoomID: [UInt64]] = [:]

    mutating func happen(_ process: DeliveringProcess) async throws {
      for _ in 0...Int.random(in: 0..<12, using: &random) {
        position += 1
        let index = Int.random(in: rooms.indices, using: &random)
        let info = ParticipantInfo.test("i", metadata: String(repeating: "x", count: 400))
        // One a minute, so that each is a piece of its own.
        let time = DeliveringProcess.time + Int64(position) * 60_000
        process.journal.record(
          rooms[index].event(.participantUpdated, .whole(info), at: time), at: position)
        positions[rooms[index].info.id, default: []].append(position)
      }
      try await process.journal.synced()
    }

    /// - Returns: how many there were.
    mutating func read(_ process: DeliveringProcess, for receiver: String) async throws -> Int {
      let events = await process.events(for: receiver, bytes: Int.random(in: 1...4_000, using: &random))
      for entry in events {
        let (room, id) = (entry.event.room.id, entry.event.id)
        let last = given[receiver]?[room] ?? settled[receiver]?[room] ?? 0
        if given[receiver]?[room] != nil { try #require(id > last, "\(receiver): \(id) after \(last)") }
        for missing in last + 1..<max(id, last + 1) {
          let isGivenUp = positions[room].map { $0[missing - 1] <= givenUp[receiver] ?? 0 } ?? false
          try #require(isGivenUp, "\(receiver): \(missing) of \(entry.event.room.name) is lost")
        }
        given[receiver, default: [:]][room] = id
        waiting[receiver, default: [:]][room, default: []].append(entry)
      }
      return events.count
    }

    mutating func settle(_ process: DeliveringProcess, for receiver: String) async throws {
      guard let (room, events) = waiting[receiver]?.randomElement(using: &random), let first = events.first,
        let last = events.last
      else { return }
      // It is all there still.
      let ids = first.event.id...last.event.id
      let page = await process.deliveries.events(of: room.text, ids: ids, bytes: 1_000_000)
      try #require(page?.events.map(\.event.id) == events.map(\.event.id), "\(receiver)")
      let count = Int.random(in: 1...events.count, using: &random)
      let next = count < events.count ? events[count].position : nil
      process.deliveries.settle(
        events[count - 1].event.id, of: room.text, at: events[count - 1].position,
        next: Bool.random(using: &random) ? next : nil, for: receiver)
      settled[receiver, default: [:]][room] = events[count - 1].event.id
      waiting[receiver]?[room] = count < events.count ? Array(events[count...]) : nil
    }

    mutating func forget(_ process: DeliveringProcess) {
      var gone = GivenUpEvents()
      gone.position = position - min(position, UInt64.random(in: 0..<20, using: &random))
      let room = rooms[Int.random(in: rooms.indices, using: &random)]
      gone.rooms = [room.info.id: max(0, (positions[room.info.id]?.count ?? 0) - 2)]
      process.journal.giveUp(gone)
    }

    mutating func tidy(_ process: DeliveringProcess) async {
      await process.deliveries.tidy(
        WallTime(milliseconds: DeliveringProcess.time + Int64(position + 1) * 60_000))
      for receiver in Self.receivers {
        let position = process.deliveries.report(for: receiver).givenUp
        givenUp[receiver] = max(givenUp[receiver] ?? 0, position)
        for (room, events) in waiting[receiver] ?? [:] {
          let left = events.filter { $0.position > position }
          waiting[receiver]?[room] = left.isEmpty ? nil : left
        }
      }
    }
  }

  @Test(arguments: 0..<60)
  func `what is not given up reaches everyone in the order of its room, and then goes`(
    seed: UInt64
  ) async throws {
    var world = World(journals: try await Journals(), random: RandomSource.seeded(state: seed))
    for round in 0..<5 {
      let process = try await DeliveringProcess(
        world.journals, limits: .init(bytes: seed % 3 == 0 ? 1_000_000 : 30_000))
      defer { process.running.cancel() }
      (world.waiting, world.given) = ([:], [:])
      for _ in 0..<80 {
        let receiver = World.receivers[Int.random(in: 0..<2, using: &world.random)]
        switch Int.random(in: 0..<12, using: &world.random) {
        case 0, 1: try await world.happen(process)
        case 2...4: _ = try await world.read(process, for: receiver)
        case 5...8: try await world.settle(process, for: receiver)
        case 9: await process.deliveries.flush()
        case 10: world.forget(process)
        default: await world.tidy(process)
        }
      }
      guard round == 4 else {
        // Of a process that is gone nothing is written.
        process.deliveries.state.withLock { $0.receivers = [:] }
        await process.deliveries.flush()
        continue
      }
      for receiver in World.receivers {
        while try await world.read(process, for: receiver) > 0 {}
        while world.waiting[receiver]?.isEmpty == false { try await world.settle(process, for: receiver) }
        for (room, positions) in world.positions where positions.last ?? 0 > world.givenUp[receiver] ?? 0 {
          #expect(world.settled[receiver]?[room] == positions.count, "\(receiver), seed \(seed)")
        }
      }
      await process.deliveries.flush()
      try await process.giveUp(world.position, at: world.position + 1)
      await world.tidy(process)
      #expect(try await world.journals.count("SELECT count(*) FROM events") == 1, "seed \(seed)")
      #expect(try await world.journals.count("SELECT count(*) FROM event_deliveries") == 0, "seed \(seed)")
    }
  }
}
