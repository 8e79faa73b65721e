import AccessTokens
import Foundation
import HTTPServer
import Model
import Rooms
import Testing

@testable import Gateway

@Suite("REST: participants", .timeLimit(.minutes(2)))
struct ParticipantsRESTTests {
  static let path = "/v1/rooms/demo/participants"

  @Test func `participants are shown with their tracks, what they get and what they may do`() async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    let track = try await ada.publish(.video, as: "screen_share")
    let bob = try await house.enter("bob") { $0.canPublishSources = [.microphone] }
    let slot = try await bob.offer(receivers: 1)
    _ = try await house.enter("ghost") { $0.hidden = true }

    let shown = await house.ask(.get, "\(Self.path)/ada")
    #expect(shown.status == 200 && shown["id"] == ada.id as NSString && shown["hidden"] == false as NSNumber)
    let expected: [NSDictionary] = [
      [
        "id": track, "kind": "video", "source": "screen_share", "muted": false, "mutedByAdmin": false,
        "encrypted": false,
      ]
    ]
    #expect(shown["tracks"] as? [NSDictionary] == expected && shown["subscriptions"] as? [NSDictionary] == [])
    let other = await house.ask(.get, "\(Self.path)/bob")
    let mid = (slot["slots"] as? [NSDictionary])?.first { $0["track"] as? String == track }?["mid"] as? String
    let subscriptions: [NSDictionary] = [["track": track, "mid": mid ?? "?", "state": "active"]]
    #expect(other["subscriptions"] as? [NSDictionary] == subscriptions)
    let permissions: NSDictionary = [
      "canPublish": true, "canPublishSources": ["microphone"], "canSubscribe": true, "canPublishData": true,
      "canUpdateOwnMetadata": false,
    ]
    #expect(other["permissions"] as? NSDictionary == permissions)

