import Model
import Synchronization
import Testing

@testable import Rooms

/// A clock that stands until it is moved.
final class StandingClock: Sendable {
  private let moment = Mutex(Instant(nanoseconds: 1_000_000_000_000))
  var now: Instant { moment.withLock { $0 } }
  func advance(by time: Duration) {
    let (seconds, attoseconds) = time.components
    moment.withLock { $0 = $0.advanced(byNanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000) }
  }
}

/// The first event that can be read, by an error that says so.
private func oldest(_ body: () throws -> EventLog.Page) -> Int? {
  do { _ = try body() } catch EventLogError.gone(_, let oldest, _) { return oldest } catch {}
  return nil
}

@Suite("The log of events", .timeLimit(.minutes(2)))
struct EventLogTests {
  let clock = StandingClock()

  func log(_ limits: EventLog.Limits = EventLog.Limits()) -> EventLog {
    EventLog(limits: limits) { [clock] in clock.now }
  }

  /// A room that only writes.
  final class Writer {
    let log: EventLog
    let info: RoomInfo
    private(set) var last = 0

    init(_ log: EventLog, _ name: String) {
      var random = RandomSource.system
      self.log = log
      info = RoomInfo(id: RoomID(&random), name: name)
    }

    func write(_ kind: RoomEvent.Kind = .participantUpdated, metadata: String? = nil) {
      var random = RandomSource.system
      last += 1
      log.append(
        RoomEvent(
          id: last, time: WallTime(milliseconds: 0), room: info, kind: kind,
          participant: metadata.map {
            .whole(ParticipantInfo(id: ParticipantID(&random), identity: "i", metadata: $0, tracks: []))
          }))
    }

    func write(_ count: Int) { for _ in 0..<count { write() } }
  }

  @Test func `calls without a room leave nothing once they have ended and their events are too old`() throws {
    let log = log()
    func note(_ kind: RoomEventKind, _ id: String) {
      let call = EventCall(id: id, callerId: "ada", path: "direct", media: "audio", people: ["ada", "bob"])
      log.note(kind, call, time: WallTime(milliseconds: 0))
    }
    for number in 0..<100 {
      note(.callStarted, "\(number)")
      // One goes on for longer than its events are kept.
      if number > 0 { note(.callEnded, "\(number)") }
      // What was shared in it ends behind it, and can be read on a stream.
      if number == 1 { note(.sessionEnded, "1") }
    }
    let page = try log.events(of: "call-1", after: 0)
    #expect(page.events.map(\.id) == [1, 2, 3] && !page.isOver)
    clock.advance(by: .seconds(3_601))
    log.expire()
    #expect(log.size == (1, 0, 0))
    note(.callEnded, "0")
    #expect(try log.events(of: "call-0", after: 1).events.map(\.id) == [2])
    clock.advance(by: .seconds(3_601))
    log.expire()
    #expect(log.size == (0, 0, 0))
  }

  @Test func `what follows a number is read in order, page by page, to the last`() throws {
    let log = log()
    let room = Writer(log, "a")
    let other = Writer(log, "b")
    for _ in 0..<25 {
      room.write()
      other.write()
    }
    var (after, read, pages) = (0, [Int](), 0)
    while true {
      let page = try log.events(of: "a", after: after, limit: 10)
      #expect(page.lastEvent == 25 && page.room == room.info)
      read += page.events.map(\.id)
      pages += 1
      guard let last = page.events.last else { break }
      after = last.id
    }
    #expect(read == Array(1...25) && pages == 4)
    #expect(try log.events(of: "a", after: nil).events.count == 25)
    #expect(try log.events(of: "a", after: nil, limit: 0).events.map(\.id) == [1])
  }

  @Test func `of a room so many are kept, and a reader of older ones is given the oldest`() throws {
    let log = log(EventLog.Limits(events: 100))
    let room = Writer(log, "a")
    let quiet = Writer(log, "quiet")
    quiet.write()
    room.write(1_050)
    #expect(try log.events(of: "a", after: 950).events.map(\.id) == Array(951...1_050))
    #expect(oldest { try log.events(of: "a", after: 949) } == 951)
    #expect(try log.events(of: "a", after: nil).events.first?.id == 951)
    // Somebody else's noise costs a quiet room nothing.
    #expect(try log.events(of: "quiet", after: 0).events.count == 1)
    #expect(log.size.events == 101)
    // Nor do the places that were given up pile up.
    #expect(log.state.withLock { $0.order.count } <= 2 * 101 + 65)
  }

