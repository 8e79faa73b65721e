import Model
import Testing

@testable import Rooms

/// Expectations can't change a value; rooms are numbers here.
private final class Directory {
  var value: DirectoryState<UInt64>

  init(rooms: Int = 3, participants: Int = 3, makesRooms: Bool = true) {
    value = DirectoryState(limits: .init(rooms: rooms, participants: participants, makesRooms: makesRooms))
  }

  func begin(_ identity: String, _ room: String) throws(JoinError) -> UInt64 {
    try value.begin(identity, in: room) { $0 }
  }

  func create(_ name: String, patience: Int, now: Instant) throws(AdministrationError) -> (
    handle: UInt64, isNew: Bool
  ) { try value.create(name, patience: patience, now: now) { $0 } }

  func sweep(now: Instant) -> [UInt64] { value.sweep(now: now) }
  func due(now: Instant) -> [UInt64] { value.due(now: now) }
  func forget(_ key: PeerKey) -> Bool { value.forget(key) }
  /// - Returns: whether the room has gone; nil: there is none.
  func close(_ name: String) -> Bool? { value.close(name)?.isOver }

  /// - Parameters:
  ///   - number: of the room; nil: the one that has the name.
  ///   - reason: nil: it was refused.
  @discardableResult
  func end(
    _ identity: String, _ room: String, number: UInt64? = nil, reason: LeaveReason? = .left,
    patience: Int = 0,
    now: Instant = at(0)
  ) -> Bool {
    let number = number ?? value.room(room) ?? 0
    return value.end(identity, in: room, number: number, reason: reason, patience: patience, now: now).isOver
  }
}

private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

