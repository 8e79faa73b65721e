import CallDesk
import Calls
import Foundation
import HTTPServer
import Model
import TestStores
import Testing

@testable import Gateway

@Suite("What a person hears of calls as it happens", .timeLimit(.minutes(2)))
struct CallStreamTests {
  private static let start = Instant(nanoseconds: 5_000_000_000)

  /// What comes next, once there is so much.
  private func next(_ listener: EventListener, _ count: Int = 1) async throws -> [EventListener.Event] {
    var found: [EventListener.Event] = []
    for _ in 0..<250 {
      found += listener.events()
      if found.count >= count { return found }
      try await Task.sleep(for: .milliseconds(20))
    }
    Issue.record("\(found.count) events of \(count) came within five seconds")
    return found
  }

  private func listener(
    _ calls: CallHouse, _ query: String = "", last: String? = nil, token: String = CallHouse.token("bob")
  ) async throws -> EventListener {
    try await calls.house.listener("/v1/calls/events\(query)", last: last, token: token)
  }

  private func ids(_ event: EventListener.Event) -> [String] {
    (event.json["calls"] as? [NSDictionary] ?? []).compactMap { $0["id"] as? String }
  }

  @Test(arguments: StoreKind.allCases)
  func `it begins with the calls that go on, and has what happens then, numbered without gaps`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (over, _) = await calls.start("ada", "bob")
    _ = await calls.ask(.post, "/v1/calls/\(over)/leave", by: "ada")
    let (id, _) = await calls.start("ada", "bob")
    let stream = try await listener(calls, "?device=phone")
    let first = try await next(stream)
    #expect(first.map(\.type) == ["state"] && ids(first[0]) == [id] && first[0].json["reset"] == nil)
    let begun = try #require(first[0].id.flatMap { Int($0) })
    // The first call's ring, its end and the call's; the second's ring.
    #expect(begun == 4)
    #expect(await calls.ask(.patch, "/v1/calls/\(id)", #"{"media":"video"}"#, by: "ada").status == 200)
    let changed = try await next(stream)
    #expect(changed.map(\.type) == ["call.updated"] && changed[0].json["media"] as? String == "video")
    #expect(changed[0].json["id"] as? String == id && changed[0].json["mine"] is NSDictionary)
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada")
    let ended = try await next(stream, 2)
    #expect(ended.map(\.type) == ["ring.ended", "call.ended"])
    #expect(
      ended[0].json["reason"] as? String == "cancelled" && ended[1].json["status"] as? String == "inactive")
    #expect((changed + ended).compactMap(\.id) == ["5", "6", "7"])
    #expect(!stream.isOver)
  }

  @Test(arguments: StoreKind.allCases)
  func `who comes again goes on behind the last that it has`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada")
    let all = try await next(try await listener(calls, "?after=0"), 3)
    #expect(
      all.map(\.type) == ["call.ringing", "ring.ended", "call.ended"]
        && all.compactMap(\.id) == ["1", "2", "3"])
    let rest = try await next(try await listener(calls, "?after=0", last: "1"), 2)
    #expect(rest.map(\.type) == ["ring.ended", "call.ended"])
    let page = await calls.ask(.get, "/v1/calls/events?after=1", by: "bob")
    #expect(page.items.compactMap { $0["id"] as? Int } == [2, 3] && page["last"] as? Int == 3)
  }

  @Test(arguments: StoreKind.allCases)
  func `behind what is kept it begins with how all stands, and says so`(kind: StoreKind) async throws {
    var terms = CallDeskTerms()
    (terms.events, terms.changesPerMinute) = (64, 1_000)
    let calls = try await CallHouse(terms, on: kind)
    let (id, _) = await calls.start("ada", "bob")
    let (call, ada) = (try #require(CallUUID(id)), Caller(PersonID("ada"), apiKey: "APIkey"))
    for number in 0..<130 {
      _ = try await calls.desk.change(call, CallChange(metadata: "\(number)"), by: ada)
    }
    // Too old, and of another database.
    for after in [1, 1_000_000] {
      let first = try await next(try await listener(calls, "?after=\(after)"))
      #expect(first.first?.type == "state" && first.first?.json["reset"] as? Bool == true, "\(after)")
      #expect(first.first.map { ids($0) } == [id] && first.first?.id == "131")
      let page = await calls.ask(.get, "/v1/calls/events?after=\(after)", by: "bob")
      #expect(page.items.count == 1 && page.items[0]["event"] as? String == "state")
      #expect(
        (page.items[0]["data"] as? NSDictionary)?["reset"] as? Bool == true && page["last"] as? Int == 131)
    }
    let kept = await calls.ask(.get, "/v1/calls/events?after=120", by: "bob")
    #expect(kept.items.compactMap { $0["id"] as? Int } == Array(121...131))
  }

  @Test(arguments: StoreKind.allCases)
  func `a comment comes every fifteen seconds`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let stream = try await listener(calls)
    _ = try await next(stream)
    #expect(stream.text.hasPrefix(": roost\n\n"))
    stream.advance(by: .seconds(15))
    _ = stream.events()
    let count = stream.comments
    #expect(count == 2)
    stream.advance(by: .seconds(14))
    _ = stream.events()
    #expect(stream.comments == count)
    stream.advance(by: .seconds(1))
    _ = stream.events()
    #expect(stream.comments == count + 1 && stream.text.hasSuffix("\n\n:\n\n"))
  }

  @Test(arguments: StoreKind.allCases)
  func `it ends when its token does, and says why`(kind: StoreKind) async throws {
    let wall = WallClock(House.now)
    let calls = try await CallHouse(on: kind, wall: wall)
    let token = House.token("bob", expires: wall.now + 600)
    let stream = try await listener(calls, token: token)
    #expect(try await next(stream).map(\.type) == ["state"])
    wall.advance(by: 599)
    #expect(stream.events().isEmpty && !stream.isOver && !stream.source.mustEnd(now: Self.start))
    // With the leeway that clocks have.
    wall.advance(by: 601)
    #expect(stream.source.mustEnd(now: Self.start))
    let last = stream.events()
    #expect(
      last.map(\.type) == ["end"] && last.first?.json["reason"] as? String == "tokenExpired" && stream.isOver)
    #expect(await calls.house.listen("/v1/calls/events", token: token).status == 401)
  }

  // MARK: - What is in it

  @Test(arguments: StoreKind.allCases)
  func `a ring has all that a device needs to report it and to answer`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let token = CallHouse.token("ada", name: "Ada Lovelace")
    let id = UUID().uuidString.lowercased()
    let body = #"{"id":"\#(id)","recipients":["bob"],"media":"video","deviceId":"ada1"}"#
    #expect(await calls.house.ask(.post, "/v1/calls", body, token: token).status == 201)
    let heard = try await next(try await listener(calls, "?after=0&device=phone"))
    let ring = try #require(heard.first)
    #expect(ring.type == "call.ringing" && ring.json["callerId"] as? String == "ada")
    #expect(ring.json["callerName"] as? String == "Ada Lovelace" && ring.json["media"] as? String == "video")
    #expect((ring.json["ringId"] as? String).flatMap { CallUUID($0) } != nil && ring.json["busy"] == nil)
    #expect((ring.json["call"] as? NSDictionary)?["id"] as? String == id)
    #expect(ring.json["token"] is String && ring.json["url"] as? String == "http://relay.example")
    let remaining = try #require(ring.json["remainingMs"] as? Int)
    #expect(
      (20_000...30_000).contains(remaining) && (ring.json["expiresAt"] as? String)?.hasSuffix("Z") == true)
    // One that is over opens nothing.
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada")
    let late = await calls.ask(.get, "/v1/calls/events?after=0", by: "bob")
    let past = try #require(late.items.first?["data"] as? NSDictionary)
    #expect(past["token"] == nil && past["ringId"] as? String == ring.json["ringId"] as? String)
  }

  @Test(arguments: StoreKind.allCases, ["answeredElsewhere", "declinedElsewhere", "cancelled", "timedOut"])
  func `the end of a ring has its reason, and isn't said to the device by which it ended`(
    kind: StoreKind, reason: String
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    switch reason {
    case "answeredElsewhere": #expect(await calls.join(id, "bob", device: "tablet").status == 200)
    case "declinedElsewhere":
      #expect(
        await calls.ask(.post, "/v1/calls/\(id)/leave", #"{"deviceId":"tablet"}"#, by: "bob").status == 200)
    case "cancelled": #expect(await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada").status == 200)
    default:
      // Who calls is there all the time.
      let session = try #require((started["session"] as? String).flatMap { CallUUID($0) })
      calls.desk.media(.stands, of: PersonID("ada"), session: session, in: try #require(CallUUID(id)))
      while calls.desk.hasUnwrittenPresence { try await Task.sleep(for: .milliseconds(10)) }
      try await Task.sleep(for: .milliseconds(300))
      calls.clock.move(30_000)
    }
    let heard = try await next(try await listener(calls, "?after=0&device=phone"), 2)
    let (ring, end) = (heard[0], try #require(heard.dropFirst().first))
    #expect(
      ring.type == "call.ringing" && end.type == "ring.ended" && end.json["reason"] as? String == reason)
    #expect(
      end.json["ringId"] as? String == ring.json["ringId"] as? String && end.json["call"] as? String == id)
    let own = await calls.ask(.get, "/v1/calls/events?after=0&device=tablet", by: "bob")
    let isByDevice = reason.hasSuffix("Elsewhere")
    #expect(own.items.contains { $0["event"] as? String == "ring.ended" } != isByDevice)
  }
}