  @Test func `giving up events costs no more than what is given up, however many rooms there are`() {
    for events in [1, 3] {
      let log = log(EventLog.Limits(bytes: 2_000_000))
      for number in 0..<12_000 { Writer(log, "r\(number)").write(events) }
      let (kept, looks) = log.state.withLock { ($0.count, $0.looks) }
      #expect(kept > 2_000 && kept < 12_000 * events)
      #expect(looks <= 2 * 12_000 * events, "\(looks)")
    }
  }

  @Test func `rooms that have much give up theirs before those that have little`() throws {
    let log = log(EventLog.Limits(bytes: 2_000_000))
    let quiet = (0..<200).map { Writer(log, "quiet\($0)") }
    for room in quiet { room.write(2) }
    let loud = (0..<20).map { Writer(log, "loud\($0)") }
    for _ in 0..<1_000 { for room in loud { room.write() } }
    for room in quiet { #expect(try log.events(of: room.info.id, after: 0, limit: 10).events.count == 2) }
    #expect(log.size.bytes <= 2_000_000)
    #expect(log.state.withLock { $0.looks } <= 40_000)
  }

  @Test func `after an hour an event is gone, and a room that is over with its last one`() throws {
    let log = log()
    let room = Writer(log, "a")
    let ended = Writer(log, "ended")
    room.write(3)
    ended.write(.roomFinished)
    clock.advance(by: .seconds(3_600))
    room.write()
    #expect(try log.events(of: "a", after: 0).events.count == 4)
    #expect(try log.events(of: "ended", after: 0).events.map(\.kind) == [.roomFinished])
    clock.advance(by: .seconds(1))
    #expect(oldest { try log.events(of: "a", after: 2) } == 4)
    #expect(throws: EventLogError.unknownRoom) { try log.events(of: "ended", after: 0) }
    clock.advance(by: .seconds(3_600))
    // A room that lives goes on counting though nothing of it is kept.
    #expect(oldest { try log.events(of: "a", after: 3) } == 5)
    #expect(try log.events(of: "a", after: 4).events.isEmpty)
    room.write()
    #expect(try log.events(of: "a", after: 4).events.map(\.id) == [5])
    #expect(log.size.rooms == 1 && log.size.events == 1)
  }

  @Test func `a number that was never reached belongs to another room of that name`() throws {
    let log = log()
    let first = Writer(log, "a")
    first.write(5)
    first.write(.roomFinished)
    let second = Writer(log, "a")
    second.write(2)
    #expect(try log.events(of: "a", after: nil).room.id == second.info.id)
    #expect(oldest { try log.events(of: "a", after: 6) } == 1)
    #expect(oldest { try log.events(of: "a", after: -1) } == 1)
    // Who knows the id still reads the first.
    #expect(try log.events(of: first.info.id, after: 5, limit: 10).events.map(\.kind) == [.roomFinished])
    let life = first.info.id.text
    #expect(try log.events(of: "a", life: life, after: 5).events.map(\.kind) == [.roomFinished])
    #expect(try log.events(of: "a", life: life, after: nil).events.count == 6)
    // A number alone may be of either.
    for after in 1...2 {
      #expect(throws: EventLogError.gone(room: second.info.id, oldest: 1, latest: 2)) {
        try log.events(of: "a", after: after)
      }
    }
    #expect(try log.events(of: "a", after: 0).events.map(\.id) == [1, 2])
    #expect(try log.events(of: "a", life: second.info.id.text, after: 1).events.map(\.id) == [2])
    // Nor is a room's life read by another's name.
    Writer(log, "b").write(1)
    #expect(oldest { try log.events(of: "b", life: life, after: 0) } == 1)
    #expect(throws: EventLogError.unknownRoom) { try log.events(of: "nowhere", life: life, after: 0) }
    #expect(throws: EventLogError.unknownRoom) { try log.events(of: "nowhere", after: 0) }
  }