@Suite("The rooms there are", .timeLimit(.minutes(1)))
struct DirectoryStateTests {
  @Test func `no one comes in where there is no place, no room, or no more time`() throws {
    let full = Directory(participants: 1)
    _ = try full.begin("ada", "r")
    #expect(throws: JoinError.full(limit: 1)) { _ = try full.begin("bob", "s") }
    // Who comes again takes its own place; a third at once has none.
    #expect(try full.begin("ada", "r") == 1)
    #expect(throws: JoinError.full(limit: 1)) { _ = try full.begin("ada", "r") }
    let few = Directory(rooms: 1)
    _ = try few.begin("ada", "r")
    #expect(throws: JoinError.full(limit: 1)) { _ = try few.begin("bob", "s") }
    #expect(throws: JoinError.noRoom) { _ = try Directory(makesRooms: false).begin("ada", "r") }
    few.value.drain()
    #expect(throws: JoinError.draining) { _ = try few.begin("bob", "r") }
    #expect(throws: AdministrationError.draining) {
      _ = try few.create("t", patience: 1, now: at(0))
    }
    #expect(few.value.counts.rooms == 1 && few.value.counts.participants == 1)
  }

  @Test func `a room ends with the last participant that is in or on its way, or after its patience`() throws
  {
    let directory = Directory()
    #expect(try directory.begin("ada", "r") == 1 && directory.begin("bob", "r") == 1)
    #expect(!directory.end("ada", "r") && !directory.end("ada", "r"), "no such session is left")
    #expect(directory.end("bob", "r") && directory.value.room("r") == nil)
    #expect(try directory.begin("ada", "r") == 2, "a room of that name is another one")
    #expect(!directory.end("ada", "r", patience: 20, now: at(1)))
    #expect(directory.sweep(now: at(20)) == [])
    // Who comes in time keeps it.
    #expect(try directory.begin("bob", "r") == 2)
    #expect(directory.sweep(now: at(99)) == [])
    directory.end("bob", "r", patience: 20, now: at(100))
    #expect(directory.sweep(now: at(120)) == [2] && directory.value.counts.rooms == 0)
  }

  @Test func `a room that is made ahead waits for its first participant, and is made once`() throws {
    let directory = Directory(rooms: 1)
    let made = try directory.create("r", patience: 5, now: at(0))
    #expect(made.isNew && made.handle == 1)
    #expect(try directory.create("r", patience: 50, now: at(4)).isNew == false)
    #expect(throws: AdministrationError.full("rooms: 1")) {
      _ = try directory.create("s", patience: 5, now: at(0))
    }
    #expect(directory.sweep(now: at(5)) == [1])
  }

  @Test func `a room that was created by request outlasts a refused join`() throws {
    let directory = Directory()
    _ = try directory.create("r", patience: 5, now: at(0))
    _ = try directory.begin("eve", "r")
    #expect(!directory.end("eve", "r", reason: nil, now: at(1)))
    #expect(directory.sweep(now: at(4)) == [] && directory.sweep(now: at(5)) == [1])
    // Nor if who is refused came first; without having been asked for it goes at once.
    _ = try directory.begin("eve", "s")
    _ = try directory.create("s", patience: 5, now: at(0))
    #expect(!directory.end("eve", "s", reason: nil, now: at(1)) && directory.sweep(now: at(6)) == [2])
    _ = try directory.begin("eve", "t")
    #expect(directory.end("eve", "t", reason: nil, now: at(1)))
    // Once people were in, it goes with the last of them.
    _ = try directory.create("u", patience: 5, now: at(0))
    _ = try directory.begin("ada", "u")
    #expect(directory.end("ada", "u"))
  }

  @Test func `a room's time is the same with a refused join as without, however many there are and whenever`()
    throws
  {
    let directory = Directory()
    // Made ahead, with a lock, say: who is refused can't have it end sooner, and then walk into the next of that name.
    _ = try directory.create("r", patience: 300, now: at(0))
    for second in stride(from: 0, to: 299, by: 13) as StrideTo<Int64> {
      _ = try directory.begin("eve", "r")
      #expect(!directory.end("eve", "r", reason: nil, patience: 20, now: at(second)))
      #expect(directory.sweep(now: at(second)) == [])
    }
    #expect(directory.sweep(now: at(299)) == [] && directory.sweep(now: at(300)) == [1])
    // Nor stay longer, once everybody has left it.
    _ = try directory.begin("ada", "r")
    directory.end("ada", "r", patience: 20, now: at(400))
    _ = try directory.begin("eve", "r")
    #expect(!directory.end("eve", "r", reason: nil, patience: 20, now: at(419)))
    #expect(directory.sweep(now: at(420)) == [2])
  }

  @Test func `who is on the way in as a room's time is over keeps it, and ends it by being refused`() throws {
    let directory = Directory()
    _ = try directory.create("r", patience: 5, now: at(0))
    _ = try directory.begin("eve", "r")
    #expect(directory.sweep(now: at(9)) == [])
    #expect(
      directory.end("eve", "r", reason: nil, patience: 20, now: at(9)) && directory.value.room("r") == nil)
    // The last participant may leave while others are on their way, who are all refused.
    _ = try directory.begin("ada", "s")
    _ = try directory.begin("eve", "s")
    #expect(!directory.end("ada", "s", patience: 20, now: at(10)))
    #expect(!directory.end("eve", "s", reason: nil, patience: 20, now: at(11)))
    #expect(directory.sweep(now: at(29)) == [] && directory.sweep(now: at(30)) == [2])
  }

  @Test func `a closing room gives up its name at once, and ends with the last participant in or on its way`()
    throws
  {
    let directory = Directory()
    _ = try directory.begin("ada", "r")
    directory.end("ada", "r", patience: 20)
    #expect(directory.close("r") == true && directory.close("r") == nil, "it was empty")
    #expect(try directory.begin("ada", "r") == 2 && directory.begin("bob", "r") == 2)
    #expect(directory.close("r") == false && directory.value.room("r") == nil)
    // Who comes while it closes keeps it no longer.
    #expect(try directory.begin("eve", "r") == 3)
    #expect(directory.value.counts.rooms == 2 && directory.value.inOrder == [2, 3])
    #expect(!directory.end("ada", "r", number: 2, patience: 20))
    #expect(directory.end("bob", "r", number: 2, patience: 20), "it waits for no one")
    #expect(!directory.end("bob", "r", number: 2) && directory.value.counts.rooms == 1)
    #expect(directory.value.sessions(of: "eve", in: "r") == 1 && directory.value.sessions == 1)
    #expect(try directory.create("r", patience: 5, now: at(0)).handle == 3)
  }

  @Test func `rooms that close count as long as they are there`() throws {
    let directory = Directory(rooms: 1)
    _ = try directory.begin("ada", "r")
    #expect(directory.close("r") == false)
    #expect(throws: JoinError.full(limit: 1)) { _ = try directory.begin("bob", "r") }
    #expect(directory.end("ada", "r", number: 1))
    #expect(try directory.begin("bob", "r") == 2)
  }

  @Test func `names are their bytes`() throws {
    let directory = Directory()
    let (one, two) = ("\u{e9}", "e\u{301}")
    #expect(one == two, "Unicode calls them equivalent")
    #expect(try directory.begin("ada", one) == 1 && directory.begin("ada", two) == 2)
    #expect(try directory.begin(one, "r") == 3)
    #expect(throws: JoinError.full(limit: 3)) { _ = try directory.begin(two, "r") }
    #expect(directory.value.sessions(of: two, in: "r") == 0)
  }

  @Test func `a refusal is counted, and ends what never was a session`() throws {
    let directory = Directory()
    _ = try directory.begin("ada", "r")
    let (isOver, isEmpty) = directory.value.end(
      "ada", in: "r", number: 1, reason: nil, patience: 0, now: at(0))
    _ = directory.value.refuse(.tooOften)
    #expect(isOver && isEmpty)
    #expect(directory.value.counts.sessionsEnded.isEmpty && directory.value.counts.refusedTooOften == 1)
  }

  @Test func `peers and alarms outlive their room's name`() throws {
    let directory = Directory()
    let room = try directory.begin("ada", "r")
    let key = PeerKey(home: 0, serial: 1)
    directory.value.expect(key, room)
    directory.value.setAlarm(room, number: 1, at: at(5))
    directory.end("ada", "r")
    #expect(directory.value.room(of: key) == 1 && directory.due(now: at(4)) == [])
    #expect(directory.due(now: at(5)) == [1])
    directory.value.setAlarm(room, number: 1, at: .never)
    #expect(directory.forget(key) && !directory.forget(key))
    #expect(directory.value.remainders == (0, 0, 0, 0))
  }

  @Test func `rooms are due at their alarms, whichever of those was set, put off or taken away before`() {
    let directory = Directory()
    for (number, seconds) in [(1, 9), (2, 5), (3, 7)] as [(UInt64, Int64)] {
      directory.value.setAlarm(number, number: number, at: at(seconds))
    }
    #expect(directory.due(now: at(4)) == [] && directory.due(now: at(5)) == [2])
    #expect(directory.due(now: at(5)) == [2], "until it has said when it is to be called again")
    directory.value.setAlarm(2, number: 2, at: at(20))
    #expect(directory.due(now: at(6)) == [] && directory.due(now: at(9)) == [1, 3])
    directory.value.setAlarm(1, number: 1, at: .never)
    directory.value.setAlarm(3, number: 3, at: .never)
    #expect(directory.due(now: at(19)) == [])
    directory.value.setAlarm(1, number: 1, at: at(12))
    #expect(directory.due(now: at(19)) == [1] && directory.due(now: at(20)) == [1, 2])
  }
}
