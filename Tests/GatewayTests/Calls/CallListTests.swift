import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import Storage
import TestStores
import Testing

@testable import Gateway

@Suite("Lists of calls at the door, and what is left out of them", .timeLimit(.minutes(2)))
struct CallListTests {
  private static let wrong = ["before=x", "before=", "limit=0", "limit=201", "limit=x"]

  /// All pages of a list of one's own, each of which has so many at most.
  private func pages(
    _ calls: CallHouse, _ path: String, by person: String, _ limit: Int
  ) async -> [House.Answer] {
    var pages: [House.Answer] = []
    var query = "limit=\(limit)"
    while pages.count < 9 {
      let page = await calls.ask(.get, "\(path)?\(query)", by: person)
      pages.append(page)
      guard let next = page["next"] as? String else { break }
      query = "limit=\(limit)&before=\(next)"
    }
    return pages
  }

  @Test(arguments: StoreKind.allCases)
  func `devices and blocks are read in pages, and what is no place of theirs is refused`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    for number in 0..<5 {
      let body = #"{"platform":"webhook","token":"t\#(number)"}"#
      #expect(await calls.ask(.put, "/v1/devices/d\(number)", body, by: "ada").status == 200)
      #expect(await calls.ask(.put, "/v1/blocks/p\(number)", by: "ada").status == 204)
      calls.clock.move(1_000)
    }
    let devices = await pages(calls, "/v1/devices", by: "ada", 2)
    #expect(devices.map(\.items.count) == [2, 2, 1])
    #expect(devices.flatMap(\.items).compactMap { $0["id"] as? String } == ["d4", "d3", "d2", "d1", "d0"])
    let blocks = await pages(calls, "/v1/blocks", by: "ada", 3)
    let names = blocks.map { $0["items"] as? [String] ?? [] }
    #expect(names == [["p4", "p3", "p2"], ["p1", "p0"]])
    let (id, _) = await calls.start("ada", "bob")
    for path in ["/v1/devices", "/v1/blocks", "/v1/calls/\(id)/deliveries"] {
      for query in Self.wrong {
        let answer = await calls.ask(.get, "\(path)?\(query)", by: "ada")
        #expect(answer.status == 400 && answer.problem == "query", "\(path)?\(query)")
      }
    }
    // A place of another list has other parts.
    let place = try #require(blocks[0]["next"] as? String)
    let answer = await calls.ask(.get, "/v1/calls/\(id)/deliveries?before=\(place)", by: "ada")
    #expect(answer.status == 400)
  }

  @Test func `a place in a list is read as it was written, whatever names it has, and nothing else is one`() {
    let ring = CallUUID(random: (1, 2))
    for name in ["a", "é\u{301}", "\u{301}", "a b/ç?&", String(repeating: "x", count: 128)] {
      let device = DevicePage.Place(registered: -5, id: DeviceID(name))
      #expect(DevicePage.Place(device.text) == device)
      let block = BlockPage.Place(time: .max, person: PersonID(name))
      #expect(BlockPage.Place(block.text) == block)
      let delivery = CallDeliveries.Place(
        time: 7, person: PersonID(name), device: DeviceID(name), ring: ring, kind: .ended)
      #expect(CallDeliveries.Place(delivery.text) == delivery)
      #expect(DevicePage.Place(delivery.text) == nil && CallDeliveries.Place(device.text) == nil)
    }
    for parts in [
      ["7", "a", "b", "none", "ring"], ["7", "a", "b", ring.text, "none"],
      ["x", "a", "b", ring.text, "ring"],
    ] {
      #expect(CallDeliveries.Place(PageText.text(parts)) == nil)
    }
    for text in [
      "", "*", Base64URL.encode([0xFF, 10, 0xFF]), PageText.text(["99999999999999999999", "a"]),
    ] {
      #expect(DevicePage.Place(text) == nil)
    }
    #expect(PageText.parts(of: PageText.text(Array(repeating: "", count: 1_000)), 3) == nil)
  }

  // MARK: - What a person hears

  @Test(arguments: StoreKind.allCases)
  func `signals of a call that ended a while ago aren't given out, and who reads goes on behind them`(
    kind: StoreKind
  ) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    for _ in 0..<3 {
      let body = #"{"id":"\#(UUID().uuidString)","to":"bob","kind":"offer","payload":"AQID"}"#
      #expect(await calls.ask(.post, "/v1/calls/\(id)/signals", body, by: "ada").status == 201)
    }
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada")
    let path = "/v1/calls/events?after=1&limit=3"
    let before = await calls.ask(.get, path, by: "bob")
    #expect(before.items.map { $0["event"] as? String } == ["call.signal", "call.signal", "call.signal"])
    calls.clock.move(61_000)
    await calls.desk.tidy()
    let after = await calls.ask(.get, path, by: "bob")
    #expect(after.items.isEmpty && after["last"] as? Int == 4)
    let rest = await calls.ask(.get, "/v1/calls/events?after=4", by: "bob")
    #expect(rest.items.map { $0["event"] as? String } == ["ring.ended", "call.ended"])
  }

  @Test(arguments: StoreKind.allCases)
  func `a stream goes on behind events that can't be read, of whatever they are`(kind: StoreKind) async throws
  {
    let calls = try await CallHouse(on: kind)
    let (broken, _) = await calls.start("ada", "bob")
    for number in 0..<50 {
      _ = await calls.ask(.patch, "/v1/calls/\(broken)", #"{"metadata":"\#(number)"}"#, by: "ada")
    }
    try await calls.store.write(bytes: 1) { transaction throws(StoreError) in
      // More than are read at once are of a kind that no one knows, and the others of a call that can't be understood.
      try transaction.run(
        "UPDATE call_events SET kind = 'call.later' WHERE person = $1 AND number BETWEEN 2 AND 40",
        [.bytes(of: "bob")])
      try transaction.run("UPDATE calls SET state = $1 WHERE id = $2", [.bytes(of: "{"), .text(broken)])
    }
    let (sound, _) = await calls.start("eve", "bob")
    let stream = try await calls.house.listener("/v1/calls/events?after=1", token: CallHouse.token("bob"))
    var found: [EventListener.Event] = []
    for _ in 0..<250 where found.isEmpty {
      found = stream.events()
      try await Task.sleep(for: .milliseconds(20))
    }
    #expect(found.map(\.type) == ["call.ringing"] && found.first?.id == "52")
    #expect((found.first?.json["call"] as? NSDictionary)?["id"] as? String == sound)
  }

  // MARK: - Names

  @Test func `a room is a call's by the bytes of its name`() async throws {
    #expect(CallRooms.isCall("call-1") && CallRooms.isCall("call-\u{301}1") && CallRooms.isCall("call-"))
    #expect(!CallRooms.isCall("call") && !CallRooms.isCall("Call-1") && !CallRooms.isCall("cal\u{301}l-1"))
    let calls = try await CallHouse()
    let answer = await calls.house.ask(.post, "/v1/rooms", #"{"name":"call-\u0301x"}"#)
    #expect(answer.status == 400 && answer.problem == "body")
  }

  private static func token(_ person: String, name: String, issued: Int?) -> String {
    AccessToken(
      apiKey: "APIkey", identity: person, expires: House.now + 600, issuedAt: issued, name: name,
      grants: Grants()
    ).signed(secret: House.secret)
  }

  @Test(arguments: StoreKind.allCases)
  func `no token of before an erasure brings a name back, nor one that the server made by it`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let old = Self.token("bob", name: "Bob", issued: House.now)
    let (id, _) = await calls.start("ada", "bob", "eve")
    #expect(await calls.house.ask(.get, "/v1/calls/events", token: old).status == 200)
    func names() async -> [String: String] {
      await calls.ask(.get, "/v1/calls/\(id)", by: "ada")["names"] as? [String: String] ?? [:]
    }
    #expect(await names()["bob"] == "Bob")
    #expect(await calls.house.ask(.delete, "/v1/people/bob", token: old).status == 204)
    let undated = Self.token("bob", name: "Bob", issued: nil)
    for token in [old, undated] {
      #expect(await calls.house.ask(.get, "/v1/calls/events", token: token).status == 200)
      let joined = await calls.house.ask(
        .post, "/v1/calls/\(id)/join", #"{"deviceId":"bob1"}"#, token: token)
      let ofCall = try #require(joined["token"] as? String)
      #expect(await calls.house.ask(.post, "/v1/calls/\(id)/join", "{}", token: ofCall).status == 200)
      #expect(await names()["bob"] == "deleted")
    }
    let later = Self.token("bob", name: "Bob", issued: House.now + 5)
    #expect(await calls.house.ask(.get, "/v1/calls/events", token: later).status == 200)
    #expect(await names()["bob"] == "Bob")
  }
}
