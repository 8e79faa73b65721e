import AccessTokens
import Foundation
import HTTPServer
import Model
import Rooms
import Testing
import Wire

@testable import Gateway

@Suite("Who may do what by WHIP and WHEP", .timeLimit(.minutes(2)))
struct StandaloneRulesTests {
  static let doors = ["whip", "whep"]

  private func post(
    _ house: House, _ door: String, _ token: String?, room: String = "demo", query: String = ""
  ) async throws -> House.Answer {
    let offer = try Encoder.offer(
      sending: door == "whip" ? [.audio, .video] : [], audio: door == "whip" ? 0 : 1,
      video: door == "whip" ? 0 : 1)
    return await house.ask(.post, "/\(door)/\(room)\(query)", offer, token: token, headers: Encoder.sdp)
  }

  @Test(arguments: doors)
  func `a token is asked for, and must join the room`(door: String) async throws {
    let house = try House()
    let expired = Encoder.token("one", issued: House.now - 700, expires: House.now - 61)
    for (token, status, problem) in [
      (nil, 401, "token-absent"), ("x", 401, "token-malformed"), (expired, 401, "token-expired"),
      (Encoder.token("one", room: "other"), 403, "token-not-for-this"),
      (House.token("one") { $0.room = "demo" }, 403, "token-not-for-this"),
      (House.admin, 403, "token-not-for-this"),
    ] as [(String?, Int, String)] {
      let answer = try await post(house, door, token)
      #expect(answer.status == status && answer.problem == problem, "\(answer.text)")
      #expect((answer.headers["www-authenticate"] != nil) == (status == 401))
    }
    let offer = try Encoder.offer()
    let query = await house.ask(
      .post, "/\(door)/demo?access_token=\(Encoder.token("one"))", offer, token: nil, headers: Encoder.sdp)
    #expect(query.status == 401, "a URL is no place for a token")
    let basic = await house.ask(
      .post, "/\(door)/demo", offer, token: nil, headers: Encoder.sdp + [("authorization", "Basic eDp5")])
    #expect(basic.status == 401 && basic.problem == "token-malformed")
    #expect(try await post(house, door, Encoder.token("one"), room: "%00").status == 400)
    #expect(await house.ask(.get, "/v1/rooms").items.isEmpty, "no room has been made for it")
  }

  @Test(arguments: doors)
  func `without the permission it is 403`(door: String) async throws {
    let house = try House()
    let token = Encoder.token("one") {
      $0.canPublish = door == "whep"
      $0.canSubscribe = door == "whip"
    }
    let answer = try await post(house, door, token)
    #expect(answer.status == 403 && answer.problem == "not-allowed")
    #expect(try await post(house, door == "whip" ? "whep" : "whip", token).status == 201)
    let camera = Encoder.token("two") { $0.canPublishSources = [.camera] }
    let refused = try await post(house, "whip", camera)
    #expect(refused.status == 422 && refused.text.contains("not-allowed"))
  }

