import Logging
import Model
import Storage

@testable import Rooms

/// A process: what it finds, its journal and its receivers.
struct DeliveringProcess {
  let journal: StoredJournal
  let deliveries: StoredDeliveries
  let running: Task<Void, Never>

  /// When events happen where nothing else is said, and an hour afterwards.
  static let time: Int64 = 1_000_000
  static let later: Int64 = 4_600_000

  init(
    _ journals: Journals, to receivers: [String] = ["x", "y"],
    limits: StoredDeliveries.Limits = .init(), log: Log = Log(level: .error) { _ in }
  ) async throws {
    journal = StoredJournal(store: journals.store, log: log)
    _ = try await journal.recover()
    deliveries = try await StoredDeliveries(
      to: receivers, in: journals.store, journal: journal, limits: limits, log: log)
    running = Task { [journal] in await journal.run() }
  }

  /// The next page.
  func events(for receiver: String, bytes: Int = 1_000_000) async -> [StoredEvent] {
    await deliveries.next(for: receiver, bytes: bytes) ?? []
  }

  /// All pages that there are by now.
  func all(for receiver: String) async -> [StoredEvent] {
    var all: [StoredEvent] = []
    while case let page = await events(for: receiver), !page.isEmpty { all += page }
    return all
  }

  func numbers(for receiver: String, bytes: Int = 1_000_000) async -> [Int] {
    await events(for: receiver, bytes: bytes).map(\.event.id)
  }

  func settle(_ events: [StoredEvent], for receiver: String) {
    for (index, entry) in events.enumerated() {
      let room = entry.event.room.id
      let next = events[(index + 1)...].first { $0.event.room.id == room }
      deliveries.settle(
        entry.event.id, of: room.text, at: entry.position, next: next?.position, for: receiver)
    }
  }

  /// The log has no events up to that position any more, and of these rooms none up to that number; another event says so. What may be
  /// deleted is.
  func giveUp(_ position: UInt64, _ rooms: [RoomID: Int] = [:], at last: UInt64) async throws {
    journal.giveUp(GivenUpEvents(position: position, rooms: rooms))
    var room = WritingRoom("later")
    journal.record(room.event(.roomStarted, at: Self.later), at: last)
    try await journal.synced()
    try await journal.deleted()
  }
}