    let page = await house.ask(.get, "\(Self.path)?limit=2")
    #expect(page.items.map { $0["identity"] as? String } == ["ada", "bob"])
    let rest = await house.ask(.get, "\(Self.path)?after=\(page["next"] as? String ?? "")")
    #expect(rest.items.map { $0["identity"] as? String } == ["ghost"] && rest["next"] == nil)
    #expect(rest.items.first?["hidden"] as? Bool == true)
    for path in ["\(Self.path)/stranger", "/v1/rooms/none/participants/ada"] {
      #expect(await house.ask(.get, path).status == 404)
    }
    #expect(await house.ask(.get, "\(Self.path)/stranger").problem == "participant-not-found")
    #expect(await house.ask(.get, "\(Self.path)/%00").problem == "identity")
  }

  @Test func `names, metadata and attributes change at once, for everybody to see`() async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    let bob = try await house.enter("bob")
    let changed = await house.ask(
      .patch, "\(Self.path)/bob", #"{"name":"Bob","metadata":"m","attributes":{"a":"1","b":"2"}}"#)
    #expect(changed.status == 200 && changed["name"] == "Bob" as NSString)
    for guest in [ada, bob] {
      let event = try await guest.event("participant.updated")["participant"] as? NSDictionary
      #expect(
        event?["name"] as? String == "Bob"
          && event?["attributes"] as? [String: String] == ["a": "1", "b": "2"])
    }
    let merged = await house.ask(
      .patch, "\(Self.path)/bob", #"{"name":null,"attributes":{"a":null,"b":"","c":"3"}}"#)
    #expect(merged["name"] == nil && merged["metadata"] == "m" as NSString)
    #expect(merged["attributes"] as? [String: String] == ["c": "3"])
    let cleared = await house.ask(.patch, "\(Self.path)/bob", #"{"metadata":null,"attributes":null}"#)
    #expect(cleared["metadata"] == nil && cleared["attributes"] as? [String: String] == [:])
    for _ in 0..<2 { _ = try await ada.event("participant.updated") }
    // Nothing changes, so nothing is said.
    _ = await house.ask(.patch, "\(Self.path)/bob", "{}")
    _ = await house.ask(.patch, "\(Self.path)/bob", #"{"permissions":{"canPublish":true}}"#)
    #expect(try await bob.verdict("leave") == "closed")
    let next = try #require(try await ada.next("event")["event"] as? NSDictionary)
    #expect(next["type"] as? String == "participant.left")
  }

  @Test func `ten thousand attributes are too many, and 65,537 bytes too much`() async throws {
    let house = try House()
    _ = try await house.enter("ada")
    func attributes(_ count: Int) -> String {
      #"{"attributes":{"# + (0..<count).map { #""k\#($0)":"v""# }.joined(separator: ",") + "}}"
    }
    #expect(await house.ask(.patch, "\(Self.path)/ada", attributes(256)).status == 200)
    for count in [257, 10_000] {
      let refused = await house.ask(.patch, "\(Self.path)/ada", attributes(count))
      #expect(refused.status == 413 && refused.problem == "too-large")
      #expect(refused.detail == "there can be at most 256 attributes, of 64 KiB in total")
    }
    for body in [#"{"metadata":"\#(String(repeating: "x", count: 65_537))"}"#] {
      let refused = await house.ask(.patch, "\(Self.path)/ada", body)
      #expect(refused.status == 413 && refused.detail == "metadata can have at most 64 KiB")
    }
    let shown = await house.ask(.get, "\(Self.path)/ada")
    #expect((shown["attributes"] as? [String: String])?.count == 256)
  }

  /// A token has 12 KiB for all that it says; what is larger comes this way.
  @Test(arguments: [12_288, 12_289, 40_000, 65_536])
  func `metadata that no token has room for is set by a change`(count: Int) async throws {
    let house = try House()
    _ = try await house.enter("ada")
    let text = String(repeating: "x", count: count)
    let changed = await house.ask(.patch, "\(Self.path)/ada", #"{"metadata":"\#(text)"}"#)
    #expect(changed.status == 200 && changed["metadata"] as? String == text)
    let shown = await house.ask(.get, "\(Self.path)/ada")
    #expect(shown["metadata"] as? String == text)
  }

  static let bodies: [(body: String, detail: String)] = [
    (#"{"identity":"x"}"#, "identity is not a known member"),
    (#"{"permissions":{"hidden":true}}"#, "permissions.hidden is not a known member"),
    (#"{"permissions":null}"#, "permissions must be an object"),
    (#"{"permissions":{"canPublish":1}}"#, "permissions.canPublish must be true or false"),
    (
      #"{"permissions":{"canPublishSources":["hologram"]}}"#,
      "permissions.canPublishSources must be a list of camera, microphone, screen_share, screen_share_audio, unknown"
    ),
    (#"{"attributes":[]}"#, "attributes must be an object of strings"),
    (#"{"attributes":{"a":1}}"#, "attributes must be an object of strings"),
    (#"{"name":""}"#, "name must be a string of 1 to 128 bytes without control characters"),
  ]

  @Test func `a change that isn't right changes nothing`() async throws {
    let house = try House()
    _ = try await house.enter("ada") { $0.canUpdateOwnMetadata = true }
    let before = await house.ask(.get, "\(Self.path)/ada").json
    for (body, detail) in Self.bodies {
      let refused = await house.ask(.patch, "\(Self.path)/ada", body)
      #expect(refused.status == 400 && refused.problem == "body" && refused.detail == detail, "\(body)")
    }
    #expect(await house.ask(.get, "\(Self.path)/ada").json == before)
  }

  @Test func `a removed participant gets the reason, and stays out with every earlier token`() async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    let bob = try await house.enter("bob")
    #expect(await house.ask(.delete, "\(Self.path)/ada").status == 204)
    #expect(try await ada.next("closed")["reason"] as? String == "removed")
    await ada.ended()
    #expect(ada.socket.closeCode == 4010)
    #expect(try await bob.event("participant.left")["reason"] as? String == "removed")
    // Who is absent is removed as well, also from a room that isn't there.
    for path in ["\(Self.path)/ada", "\(Self.path)/never", "/v1/rooms/none/participants/ada"] {
      #expect(await house.ask(.delete, path).status == 204)
    }
    for identity in ["never", "ada"] {
      let room = identity == "ada" ? "none" : "demo"
      let token = House.token(identity, issued: House.now - 5) { $0 = .join(room) }
      #expect(await house.upgrade(token, room: room).problem == "token-removed")
    }

    // Of before, or of who knows when.
    for issued in [House.now - 100, nil] {
      let token = House.token("ada", issued: issued) {
        $0 = .join("demo")
        $0.roomAdmin = true
        $0.roomList = true
      }
      let again = house.connect(token)
      #expect(try await again.next("joined")["code"] as? String == "token-removed")
      await again.ended()
      #expect(again.socket.closeCode == 4003)
      let door = await house.upgrade(token)
      #expect(door.status == 403 && door.problem == "token-removed")
      for path in [Self.path, "/v1/rooms/demo"] {
        let refused = await house.ask(.get, path, token: token)
        #expect(refused.status == 403 && refused.problem == "token-removed")
      }
      // Elsewhere it is as good as ever.
      let elsewhere = House.token("ada", issued: issued) { $0 = .join("other") }
      #expect(try await house.connect(elsewhere, room: "other").next("joined")["type"] as? String == "joined")
    }
    // One of afterwards lets it in.
    let fresh = House.token("ada", issued: House.now + 1) { $0 = .join("demo") }
    #expect(try await house.connect(fresh).next("joined")["type"] as? String == "joined")
    #expect(try await house.enter("bea").verdict("ping") == "pong")
  }

  @Test func `a join that slips past the door is stopped in the room`() async throws {
    let house = try House()
    _ = try await house.enter("ada")
    #expect(await house.ask(.delete, "\(Self.path)/ada").status == 204)
    await #expect(throws: JoinError.removed) {
      _ = try await house.directory.join(room: "demo", identity: "ada", name: nil, grants: .join("demo"))
    }
    #expect(house.directory.counts.refusedRemoved == 1)
  }

  @Test func `an administrator's mute is known to all, and only that mute is lifted again`() async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    let bob = try await house.enter("bob")
    let track = try await ada.publish(.audio, as: "microphone")
    let mute = "\(Self.path)/ada/tracks/\(track)/mute"

    let held = await house.ask(.post, mute, #"{"muted":true}"#)
    #expect(
      held.status == 200 && held["muted"] == true as NSNumber && held["mutedByAdmin"] == true as NSNumber)
    // All learn of it, its publisher too.
    for person in [ada, bob] {
      let heard = try await person.event("track.muted")
      let track = try #require(heard["track"] as? NSDictionary)
      #expect(track["muted"] as? Bool == true && track["mutedByAdmin"] as? Bool == true)
      #expect(heard["participant"] as? NSDictionary == ["id": ada.id, "identity": "ada"])
    }
    // The publisher can't lift it.
    #expect(try await ada.verdict("mute", #""track":"\#(track)","muted":false"#) == "not-allowed")
    let freed = await house.ask(.post, mute, #"{"muted":false}"#)
    #expect(freed["muted"] == false as NSNumber && freed["mutedByAdmin"] == false as NSNumber)
    _ = try await bob.event("track.unmuted")

    // Its own isn't lifted by anyone else.
    #expect(try await ada.verdict("mute", #""track":"\#(track)","muted":true"#) == "ok")
    _ = try await bob.event("track.muted")
    let still = await house.ask(.post, mute, #"{"muted":false}"#)
    #expect(still.status == 200 && still["muted"] == true as NSNumber)
    // Held by both: each lifts one's own.
    _ = await house.ask(.post, mute, #"{"muted":true}"#)
    #expect(try await ada.verdict("mute", #""track":"\#(track)","muted":false"#) == "not-allowed")
    _ = await house.ask(.post, mute, #"{"muted":false}"#)
    #expect(try await ada.verdict("mute", #""track":"\#(track)","muted":false"#) == "ok")
    _ = try await bob.event("track.unmuted")

    for (path, code) in [
      ("\(Self.path)/bob/tracks/\(track)/mute", "track-not-found"),
      ("\(Self.path)/ada/tracks/TR_none/mute", "track-not-found"),
      ("\(Self.path)/eve/tracks/\(track)/mute", "participant-not-found"),
      ("/v1/rooms/none/participants/ada/tracks/\(track)/mute", "room-not-found"),
    ] {
      let refused = await house.ask(.post, path, #"{"muted":true}"#)
      #expect(refused.status == 404 && refused.problem == code)
    }
    for body in ["{}", #"{"muted":null}"#, #"{"muted":"yes"}"#, #"{"muted":true,"track":1}"#] {
      #expect(await house.ask(.post, mute, body).problem == "body")
    }
  }

  @Test func `a message goes to everybody, or to those it names`() async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    let bob = try await house.enter("bob")
    let data = "/v1/rooms/demo/data"
    #expect(
      await house.ask(.post, data, #"{"payload":"aGVsbG8=","topic":"t","reliable":true}"#).status == 204)
    for guest in [ada, bob] {
      let expected: NSDictionary = [
        "type": "data", "from": NSNull(), "payload": "aGVsbG8=", "topic": "t", "reliable": true,
      ]
      #expect(try await guest.next("data") == expected)
    }
    let named = #"{"payload":"","reliable":false,"destinations":["bob","stranger"]}"#
    #expect(await house.ask(.post, data, named).status == 204)
    // As in LiveKit, an empty list names everybody.
    #expect(await house.ask(.post, data, #"{"payload":"eA==","destinations":[]}"#).status == 204)
    #expect(try await bob.next("data")["reliable"] as? Bool == false)
    #expect(try await ada.next("data")["payload"] as? String == "eA==")
    #expect(try await bob.next("data")["payload"] as? String == "eA==")
    #expect(try await ada.verdict("data", #""payload":"eQ==","destinations":[]"#) == "ok")
    #expect(try await bob.next("data")["payload"] as? String == "eQ==")
    let most = String(repeating: "A", count: 21_848)
    #expect(await house.ask(.post, data, #"{"payload":"\#(most)"}"#).status == 204)
    for body in [
      "{}", #"{"payload":"not base64"}"#, #"{"payload":"\#(most)AAAA"}"#, #"{"payload":"","topic":""}"#,
      #"{"payload":"","destinations":"bob"}"#, #"{"payload":"","destinations":[1]}"#,
      #"{"payload":"","from":"PA_1"}"#,
    ] {
      #expect(await house.ask(.post, data, body).problem == "body", "\(body.prefix(60))")
    }
    #expect(await house.ask(.post, "/v1/rooms/none/data", #"{"payload":""}"#).problem == "room-not-found")
  }

  @Test func `a name that is markup stays the text that it is`() async throws {
    let house = try House()
    let name = #"<img onerror="alert(1)" src=x>"#
    _ = try await house.enter(name)
    let path = "\(Self.path)/\(name.percentEncoded())"
    let shown = await house.ask(.get, path)
    #expect(shown.status == 200 && shown["identity"] == name as NSString)
    #expect(shown.headers["content-type"] == "application/json")
    #expect(await house.ask(.patch, path, #"{"name":"<script>","metadata":"</script>"}"#).status == 200)
    let joined = try await house.connect(House.token("eve") { $0 = .join("demo") }).next("joined")
    let other = try #require((joined["participants"] as? [NSDictionary])?.first)
    #expect(other["identity"] as? String == name && other["name"] as? String == "<script>")
    #expect(await house.ask(.delete, path).status == 204)
  }
}
