import AccessTokens
import Foundation
import HTTPServer
import Model
import Rooms
import Testing

@testable import Gateway

@Suite("REST: who waits to be let in, and who is kept out", .timeLimit(.minutes(2)))
struct WaitingRESTTests {
  private static func identity(_ event: NSDictionary) -> String? {
    (event["waiting"] as? NSDictionary)?["identity"] as? String
  }

  private static func reason(_ event: NSDictionary) -> String? {
    (event["waiting"] as? NSDictionary)?["reason"] as? String
  }

  /// Why the next waits no longer of whom a host hears that.
  private func ended(_ host: Guest) async throws -> String? {
    let event = try await host.event("waiting.ended")
    return Self.reason(event)
  }

  private func admit(_ identity: String, _ house: House, _ body: String = "") async -> House.Answer {
    await house.ask(.post, "/v1/rooms/demo/participants/\(identity)/admit", body)
  }

  @Test func `who comes waits, counts for nothing, and is in once it was let in`() async throws {
    let house = try House()
    try await house.makeAsking()
    let host = try await house.enterHost()
    #expect(host.joined.contains("waiting"), "a host sees that there is none")
    let ada = try await house.wait("ada")
    let heard = try await host.event("participant.waiting")
    #expect(Self.identity(heard) == "ada")

    let list = await house.ask(.get, "/v1/rooms/demo/waiting")
    #expect(list.status == 200 && list.items.count == 1 && list.items[0]["identity"] as? String == "ada")
    #expect(list.items[0]["id"] as? String == (heard["waiting"] as? NSDictionary)?["id"] as? String)
    for name in ["since", "until"] { #expect((list.items[0][name] as? String)?.hasSuffix("Z") == true) }
    let room = await house.ask(.get, "/v1/rooms/demo")
    #expect(room["participants"] == 1 as NSNumber && room["waiting"] == 1 as NSNumber)
    #expect(house.directory.counts.participants == 1 && house.directory.counts.waiting == 1)
    #expect(await house.ask(.get, "/v1/rooms/demo/participants").items.count == 1)
    #expect(await house.ask(.get, "/v1/rooms/demo/participants/ada").problem == "participant-not-found")

    #expect(await admit("ada", house).status == 204)
    let joined = try await ada.next("joined")
    #expect((joined["participant"] as? NSDictionary)?["identity"] as? String == "ada")
    #expect(joined["waiting"] == nil, "it is no host")
    let came = try await host.event("participant.joined")["participant"] as? NSDictionary
    #expect(came?["identity"] as? String == "ada")
    #expect(try await ended(host) == "admitted")
    #expect(try await house.waiting().isEmpty)
    #expect(house.directory.counts.participants == 2 && house.directory.counts.waiting == 0)
  }

  @Test func `who is refused is removed, with its tokens of before`() async throws {
    let house = try House()
    try await house.makeAsking()
    let ada = try await house.wait("ada", issued: House.now - 5)
    #expect(await house.ask(.delete, "/v1/rooms/demo/participants/ada").status == 204)
    #expect(try await ada.next("closed")["reason"] as? String == "removed")
    await ada.ended()
    #expect(ada.socket.closeCode == 4010)
    let again = house.connect(House.token("ada", issued: House.now - 5) { $0 = .join("demo") })
    #expect(try await again.next("waiting")["code"] as? String == "token-removed")
    let log = await house.ask(.get, "/v1/rooms/demo/events")
    #expect(log.items.compactMap(Self.reason) == ["removed"])
    _ = try await house.wait("ada", issued: House.now + 5)
  }

  @Test func `one that waits is refused by its id, and a session of its name that is in stays`()
    async throws
  {
    let house = try House()
    try await house.makeAsking("demo", #","departureTimeout":20"#)
    let first = try await house.wait("ada")
    #expect(await admit("ada", house).status == 204)
    #expect(try await first.next("joined")["type"] as? String == "joined")
    let second = try await house.wait("ada")
    let id = try #require(try await house.waiting()["ada"])
    let unknown = await admit("ada", house, #"{"waiting":"WT_other","allowed":false}"#)
    #expect(unknown.status == 404 && unknown.problem == "participant-not-found")
    #expect(await admit("ada", house, #"{"waiting":"\#(id)","allowed":false}"#).status == 204)
    #expect(try await second.next("joined")["code"] as? String == "not-admitted")
    await second.ended()
    #expect(second.socket.closeCode == 4005)
    #expect(try await first.verdict("ping") == "pong")
    #expect(await house.ask(.get, "/v1/rooms/demo/participants/ada").status == 200)
    // It holds for who is in, and its tokens do.
    let third = try await house.wait("ada", issued: House.now - 5)
    #expect(try await first.verdict("leave") == "closed")
    // Of one that isn't in they hold no more, as of any that is removed.
    #expect(await admit("ada", house, #"{"allowed":false}"#).status == 204)
    #expect(try await third.next("closed")["reason"] as? String == "removed")
    let again = house.connect(House.token("ada", issued: House.now - 5) { $0 = .join("demo") })
    #expect(try await again.next("waiting")["code"] as? String == "token-removed")
    #expect(await admit("ada", house, #"{"allowed":false}"#).problem == "participant-not-found")
    let refused = await admit("ada", house, #"{"allowed":1}"#)
    #expect(refused.status == 400 && refused.detail == "allowed must be true or false")
  }

  @Test func `an id names the session, and a later one of its identity is another`() async throws {
    let house = try House()
    try await house.makeAsking()
    let first = try await house.wait("ada")
    let id = try #require(try await house.waiting()["ada"])
    let second = try await house.wait("ada")
    #expect(try await first.next("closed")["reason"] as? String == "duplicateIdentity")
    await first.ended()
    #expect(first.socket.closeCode == 4012)
    let missed = await admit("ada", house, #"{"waiting":"\#(id)"}"#)
    #expect(missed.status == 404 && missed.problem == "participant-not-found")
    #expect(await admit("bob", house).problem == "participant-not-found")
    let next = try #require(try await house.waiting()["ada"])
    #expect(next != id)
    #expect(await admit("ada", house, #"{"waiting":"\#(next)"}"#).status == 204)
    #expect(try await second.next("joined")["type"] as? String == "joined")
    #expect(await admit("ada", house).problem == "participant-not-found", "it waits no more")
  }

  @Test func `what keeps it out is said to the host, and it goes on waiting`() async throws {
    let house = try House()
    try await house.makeAsking("demo", #","maxParticipants":1"#)
    _ = try await house.enterHost()
    let ada = try await house.wait("ada")
    let full = await admit("ada", house)
    #expect(full.status == 503 && full.problem == "full" && full.headers["retry-after"] != nil)
    #expect(await house.ask(.patch, "/v1/rooms/demo", #"{"maxParticipants":2,"locked":true}"#).status == 200)
    let locked = await admit("ada", house)
    #expect(locked.status == 403 && locked.problem == "room-locked")
    #expect(try await house.waiting().keys.elementsEqual(["ada"]))
    #expect(await house.ask(.patch, "/v1/rooms/demo", #"{"locked":false}"#).status == 200)
    #expect(await admit("ada", house).status == 204)
    #expect(try await ada.next("joined")["type"] as? String == "joined")
  }

  @Test func `a room that asks no longer lets those in who wait, as many as it has places for`()
    async throws
  {
    let house = try House()
    try await house.makeAsking("demo", #","maxParticipants":2"#)
    let host = try await house.enterHost()
    let (ada, bob) = (try await house.wait("ada"), try await house.wait("bob"))
    let changed = await house.ask(.patch, "/v1/rooms/demo", #"{"admission":false}"#)
    #expect(changed.status == 200 && changed["admission"] == false as NSNumber)
    #expect(try await ada.next("joined")["type"] as? String == "joined")
    let refused = try await bob.next("joined")
    #expect(refused["code"] as? String == "room-full" && refused["retry"] as? String == "after")
    await bob.ended()
    #expect(bob.socket.closeCode == 4005)
    let room = await house.ask(.get, "/v1/rooms/demo")
    #expect(room["participants"] == 2 as NSNumber && room["waiting"] == 0 as NSNumber)
    #expect(try await ended(host) == "admitted")
    #expect(try await ended(host) == "refused")
  }

  @Test func `fifty wait, one more is refused, and a host gets in all the same`() async throws {
    let house = try House()
    try await house.makeAsking()
    var guests: [Guest] = []
    for number in 1...50 { guests.append(try await house.wait("guest \(number)")) }
    let late = house.connect(House.token("late") { $0 = .join("demo") })
    #expect(try await late.next("waiting")["code"] as? String == "room-full")
    guests[0].socket.say(#"{"type":"leave"}"#)
    #expect(try await guests[0].next("closed")["reason"] as? String == "left")
    await guests[0].ended()
    #expect(guests[0].socket.closeCode == 4000)
    _ = try await house.wait("late")
    _ = try await house.enterHost()
    let admitted = AccessToken(
      apiKey: "APIkey", identity: "speaker", expires: House.now + 60, issuedAt: House.now,
      grants: .join("demo"), roost: RoostClaim(isAdmitted: true)
    ).signed(secret: House.secret)
    #expect(try await house.connect(admitted).next("joined")["type"] as? String == "joined")
  }

  @Test func `who is let in by none for ten minutes hears that, and may ask again`() async throws {
    let clock = StandingClock()
    let house = try House(clock: clock)
    try await house.makeAsking()
    let ada = try await house.wait("ada")
    clock.advance(by: .seconds(599))
    #expect(try await ada.verdict("ping") == "pong")
    #expect(try await house.waiting().count == 1)
    clock.advance(by: .seconds(1))
    let error = try await ada.next("joined")
    #expect(error["code"] as? String == "not-admitted" && error["retry"] as? String == "after")
    await ada.ended()
    #expect(ada.socket.closeCode == 4005 && house.directory.counts.refusedNotAdmitted == 1)
    #expect(await house.ask(.get, "/v1/rooms/demo/events").items.compactMap(Self.reason) == ["timedOut"])
    _ = try await house.wait("ada")
  }

  @Test(arguments: ["whip", "whep"])
  func `an encoder and a player can't wait`(door: String) async throws {
    let house = try House()
    try await house.makeAsking()
    func post(_ token: String) async throws -> House.Answer {
      let offer = try Encoder.offer(sending: door == "whip" ? [.audio] : [], audio: door == "whip" ? 0 : 1)
      return await house.ask(.post, "/\(door)/demo", offer, token: token, headers: Encoder.sdp)
    }
    let refused = try await post(Encoder.token("cam"))
    #expect(refused.status == 403 && refused.problem == "admission-required")
    #expect(try await house.waiting().isEmpty)
    #expect(try await post(Encoder.token("desk") { $0.roomAdmin = true }).status == 201)
    #expect(await house.ask(.patch, "/v1/rooms/demo", #"{"admission":false,"locked":true}"#).status == 200)
    let locked = try await post(Encoder.token("cam"))
    #expect(locked.status == 403 && locked.problem == "room-locked")
    #expect(await house.ask(.patch, "/v1/rooms/demo", #"{"locked":null}"#).status == 200)
    #expect(try await post(Encoder.token("cam")).status == 201)
  }

  @Test func `a locked room keeps newcomers out, and those who are in come back`() async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    #expect(await house.ask(.patch, "/v1/rooms/demo", #"{"locked":true}"#)["locked"] == true as NSNumber)
    let settings = try await ada.event("room.updated")["settings"] as? NSDictionary
    #expect(settings?["admission"] as? Bool == false && settings?["locked"] as? Bool == true)
    // Also another session of one that is in: it is a new one.
    for identity in ["bob", "ada"] {
      let late = house.connect(House.token(identity) { $0 = .join("demo") })
      let error = try await late.next("joined")
      #expect(error["code"] as? String == "room-locked" && error["retry"] as? String == "after")
      await late.ended()
      #expect(late.socket.closeCode == 4005)
    }
    #expect(house.directory.counts.refusedLocked == 2)
    let back = await house.resume(ada)
    #expect(try await back.next("resumed")["type"] as? String == "resumed")
    let host = try await house.enterHost()
    #expect(host.joined.contains("locked"))
    #expect(await house.ask(.patch, "/v1/rooms/demo", #"{"locked":null}"#).status == 200)
    _ = try await house.enter("bob")
  }

  @Test func `a host lowers a hand, and raises none`() async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    #expect(try await ada.verdict("hand", #""raised":true"#) == "ok")
    let path = "/v1/rooms/demo/participants/ada"
    #expect((await house.ask(.get, path)["hand"] as? String)?.hasSuffix("Z") == true)
    let refused = await house.ask(.patch, path, #"{"handRaised":true}"#)
    #expect(refused.status == 400 && refused.detail == "handRaised can be false alone")
    #expect(await house.ask(.patch, path, #"{"handRaised":false}"#)["hand"] == nil)
    // That it went up may have come before the answer to that, and been passed over.
    while let participant = try await ada.event("participant.updated")["participant"] as? NSDictionary,
      participant["hand"] != nil
    {}
  }

  static let bodies: [(body: String, detail: String)] = [
    (#"{"admission":1}"#, "admission must be true or false"),
    (#"{"locked":"yes"}"#, "locked must be true or false"),
    (#"{"dataHistory":[]}"#, "dataHistory must be an object"),
    (#"{"dataHistory":{}}"#, "dataHistory.topics must be a list of 1 to 16 topics, each of 1 to 128 bytes"),
    (
      #"{"dataHistory":{"topics":["a"],"max":201,"seconds":1}}"#,
      "dataHistory.max must be a whole number from 1 to 200"
    ),
    (
      #"{"dataHistory":{"topics":["a"],"max":1,"seconds":86401}}"#,
      "dataHistory.seconds must be a whole number from 1 to 86400"
    ),
    (#"{"dataHistory":{"topics":["a"],"max":1}}"#, "dataHistory must have topics, max and seconds"),
    (#"{"dataHistory":{"topic":"a"}}"#, "dataHistory.topic is not a known member"),
  ]

  @Test(arguments: bodies.indices)
  func `a setting that isn't right is refused with what is wrong with it, and nothing is done`(index: Int)
    async throws
  {
    let (body, detail) = Self.bodies[index]
    let house = try House()
    _ = try await house.enter("ada")
    let refused = await house.ask(.patch, "/v1/rooms/demo", body)
    #expect(refused.status == 400 && refused.problem == "body" && refused.detail == detail, "\(body)")
    let room = await house.ask(.get, "/v1/rooms/demo")
    #expect(room["admission"] == false as NSNumber && room["locked"] == false as NSNumber)
    #expect(room["dataHistory"] == nil)
  }
}
