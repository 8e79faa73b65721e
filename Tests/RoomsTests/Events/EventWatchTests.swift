import Model
import Synchronization
import Testing

@testable import Rooms

@Suite("Who learns that something happened", .timeLimit(.minutes(1)))
struct EventWatchTests {
  private let clock = StandingClock()

  /// How often each was called, by name.
  private final class Calls: Sendable {
    private let counts = Mutex<[String: Int]>([:])
    func note(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }
    subscript(name: String) -> Int { counts.withLock { $0[name, default: 0] } }
  }

  @Test func `those who watch a room, or all, are called after each event, and none who has let go`() throws {
    let log = EventLog { [clock] in clock.now }
    let (room, other) = (EventLogTests.Writer(log, "a"), EventLogTests.Writer(log, "b"))
    let calls = Calls()
    var watches = [
      log.watch(room.info.id) {
        // What happened can be read by then.
        #expect((try? log.events(of: "a", after: nil))?.lastEvent == calls["a"] + 1)
        calls.note("a")
      },
      log.watch(other.info.id) { calls.note("b") }, log.watch { calls.note("all") },
    ]
    room.write(3)
    #expect(calls["a"] == 3 && calls["b"] == 0 && calls["all"] == 3)
    other.write()
    #expect(calls["a"] == 3 && calls["b"] == 1 && calls["all"] == 4)
    watches.removeFirst()
    room.write()
    #expect(calls["a"] == 3 && calls["all"] == 5)
    watches = []
    other.write()
    #expect(calls["b"] == 1 && calls["all"] == 5)
    let left = log.state.withLock { $0.watchers.all.count }
    #expect(left == 0)
  }

  @Test func `those of other rooms cost an event nothing, however many there are`() throws {
    let log = EventLog { [clock] in clock.now }
    let rooms = (0..<2_000).map { EventLogTests.Writer(log, "r\($0)") }
    let calls = Calls()
    let watches = rooms.map(\.info).map { room in log.watch(room.id) { calls.note(room.name) } }
    rooms[7].write(5)
    #expect(calls["r7"] == 5 && calls["r8"] == 0)
    let id = rooms[7].info.id
    let called = log.state.withLock { $0.watchers.of([id]).count }
    #expect(called == 1)
    #expect(watches.count == rooms.count)
  }

  @Test func `it is time to look again when somebody was removed from the room, and when the server stops`()
    throws
  {
    let log = EventLog { [clock] in clock.now }
    let records = RoomRecords(events: log, memory: 600, journal: nil)
    let (room, other) = (EventLogTests.Writer(log, "a"), EventLogTests.Writer(log, "b"))
    room.write()
    other.write()
    let calls = Calls()
    let watches = [
      log.watch(room.info.id) {
        #expect(
          records.forbids("ada", in: "a", issued: nil, now: 1_000) || calls["a"] > 0, "it holds by then")
        calls.note("a")
      },
      log.watch(other.info.id) { calls.note("b") }, log.watch { calls.note("all") },
    ]
    #expect(records.remove("ada", from: "a", now: 1_000))
    #expect(calls["a"] == 1 && calls["b"] == 0 && calls["all"] == 1)
    #expect(records.remove("ada", from: "nowhere", now: 1_000))
    #expect(calls["a"] == 1 && calls["all"] == 2)
    log.wakeAll()
    #expect(calls["a"] == 2 && calls["b"] == 1 && calls["all"] == 3 && watches.count == 3)
  }

  @Test func `a room says when nothing more can come`() throws {
    let log = EventLog { [clock] in clock.now }
    let room = EventLogTests.Writer(log, "a")
    room.write(.roomStarted)
    #expect(try !log.events(of: "a", after: nil).isOver)
    room.write(.roomFinished)
    #expect(try log.events(of: "a", after: 2).isOver && log.events(of: "a", after: nil, limit: 1).isOver)
  }
}