  @Test(arguments: doors)
  func `a session is its identity's alone`(door: String) async throws {
    let house = try House()
    let token = Encoder.token("one")
    let client = await Encoder(
      house, door, token, "demo",
      try Encoder.offer(sending: door == "whip" ? [.audio] : [], audio: door == "whip" ? 0 : 1))
    _ = try await Encoder.whip(house, "two")
    for (token, problem) in [
      (Encoder.token("two"), "session-foreign"), (Encoder.token("stranger"), "session-foreign"),
      (Encoder.token("one", room: "other"), "token-not-for-this"), (House.admin, "token-not-for-this"),
    ] {
      for answer in [
        await client.ask(.get, token: token), await client.ask(.delete, token: token),
        await client.patch(Encoder.restart, match: "*", token: token),
      ] { #expect(answer.status == 403 && answer.problem == problem) }
    }
    // Any of the identity's own is good, and the other door's path is none.
    let path = client.location.replacing("/\(door)/", with: door == "whip" ? "/whep/" : "/whip/")
    #expect(await house.ask(.delete, path, token: token).status == 404)
    #expect(await client.ask(.get, token: Encoder.token("one", issued: House.now + 1)).status == 204)
    #expect(await client.ask(.delete).status == 200)
  }

  @Test(arguments: doors)
  func `removal voids every session's URL at once, and tokens of before`(door: String) async throws {
    let house = try House()
    let client = await Encoder(
      house, door, Encoder.token("one", issued: House.now - 10), "demo",
      try Encoder.offer(sending: door == "whip" ? [.audio] : [], audio: door == "whip" ? 0 : 1))
    let other = try await Encoder.whep(house, "one")
    #expect(await house.ask(.delete, "/v1/rooms/demo/participants/one").status == 204)
    for each in [client, other] {
      let refused = await each.ask(.get, token: client.token)
      #expect(refused.status == 403 && refused.problem == "token-removed")
    }
    #expect(try await post(house, door, client.token).status == 403)
    // One that was issued later finds nothing of what was.
    let fresh = Encoder.token("one", issued: House.now + 5)
    #expect(await client.ask(.get, token: fresh).status == 404)
    #expect(await client.ask(.delete, token: fresh).status == 404)
    #expect(try await post(house, door, fresh).status == 201)
    #expect(await client.ask(.delete, token: fresh).status == 404)
  }

  @Test(arguments: doors)
  func `a room that closes, and permission that is taken, void it too`(door: String) async throws {
    let house = try House()
    let client = try await door == "whip" ? Encoder.whip(house, "one") : Encoder.whep(house, "one")
    #expect(await house.ask(.delete, "/v1/rooms/demo").status == 204)
    #expect(await client.ask(.get).status == 404)
    let again = try await door == "whip" ? Encoder.whip(house, "one") : Encoder.whep(house, "one")
    #expect(await client.ask(.get).status == 404 && again.answer.status == 201)
    let body = #"{"permissions":{"\#(door == "whip" ? "canPublish" : "canSubscribe")":false}}"#
    #expect(await house.ask(.patch, "/v1/rooms/demo/participants/one", body).status == 200)
    #expect(await again.ask(.get).status == 404)
    #expect(await again.participants().isEmpty)
  }

  @Test func `a token that has expired asks for nothing, and what it has made goes on`() async throws {
    let house = try House()
    let token = Encoder.token("one", issued: House.now - 600, expires: House.now - 58)
    let client = await Encoder(house, "whip", token, "demo", try Encoder.offer())
    #expect(client.answer.status == 201, "within the leeway")
    try await Task.sleep(for: .seconds(3))
    #expect(await client.ask(.delete).status == 401)
    #expect(await client.ask(.get, token: Encoder.token("one")).status == 204)
  }

  // MARK: - Participants

  @Test func `a page and an encoder of one identity are one participant`() async throws {
    let house = try House()
    let cam = try await Encoder.whip(house, "ada", sending: [.video])
    let ada = try await house.enter("ada")
    let shown = await house.ask(.get, "/v1/rooms/demo/participants/ada")
    #expect((shown["tracks"] as? [NSDictionary])?.count == 1)
    _ = try await ada.publish(.audio, as: "microphone")
    #expect(await cam.participants() == ["ada"])
    // Its second page closes the first, and the encoder goes on.
    let second = try await house.enter("ada")
    #expect(second.id == ada.id)
    #expect(try await ada.next("closed")["reason"] as? String == "duplicateIdentity")
    #expect(await cam.ask(.get).status == 204)
    second.socket.say(#"{"type":"leave"}"#)
    _ = try await second.next("closed")
    #expect(await cam.participants() == ["ada"])
    #expect(await cam.ask(.delete).status == 200)
    #expect(await cam.participants().isEmpty)
  }

  @Test func `a player gets what it asks for, or a problem`() async throws {
    let house = try House()
    let cam = try await Encoder.whip(house, "cam")
    let items = (await house.ask(.get, "/v1/rooms/demo/participants/cam"))["tracks"] as? [NSDictionary] ?? []
    let track = try #require(items.first { $0["kind"] as? String == "video" }?["id"] as? String)
    for (query, status, problem) in [
      ("?participant=cam", 201, nil), ("?participant=later", 201, nil), ("?track=\(track)", 201, nil),
      ("?track=TR_none", 404, "track-not-found"), ("?participant=cam&track=\(track)", 201, nil),
      ("?participant=later&track=\(track)", 404, "track-not-found"), ("?participant=", 400, "query"),
      ("?participant=%00", 400, "query"), ("?track=", 400, "query"),
    ] as [(String, Int, String?)] {
      let answer = try await Encoder.whep(house, "tv-\(UInt32.random(in: 0...UInt32.max))", query: query)
        .answer
      #expect(answer.status == status && answer.problem == problem, "\(query): \(answer.text)")
    }
    withExtendedLifetime(cam) {}
  }

  // MARK: - Bounds

  @Test func `an identity has so many, and the server`() async throws {
    let house = try House()
    for _ in 0..<3 { #expect(try await post(house, "whep", Encoder.token("tv")).status == 201) }
    let more = try await post(house, "whep", Encoder.token("tv"))
    #expect(more.status == 409 && more.problem == "session-limit")
    // The media plane of this house has eight places.
    for number in 0..<5 {
      #expect(try await post(house, "whip", Encoder.token("cam\(number)")).status == 201)
    }
    let full = try await post(house, "whip", Encoder.token("late"))
    #expect(full.status == 503 && full.problem == "full" && full.headers["retry-after"] != nil)
  }

  @Test(arguments: doors)
  func `who asks too much is asked to wait`(door: String) async throws {
    let house = try House()
    let token = Encoder.token("one")
    var last = 0
    for _ in 0..<200 where last != 429 {
      let answer = await house.ask(.post, "/\(door)/demo", "v=0", token: token, headers: Encoder.sdp)
      last = answer.status
      if last == 429 { #expect(answer.headers["retry-after"] != nil && answer.problem == "rate-limited") }
    }
    #expect(last == 429)
    let client = try await door == "whip" ? Encoder.whip(house, "two") : Encoder.whep(house, "two")
    last = 0
    for number in 0..<200 where last != 429 {
      let body = number % 2 == 0 ? Encoder.restart : Encoder.fragment()
      last = await client.patch(body, match: "*").status
    }
    #expect(last == 429)
    #expect(await client.ask(.delete).status == 200)
  }

  @Test(arguments: doors)
  func `an offer that is refused leaves no room behind`(door: String) async throws {
    let house = try House()
    for _ in 0..<20 {
      let answer = await house.ask(
        .post, "/\(door)/demo", "v=0", token: Encoder.token("one"), headers: Encoder.sdp)
      #expect(answer.status == 400)
    }
    #expect(await house.directory.rooms(after: nil, limit: 10).isEmpty)
    _ = try await post(house, door, Encoder.token("one"))
    #expect(await house.directory.rooms(after: nil, limit: 10).count == 1)
  }

  @Test(arguments: doors)
  func `a server that is about to stop takes none`(door: String) async throws {
    let house = try House()
    await house.directory.drain(for: .seconds(1))
    let answer = try await post(house, door, Encoder.token("one"))
    #expect(answer.status == 503 && answer.problem == "draining" && answer.headers["retry-after"] != nil)
  }

  @Test func `where rooms are made by their operators alone an offer makes none`() async throws {
    var limits = House.limits()
    limits.makesRooms = false
    let house = try House(limits: limits)
    let answer = try await post(house, "whip", Encoder.token("one"))
    #expect(answer.status == 404 && answer.problem == "room-not-found")
  }
}
