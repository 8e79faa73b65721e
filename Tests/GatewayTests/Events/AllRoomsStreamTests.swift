import Foundation
import HTTPServer
import Model
import Rooms
import Testing

@testable import Gateway

@Suite("The events of all rooms as they happen", .timeLimit(.minutes(2)))
struct AllRoomsStreamTests {
  @Test func `each event has the cursor that pages have, and a reader goes on from any of them`() async throws
  {
    let house = try House()
    for name in ["a", "b", "c"] { try await house.room(name, updates: 2) }
    let listener = try await house.listener("/v1/events")
    var events = listener.events()
    try await house.update("b", times: 3)
    _ = await house.ask(.delete, "/v1/rooms/a")
    events += listener.events()
    // The end of a room is no end of this.
    #expect(events.count == 13 && events.last?.type == "room.finished" && !listener.isOver)
    let page = await house.ask(.get, "/v1/events")
    #expect(events.map(\.id) == page.items.map { $0["cursor"] as? String })
    #expect(events.map(\.json) == page.items.map { $0["event"] as? NSDictionary })
    for (index, event) in events.enumerated() {
      let id = try #require(event.id)
      let rest = events.dropFirst(index + 1).map(\.id)
      #expect(try await house.listener("/v1/events", last: id).events().map(\.id) == rest)
      #expect(try await house.listener("/v1/events?after=\(id)").events().map(\.id) == rest)
      let both = try await house.listener("/v1/events?after=\(id)", last: events[11].id)
      #expect(both.events().map(\.id) == [events[12].id])
    }
  }

  @Test func `a cursor that is none, or of another server, or too old, is refused as by pages`() async throws
  {
    let house = try House(events: EventLog.Limits(events: 5))
    try await house.room("a", updates: 3)
    let listener = try await house.listener("/v1/events")
    let early = try #require(listener.events().first?.id)
    for last in ["x", "RM_a:1", String(repeating: "A", count: 23)] {
      let refused = await house.listen("/v1/events", last: last)
      #expect(refused.status == 400 && refused.problem == "last-event-id", "\(last)")
      #expect(await house.listen("/v1/events?after=\(last)").problem == "query", "\(last)")
    }
    let other = try House()
    try await other.room()
    let foreign = try #require(try await other.listener("/v1/events").events().first?.id)
    #expect(await house.listen("/v1/events", last: foreign).status == 410)
    try await house.update("a", times: 20)
    let gone = await house.listen("/v1/events", last: early)
    #expect(
      gone.status == 410 && gone.problem == "events-gone" && gone.json["state"] as? String == "/v1/rooms")
    let oldest = try #require(gone.json["oldest"] as? String)
    #expect(try await house.listener("/v1/events", last: oldest).events().count == 5)
    // One that was reading hears the same as its last event.
    let events = listener.events()
    #expect(events.map(\.type) == ["end"] && events[0].json["reason"] as? String == "eventsGone")
    #expect(
      events[0].json["oldest"] as? String == oldest && events[0].json["state"] as? String == "/v1/rooms")
  }

  @Test func `one who begins in an empty house hears of the first room`() async throws {
    let house = try House()
    let listener = try await house.listener("/v1/events")
    #expect(listener.events().isEmpty && listener.comments == 1)
    try await house.room("first")
    #expect(listener.events().map(\.type) == ["room.started"])
  }
}
