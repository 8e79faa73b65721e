import AccessTokens
import Foundation
import HTTPServer
import Model
import Rooms
import Signalling
import Testing

@testable import Gateway

@Suite("A room's events as they happen", .timeLimit(.minutes(2)))
struct RoomStreamTests {
  @Test func `what is in the log comes first, then what happens, each event once and as pages have it`()
    async throws
  {
    let house = try House()
    let life = try await house.room(updates: 2)
    let answer = await house.listen()
    #expect(
      answer.headers["content-type"] == "text/event-stream" && answer.headers["cache-control"] == "no-store")
    #expect(answer.headers["vary"] == "accept" && answer.headers["access-control-allow-origin"] == "*")
    #expect(answer.body.isEmpty)
    let listener = try #require(EventListener(answer))
    // Between the answer and the first look.
    try await house.update(times: 1)
    var events = listener.events()
    #expect(events.map(\.id) == (1...4).map { "\(life):\($0)" } && listener.comments == 1)
    #expect(events.map(\.type) == ["room.started", "room.updated", "room.updated", "room.updated"])
    #expect(listener.events().isEmpty)
    for number in 5...40 {
      try await house.update(times: 1)
      if number % 3 == 0 { events += listener.events() }
    }
    events += listener.events()
    let page = await house.ask(.get, "/v1/rooms/demo/events")
    #expect(events.map(\.json) == page.items && events.count == 40)
    #expect(events.map { $0.json["type"] as? String } == events.map(\.type))
  }

  @Test func `a reader goes on from whatever it has seen last, by either way of saying it`() async throws {
    let house = try House()
    let life = try await house.room(updates: 5)
    for seen in 0...6 {
      let rest = Array((1...6).dropFirst(seen)).map { "\(life):\($0)" }
      let byHeader = try await house.listener(last: "\(life):\(seen)")
      #expect(byHeader.events().map(\.id) == rest)
      for query in ["after=\(seen)", "after=\(seen)&roomId=\(life)"] {
        let byQuery = try await house.listener("/v1/rooms/demo/events?\(query)")
        #expect(byQuery.events().map(\.id) == rest)
        // What it has seen meanwhile counts for more than the address that it comes by again.
        let both = try await house.listener("/v1/rooms/demo/events?\(query)", last: "\(life):4")
        #expect(both.events().map(\.id) == ["\(life):5", "\(life):6"])
      }
    }
    // An empty one is none.
    #expect(try await house.listener(last: "").events().count == 6)
    for last in ["7", "x", "\(life)", "\(life):", "\(life):x", "RM_:1", ":1", "PA_abcdefghijkl:1"] {
      let refused = await house.listen(last: last)
      #expect(refused.status == 400 && refused.problem == "last-event-id", "\(last)")
    }
    for query in ["after=x", "after=-1"] {
      #expect(await house.listen("/v1/rooms/demo/events?\(query)").problem == "query")
    }
  }

  @Test func `what is of an earlier room of the name, or not reached yet, is gone`() async throws {
    let house = try House()
    let before = try await house.room(updates: 3)
    #expect(await house.ask(.delete, "/v1/rooms/demo").status == 204)
    // As long as there is no other, the one that was is meant: its rest, then its end.
    let rest = try await house.listener(last: "\(before):2")
    #expect(
      rest.events().map(\.type) == ["room.updated", "room.updated", "room.finished", "end"] && rest.isOver)
    // And one that has all of it has no reason to come again.
    #expect(await house.listen(last: "\(before):5").status == 204)

    let present = try await house.room(updates: 8)
    for last in ["\(before):2", "\(before):5", "\(before):9", "RM_neverwas:1", "\(present):10"] {
      let gone = await house.listen(last: last)
      #expect(gone.status == 410 && gone.problem == "events-gone", "\(last)")
      #expect(gone.json["roomId"] as? String == present && gone.json["oldest"] as? Int == 1)
      #expect(
        gone.json["latest"] as? Int == 9 && gone.json["state"] as? String == "/v1/rooms/demo/participants")
    }
    // By its id the earlier one can still be read.
    let path = "/v1/rooms/demo/events?roomId=\(before)"
    #expect(
      try await house.listener(path, last: "\(before):3").events().map(\.id) == [
        "\(before):4", "\(before):5", nil,
      ])
    #expect(await house.listen(path, last: "\(present):3").status == 410)
    #expect(await house.listen("/v1/rooms/demo/events?after=2").status == 410, "of which of both?")
    #expect(await house.listen("/v1/rooms/none/events").problem == "room-not-found")
    #expect(await house.listen("/v1/rooms/none/events", last: "\(present):1").problem == "room-not-found")
  }

  @Test func `the end of the room is the last event, and then the end says so`() async throws {
    let house = try House()
    try await house.room()
    let listener = try await house.listener()
    _ = listener.events()
    #expect(await house.ask(.delete, "/v1/rooms/demo").status == 204)
    let events = listener.events()
    #expect(events.map(\.type) == ["room.finished", "end"] && listener.isOver)
    #expect(events[1].json == ["reason": "roomFinished"] && events[1].id == nil)
  }

  @Test func `events that are kept no more end a stream that needs them, with where to go on`() async throws {
    let house = try House(events: EventLog.Limits(events: 10))
    let life = try await house.room()
    let listener = try await house.listener()
    _ = listener.events()
    try await house.update(times: 30)
    let events = listener.events()
    #expect(events.map(\.type) == ["end"] && listener.isOver)
    #expect(
      events[0].json == [
        "reason": "eventsGone", "roomId": life, "oldest": 22, "latest": 31,
        "state": "/v1/rooms/demo/participants",
      ])
    let gone = await house.listen(last: "\(life):20")
    #expect(gone.status == 410 && gone.json["oldest"] as? Int == 22)
    #expect(try await house.listener(last: "\(life):21").events().count == 10)
  }

  @Test func `many events come in pieces of bounded size, large ones one by one`() async throws {
    let house = try House()
    try await house.room(updates: 200)
    try await house.update(times: 3, metadata: String(repeating: "x", count: 60_000))
    let listener = try await house.listener()
    #expect(listener.events().count == 204)
    #expect(listener.largest < 16_384 + 70_000, "\(listener.largest)")
  }

  @Test func `no text that people choose breaks an event in two`() async throws {
    let house = try House()
    let text = #"a\n\ndata: {}\r\rid: 9\u2028\u0085é\u0000:"#
    let name = "demo"
    #expect(await house.ask(.post, "/v1/rooms", #"{"name":"\#(name)","metadata":"\#(text)"}"#).status == 201)
    #expect(await house.ask(.patch, "/v1/rooms/\(name)", #"{"metadata":"\#(text)2"}"#).status == 200)
    let listener = try await house.listener("/v1/rooms/\(name)/events")
    let events = listener.events()
    #expect(events.count == 2 && events.map(\.type) == ["room.started", "room.updated"])
    let page = await house.ask(.get, "/v1/rooms/\(name)/events")
    #expect(events.map(\.json) == page.items)
    #expect(!listener.text.unicodeScalars.contains { $0 == "\r" || $0 == "\0" })
  }

  @Test func `who is hidden is in no event of a stream`() async throws {
    let house = try House()
    try await house.room()
    let (one, all) = (try await house.listener(), try await house.listener("/v1/events"))
    let ghost = try await house.enter("gh0st") {
      $0.hidden = true
      $0.canUpdateOwnMetadata = true
    }
    #expect(try await ghost.verdict("update", #""metadata":"boo""#) == "ok")
    _ = try await house.enter("ada")
    _ = await house.ask(.delete, "/v1/rooms/demo/participants/gh0st")
    for listener in [one, all] {
      #expect(listener.events().contains { $0.type == "participant.joined" })
      #expect(!listener.text.contains("gh0st") && !listener.text.contains(ghost.id))
    }
  }

  @Test func `an event is one text for all readers, and one watch for all who read a room`() async throws {
    let house = try House()
    let life = try await house.room(updates: 3)
    let page = try house.directory.events.events(of: "demo", life: life, after: 0)
    let before = page.events.map { storage(of: $0) }
    var listeners: [EventListener] = []
    for number in 0..<50 {
      listeners.append(try await house.listener(number % 2 == 0 ? "/v1/rooms/demo/events" : "/v1/events"))
    }
    for listener in listeners { #expect(listener.events().count == 4) }
    #expect(page.events.map { storage(of: $0) } == before)
    for event in page.events {
      #expect(String(event.json) == EventBody(event).json)
    }
    let feeds = try #require(house.gateway.rest?.feeds)
    #expect(feeds.count == 2)
    listeners = []
    #expect(feeds.count == 0)
  }

  private func storage(of event: RoomEvent) -> UInt {
    var text = event.text
    return text.withUTF8 { UInt(bitPattern: $0.baseAddress) }
  }
}

extension HTTPResponse {
  var json: NSDictionary { (try? JSONSerialization.jsonObject(with: Data(body))) as? NSDictionary ?? [:] }
  /// The last part of a problem's type.
  var problem: String? {
    (json["type"] as? String).flatMap { $0.split(separator: ":").last.map(String.init) }
  }
}
