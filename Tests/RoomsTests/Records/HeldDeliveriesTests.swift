import Logging
import Model
import Storage
import TestStores
import Testing

@testable import Rooms

/// One receiver that doesn't take something keeps little in the store, and not for ever.
@Suite("What stays in the store for receivers", .timeLimit(.minutes(2)))
struct HeldDeliveriesTests {
  private static let now = WallTime(milliseconds: DeliveringProcess.later)
  private static let day = Duration.seconds(86_400)

  @Test func `what every receiver has leaves the store, although an event before it waits`() async throws {
    let journals = try await Journals()
    var (stuck, loud) = (WritingRoom("stuck"), WritingRoom("loud"))
    do {
      let process = try await DeliveringProcess(journals)
      process.journal.record(stuck.event(.roomStarted), at: 1)
      for position in 2...2_500 { process.journal.record(loud.event(.roomUpdated), at: UInt64(position)) }
      try await process.journal.synced()
      for receiver in ["x", "y"] {
        let came = await process.all(for: receiver)
        #expect(came.count == 2_500)
        process.settle(came.filter { receiver == "y" || $0.event.room.name == "loud" }, for: receiver)
      }
      try await process.giveUp(2_500, at: 2_501)
      // The floor stands at the first.
      #expect(try await journals.count("SELECT count(*) FROM events") == 2_501)
      await process.deliveries.tidy(Self.now)
      #expect(try await journals.count("SELECT count(*) FROM events") == 2)
      #expect(try await journals.count("SELECT count(*) FROM event_deliveries") == 0)
      #expect(process.deliveries.held.events == 2)
      process.running.cancel()
    }
    let process = try await DeliveringProcess(journals)
    defer { process.running.cancel() }
    #expect(await process.events(for: "x").map(\.event.room.name) == ["stuck", "later"])
    #expect(await process.events(for: "y").map(\.event.room.name) == ["later"])
  }

  @Test func `events of one room that the log gives up go, although another room's wait`() async throws {
    let journals = try await Journals()
    let process = try await DeliveringProcess(journals)
    defer { process.running.cancel() }
    var (stuck, loud) = (WritingRoom("stuck"), WritingRoom("loud"))
    process.journal.record(stuck.event(.roomStarted), at: 1)
    for position in 2...21 { process.journal.record(loud.event(.roomUpdated), at: UInt64(position)) }
    try await process.journal.synced()
    for receiver in ["x", "y"] {
      let came = await process.events(for: receiver)
      // Of the loud room one has half.
      process.settle(
        came.filter { $0.event.room.name == "loud" && (receiver == "x" || $0.event.id <= 10) }, for: receiver)
    }
    await process.deliveries.flush()
    try await process.giveUp(0, [loud.info.id: 15], at: 22)
    #expect(try await journals.count("SELECT count(*) FROM events") == 22 - 10)
    #expect(try await journals.count("SELECT count(*) FROM events WHERE position > 1 AND position < 12") == 0)
  }

  /// Minutes after the first event could be.
  private static func at(_ minutes: Int64) -> WallTime {
    WallTime(milliseconds: DeliveringProcess.time + minutes * 60_000)
  }

  /// One event a minute, of as many rooms, of a kilobyte each.
  private func write(_ count: Int, _ process: DeliveringProcess) async throws {
    for number in 1...count {
      var room = WritingRoom("r\(number)")
      let info = ParticipantInfo.test("i", metadata: String(repeating: "x", count: 1_000))
      process.journal.record(
        room.event(.participantJoined, .whole(info), at: DeliveringProcess.time + Int64(number) * 60_000),
        at: UInt64(number))
    }
    try await process.journal.synced()
  }