  @Test func `what JSON makes longer is counted as long as it is sent`() {
    let log = log(EventLog.Limits(bytes: 1_000_000))
    let writer = Writer(log, "room")
    for _ in 0..<10 { writer.write(metadata: String(repeating: "\u{1}", count: 60_000)) }
    // Each is kept as text of 360,000 bytes.
    #expect(log.size.events == 2)
  }

  @Test func `all rooms together stay below a bound, and the one that has the most gives`() throws {
    let bound = 1_000_000
    let log = log(EventLog.Limits(bytes: bound))
    let modest = Writer(log, "modest")
    modest.write(20)
    let loud = Writer(log, "loud")
    let text = String(repeating: "x", count: 60_000)
    for _ in 0..<500 {
      loud.write(metadata: text)
      #expect(log.size.bytes <= bound)
    }
    #expect(try log.events(of: "modest", after: 0).events.count == 20)
    let kept = try log.events(of: "loud", after: nil).events
    #expect(kept.last?.id == 500 && kept.count >= 10 && kept.count < 17)
    // Also with none but small ones.
    for number in 0..<300 { Writer(log, "room \(number)").write(20) }
    #expect(log.size.bytes <= bound)
    let total = log.state.withLock { state in
      state.rooms.values.reduce(into: (bytes: 0, count: 0)) {
        $0.bytes += $1.bytes
        $0.count += $1.entries.count
      }
    }
    #expect(total == (log.size.bytes, log.size.events))
  }

  @Test func `over all rooms a cursor continues in the order in which things happened`() throws {
    let log = log()
    let rooms = (0..<3).map { Writer(log, "\($0)") }
    var expected: [String] = []
    for number in 0..<50 {
      let room = rooms[number * 7 % 3]
      room.write()
      expected.append("\(room.info.name) \(room.last)")
    }
    var cursor: String?
    var read: [String] = []
    while true {
      let page = try log.events(after: cursor, limit: 7)
      read += page.events.map { "\($0.event.room.name) \($0.event.id)" }
      #expect(page.cursor == page.events.last?.cursor ?? cursor)
      cursor = page.cursor
      if page.isLast { break }
    }
    #expect(read == expected)
    #expect(try log.events(after: cursor).events.isEmpty && cursor == log.latestCursor)
    let middle = try log.events(after: nil, limit: 10).events[4].cursor
    #expect(try log.events(after: middle).events.count == 45)
  }

  @Test func `a cursor before what is kept, of another run, or made up is refused`() throws {
    let log = log(EventLog.Limits(events: 10))
    let room = Writer(log, "a")
    room.write(5)
    let early = try log.events(after: nil, limit: 1).cursor
    room.write(20)
    let oldest = try #require(throws: EventLogError.self) { try log.events(after: early) }
    guard case .cursorGone(let from) = oldest else {
      Issue.record("\(oldest)")
      return
    }
    #expect(try log.events(after: from).events.map(\.event.id) == Array(16...25))
    for text in ["", "x", String(repeating: "A", count: 21) + "=", String(repeating: "é", count: 11)] {
      #expect(throws: EventLogError.notACursor) { try log.events(after: text) }
    }
    let another = EventLog { Instant(nanoseconds: 0) }
    #expect(throws: EventLogError.self) { try log.events(after: another.latestCursor) }
    #expect(throws: EventLogError.self) { try log.events(after: String(repeating: "_", count: 21) + "w") }
  }

  @Test func `a room records its events, and none of a hidden participant`() async throws {
    let server = try TestServer()
    let alice = try await server.join("alice")
    let ghost = try await server.join("ghost", hidden: true)
    _ = try await alice.offer([.audio])
    let track = try #require(try await alice.offer().tracks.first?.track)
    try await alice.session.mute(track.text, true)
    await ghost.session.leave()
    await alice.session.leave()
    let page = try server.directory.events.events(of: "r", after: nil)
    #expect(page.events.map(\.id) == Array(1...7) && page.lastEvent == 7)
    #expect(
      page.events.map(\.kind) == [
        .roomStarted, .participantJoined, .trackPublished, .trackMuted, .trackUnpublished, .participantLeft,
        .roomFinished,
      ])
    #expect(page.events.allSatisfy { $0.participant?.identity ?? "alice" == "alice" })
    #expect(page.events.map(\.time) == page.events.map(\.time).sorted())
  }
}
