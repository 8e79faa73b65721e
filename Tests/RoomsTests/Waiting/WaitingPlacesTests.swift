import Model
import Testing

@testable import Rooms

/// Expectations can't change a value; rooms are numbers here.
private final class Places {
  var value: DirectoryState<UInt64>

  init(participants: Int = 3) {
    value = DirectoryState(limits: .init(rooms: 3, participants: participants, makesRooms: true))
  }

  func begin(_ identity: String, _ room: String = "r") throws(JoinError) -> UInt64 {
    try value.begin(identity, in: room) { $0 }
  }

  func wait(_ identity: String, _ number: UInt64 = 1, replacing: Bool = false) throws(JoinError) -> Bool {
    try value.wait(identity, in: "r", number: number, replacing: replacing)
  }

  func take(_ identity: String, _ number: UInt64 = 1) throws(JoinError) {
    try value.takePlace(identity, in: "r", number: number)
  }

  /// - Returns: whether the room has gone.
  func over(_ number: UInt64 = 1, patience: Int = 0) -> Bool {
    value.waitingEnded(in: "r", number: number, patience: patience, now: Instant(nanoseconds: 0))
  }

  func end(_ identity: String, _ number: UInt64 = 1) -> Bool {
    value.end(
      identity, in: "r", number: number, reason: .left, patience: 0, now: Instant(nanoseconds: 0)
    ).isOver
  }
}

@Suite("Places of those who wait", .timeLimit(.minutes(1)))
struct WaitingPlacesTests {
  @Test func `who waits has no place, and keeps the room until the last of them has gone`() throws {
    let places = Places(participants: 1)
    _ = try places.begin("ada")
    #expect(try places.wait("ada"), "all rooms are empty")
    #expect(places.value.counts.participants == 0 && places.value.counts.waiting == 1)
    #expect(places.value.sweep(now: Instant(nanoseconds: .max - 1)).isEmpty && places.value.room("r") == 1)
    // Its place is another's by now.
    _ = try places.begin("bob", "s")
    #expect(throws: JoinError.full(limit: 1)) { try places.take("ada") }
    #expect(places.over() && places.value.room("r") == nil)
    #expect(places.value.counts.waiting == 0)
  }

  @Test func `one that is let in takes a place, and its room goes when it goes`() throws {
    let places = Places()
    _ = try places.begin("ada")
    _ = try places.wait("ada")
    try places.take("ada")
    #expect(!places.over(), "it is in")
    #expect(places.value.counts.participants == 1 && places.value.counts.waiting == 0)
    #expect(places.end("ada") && places.value.room("r") == nil)
  }

  @Test func `who leaves a room in which others wait leaves it standing`() throws {
    let places = Places()
    _ = try places.begin("host")
    _ = try places.begin("ada")
    _ = try places.wait("ada")
    #expect(!places.end("host") && places.value.room("r") == 1)
    #expect(places.over())
  }

  @Test func `as many wait as there may be participants, and take nothing from those who needn't`() throws {
    let places = Places(participants: 2)
    for identity in ["a", "b"] {
      _ = try places.begin(identity)
      _ = try places.wait(identity)
    }
    _ = try places.begin("c")
    #expect(throws: JoinError.full(limit: 2)) { try places.wait("c") }
    #expect(places.value.counts.participants == 1 && places.value.counts.waiting == 2, "its place is its own")
    // One that waits by another session gives that up.
    _ = try places.begin("b")
    _ = try places.wait("b", replacing: true)
    #expect(!places.over())
    #expect(places.value.counts.participants == 1 && places.value.counts.waiting == 2)
    _ = try places.begin("d", "s")
    #expect(throws: JoinError.full(limit: 2)) { try places.begin("e", "s") }
  }

  @Test func `a room that is closed goes with the last who is in or waits, whichever that is`() throws {
    let places = Places()
    _ = try places.begin("ada")
    #expect(places.value.close("r")?.isOver == false, "somebody is on the way in")
    _ = try places.wait("ada")
    #expect(throws: JoinError.noRoom) { try places.take("ada") }
    #expect(places.over())
    #expect(places.value.counts.rooms == 0 && places.value.counts.waiting == 0)
    // Of a room of the same name made later nothing is counted.
    #expect(try places.begin("bob") == 2)
    _ = try places.begin("eve")
    _ = try places.wait("eve", 2)
    #expect(places.value.close("r")?.isOver == false)
    #expect(!places.end("bob", 2) && places.over(2))
  }

  @Test func `a room that was made ahead waits for its first participant whatever becomes of who waited`()
    throws
  {
    let places = Places()
    let start = Instant(nanoseconds: 0)
    _ = try places.value.create("r", patience: 300, now: start) { $0 }
    _ = try places.begin("ada")
    _ = try places.wait("ada")
    #expect(!places.over(patience: 20))
    #expect(places.value.sweep(now: start + .seconds(299)).isEmpty)
    #expect(places.value.sweep(now: start + .seconds(300)) == [1])
    // Also where one waits for longer.
    _ = try places.value.create("r", patience: 300, now: start) { $0 }
    _ = try places.begin("ada")
    _ = try places.wait("ada", 2)
    let late = start + .seconds(600)
    let isOver = places.value.waitingEnded(in: "r", number: 2, patience: 20, now: late)
    #expect(!isOver)
    #expect(places.value.sweep(now: late + .seconds(299)).isEmpty)
    #expect(places.value.sweep(now: late + .seconds(300)) == [2])
  }

  @Test func `once people were in, one that waited in vain keeps it no longer than who leaves does`() throws {
    let places = Places()
    let start = Instant(nanoseconds: 0)
    _ = try places.value.create("r", patience: 86_400, now: start) { $0 }
    _ = try places.begin("host")
    #expect(
      !places.value.end("host", in: "r", number: 1, reason: .left, patience: 20, now: start).isOver)
    _ = try places.begin("ada")
    _ = try places.wait("ada")
    #expect(!places.over(patience: 20))
    #expect(places.value.sweep(now: start + .seconds(19)).isEmpty)
    #expect(places.value.sweep(now: start + .seconds(20)) == [1])
  }

  @Test func `no one is let in while the server drains`() throws {
    let places = Places()
    _ = try places.begin("ada")
    _ = try places.wait("ada")
    places.value.drain()
    #expect(throws: JoinError.draining) { try places.take("ada") }
  }
}
