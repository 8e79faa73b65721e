import Foundation
import Logging
import Model
import Storage
import Testing

@testable import Rooms

@Suite("A journal in a store", .timeLimit(.minutes(2)))
struct StoredJournalTests {
  @Test func `what is synced is what the next process finds`() async throws {
    let journals = try await Journals()
    let (journal, empty, running) = try await journals.begin()
    #expect(empty.rooms.isEmpty && empty.removals.isEmpty && empty.events?.lastPosition == 0)
    var room = WritingRoom("a room")
    var settings = RoomSettings(
      emptyTimeout: 1, departureTimeout: 2, maxParticipants: 3, metadata: "m\u{0}é")
    (settings.admission, settings.isLocked) = (true, true)
    settings.dataHistory = DataHistoryTerms(topics: ["chat"], max: 5, seconds: 60)
    journal.keep(settings, of: room.life)
    journal.record(room.event(.roomStarted), at: 1)
    journal.record(room.event(.participantJoined, .whole(.test("ada"))), at: 2)
    journal.record(room.event(.participantJoined, .whole(.test("bob"))), at: 3)
    journal.record(room.event(.participantLeft, .whole(.test("ada"))), at: 4)
    journal.remember(Removal(identity: "eve", room: "a room", time: 10))
    journal.remember(Removal(identity: "eve", room: "a room", time: 20))
    journal.remember(Removal(identity: "mal", room: "other", time: 30))
    journal.forget(Removal(identity: "mal", room: "other", time: 30))
    try await journal.synced()
    running.cancel()

    let (_, found, again) = try await journals.begin()
    again.cancel()
    #expect(found.rooms.count == 1)
    let kept = try #require(found.rooms.first)
    #expect(kept.life == room.life && kept.settings == settings && kept.lastEvent == 4 && kept.stands)
    #expect(kept.participants.map(\.info.identity) == ["bob"])
    #expect(found.removals == [Removal(identity: "eve", room: "a room", time: 20)])
    #expect(found.events?.run == empty.events?.run && found.events?.lastPosition == 4)
    #expect(found.events?.events.map(\.position) == [1, 2, 3, 4])
    #expect(found.events?.events.map(\.event.kind.rawValue).last == "participant.left")
  }

  @Test func `rooms don't wait, and what they say at once is written in few groups`() async throws {
    let journals = try await Journals()
    let (journal, _, running) = try await journals.begin()
    defer { running.cancel() }
    var room = WritingRoom("r")
    journal.keep(RoomSettings(), of: room.life)
    let begin = ContinuousClock.now
    for position in 1...20_000 { journal.record(room.event(.participantUpdated), at: UInt64(position)) }
    let spoken = ContinuousClock.now - begin
    try await journal.synced()
    let elapsed = ContinuousClock.now - begin
    #expect(journal.report.written == 20_000 && journal.report.waiting == 0)
    let groups = Double(journals.store.report.syncs)
    // One at most each 50 ms, one for who waits, and one that was under way.
    #expect(groups <= elapsed / StoredJournal.pace + 3, "\(groups) groups in \(elapsed), said in \(spoken)")
  }

  @Test func `who waits isn't held up by the pace of the others`() async throws {
    let journals = try await Journals()
    let (journal, _, running) = try await journals.begin()
    defer { running.cancel() }
    var room = WritingRoom("r")
    var fastest = Duration.seconds(60)
    for position in 1...20 {
      journal.record(room.event(.participantUpdated), at: UInt64(position))
      let begin = ContinuousClock.now
      try await journal.synced()
      fastest = min(fastest, .now - begin)
    }
    #expect(fastest < StoredJournal.pace / 2)
  }

  @Test func `what can't be written holds up no room, fails who waits, and is caught up with`() async throws {
    let journals = try await Journals()
    let (journal, _, running) = try await journals.begin()
    defer { running.cancel() }
    var room = WritingRoom("r")
    journal.keep(RoomSettings(), of: room.life)
    journal.record(room.event(.roomStarted), at: 1)
    try await journal.synced()
    try await journals.hurt()
    for position in 2...50 {
      journal.record(room.event(.participantJoined, .whole(.test("i\(position)"))), at: UInt64(position))
    }
    let error = await #expect(throws: JournalError.self) { try await journal.synced() }
    guard case .failed = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(journal.stored == 1 && journal.report.waiting == 49)
    // It may have been done; so this row has to be deleted.
    journal.record(room.event(.participantLeft, .whole(.test("i2"))), at: 51)
    try await journals.mend()
    for _ in 0..<100 {
      if (try? await journal.synced()) != nil { break }
    }
    #expect(journal.stored == 51 && journal.report.written == 51)
    #expect(journal.report.waiting == 0 && journal.report.dropped == 0)
    #expect(try await journals.count("SELECT count(*) FROM events") == 51)
    #expect(try await journals.count("SELECT count(*) FROM participants") == 48)
  }