  @Test func `beyond the bound the oldest are given up, counted for who hasn't had them`() async throws {
    let journals = try await Journals()
    do {
      let process = try await DeliveringProcess(journals, limits: .init(bytes: 50_000))
      defer { process.running.cancel() }
      try await write(100, process)
      process.settle(await process.events(for: "y"), for: "y")
      let came = await process.events(for: "x")
      await process.deliveries.tidy(Self.at(101))
      let held = process.deliveries.held
      #expect(held.bytes <= 50_000 && held.events > 30 && held.events < 50)
      let report = process.deliveries.report(for: "x")
      #expect(report.crowdedOut == 100 - UInt64(held.events) && report.late == 0)
      #expect(report.givenUp == report.crowdedOut)
      #expect(process.deliveries.report(for: "y") == StoredDeliveries.Report())
      // What is given up is settled once and for all.
      process.settle(Array(came.prefix(3)), for: "x")
      await process.deliveries.flush()
      #expect(try await journals.count("SELECT min(floor) FROM event_receivers") == Int(report.givenUp))
      await process.deliveries.tidy(Self.at(101))
      #expect(process.deliveries.report(for: "x") == report)
    }
    let process = try await DeliveringProcess(journals)
    defer { process.running.cancel() }
    let left = await process.events(for: "x")
    #expect(left.last?.position == 100 && left.count > 30 && left.count < 50)
    #expect(await process.events(for: "y").isEmpty)
  }

  @Test func `a receiver that has read nothing goes on behind what is given up`() async throws {
    let journals = try await Journals()
    let process = try await DeliveringProcess(journals, to: ["x"], limits: .init(bytes: 50_000))
    defer { process.running.cancel() }
    try await write(100, process)
    await process.deliveries.tidy(Self.at(101))
    let report = process.deliveries.report(for: "x")
    #expect(report.givenUp > 50 && report.unread == 100 - Int(report.givenUp))
    #expect(await process.events(for: "x").first?.position == report.givenUp + 1)
  }

  @Test(arguments: StoreKind.allCases)
  func `what is older than a day is given up, whether it was read or not`(kind: StoreKind) async throws {
    let journals = try await Journals(on: kind)
    let process = try await DeliveringProcess(journals)
    defer { process.running.cancel() }
    try await write(100, process)
    _ = await process.events(for: "x")
    await process.deliveries.tidy(Self.at(1).advanced(by: Self.day))
    #expect(process.deliveries.report(for: "x").late == 0)
    await process.deliveries.tidy(Self.at(31).advanced(by: Self.day))
    for receiver in ["x", "y"] {
      let report = process.deliveries.report(for: receiver)
      #expect(report.late >= 29 && report.late <= 30 && report.crowdedOut == 0, "\(report)")
    }
    #expect(await process.events(for: "y").count == 100 - Int(process.deliveries.report(for: "y").late))
    await process.deliveries.tidy(Self.at(102).advanced(by: Self.day))
    #expect(process.deliveries.report(for: "x").late == 100)
    #expect(process.deliveries.held.events == 0)
    #expect(try await journals.count("SELECT min(floor) FROM event_receivers") == 100)
  }

  @Test func `a clock that is stepped back makes nothing old, and what it said is old a day later`()
    async throws
  {
    let journals = try await Journals()
    let process = try await DeliveringProcess(journals, to: ["x"])
    defer { process.running.cancel() }
    try await write(3, process)
    let earlier = WallTime(milliseconds: 5)
    await process.deliveries.tidy(earlier)
    #expect(process.deliveries.report(for: "x").late == 0)
    await process.deliveries.tidy(earlier.advanced(by: Self.day + .milliseconds(1)))
    #expect(process.deliveries.report(for: "x").late == 3)
  }

  @Test(arguments: [["x"], []])
  func `a receiver that is taken out and put back gets what happens from then on, like any new one`(
    others: [String]
  ) async throws {
    let journals = try await Journals()
    var room = WritingRoom("r")
    do {
      let process = try await DeliveringProcess(journals, to: others + ["y"])
      defer { process.running.cancel() }
      process.journal.record(room.event(.roomStarted), at: 1)
      try await process.journal.synced()
      process.settle(await process.all(for: "y"), for: "y")
      await process.deliveries.flush()
    }
    if others.isEmpty {
      try await StoredDeliveries.forgetReceivers(in: journals.store)
    } else {
      try await DeliveringProcess(journals, to: others).running.cancel()
    }
    do {
      let (journal, _, running) = try await journals.begin()
      defer { running.cancel() }
      journal.record(room.event(.roomUpdated), at: 2)
      try await journal.synced()
    }
    let process = try await DeliveringProcess(journals, to: others + ["y"])
    defer { process.running.cancel() }
    process.journal.record(room.event(.roomUpdated), at: 3)
    try await process.journal.synced()
    #expect(await process.all(for: "y").map(\.position) == [3])
  }
}
