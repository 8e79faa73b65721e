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
  func forget(_ key: PeerKey) -> Bool { value.forget(key) }
  func forgetIfEmpty(_ name: String, number: UInt64) -> Bool { value.forgetIfEmpty(name, number: number) }

  @discardableResult
  func end(_ identity: String, _ room: String, patience: Int = 0, now: Instant = at(0)) -> Bool {
    value.end(identity, in: room, reason: .left, patience: patience, now: now).isOver
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

  @Test func `a room goes with the last who is in or on the way, or after its patience`() throws {
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

  @Test func `a room that closes is forgotten if it is empty, and no other of its name`() throws {
    let directory = Directory()
    _ = try directory.begin("ada", "r")
    #expect(!directory.forgetIfEmpty("r", number: 1))
    directory.end("ada", "r", patience: 20)
    #expect(!directory.forgetIfEmpty("r", number: 7) && directory.forgetIfEmpty("r", number: 1))
    #expect(!directory.forgetIfEmpty("r", number: 1))
  }

  @Test func `a refusal is counted, and ends what never was a session`() throws {
    let directory = Directory()
    _ = try directory.begin("ada", "r")
    let (isOver, isEmpty) = directory.value.end("ada", in: "r", reason: nil, patience: 0, now: at(0))
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
    #expect(directory.value.room(of: key) == 1 && directory.value.due(now: at(4)) == [])
    #expect(directory.value.due(now: at(5)) == [1])
    directory.value.setAlarm(room, number: 1, at: .never)
    #expect(directory.forget(key) && !directory.forget(key))
    #expect(directory.value.remainders == (0, 0, 0, 0))
  }
}