  @Test func `while nothing can be written what waits is bounded, and the newest is kept`() async throws {
    let journals = try await Journals()
    let (journal, _, running) = try await journals.begin(pendingBytes: 50_000)
    defer { running.cancel() }
    try await journals.hurt()
    var room = WritingRoom("r")
    journal.keep(RoomSettings(), of: room.life)
    for position in 1...2_000 {
      journal.record(room.event(.participantUpdated), at: UInt64(position))
      if position % 500 == 0 { try? await journal.synced() }
    }
    let report = journal.report
    #expect(report.waitingBytes <= 100_000 && report.dropped >= 1_600)
    try await journals.mend()
    for _ in 0..<100 {
      if (try? await journal.synced()) != nil { break }
    }
    #expect(journal.stored == 2_000)
    let (_, found, again) = try await journals.begin()
    again.cancel()
    #expect(found.rooms.first?.lastEvent == 2_000 && found.events?.lastPosition == 2_000)
    #expect(found.events?.events.last?.event.id == 2_000)
    #expect(UInt64(found.events?.events.count ?? 0) == 2_000 - journal.report.dropped)
  }

  @Test func `what the log gives up is deleted`() async throws {
    let journals = try await Journals()
    let (journal, _, running) = try await journals.begin()
    defer { running.cancel() }
    let clock = StandingClock()
    let log = EventLog(limits: EventLog.Limits(events: 100), journal: journal) { clock.now }
    var (loud, quiet) = (WritingRoom("loud"), WritingRoom("quiet"))
    log.append(quiet.event(.roomStarted))
    for _ in 0..<500 { log.append(loud.event(.participantUpdated)) }
    try await journal.synced()
    try await journal.deleted()
    #expect(try await journals.count("SELECT count(*) FROM events") == 101)
    #expect(try await journals.count("SELECT min(id) FROM events WHERE position > 1") == 401)
    clock.advance(by: .seconds(3_601))
    log.append(quiet.event(.participantUpdated))
    log.expire()
    log.append(quiet.event(.participantUpdated))
    try await journal.synced()
    try await journal.deleted()
    #expect(try await journals.count("SELECT count(*) FROM events") == 2)
    #expect(try await journals.count("SELECT min(position) FROM events") == 502)
  }

  @Test func `a row that can't be read is left out, and the rest is found`() async throws {
    let journals = try await Journals()
    let (journal, _, running) = try await journals.begin()
    var room = WritingRoom("r")
    journal.keep(RoomSettings(), of: room.life)
    for position in 1...5 {
      journal.record(room.event(.participantJoined, .whole(.test("i\(position)"))), at: UInt64(position))
    }
    try await journal.synced()
    running.cancel()
    try await journals.run("UPDATE events SET body = CAST('x' AS BLOB) WHERE id = 3")
    try await journals.run("UPDATE participants SET body = CAST('' AS BLOB) WHERE id = 'PA_i4'")
    let (_, found, again) = try await journals.begin()
    again.cancel()
    #expect(found.events?.events.map(\.event.id) == [1, 2, 4, 5])
    #expect(found.rooms.first?.participants.count == 4)
  }

  @Test func `a store that stands still is waited for no longer than a few seconds`() async throws {
    let journals = try await Journals()
    let (journal, _, running) = try await journals.begin()
    defer { running.cancel() }
    let (stands, say) = AsyncStream.makeStream(of: Void.self)
    let gate = Task {
      try await journals.store.write(bytes: 1) { _ throws(StoreError) in
        say.finish()
        _ = usleep(8_000_000)
      }
    }
    for await _ in stands {}
    var room = WritingRoom("r")
    journal.record(room.event(.roomStarted), at: 1)
    let begin = ContinuousClock.now
    await #expect(throws: JournalError.late) { try await journal.synced() }
    #expect(ContinuousClock.now - begin >= StoredJournal.patience)
    try await gate.value
    try await journal.synced()
    #expect(journal.stored == 1)
  }
}
