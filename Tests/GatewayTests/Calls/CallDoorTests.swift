import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import Model
import Signalling
import TestStores
import Testing

@testable import Gateway

@Suite("REST: calls", .timeLimit(.minutes(2)))
struct CallDoorTests {
  private func strings(_ answer: House.Answer, _ key: String) -> [String] { answer[key] as? [String] ?? [] }

  private func call(_ answer: House.Answer) -> NSDictionary { answer["call"] as? NSDictionary ?? [:] }

  @Test(arguments: StoreKind.allCases)
  func `a call is started, rung, answered and hung up`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob", "bob", more: #","metadata":"m""#)
    #expect(started.status == 201)
    #expect(call(started)["status"] as? String == "active" && call(started)["callerId"] as? String == "ada")
    #expect(call(started)["invitedParticipants"] as? [String] == ["bob"])
    #expect(
      (started["token"] as? String)?.isEmpty == false && started["url"] as? String == "http://relay.example")
    let rung = await calls.ask(.get, "/v1/calls/events?after=0", by: "bob")
    let ringing = try #require(rung.items.first)
    #expect(ringing["event"] as? String == "call.ringing")
    let data = try #require(ringing["data"] as? NSDictionary)
    #expect((data["token"] as? String)?.isEmpty == false && data["callerId"] as? String == "ada")
    let joined = await calls.join(id, "bob")
    #expect(joined.status == 200 && call(joined)["activeParticipants"] as? [String] == ["ada", "bob"])
    let left = await calls.ask(.post, "/v1/calls/\(id)/leave", #"{"deviceId":"bob1"}"#, by: "bob")
    #expect(left.status == 200 && left["ended"] as? Bool == true)
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    #expect(shown["status"] as? String == "inactive" && shown["outcome"] as? String == "failed")
    #expect(shown["endedBy"] as? String == "bob" && shown["metadata"] as? String == "m")
    let again = await calls.join(id, "bob")
    #expect(again.status == 410 && again.problem == "call-ended")
    let history = await calls.ask(.get, "/v1/calls?status=inactive&participant=bob", by: "ada")
    #expect(history.items.count == 1 && history.items[0]["mine"] is NSDictionary)
  }

  @Test(arguments: StoreKind.allCases)
  func `the token of a push opens the call for one who has no other`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    let rung = await calls.ask(.get, "/v1/calls/events?after=0", by: "bob")
    let token = try #require((rung.items.first?["data"] as? NSDictionary)?["token"] as? String)
    let house = calls.house
    #expect(await house.ask(.get, "/v1/calls/\(id)", token: token).status == 200)
    let joined = await house.ask(.post, "/v1/calls/\(id)/join", #"{"deviceId":"phone"}"#, token: token)
    #expect(joined.status == 200 && joined["device"] as? String == "phone")
    // It names the device from now on.
    let mine = try #require(joined["token"] as? String)
    let read = try AccessToken(verifying: mine, keys: ["APIkey": House.secret], now: House.now)
    #expect(read.call == CallClaim(id: id, device: "phone") && read.identity == "bob")
    #expect(await house.ask(.post, "/v1/calls/\(id)/leave", token: mine).status == 200)
    // Nothing else is open to it.
    let (other, _) = await calls.start("bob", "eve")
    for (method, path) in [
      (HTTPMethod.get, "/v1/calls/\(other)"), (.get, "/v1/calls"), (.get, "/v1/devices"),
      (.get, "/v1/calls/events"), (.post, "/v1/calls/\(id)/invite"),
    ] {
      let answer = await house.ask(method, path, method == .post ? "{}" : "", token: mine)
      #expect(answer.status == 403 && answer.problem == "not-allowed", "\(method) \(path)")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a stranger is answered byte for byte like one who asks for what never was`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    let never = UUID().uuidString.lowercased()
    let requests: [(HTTPMethod, String, String)] = [
      (.get, "", ""), (.post, "/join", "{}"), (.post, "/leave", ""),
      (.post, "/invite", #"{"recipients":["zoe"]}"#),
      (.patch, "", #"{"media":"video"}"#), (.post, "/forget", ""),
      (.post, "/signals", #"{"id":"\#(never)","to":"bob","kind":"offer","payload":"AAAA"}"#),
    ]
    for (method, path, body) in requests {
      let known = await calls.ask(method, "/v1/calls/\(id)\(path)", body, by: "mallory")
      let unknown = await calls.ask(method, "/v1/calls/\(never)\(path)", body, by: "mallory")
      #expect(known.status == 404 && known.text == unknown.text, "\(method) \(path)")
      #expect("\(known.headers)" == "\(unknown.headers)")
    }
    let admin = House.token {
      $0.roomAdmin = true
      $0.room = "another"
    }
    #expect(await calls.house.ask(.get, "/v1/calls/\(id)", token: admin).status == 404)
    #expect(await calls.house.ask(.delete, "/v1/calls/\(id)", token: admin).status == 404)
    #expect(await calls.house.ask(.get, "/v1/calls/\(id)").status == 200)
    let ended = await calls.house.ask(.delete, "/v1/calls/\(id)")
    #expect(ended.status == 200 && ended["status"] as? String == "inactive")
  }

  @Test(arguments: StoreKind.allCases)
  func `a token of a room is none of a person`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let guest = House.token("ada") { $0 = .join("demo") }
    for path in ["/v1/calls", "/v1/devices", "/v1/blocks", "/v1/calls/events"] {
      #expect(await calls.house.ask(.get, path, token: guest).status == 403)
      #expect(await calls.house.ask(.get, path, token: nil).status == 401)
      #expect(
        await calls.house.ask(.get, path, token: House.token("ada", expires: House.now - 600)).status == 401)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who asks wrongly learns what is missing`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let id = UUID().uuidString
    let bodies: [(String, Int, String)] = [
      ("{}", 400, "id"), (#"{"id":"x","recipients":["bob"],"media":"audio"}"#, 400, "id"),
      (#"{"id":"\#(id)","media":"audio"}"#, 400, "recipients"),
      (#"{"id":"\#(id)","recipients":["bob"]}"#, 400, "media"),
      (#"{"id":"\#(id)","recipients":["bob"],"media":"smell"}"#, 400, "media"),
      (#"{"id":"\#(id)","recipients":["bob"],"media":"audio","colour":1}"#, 400, "colour"),
      (#"{"id":"\#(id)","recipients":["ada"],"media":"audio"}"#, 422, "caller"),
    ]
    for (body, status, word) in bodies {
      let answer = await calls.ask(.post, "/v1/calls", body, by: "ada")
      #expect(answer.status == status && answer.detail?.contains(word) == true, "\(body): \(answer.text)")
    }
    let (known, _) = await calls.start("ada", "bob")
    let leave = await calls.ask(.post, "/v1/calls/\(known)/leave", #"{"reason":"removed"}"#, by: "bob")
    #expect(leave.status == 400 && leave.detail?.contains("userLeft") == true)
    #expect(await calls.ask(.put, "/v1/calls/\(known)", by: "ada").status == 405)
  }

  // MARK: - The room

  @Test(arguments: StoreKind.allCases)
  func `a call's room admits its people and no others, stands as long as the call, and connecting joins`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    let room = try #require(call(started)["room"] as? String)
    #expect(await calls.house.ask(.get, "/v1/rooms/\(room)").status == 200)
    let mallory = calls.house.connect(House.token("mallory") { $0 = .join(room) }, room: room)
    let refused = try await mallory.next("error")
    #expect(refused["code"] as? String == "room-not-found")
    let rung = await calls.ask(.get, "/v1/calls/events?after=0", by: "bob")
    let token = try #require((rung.items.first?["data"] as? NSDictionary)?["token"] as? String)
    let bob = calls.house.connect(token, room: room)
    _ = try await bob.next("joined")
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    #expect(shown["activeParticipants"] as? [String] == ["ada", "bob"])
    // An administrator sees it, and is none of its people.
    let admin = calls.house.connect(
      House.token("boss") {
        $0 = .join(room)
        $0.roomAdmin = true
      }, room: room)
    _ = try await admin.next("joined")
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada")
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "bob")
    for _ in 0..<200 where await calls.house.ask(.get, "/v1/rooms/\(room)").status == 200 {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(await calls.house.ask(.get, "/v1/rooms/\(room)").status == 404)
    let late = calls.house.connect(token, room: room)
    #expect(try await late.next("error")["code"] as? String == "room-not-found")
  }

  @Test(arguments: StoreKind.allCases)
  func `a device that takes a call over closes the other, which reads that it moved`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    let room = try #require(call(started)["room"] as? String)
    let phone = calls.house.connect(try #require(started["token"] as? String), room: room)
    _ = try await phone.next("joined")
    let refused = await calls.join(id, "ada", device: "tablet")
    #expect(refused.status == 409 && refused.problem == "active-elsewhere")
    let moved = await calls.ask(
      .post, "/v1/calls/\(id)/join", #"{"deviceId":"tablet","takeover":true}"#, by: "ada")
    #expect(moved.status == 200)
    #expect(try await phone.next("closed")["reason"] as? String == "movedElsewhere")
    #expect(SignallingCloseCode(.movedElsewhere).rawValue == 4013)
    let tablet = calls.house.connect(try #require(moved["token"] as? String), room: room)
    _ = try await tablet.next("joined")
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    #expect(shown["activeParticipants"] as? [String] == ["ada"])
  }

  // MARK: - Devices, blocks and signals

  @Test(arguments: StoreKind.allCases)
  func `devices are listed with their tokens cut, and go`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let body = #"{"platform":"apns-voip","token":"abcdefgh","topic":"app.example"}"#
    #expect(await calls.ask(.put, "/v1/devices/phone", body, by: "ada").status == 200)
    let listed = await calls.ask(.get, "/v1/devices", by: "ada")
    #expect(listed.items.map { $0["token"] as? String } == ["abcd"] && !listed.text.contains("efgh"))
    #expect(await calls.ask(.get, "/v1/devices", by: "bob").items.isEmpty)
    #expect(await calls.ask(.delete, "/v1/devices/phone", by: "bob").status == 404)
    #expect(await calls.ask(.delete, "/v1/devices/phone", by: "ada").status == 204)
    #expect(
      await calls.ask(.put, "/v1/devices/phone", #"{"platform":"apns-voip","token":"a"}"#, by: "ada").status
        == 400)
  }

  @Test(arguments: StoreKind.allCases)
  func `who is blocked rings no one`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    #expect(await calls.ask(.put, "/v1/blocks/ada", by: "bob").status == 204)
    #expect(await calls.ask(.get, "/v1/blocks", by: "bob").text.contains("ada"))
    let (id, started) = await calls.start("ada", "bob")
    #expect(call(started)["invitedParticipants"] as? [String] == ["bob"])
    #expect(await calls.ask(.get, "/v1/calls/events?after=0", by: "bob").items.isEmpty)
    #expect(await calls.ask(.get, "/v1/calls/\(id)", by: "bob").status == 404)
    #expect(await calls.ask(.delete, "/v1/blocks/ada", by: "bob").status == 204)
  }

  @Test(arguments: StoreKind.allCases)
  func `a signal arrives as it was sent, once`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    let body = #"{"id":"\#(UUID().uuidString)","to":"bob","kind":"offer","payload":"AQID","clear":{"a":1}}"#
    for _ in 0..<2 {
      let sent = await calls.ask(.post, "/v1/calls/\(id)/signals", body, by: "ada")
      #expect(sent.status == 201 && sent["number"] as? Int == 1)
    }
    let heard = await calls.ask(.get, "/v1/calls/events?after=0", by: "bob")
    #expect(heard.items.map { $0["event"] as? String } == ["call.ringing", "call.signal"])
    #expect((heard.items[1]["data"] as? NSDictionary)?["payload"] as? String == "AQID")
    let wrong = #"{"id":"\#(UUID().uuidString)","to":"bob","kind":"offer","payload":"%%"}"#
    #expect(await calls.ask(.post, "/v1/calls/\(id)/signals", wrong, by: "ada").status == 400)
  }

  @Test(arguments: StoreKind.allCases)
  func `a person may be forgotten by itself and by who runs every room`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    #expect(await calls.ask(.delete, "/v1/people/ada", by: "bob").status == 403)
    #expect(await calls.ask(.delete, "/v1/people/bob", by: "bob").status == 204)
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    #expect((shown["names"] as? NSDictionary)?["bob"] as? String == "deleted")
    #expect(await calls.house.ask(.delete, "/v1/people/ada").status == 204)
  }
}
