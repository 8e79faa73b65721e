import AccessTokens
import Foundation
import HTTPServer
import Model
import Rooms
import Testing

@testable import Gateway

@Suite("REST: invitations", .timeLimit(.minutes(2)))
struct InvitationsRESTTests {
  private static let path = "/v1/rooms/demo/invitations"

  /// An invitation to a room that there is, by a host of it.
  private struct Link {
    let house: House
    let id: String
    let secret: String

    init(
      _ house: House, _ body: String = #"{"ttl":600}"#, _ own: (inout Grants) -> Void = { _ in }
    ) async throws {
      self.house = house
      _ = await house.ask(.post, "/v1/rooms", #"{"name":"demo"}"#)
      let made = await house.ask(.post, InvitationsRESTTests.path, body, token: House.host(own))
      try #require(made.status == 201, "\(made.text)")
      id = try #require(made["id"] as? String)
      secret = try #require(made["invitation"] as? String)
    }

    /// - Parameter address: the last part of that from which it comes.
    func open(_ more: String = "", from address: UInt8 = 1) async -> House.Answer {
      let response = await house.gateway.respond(
        to: HTTPRequest(
          method: .post, path: "/v1/invitations/open",
          headers: ["host": "relay.example", "content-type": "application/json"],
          body: Array(#"{"invitation":"\#(secret)"\#(more)}"#.utf8),
          remote: SocketAddress(ipv4: 192, 0, 2, address, port: 9)))
      return House.Answer(
        status: response.status, headers: response.headers,
        text: String(decoding: response.body, as: UTF8.self))
    }

    /// - Returns: a token that it gives.
    func token() async throws -> String { try #require(await open()["token"] as? String) }

    func revoke() async {
      let gone = await house.ask(.delete, "\(InvitationsRESTTests.path)/\(id)", token: House.host())
      #expect(gone.status == 204)
    }
  }

  @Test func `each who opens a link is somebody else, with what it allows`() async throws {
    let house = try House()
    _ = await house.ask(.post, "/v1/rooms", #"{"name":"demo"}"#)
    let made = await house.ask(.post, Self.path, #"{"ttl":600,"uses":9}"#, token: House.host())
    let (id, secret) = (made["id"] as? String ?? "?", made["invitation"] as? String ?? "?")
    #expect(made.status == 201 && made.headers["location"] == "\(Self.path)/\(id)" && id.hasPrefix("IV_"))
    #expect(made["url"] as? String == "http://relay.example/?room=demo#invitation=\(secret)")
    #expect(made["uses"] as? Int == 9 && made["opened"] as? Int == 0 && made["room"] as? String == "demo")
    let grants: NSDictionary = [
      "canPublish": true, "canSubscribe": true, "canPublishData": true, "canUpdateOwnMetadata": false,
      "admitted": false,
    ]
    #expect(made["grants"] as? NSDictionary == grants)

    var identities: Set<String> = []
    for name in ["Eve", "Eve"] {
      let opened = await house.ask(
        .post, "/v1/invitations/open", #"{"invitation":"\#(secret)","name":"\#(name)"}"#, token: nil)
      #expect(opened.status == 200 && opened["room"] as? String == "demo")
      let identity = try #require(opened["identity"] as? String)
      #expect(identity.hasPrefix("guest-") && identity.utf8.count == 18)
      identities.insert(identity)
      let joined = try await house.connect(try #require(opened["token"] as? String)).next("joined")
      let me = joined["participant"] as? NSDictionary
      #expect(me?["identity"] as? String == identity && me?["name"] as? String == "Eve")
    }
    #expect(identities.count == 2)
    let list = await house.ask(.get, Self.path)
    #expect(list.items.count == 1 && list.items[0]["opened"] as? Int == 2)
    #expect(!list.text.contains(secret) && list.items[0]["url"] == nil, "the secret is shown once")
  }

  /// What a token may do, what an invitation by it is to allow, and the answer.
  typealias Wanted = (
    own: @Sendable (inout Grants) -> Void, grants: String, status: Int, problem: String?
  )
  static let wanted: [Wanted] = [
    ({ $0.canPublish = false }, #"{"canPublish":true}"#, 403, "not-allowed"),
    ({ $0.canSubscribe = false }, #"{"canSubscribe":true}"#, 403, "not-allowed"),
    ({ $0.canPublishData = false }, #"{"canPublishData":true}"#, 403, "not-allowed"),
    ({ _ in }, #"{"canUpdateOwnMetadata":true}"#, 403, "not-allowed"),
    ({ $0.canPublishSources = [.microphone] }, #"{"canPublishSources":["camera"]}"#, 403, "not-allowed"),
    ({ $0.hidden = true }, #"{"canPublish":true}"#, 403, "not-allowed"),
    ({ $0.roomJoin = false }, "{}", 403, "token-not-for-this"),
    ({ $0.room = Grants.everyRoom }, "{}", 403, "token-not-for-this"),
    ({ $0.roomAdmin = false }, "{}", 403, "token-not-for-this"),
    ({ _ in }, #"{"roomAdmin":true}"#, 400, "body"), ({ _ in }, #"{"hidden":true}"#, 400, "body"),
    ({ _ in }, #"{"canPublish":1}"#, 400, "body"), ({ _ in }, "[]", 400, "body"),
    ({ $0.canUpdateOwnMetadata = true }, #"{"canUpdateOwnMetadata":true}"#, 201, nil),
    ({ $0.canPublishSources = [.microphone] }, #"{"canPublishSources":["microphone"]}"#, 201, nil),
    ({ $0.canPublish = false }, "{}", 201, nil),
  ]

  @Test(arguments: wanted.indices)
  func `an invitation allows no more than who makes it may do`(index: Int) async throws {
    let (own, grants, status, problem) = Self.wanted[index]
    let house = try House()
    _ = await house.ask(.post, "/v1/rooms", #"{"name":"demo"}"#)
    let made = await house.ask(
      .post, Self.path, #"{"ttl":60,"grants":\#(grants)}"#, token: House.host(own))
    #expect(made.status == status && made.problem == problem, "\(grants): \(made.text)")
    #expect(await house.ask(.get, Self.path).items.count == (status == 201 ? 1 : 0))
  }

  @Test func `what isn't said is as who makes it may do, also by a list that says nothing`() async throws {
    for grants in ["{}", #"{"canPublishSources":[]}"#] {
      let house = try House()
      let link = try await Link(house, #"{"ttl":60,"grants":\#(grants)}"#) {
        $0.canPublishSources = [.microphone]
        $0.canSubscribe = false
      }
      let joined = try await house.connect(try await link.token()).next("joined")
      let may = (joined["participant"] as? NSDictionary)?["permissions"] as? NSDictionary
      #expect(may?["canPublishSources"] as? [String] == ["microphone"])
      #expect(may?["canSubscribe"] as? Bool == false && may?["canPublish"] as? Bool == true)
    }
  }

  @Test func `one that is revoked opens nothing, and its tokens let those in no more who are out`()
    async throws
  {
    let house = try House()
    let link = try await Link(house)
    let (used, unused) = (try await link.token(), try await link.token())
    let guest = house.connect(used)
    #expect(try await guest.next("joined")["type"] as? String == "joined")
    await link.revoke()
    #expect(await link.open().problem == "invitation-not-found")
    let refused = house.connect(unused)
    #expect(try await refused.next("joined")["code"] as? String == "token-revoked")
    await refused.ended()
    #expect(refused.socket.closeCode == 4003)
    #expect(await house.upgrade(unused).problem == "token-revoked")
    let encoder = await house.ask(
      .post, "/whip/demo", try Encoder.offer(), token: unused, headers: Encoder.sdp)
    #expect(encoder.status == 403 && encoder.problem == "token-revoked")
    #expect(try await guest.verdict("ping") == "pong", "who is in stays")
    let again = await house.ask(.delete, "\(Self.path)/\(link.id)", token: House.host())
    #expect(again.status == 404 && again.problem == "invitation-not-found")
  }

  @Test
  func `a session of a client without a socket goes on when its link is revoked, and is its own to end`()
    async throws
  {
    let house = try House()
    let link = try await Link(house)
    let token = try await link.token()
    let made = await house.ask(.post, "/whip/demo", try Encoder.offer(), token: token, headers: Encoder.sdp)
    let path = try #require(made.headers["location"])
    await link.revoke()
    #expect(await house.ask(.get, path, token: token).status == 204)
    let restart = await house.ask(
      .patch, path, Encoder.restart, token: token,
      headers: [("content-type", "application/trickle-ice-sdpfrag"), ("if-match", "*")])
    #expect(restart.status == 200, "\(restart.text)")
    let second = await house.ask(.post, "/whip/demo", try Encoder.offer(), token: token, headers: Encoder.sdp)
    #expect(second.problem == "token-revoked")
    #expect(await house.ask(.delete, path, token: token).status == 200)
    #expect(house.directory.counts.participants == 0)
  }

  @Test func `what one admits to holds as long as it does, also by a token that was renewed`() async throws {
    let house = try House()
    try await house.makeAsking()
    let desk = try await house.enter("desk") { $0.roomAdmin = true }
    let link = try await Link(house, #"{"ttl":600,"grants":{"admitted":true}}"#)
    let first = try AccessToken(
      verifying: try await link.token(), keys: ["APIkey": House.secret], now: House.now)
    let renewed = first.renewed(at: House.now, grants: first.grants).renewed(
      at: House.now, grants: first.grants
    ).signed(secret: House.secret)
    let guest = house.connect(renewed)
    #expect(try await guest.next("joined")["type"] as? String == "joined", "it isn't asked again")
    guest.socket.hangUp()
    await link.revoke()
    let again = house.connect(renewed)
    #expect(try await again.next("waiting")["type"] as? String == "waiting")
    let encoder = await house.ask(
      .post, "/whip/demo", try Encoder.offer(), token: renewed, headers: Encoder.sdp)
    #expect(encoder.problem == "admission-required")
    #expect(try await desk.verdict("ping") == "pong")
  }

  @Test(arguments: [
    (false, nil, "http://relay.example/"), (true, nil, "https://relay.example/"),
    (true, "https://desk.example", "https://relay.example/"),
    (false, "https://relay.example", "https://relay.example/"),
    (false, "https://RELAY.example:443", "https://relay.example/"),
    (false, "http://relay.example", "http://relay.example/"),
    (false, "https://desk.example", "http://relay.example/"),
  ])
  func `its link has the scheme by which the server is reached`(isSecure: Bool, origin: String?, base: String)
    async throws
  {
    let house = try House { $0.isSecure = isSecure }
    _ = await house.ask(.post, "/v1/rooms", #"{"name":"demo"}"#)
    let made = await house.ask(
      .post, Self.path, #"{"ttl":600}"#, token: House.host(), headers: origin.map { [("origin", $0)] } ?? [])
    #expect((made["url"] as? String)?.hasPrefix(base + "?room=demo#invitation=") == true, "\(made.text)")
  }

  @Test func `who is removed comes again as somebody else, until the room is locked or the link revoked`()
    async throws
  {
    let house = try House()
    let link = try await Link(house)
    let desk = try await house.enter("desk")
    let opened = await link.open()
    let token = try #require(opened["token"] as? String)
    let identity = try #require(opened["identity"] as? String)
    let guest = house.connect(token)
    #expect(try await guest.next("joined")["type"] as? String == "joined")
    #expect(await house.ask(.delete, "/v1/rooms/demo/participants/\(identity)").status == 204)
    await guest.ended()
    #expect(await house.upgrade(token).problem == "token-removed")
    let again = try await link.token()
    #expect(await house.upgrade(again).status == 101, "the link is for all who have it")
    #expect(await house.ask(.patch, "/v1/rooms/demo", #"{"locked":true}"#).status == 200)
    let locked = try await house.connect(again).next("joined")
    #expect(locked["code"] as? String == "room-locked")
    await link.revoke()
    #expect(await link.open().problem == "invitation-not-found")
    #expect(await house.upgrade(again).problem == "token-revoked")
    #expect(try await desk.verdict("ping") == "pong")
  }

  @Test func `who waits by one that is revoked, or whose maker is removed, waits no longer`() async throws {
    let house = try House()
    try await house.makeAsking()
    let desk = try await house.enter("desk") { $0.roomAdmin = true }
    let (revoked, orphaned) = (try await Link(house), try await Link(house))
    let stranger = try await house.wait("stranger")
    for link in [revoked, orphaned] {
      let guest = house.connect(try await link.token())
      #expect(try await guest.next("waiting")["type"] as? String == "waiting")
      if link.id == revoked.id {
        await link.revoke()
      } else {
        #expect(await house.ask(.delete, "/v1/rooms/demo/participants/host").status == 204)
      }
      let error = try await guest.next("joined")
      #expect(error["code"] as? String == "token-revoked" && error["retry"] as? String == "never")
      await guest.ended()
      #expect(guest.socket.closeCode == 4003)
      let ended = try await desk.event("waiting.ended")["waiting"] as? NSDictionary
      #expect(ended?["reason"] as? String == "removed")
    }
    #expect(try await house.waiting().keys.elementsEqual(["stranger"]))
    // Nor is one let in where hosts are asked no more.
    #expect(await house.ask(.patch, "/v1/rooms/demo", #"{"admission":false}"#).status == 200)
    #expect(try await stranger.next("joined")["type"] as? String == "joined")
    #expect(house.directory.counts.participants == 2 && house.directory.counts.waiting == 0)
  }

  @Test func `it ends with its room, and with the removal of who has made it`() async throws {
    let house = try House()
    let first = try await Link(house)
    let token = try await first.token()
    #expect(await house.ask(.delete, "/v1/rooms/demo").status == 204)
    let second = try await Link(house)
    #expect(await first.open().problem == "invitation-not-found", "it is another room by now")
    #expect(await house.upgrade(token).problem == "token-revoked")
    let early = try await second.token()
    #expect(await house.upgrade(early).status == 101)
    #expect(await house.ask(.delete, "/v1/rooms/demo/participants/host").status == 204)
    #expect(await second.open().problem == "invitation-not-found")
    #expect(await house.upgrade(early).problem == "token-revoked", "who is removed has others come no more")
  }

  @Test func `one that was used up opens nothing, and its tokens are good`() async throws {
    let house = try House()
    let link = try await Link(house, #"{"ttl":60,"uses":1}"#)
    let token = try await link.token()
    #expect(await link.open().problem == "invitation-not-found")
    #expect(try await house.connect(token).next("joined")["type"] as? String == "joined")
  }

  @Test func `all who have a link share a pace, and one address has its own`() async throws {
    let clock = StandingClock()
    let house = try House(clock: clock) { $0.instant = { clock.now } }
    let links = [try await Link(house), try await Link(house)]
    // Ten at once from one address, whatever links it has.
    for number in 0..<10 { #expect(await links[number % 2].open(from: 200).status == 200) }
    for link in links {
      let refused = await link.open(from: 200)
      #expect(refused.status == 429 && refused.problem == "rate-limited")
      #expect(["6", "7"].contains(refused.headers["retry-after"] ?? ""))
    }
    // Of one a hundred, of which five have gone: nine addresses with all that they have leave some to the next.
    for number in 0..<95 { #expect(await links[0].open(from: UInt8(1 + number / 10)).status == 200) }
    let refused = await links[0].open(from: 100)
    #expect(refused.status == 429 && refused.headers["retry-after"] == "1")
    #expect(await links[1].open(from: 101).status == 200)
    clock.advance(by: .seconds(1))
    for address in 102...103 { #expect(await links[0].open(from: UInt8(address)).status == 200) }
    #expect(await links[0].open(from: 104).status == 429)
    #expect(await house.ask(.get, Self.path).items.compactMap { $0["opened"] as? Int } == [102, 6])
  }

  @Test func `who comes by one waits like others, unless it says otherwise`() async throws {
    let house = try House()
    try await house.makeAsking()
    let waits = try await Link(house)
    let guest = house.connect(try await waits.token())
    #expect(try await guest.next("waiting")["type"] as? String == "waiting")
    let admitted = try await Link(house, #"{"ttl":60,"grants":{"admitted":true}}"#)
    #expect(
      try await house.connect(try await admitted.token()).next("joined")["type"] as? String == "joined")
  }

  @Test func `a room has sixty-four at once`() async throws {
    let house = try House()
    _ = await house.ask(.post, "/v1/rooms", #"{"name":"demo"}"#)
    for _ in 0..<64 {
      #expect(await house.ask(.post, Self.path, #"{"ttl":60}"#, token: House.host()).status == 201)
    }
    let full = await house.ask(.post, Self.path, #"{"ttl":60}"#, token: House.host())
    #expect(full.status == 503 && full.problem == "full" && full.headers["retry-after"] != nil)
    let id = await house.ask(.get, Self.path).items[0]["id"] as? String ?? "?"
    #expect(await house.ask(.delete, "\(Self.path)/\(id)").status == 204)
    #expect(await house.ask(.post, Self.path, #"{"ttl":60}"#, token: House.host()).status == 201)
  }

  static let bodies: [(path: String, body: String, detail: String)] = [
    (path, "{}", "ttl is required"),
    (path, #"{"ttl":59}"#, "ttl must be a whole number from 60 to 604800"),
    (path, #"{"ttl":604801}"#, "ttl must be a whole number from 60 to 604800"),
    (path, #"{"ttl":60,"uses":0}"#, "uses must be a whole number from 1 to 1000"),
    (path, #"{"ttl":60,"uses":1001}"#, "uses must be a whole number from 1 to 1000"),
    (path, #"{"ttl":60,"room":"other"}"#, "room is not a known member"),
    (path, #"{"ttl":60,"grants":{"room":"other"}}"#, "grants.room is not a known member"),
    ("/v1/invitations/open", "{}", "invitation is required"),
    ("/v1/invitations/open", #"{"invitation":""}"#, "invitation must be the secret of an invitation"),
    (
      "/v1/invitations/open", #"{"invitation":"x","name":""}"#,
      "name must be a string of 1 to 128 bytes without control characters"
    ),
    ("/v1/invitations/open", #"{"invitation":"x","identity":"ada"}"#, "identity is not a known member"),
  ]

  @Test(arguments: bodies.indices)
  func `a body that isn't right is refused with what is wrong with it`(index: Int) async throws {
    let (path, body, detail) = Self.bodies[index]
    let house = try House()
    _ = await house.ask(.post, "/v1/rooms", #"{"name":"demo"}"#)
    let refused = await house.ask(.post, path, body, token: House.host())
    #expect(refused.status == 400 && refused.problem == "body" && refused.detail == detail, "\(body)")
  }

  @Test func `without its room there is none to be made, listed or revoked`() async throws {
    let house = try House()
    for (method, path, body) in [
      (HTTPMethod.post, Self.path, #"{"ttl":60}"#), (.get, Self.path, ""),
      (.delete, "\(Self.path)/IV_none", ""),
    ] {
      let answer = await house.ask(method, path, body, token: House.host())
      #expect(answer.status == 404 && answer.problem == "room-not-found", "\(method) \(path)")
    }
    #expect(await house.ask(.get, "/v1/rooms").items.isEmpty)
  }
}
