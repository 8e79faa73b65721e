import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import Signalling
import TestStores
import Testing

@testable import Gateway

@Suite("REST: what who starts or joins a call is given", .timeLimit(.minutes(2)))
struct CallTokenTests {
  private static let keys = [
    "APIkey": House.secret, "otherKey": "another secret that is long enough to be one",
  ]

  private func token(_ person: String, by key: String) -> String {
    AccessToken(
      apiKey: key, identity: person, expires: House.now + 600, issuedAt: House.now, grants: Grants()
    ).signed(secret: Self.keys[key] ?? "")
  }

  /// What is answered by a door that knows both keys, and a TURN server.
  private func ask(
    _ calls: CallHouse, _ path: String, _ body: String, token: String
  ) async throws -> NSDictionary {
    let door = CallDoor(
      desk: calls.desk, rooms: calls.rooms, crossOrigin: CrossOrigin(),
      tokens: CallTokens(keys: Self.keys, now: { House.now }),
      iceServers: { [ICEServerBody(urls: ["turn:relay.example:3478"], username: $0, credential: "c")] },
      verify: { text throws(AccessTokenRefusal) in
        try AccessToken(verifying: text, keys: Self.keys, now: House.now)
      },
      charge: { _, _ in .zero }, owe: { _, _ in },
      readings: ReadingBudgets(charge: { _, _, _ in ReadingDebt() }, take: { _, _, _ in .zero }),
      publicURL: nil, authorizer: nil, isDirectoryOpen: true, wallMilliseconds: { calls.desk.now.wall })
    let request = HTTPRequest(
      method: .post, path: path,
      headers: [
        "host": "relay.example", "content-type": "application/json", "authorization": "Bearer \(token)",
      ], body: Array(body.utf8))
    let answer = try #require(await door.response(to: request))
    #expect((200..<300).contains(answer.status), "\(path): \(String(decoding: answer.body, as: UTF8.self))")
    return try #require(JSONSerialization.jsonObject(with: Data(answer.body)) as? NSDictionary)
  }

  /// Ada starts a call by one key, and bob joins it by another.
  private func talk(
    _ calls: CallHouse
  ) async throws -> (id: String, started: NSDictionary, joined: NSDictionary) {
    let id = SessionScene.uuid()
    let start = #"{"id":"\#(id)","recipients":["bob"],"media":"audio","deviceId":"ada1"}"#
    let started = try await ask(calls, "/v1/calls", start, token: token("ada", by: "otherKey"))
    let joined = try await ask(
      calls, "/v1/calls/\(id)/join", #"{"deviceId":"bob1"}"#, token: token("bob", by: "APIkey"))
    return (id, started, joined)
  }

  @Test(arguments: StoreKind.allCases)
  func `all tokens of a call are signed by the key of who started it`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, started, joined) = try await talk(calls)
    for (answer, person) in [(started, "ada"), (joined, "bob")] {
      let text = try #require(answer["token"] as? String)
      var keys = Self.keys
      let read = try AccessToken(verifying: text, keys: keys, now: House.now)
      #expect(read.apiKey == "otherKey" && read.identity == person)
      #expect(read.call == CallClaim(id: id, device: "\(person)1"))
      keys["otherKey"] = nil
      #expect(throws: AccessTokenRefusal.self) {
        try AccessToken(verifying: text, keys: keys, now: House.now)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the servers for ICE are answered to a start and to a join, for the session of each`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (_, started, joined) = try await talk(calls)
    for answer in [started, joined] {
      let servers = try #require(answer["iceServers"] as? [NSDictionary])
      #expect(servers.count == 1 && servers[0]["urls"] as? [String] == ["turn:relay.example:3478"])
      #expect(servers[0]["username"] as? String == answer["session"] as? String)
    }
    #expect(started["session"] as? String != joined["session"] as? String)
  }

  @Test(arguments: StoreKind.allCases)
  func `a token of a call is of that call and device after it has been renewed`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    let joined = await calls.join(id, "bob", device: "phone")
    var text = try #require(joined["token"] as? String)
    for _ in 0..<3 {
      let read = try AccessToken(verifying: text, keys: Self.keys, now: House.now)
      text = read.renewed(at: House.now, grants: read.grants).signed(secret: House.secret)
    }
    let read = try AccessToken(verifying: text, keys: Self.keys, now: House.now)
    #expect(read.call == CallClaim(id: id, device: "phone"))
    #expect(await calls.house.ask(.get, "/v1/calls/\(id)", token: text).status == 200)
    let again = await calls.house.ask(.post, "/v1/calls/\(id)/join", "{}", token: text)
    #expect(again.status == 200 && again["device"] as? String == "phone")
    // It opens no other, and nothing of the person's.
    let (other, _) = await calls.start("eve", "bob")
    #expect(await calls.house.ask(.get, "/v1/calls/\(other)", token: text).status == 403)
    #expect(await calls.house.ask(.get, "/v1/devices", token: text).status == 403)
  }

  @Test(arguments: StoreKind.allCases)
  func `the same device that joins again has another session, and a token that holds for longer`(
    kind: StoreKind
  ) async throws {
    let wall = WallClock(House.now)
    let calls = try await CallHouse(on: kind, wall: wall)
    let (id, _) = await calls.start("ada", "bob")
    var tokens: [AccessToken] = []
    var sessions: Set<String> = []
    for _ in 0..<3 {
      let joined = await calls.join(id, "bob")
      #expect(joined.status == 200 && joined["device"] as? String == "bob1")
      let text = try #require(joined["token"] as? String)
      tokens.append(try AccessToken(verifying: text, keys: Self.keys, now: wall.now))
      sessions.insert(try #require(joined["session"] as? String))
      wall.advance(by: 60)
    }
    #expect(sessions.count == 3)
    #expect(tokens.map { $0.expires - tokens[0].expires } == [0, 60, 120])
    #expect(Set(tokens.compactMap { $0.call?.device }) == ["bob1"])
  }

  @Test(arguments: StoreKind.allCases)
  func `a person who calls someone that is ringing them joins that call, and the answer says so`(
    kind: StoreKind
  ) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, first) = await calls.start("ada", "bob")
    #expect(first.json["merged"] == nil)
    let second = await calls.start("bob", "ada").answer
    #expect(second.status == 201 && second["merged"] as? Bool == true)
    let call = try #require(second["call"] as? NSDictionary)
    #expect(call["id"] as? String == id && call["activeParticipants"] as? [String] == ["ada", "bob"])
    #expect(second["token"] is String && second["device"] as? String == "bob1")
  }
}
