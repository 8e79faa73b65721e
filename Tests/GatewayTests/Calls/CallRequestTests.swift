import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import Rooms
import Storage
import TestStores
import Testing

@testable import Gateway

@Suite("The requests of calls, at the door", .timeLimit(.minutes(2)))
struct CallRequestTests {
  private func names(_ answer: House.Answer, _ key: String) -> [String] { answer[key] as? [String] ?? [] }

  private func change(_ calls: CallHouse, _ id: String, _ body: String, by person: String) async
    -> House.Answer
  {
    await calls.ask(.patch, "/v1/calls/\(id)", body, by: person)
  }

  @Test(arguments: StoreKind.allCases)
  func `PATCH changes media and metadata for one who is in the call, and for no other`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob", more: #","metadata":"m""#)
    let video = #"{"media":"video"}"#
    let rung = await change(calls, id, video, by: "bob")
    #expect(rung.status == 403 && rung.problem == "not-allowed")
    #expect(await change(calls, id, video, by: "mallory").problem == "not-found")
    let changed = await change(calls, id, video, by: "ada")
    #expect(
      changed.status == 200 && changed["media"] as? String == "video" && changed["metadata"] as? String == "m"
    )
    let other = await change(calls, id, #"{"metadata":"n"}"#, by: "ada")
    #expect(other["media"] as? String == "video" && other["metadata"] as? String == "n")
    #expect(await change(calls, id, #"{"metadata":null}"#, by: "ada")["metadata"] == nil)
    #expect(await change(calls, id, #"{"media":"smell"}"#, by: "ada").problem == "body")
    let long = await change(
      calls, id, #"{"metadata":"\#(String(repeating: "m", count: 4_097))"}"#, by: "ada")
    #expect(long.status == 413 && long.problem == "too-large")
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "bob")
    #expect(shown["media"] as? String == "video")
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada")
    let late = await change(calls, id, video, by: "ada")
    #expect(late.status == 410 && late.problem == "call-ended")
  }

  @Test(arguments: StoreKind.allCases)
  func `invite rings more people for one who is in the call, and for no other`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    func invite(_ people: [String], by person: String) async -> House.Answer {
      let list = people.map { "\"\($0)\"" }.joined(separator: ",")
      return await calls.ask(.post, "/v1/calls/\(id)/invite", #"{"recipients":[\#(list)]}"#, by: person)
    }
    let rung = await invite(["eve"], by: "bob")
    #expect(rung.status == 403 && rung.problem == "not-allowed")
    #expect(await invite(["eve"], by: "mallory").problem == "not-found")
    let invited = await invite(["eve", "ada", "eve"], by: "ada")
    #expect(invited.status == 200 && names(invited, "invitedParticipants") == ["bob", "eve"])
    let heard = await calls.ask(.get, "/v1/calls/events?after=0", by: "eve")
    let ring = try #require(heard.items.first?["data"] as? NSDictionary)
    #expect(heard.items.count == 1 && ring["callerId"] as? String == "ada" && ring["token"] is String)
    // Who is rung already isn't rung twice.
    _ = await invite(["eve", "zoe"], by: "ada")
    let again = await calls.ask(.get, "/v1/calls/events?after=0", by: "eve")
    #expect(again.items.filter { $0["event"] as? String == "call.ringing" }.count == 1)
    let alone = await invite(["ada"], by: "ada")
    #expect(alone.status == 422 && alone.problem == "no-recipients")
    let crowd = await invite((0..<32).map { "p\($0)" }, by: "ada")
    #expect(crowd.status == 422 && crowd.problem == "too-many-people")
    #expect(await calls.house.ask(.delete, "/v1/calls/\(id)").status == 200)
    #expect(await invite(["kim"], by: "ada").problem == "call-ended")
  }

  @Test(arguments: StoreKind.allCases)
  func `forget takes a call out of one's own history, and out of no other's`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada")
    for _ in 0..<2 { #expect(await calls.ask(.post, "/v1/calls/\(id)/forget", by: "bob").status == 204) }
    #expect(await calls.ask(.get, "/v1/calls", by: "bob").items.isEmpty)
    #expect(await calls.ask(.get, "/v1/calls", by: "ada").items.compactMap { $0["id"] as? String } == [id])
    #expect(await calls.ask(.get, "/v1/calls/\(id)", by: "bob").status == 200)
  }

  @Test(arguments: StoreKind.allCases)
  func `history is read in pages, the newest first, by who was in it and by whether it goes on`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    var ids: [String] = []
    for number in 0..<5 {
      ids.append(await calls.start("ada", number.isMultiple(of: 2) ? "bob" : "eve").id)
      guard number < 4 else { continue }
      _ = await calls.ask(.post, "/v1/calls/\(ids[number])/leave", by: "ada")
      calls.clock.move(25_000)
    }
    func list(_ query: String) async -> (ids: [String], next: String?) {
      let page = await calls.ask(.get, "/v1/calls?\(query)", by: "ada")
      return (page.items.compactMap { $0["id"] as? String }, page["next"] as? String)
    }
    var (pages, next) = await list("limit=2")
    #expect(pages.count == 2)
    while let place = next {
      let page = await list("limit=2&before=\(place)")
      pages += page.ids
      next = page.next
    }
    #expect(pages == Array(ids.reversed()))
    #expect(await list("participant=eve").ids == [ids[3], ids[1]])
    #expect(await list("status=active").ids == [ids[4]])
    #expect(await list("status=inactive&participant=bob").ids == [ids[2], ids[0]])
    for query in ["limit=0", "limit=201", "before=x", "status=odd"] {
      #expect(await calls.ask(.get, "/v1/calls?\(query)", by: "ada").problem == "query", "\(query)")
    }
    let mine = await calls.ask(.get, "/v1/calls?limit=1&status=inactive", by: "bob")
    let own = try #require(mine.items.first?["mine"] as? NSDictionary)
    #expect(own["role"] as? String == "recipient" && own["outcome"] as? String == "missed")
    #expect(mine.items[0]["outcome"] as? String == "cancelled")
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func
    `one who is in another call isn't rung and has missed it, or is where that is configured, with a word of it`(
      kind: StoreKind, rings: Bool
    )
    async throws
  {
    var terms = CallDeskTerms()
    terms.book.ringsBusy = rings
    let calls = try await CallHouse(terms, on: kind)
    let (first, _) = await calls.start("ada", "bob")
    #expect(await calls.join(first, "bob").status == 200)
    let before = await calls.ask(.get, "/v1/calls/events?after=0", by: "bob").items.count
    let (id, _) = await calls.start("eve", "bob")
    let heard = await calls.ask(.get, "/v1/calls/events?after=\(before)", by: "bob").items
    let ring = heard.first { $0["event"] as? String == "call.ringing" }?["data"] as? NSDictionary
    #expect(ring?["busy"] as? Bool == (rings ? true : nil))
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "eve")
    #expect(shown["outcome"] as? String == (rings ? nil : "busy"))
    let left = (shown["leftParticipants"] as? [NSDictionary])?.first { $0["id"] as? String == "bob" }
    #expect(left?["reason"] as? String == (rings ? nil : "busy"))
    let mine =
      await calls.ask(.get, "/v1/calls?participant=eve", by: "bob").items.first?["mine"] as? NSDictionary
    #expect(mine?["outcome"] as? String == (rings ? nil : "missed"))
  }

  @Test(arguments: StoreKind.allCases)
  func `the token of a ring holds a minute longer than the ring, that of who is in the call six hours`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    let heard = await calls.ask(.get, "/v1/calls/events?after=0&device=phone", by: "bob")
    let ring = try #require(heard.items.first?["data"] as? NSDictionary)
    func span(_ text: Any?) throws -> Int {
      let token = try AccessToken(
        verifying: try #require(text as? String), keys: ["APIkey": House.secret], now: House.now)
      #expect(token.call?.id == id)
      return token.expires - House.now
    }
    let joined = await calls.join(id, "bob")
    let (ringing, starter, other) = (
      try span(ring["token"]), try span(started["token"]), try span(joined["token"])
    )
    let hours = 6 * 3_600
    #expect((80...91).contains(ringing))
    #expect((hours - 10...hours).contains(starter) && (hours - 10...hours).contains(other))
  }

  @Test(arguments: StoreKind.allCases)
  func `what is too often, what can't be stored and a server that stops say when to come again`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    for _ in 0..<3 {
      let (id, _) = await calls.start("ada", "bob")
      _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada")
    }
    let often = await calls.start("ada", "bob").answer
    #expect(often.status == 429 && often.problem == "too-many")
    #expect((1...60).contains(Int(often.headers["retry-after"] ?? "") ?? 0))
    let (id, _) = await calls.start("eve", "bob")
    await calls.house.directory.drain(for: .seconds(1))
    for answer in [await calls.start("kim", "bob").answer, await calls.join(id, "bob")] {
      #expect(answer.status == 503 && answer.problem == "draining" && answer.headers["retry-after"] != nil)
    }
    #expect(await calls.ask(.get, "/v1/calls/\(id)", by: "bob").status == 200)
    await calls.store.close()
    let left = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "bob")
    #expect(left.status == 503 && left.problem == "store-unavailable" && left.headers["retry-after"] != nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `the room of a call that ended just before the server did is closed at the next start, and no other`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (over, first) = await calls.start("ada", "bob")
    let (_, second) = await calls.start("eve", "bob")
    let rooms = try [first, second].map {
      try #require(($0["call"] as? NSDictionary)?["room"] as? String)
    }
    // From here on what is decided isn't carried out, as where the process ends.
    await calls.stop()
    #expect(await calls.ask(.post, "/v1/calls/\(over)/leave", by: "ada").status == 200)
    #expect(await calls.house.ask(.get, "/v1/rooms/\(rooms[0])").status == 200)
    // Rooms outlive a process, these among them.
    let names = rooms + ["desk"]
    let again = try await CallHouse(
      after: calls.store,
      before: { house in
        for name in names { _ = try await house.directory.create(name, house.directory.defaults) }
      })
    for _ in 0..<200 where await again.house.ask(.get, "/v1/rooms/\(rooms[0])").status == 200 {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(await again.house.ask(.get, "/v1/rooms/\(rooms[0])").status == 404)
    #expect(await again.house.ask(.get, "/v1/rooms/\(rooms[1])").status == 200)
    #expect(await again.house.ask(.get, "/v1/rooms/desk").status == 200)
  }
}
