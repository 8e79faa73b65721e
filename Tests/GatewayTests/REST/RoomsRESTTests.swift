import AccessTokens
import Foundation
import HTTPServer
import Model
import Testing

@testable import Gateway
@testable import Rooms

@Suite("REST: rooms", .timeLimit(.minutes(2)))
struct RoomsRESTTests {
  @Test func `a room is made once, shown, changed by merge patch, and ended`() async throws {
    let house = try House()
    let made = await house.ask(
      .post, "/v1/rooms", #"{"name":"a/b ö","emptyTimeout":60,"maxParticipants":2,"metadata":"m"}"#)
    #expect(made.status == 201 && made.headers["location"] == "/v1/rooms/a%2Fb%20%C3%B6")
    #expect(made["metadata"] == "m" as NSString && made["emptyTimeout"] == 60 as NSNumber)
    #expect((made["id"] as? String)?.hasPrefix("RM_") == true)
    let again = await house.ask(.post, "/v1/rooms", #"{"name":"a/b ö","emptyTimeout":90}"#)
    #expect(again.status == 200 && again["id"] == made["id"] && again["emptyTimeout"] == 60 as NSNumber)

    let path = "/v1/rooms/a%2Fb%20%C3%B6"
    let shown = await house.ask(.get, path)
    #expect(shown.status == 200 && shown["name"] == "a/b ö" as NSString && shown["id"] == made["id"])
    #expect(shown.headers["cache-control"] == "no-store")
    let changed = await house.ask(.patch, path, #"{"metadata":null,"maxParticipants":7}"#)
    #expect(changed.status == 200 && changed["metadata"] == nil)
    #expect(changed["maxParticipants"] == 7 as NSNumber && changed["emptyTimeout"] == 60 as NSNumber)
    let defaults = await house.ask(.patch, path, #"{"emptyTimeout":null,"maxParticipants":null}"#)
    #expect(defaults["emptyTimeout"] == 300 as NSNumber && defaults["maxParticipants"] == nil)

    let ended = await house.ask(.delete, path)
    #expect(ended.status == 204 && ended.text.isEmpty)
    for method in [HTTPMethod.get, .delete] {
      let gone = await house.ask(method, path)
      #expect(gone.status == 404 && gone.problem == "room-not-found")
    }
    let second = await house.ask(.post, "/v1/rooms", #"{"name":"a/b ö"}"#)
    #expect(second.status == 201 && second["id"] != made["id"])
  }

  @Test func `rooms are listed with their counts, page by page, in the order of their names`() async throws {
    let house = try House()
    for name in ["b", "ä", "a", "B", "c"] {
      #expect(await house.ask(.post, "/v1/rooms", #"{"name":"\#(name)"}"#).status == 201)
    }
    let ada = try await house.enter("ada", room: "b")
    _ = try await house.enter("bob", room: "b")
    _ = try await ada.publish(.audio, as: "microphone")
    var found: [NSDictionary] = []
    var next: String?
    var pages = 0
    repeat {
      let page = await house.ask(.get, "/v1/rooms?limit=2" + (next.map { "&after=\($0)" } ?? ""))
      #expect(page.status == 200 && page.items.count <= 2)
      found += page.items
      next = page["next"] as? String
      pages += 1
    } while next != nil
    try #require(pages == 3 && found.map { $0["name"] as? String } == ["B", "a", "b", "c", "ä"])
    #expect(found[2]["participants"] as? Int == 2 && found[2]["publishers"] as? Int == 1)
    #expect(found[2]["tracks"] as? Int == 1 && found[1]["participants"] as? Int == 0)
    #expect((found[2]["age"] as? Double ?? -1) >= 0)
    #expect(found[2]["bitrates"] as? NSDictionary == ["received": 0, "sent": 0])
    for query in ["limit=0", "limit=1001", "limit=x", "limit=", "after=%2B", "after=_w"] {
      let refused = await house.ask(.get, "/v1/rooms?\(query)")
      #expect(refused.status == 400 && refused.problem == "query", "\(query)")
    }
  }

  @Test func `ending a room closes all its sessions, and the next participant joins another room`()
    async throws
  {
    let house = try House()
    let ada = try await house.enter("ada")
    let id = await house.ask(.get, "/v1/rooms/demo")["id"]
    #expect(await house.ask(.delete, "/v1/rooms/demo").status == 204)
    #expect(try await ada.next("closed")["reason"] as? String == "roomClosed")
    await ada.ended()
    #expect(ada.socket.closeCode == 4014)
    _ = try await house.enter("ada")
    #expect(await house.ask(.get, "/v1/rooms/demo")["id"] != id)
  }

  @Test func `a change of a room is announced to its participants`() async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    _ = await house.ask(.patch, "/v1/rooms/demo", #"{"metadata":"<b>"}"#)
    #expect(try await ada.event("room.updated")["metadata"] as? String == "<b>")
    let joined = try await house.connect(House.token("eve") { $0 = .join("demo") }).next("joined")
    #expect((joined["room"] as? NSDictionary)?["metadata"] as? String == "<b>")
  }

  @Test func `a room that no participant joins, or that all have left, ends after its time`() async throws {
    let clock = StandingClock()
    let house = try House(clock: clock)
    _ = await house.ask(.post, "/v1/rooms", #"{"name":"never","emptyTimeout":1}"#)
    _ = await house.ask(.post, "/v1/rooms", #"{"name":"left","departureTimeout":3600}"#)
    let ada = try await house.enter("ada", room: "left")
    #expect(try await ada.verdict("leave") == "closed")
    // It waits for its participant.
    let id = await house.ask(.get, "/v1/rooms/left")["id"]
    let again = try await house.enter("ada", room: "left")
    #expect(id != nil)
    #expect(await house.ask(.get, "/v1/rooms/left")["id"] == id)
    _ = await house.ask(.patch, "/v1/rooms/left", #"{"departureTimeout":1}"#)
    #expect(try await again.verdict("leave") == "closed")
    for room in ["never", "left"] {
      #expect(await house.ask(.get, "/v1/rooms/\(room)").status == 200)
    }
    clock.advance(by: .milliseconds(999))
    await house.directory.sweep()
    for room in ["never", "left"] { #expect(await house.ask(.get, "/v1/rooms/\(room)").status == 200) }
    clock.advance(by: .milliseconds(1))
    await house.directory.sweep()
    for room in ["never", "left"] { #expect(await house.ask(.get, "/v1/rooms/\(room)").status == 404) }
  }

  @Test func `rooms and those in them have bounds, each with its answer`() async throws {
    var limits = House.limits()
    limits.rooms = 2
    limits.participants = 3
    limits.participantsPerRoom = 2
    let house = try House(limits: limits)
    #expect(await house.ask(.post, "/v1/rooms", #"{"name":"a","maxParticipants":1}"#).status == 201)
    _ = try await house.enter("ada", room: "a")
    let full = try await house.connect(House.token("bob") { $0 = .join("a") }, room: "a").next("joined")
    #expect(full["code"] as? String == "room-full" && full["retry"] as? String == "after")
    _ = try await house.enter("ada", room: "b")
    _ = try await house.enter("bob", room: "b")
    let many = try await house.connect(House.token("eve") { $0 = .join("b") }, room: "b").next("joined")
    #expect(many["code"] as? String == "room-full")
    let refused = await house.ask(.post, "/v1/rooms", #"{"name":"c"}"#)
    #expect(refused.status == 503 && refused.problem == "full" && refused.headers["retry-after"] == "10")
    let room = try await house.connect(House.token("eve") { $0 = .join("c") }, room: "c").next("joined")
    #expect(room["code"] as? String == "room-full")
    // Three in all, whichever room they are in.
    _ = await house.ask(.patch, "/v1/rooms/a", #"{"maxParticipants":null}"#)
    let one = try await house.connect(House.token("eve") { $0 = .join("a") }, room: "a").next("joined")
    #expect(one["code"] as? String == "room-full")
    #expect(house.directory.counts.refusedFull == 4)
  }

  @Test func `a room may have no more than the server lets any room have`() async throws {
    var limits = House.limits()
    limits.participantsPerRoom = 5
    let house = try House(limits: limits)
    let tooMany = await house.ask(.post, "/v1/rooms", #"{"name":"a","maxParticipants":6}"#)
    #expect(tooMany.status == 400 && tooMany.detail?.contains("5") == true)
    #expect(await house.ask(.get, "/v1/rooms/a").status == 404)
    #expect(await house.ask(.post, "/v1/rooms", #"{"name":"a","maxParticipants":5}"#).status == 201)
    let raised = await house.ask(.patch, "/v1/rooms/a", #"{"maxParticipants":6,"metadata":"m"}"#)
    #expect(raised.status == 400 && raised.problem == tooMany.problem)
    // Nothing of a refused change is done.
    let room = await house.ask(.get, "/v1/rooms/a")
    #expect(room["maxParticipants"] == 5 as NSNumber && room["metadata"] == nil)
  }

  @Test func `where the operator alone makes rooms, joining makes none`() async throws {
    var limits = House.limits()
    limits.makesRooms = false
    let house = try House(limits: limits)
    let early = house.connect(House.token("ada") { $0 = .join("demo") })
    #expect(try await early.next("joined")["code"] as? String == "room-not-found")
    #expect(house.directory.counts.refusedNoRoom == 1)
    #expect(await house.ask(.post, "/v1/rooms", #"{"name":"demo"}"#).status == 201)
    _ = try await house.enter("ada")
  }

  @Test func `while the server stops no room is made`() async throws {
    let house = try House()
    await house.directory.drain(for: .seconds(60))
    let refused = await house.ask(.post, "/v1/rooms", #"{"name":"demo"}"#)
    #expect(refused.status == 503 && refused.problem == "draining" && refused.headers["retry-after"] == "5")
  }

  static let bodies: [(body: String, detail: String)] = [
    ("", "expected a JSON object without duplicate members"),
    ("[]", "expected a JSON object without duplicate members"),
    (#"{"name":"a","name":"b"}"#, "expected a JSON object without duplicate members"),
    ("{}", "name is required"), (#"{"name":null}"#, "name is required"),
    (#"{"name":""}"#, "name must be a string of 1 to 128 bytes without control characters"),
    (#"{"name":"a\u0000"}"#, "name must be a string of 1 to 128 bytes without control characters"),
    (#"{"name":7}"#, "name must be a string of 1 to 128 bytes without control characters"),
    (#"{"name":"a","colour":1}"#, "colour is not a known member"),
    (#"{"name":"a","emptyTimeout":0}"#, "emptyTimeout must be a whole number from 1 to 86400"),
    (#"{"name":"a","emptyTimeout":1.5}"#, "emptyTimeout must be a whole number from 1 to 86400"),
    (#"{"name":"a","emptyTimeout":1e300}"#, "emptyTimeout must be a whole number from 1 to 86400"),
    (#"{"name":"a","departureTimeout":-1}"#, "departureTimeout must be a whole number from 0 to 86400"),
    (#"{"name":"a","maxParticipants":"2"}"#, "maxParticipants must be a whole number from 1 to 1000000"),
    (#"{"name":"a","metadata":{}}"#, "metadata must be a string"),
  ]

  @Test func `a body that isn't right is refused with what is wrong with it`() async throws {
    let house = try House()
    #expect(await house.ask(.post, "/v1/rooms", #" { "name" : "a" } "#).status == 201)
    for (body, detail) in Self.bodies {
      let refused = await house.ask(
        .post, "/v1/rooms", body, headers: [("content-type", "application/json; charset=utf-8")])
      #expect(refused.status == 400 && refused.problem == "body" && refused.detail == detail, "\(body)")
    }
    for type in ["text/plain", "application/x-www-form-urlencoded", "", "application/merge-patch+json"] {
      let refused = await house.ask(.post, "/v1/rooms", #"{"name":"a"}"#, headers: [("content-type", type)])
      #expect(refused.status == 415 && refused.problem == "content-type")
    }
    let patch = await house.ask(.patch, "/v1/rooms/a", "{}", headers: [("content-type", "text/plain")])
    #expect(patch.status == 415 && patch.headers["accept-patch"] == "application/merge-patch+json")
    let large = #"{"metadata":"\#(String(repeating: "x", count: 65_537))"}"#
    let refused = await house.ask(.patch, "/v1/rooms/a", large)
    #expect(refused.status == 413 && refused.problem == "too-large")
    let made = await house.ask(.post, "/v1/rooms", large.replacing("{", with: #"{"name":"b","#))
    #expect(made.status == 413 && made.problem == "too-large")
    #expect(
      await house.ask(.patch, "/v1/rooms/a", large.replacing("xx", with: "x", maxReplacements: 1)).status
        == 200)
  }

  @Test func `tokens open what their grants say, and a refusal gives its reason`() async throws {
    let house = try House()
    _ = await house.ask(.post, "/v1/rooms", #"{"name":"a"}"#)
    let lists = House.token { $0.roomList = true }
    #expect(await house.ask(.get, "/v1/rooms/a", token: lists).status == 200)
    let cases: [(String?, Int, String)] = [
      (nil, 401, "token-absent"), ("x", 401, "token-malformed"),
      (House.token(secret: "another secret that is long enough"), 401, "token-signature"),
      (House.token(expires: House.now - 61), 401, "token-expired"),
      (House.token(), 403, "token-not-for-this"),
      (House.token("ada") { $0 = .join("a") }, 403, "token-not-for-this"),
    ]
    for (token, status, code) in cases {
      let refused = await house.ask(.get, "/v1/rooms/a", token: token)
      #expect(refused.status == status && refused.problem == code)
      #expect((refused.headers["www-authenticate"] != nil) == (status == 401))
    }
    let basic = await house.ask(.get, "/v1/rooms/a", token: nil, headers: [("authorization", "Basic eDp5")])
    #expect(basic.status == 401 && basic.problem == "token-malformed")
    // One that names a room administers that one alone.
    let one = House.token {
      $0.roomAdmin = true
      $0.room = "a"
    }
    _ = await house.ask(.post, "/v1/rooms", #"{"name":"b"}"#)
    #expect(await house.ask(.get, "/v1/rooms/a/participants", token: one).status == 200)
    #expect(await house.ask(.get, "/v1/rooms/b/participants", token: one).status == 403)
    // A client that may not see a room doesn't learn whether it is there.
    #expect(await house.ask(.get, "/v1/rooms/none", token: House.token()).status == 403)
  }

  @Test func `pages of other origins may ask, unless the operator says otherwise`() async throws {
    let house = try House()
    let asked = await house.ask(
      .options, "/v1/rooms", token: nil,
      headers: [("origin", "https://desk.example"), ("access-control-request-method", "POST")])
    #expect(asked.status == 204 && asked.headers["access-control-allow-origin"] == "*")
    #expect(asked.headers["access-control-allow-methods"] == "GET, HEAD, POST, OPTIONS")
    #expect(asked.headers["access-control-allow-headers"]?.contains("authorization") == true)
    #expect(asked.headers["access-control-allow-credentials"] == nil)
    let answer = await house.ask(.get, "/v1/rooms", token: nil, headers: [("origin", "https://desk.example")])
    #expect(answer.status == 401 && answer.headers["access-control-allow-origin"] == "*")
    #expect(answer.headers["access-control-expose-headers"]?.contains("retry-after") == true)

    let strict = try House { $0.crossOrigin = CrossOrigin(origins: ["https://desk.example"]) }
    for (origin, allowed) in [
      ("https://desk.example", "https://desk.example"), ("https://evil.example", nil),
    ] {
      for method in [HTTPMethod.get, .options] {
        let answer = await strict.ask(method, "/v1/rooms", headers: [("origin", origin)])
        #expect(answer.headers["access-control-allow-origin"] == allowed)
        #expect(answer.headers["vary"] == "origin")
      }
    }
  }
}
