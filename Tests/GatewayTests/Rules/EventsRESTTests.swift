import AccessTokens
import Foundation
import HTTPServer
import Model
import Rooms
import Testing

@testable import Gateway

@Suite("REST: events", .timeLimit(.minutes(2)))
struct EventsRESTTests {
  @Test func `what happened in a room is read page by page, also when it is over`() async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    _ = try await ada.publish(.audio, as: "microphone")
    _ = try await house.enter("ghost") { $0.hidden = true }
    _ = await house.ask(.patch, "/v1/rooms/demo", #"{"metadata":"m"}"#)
    let first = await house.ask(.get, "/v1/rooms/demo/events?limit=2")
    #expect(first.items.map { $0["id"] as? Int } == [1, 2] && first["next"] == "2" as NSString)
    #expect(first["lastEvent"] == 4 as NSNumber)
    let rest = await house.ask(.get, "/v1/rooms/demo/events?after=2")
    #expect(rest.items.map { $0["type"] as? String } == ["track.published", "room.updated"])
    #expect(rest["next"] == nil && rest.items.last?["metadata"] as? String == "m")
    // Who is hidden is in none.
    #expect(!first.text.contains("ghost") && !rest.text.contains("ghost"))
    #expect(await house.ask(.get, "/v1/rooms/demo/events?after=4").items.isEmpty)

    #expect(await house.ask(.delete, "/v1/rooms/demo").status == 204)
    let over = await house.ask(.get, "/v1/rooms/demo/events?after=4")
    #expect(
      over.items.map { $0["type"] as? String } == ["track.unpublished", "participant.left", "room.finished"])
    #expect(over.items[1]["reason"] as? String == "roomClosed")

    let gone = await house.ask(.get, "/v1/rooms/demo/events?after=99")
    #expect(gone.status == 410 && gone.problem == "events-gone" && gone["oldest"] == 1 as NSNumber)
    #expect(gone["latest"] == 7 as NSNumber && gone["state"] == "/v1/rooms/demo/participants" as NSString)
    for after in ["x", "-1", "1.5", ""] {
      let refused = await house.ask(.get, "/v1/rooms/demo/events?after=\(after)")
      #expect(refused.status == 400 && refused.problem == "query", "\(after)")
    }
    #expect(await house.ask(.get, "/v1/rooms/none/events").problem == "room-not-found")
  }

  @Test func `a life of a room is read by its id, and no other under the same numbers`() async throws {
    let house = try House()
    _ = try await house.enter("ada")
    let before = try #require(await house.ask(.get, "/v1/rooms/demo")["id"] as? String)
    #expect(await house.ask(.delete, "/v1/rooms/demo").status == 204)
    _ = try await house.enter("bob")
    let present = try #require(await house.ask(.get, "/v1/rooms/demo")["id"] as? String)
    #expect(before != present)
    for (life, identity) in [(before, "ada"), (present, "bob")] {
      let page = await house.ask(.get, "/v1/rooms/demo/events?roomId=\(life)&after=1&limit=1")
      let participant = page.items.first?["participant"] as? NSDictionary
      #expect(page["roomId"] as? String == life && participant?["identity"] as? String == identity)
    }
    let never = await house.ask(.get, "/v1/rooms/demo/events?roomId=RM_never&after=1")
    #expect(never.status == 410 && never["roomId"] as? String == present)
    // The present room has two events: it started, and Bob joined.
    #expect(never["oldest"] == 1 as NSNumber && never["latest"] == 2 as NSNumber)
  }

  @Test func `what happened in all rooms is read from cursor to cursor`() async throws {
    let house = try House()
    _ = try await house.enter("ada", room: "one")
    _ = try await house.enter("ada", room: "two")
    var seen: [String] = []
    var page = await house.ask(.get, "/v1/events?limit=3")
    while true {
      seen += page.items.compactMap { item in
        let event = item["event"] as? NSDictionary
        return "\(event?["room"] ?? "?") \(event?["type"] ?? "?")"
      }
      guard let next = page["next"] as? String else { break }
      page = await house.ask(.get, "/v1/events?limit=3&after=\(next)")
    }
    #expect(
      seen == ["one room.started", "one participant.joined", "two room.started", "two participant.joined"])
    let cursor = try #require(page["cursor"] as? String)
    #expect(await house.ask(.get, "/v1/events?after=\(cursor)").items.isEmpty)
    _ = try await house.enter("bob", room: "one")
    let more = await house.ask(.get, "/v1/events?after=\(cursor)")
    #expect(more.items.count == 1 && more.items[0]["cursor"] as? String == more["cursor"] as? String)
    #expect(await house.ask(.get, "/v1/events?after=none").problem == "query")
    // A cursor of another run of the server.
    let other = try House()
    _ = try await other.enter("ada")
    let gone = await other.ask(.get, "/v1/events?after=\(cursor)")
    #expect(gone.status == 410 && gone["state"] == "/v1/rooms" as NSString)
    let oldest = try #require(gone["oldest"] as? String)
    #expect(await other.ask(.get, "/v1/events?after=\(oldest)").items.count == 2)
  }
}
