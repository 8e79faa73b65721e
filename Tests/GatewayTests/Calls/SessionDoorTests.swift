import AccessTokens
import CallDesk
import Foundation
import HTTPServer
import Storage
import TestStores
import Testing

@testable import Gateway

@Suite("REST: what people of a call share", .timeLimit(.minutes(3)))
struct SessionDoorTests {
  private static func uuid() -> String { SessionScene.uuid() }

  private func number(_ answer: House.Answer, _ key: String) -> Int? { answer[key] as? Int }

  @Test(arguments: StoreKind.allCases)
  func `a session is started once, found, joined, left and ended`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind, active: ["ada", "bob", "eve"])
    let id = Self.uuid()
    let body = #"{"id":"\#(id)","experience":"story"}"#
    let started = await scene.ask(.post, "", body, by: "ada")
    #expect(started.status == 201 && started["id"] as? String == id && started["owner"] as? String == "ada")
    #expect(started["callId"] as? String == scene.call && started["status"] as? String == "active")
    #expect(number(started, "lastSeq") == 0 && started["lastEventId"] == nil && started["endedAt"] == nil)
    // Again, and by another who knows nothing of it.
    #expect(await scene.ask(.post, "", body, by: "ada").status == 200)
    let other = await scene.ask(
      .post, "", #"{"id":"\#(Self.uuid())","experience":"story"}"#, by: "bob")
    #expect(
      other.status == 200 && other["id"] as? String == id && other["participants"] as? [String] == ["ada"])
    for _ in 0..<2 {
      let joined = await scene.ask(.post, "\(id)/join", by: "bob")
      #expect(joined.status == 200 && joined["participants"] as? [String] == ["ada", "bob"])
      #expect(number(joined, "lastSeq") == 1 && joined["lastEventId"] is NSString)
    }
    let listed = await scene.calls.ask(.get, "\(scene.path())?status=active", by: "eve")
    #expect(listed.items.map { $0["id"] as? String } == [id])
    for _ in 0..<2 {
      let left = await scene.ask(.post, "\(id)/leave", by: "bob")
      #expect(left.status == 200 && left["participants"] as? [String] == ["ada"])
    }
    let ended = await scene.ask(.delete, id, by: "ada")
    #expect(ended.status == 200 && ended["status"] as? String == "inactive" && ended["owner"] is NSNull)
    #expect(ended["endedAt"] is NSString)
    #expect(await scene.calls.ask(.get, "\(scene.path())?status=active", by: "eve").items.isEmpty)
    #expect(await scene.ask(.get, by: "eve").items.count == 1)
    // The first request, asked once more: it isn't another session.
    let late = await scene.ask(.post, "", body, by: "ada")
    #expect(late.status == 200 && late["status"] as? String == "inactive")
  }

  @Test(arguments: StoreKind.allCases)
  func `an owner hands over, and one who leaves is followed by who accepts`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind, active: ["ada", "bob", "eve"])
    let id = try await scene.session("ada", "bob", "eve")
    for _ in 0..<2 {
      let handed = await scene.ask(.post, "\(id)/owner", #"{"to":"bob"}"#, by: "ada")
      #expect(handed.status == 200 && handed["owner"] as? String == "bob")
    }
    #expect(await scene.ask(.post, "\(id)/owner", #"{"to":"eve"}"#, by: "ada").problem == "not-allowed")
    #expect(await scene.ask(.post, "\(id)/owner", #"{"to":"zoe"}"#, by: "bob").problem == "not-allowed")
    let left = await scene.ask(.post, "\(id)/leave", by: "bob")
    #expect(left["status"] as? String == "degraded" && left["owner"] is NSNull)
    #expect(left["offeredTo"] as? String == "ada")
    #expect(await scene.ask(.post, "\(id)/owner", #"{"accept":true}"#, by: "eve").problem == "not-allowed")
    for _ in 0..<2 {
      let declined = await scene.ask(.post, "\(id)/owner", #"{"accept":false}"#, by: "ada")
      #expect(declined.status == 200 && declined["offeredTo"] as? String == "eve")
    }
    for _ in 0..<2 {
      let taken = await scene.ask(.post, "\(id)/owner", #"{"accept":true}"#, by: "eve")
      #expect(taken.status == 200 && taken["owner"] as? String == "eve" && taken["offeredTo"] == nil)
    }
    for body in ["{}", #"{"to":"ada","accept":true}"#, #"{"accept":"yes"}"#, #"{"to":7}"#] {
      #expect(await scene.ask(.post, "\(id)/owner", body, by: "eve").status == 400, "\(body)")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `events are numbered, read page by page, and given as they came`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind)
    let id = try await scene.session("ada", "bob")
    let own = Self.uuid()
    // Nothing of it is what JSON's readers would make of it.
    let data = #"{"b":1.0, "a":12345678901234567890,"c":"\u00e9\ud83d\ude00"}"#
    for _ in 0..<2 {
      let sent = await scene.append(data, to: id, by: "ada", id: own)
      #expect(sent.status == 201 && number(sent, "seq") == 2 && sent["id"] as? String == own)
    }
    for value in 3..<10 { #expect(number(await scene.append("\(value)", to: id, by: "bob"), "seq") == value) }
    let page = await scene.calls.ask(.get, "\(scene.path("\(id)/events"))?after=0&limit=4", by: "bob")
    #expect(page.items.map { $0["seq"] as? Int } == [1, 2, 3, 4])
    #expect(number(page, "next") == 4 && number(page, "last") == 9)
    #expect(page.text.contains("\"data\":\(data)"))
    #expect(page.items.map { $0["sender"] as? String } == [nil, "ada", "bob", "bob"])
    #expect(page.items[0]["type"] as? String == "system.joined")
    #expect((page.items[0]["data"] as? NSDictionary)?["person"] as? String == "bob")
    let rest = await scene.calls.ask(.get, "\(scene.path("\(id)/events"))?after=4", by: "bob")
    #expect(rest.items.compactMap { $0["seq"] as? Int } == Array(5...9) && rest["next"] == nil)
    let end = await scene.calls.ask(.get, "\(scene.path("\(id)/events"))?after=9", by: "bob")
    #expect(end.status == 200 && end.items.isEmpty && number(end, "last") == 9)
    // Without data it is null.
    let bare = await scene.ask(.post, "\(id)/events", #"{"id":"\#(Self.uuid())","type":"x"}"#, by: "ada")
    #expect(number(bare, "seq") == 10)
    let last = await scene.calls.ask(.get, "\(scene.path("\(id)/events"))?after=9", by: "bob")
    #expect(last.items.first?["data"] is NSNull)
  }

  @Test(arguments: StoreKind.allCases)
  func `a snapshot is the owner's, and what came before it goes`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind) { $0.sharing.eventsBehindSnapshot = 2 }
    let id = try await scene.session("ada", "bob")
    for value in 2..<9 { _ = await scene.append("\(value)", to: id, by: "bob") }
    func keep(_ seq: Int, by person: String) async -> House.Answer {
      let body = #"{"seq":\#(seq),"state":{"page":1.50},"participants":["ada","bob"],"owner":"ada"}"#
      return await scene.ask(.put, "\(id)/snapshot", body, by: person)
    }
    #expect(await scene.ask(.get, "\(id)/snapshot", by: "bob").problem == "not-found")
    #expect(await keep(3, by: "bob").problem == "not-allowed")
    let beyond = await keep(9, by: "ada")
    #expect(beyond.status == 422 && beyond.problem == "beyond-last" && number(beyond, "lastSeq") == 8)
    for _ in 0..<2 { #expect(await keep(7, by: "ada").status == 204) }
    let stale = await keep(6, by: "ada")
    #expect(stale.status == 409 && stale.problem == "stale-snapshot" && number(stale, "snapshotSeq") == 7)
    let kept = await scene.ask(.get, "\(id)/snapshot", by: "bob")
    #expect(kept.status == 200 && number(kept, "seq") == 7 && kept.text.contains(#""state":{"page":1.50}"#))
    #expect(kept["participants"] as? [String] == ["ada", "bob"] && kept["owner"] as? String == "ada")
    let gone = await scene.calls.ask(.get, "\(scene.path("\(id)/events"))?after=4", by: "bob")
    #expect(gone.status == 410 && gone.problem == "compacted" && number(gone, "snapshotSeq") == 7)
    let read = await scene.calls.ask(.get, "\(scene.path("\(id)/events"))?after=7", by: "bob")
    #expect(read.items.compactMap { $0["seq"] as? Int } == [8])
    // Another begins with it, by one who took part.
    _ = await scene.ask(.delete, id, by: "ada")
    let next = Self.uuid()
    let body = #"{"id":"\#(next)","experience":"story","from":"\#(id)"}"#
    #expect(number(await scene.ask(.post, "", body, by: "bob"), "snapshotSeq") == 0)
    let copy = await scene.ask(.get, "\(next)/snapshot", by: "ada")
    #expect(number(copy, "seq") == 0 && copy.text.contains(#""state":{"page":1.50}"#))
  }

  @Test(arguments: StoreKind.allCases)
  func `the largest of everything is taken, and what is larger is not`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind)
    let id = try await scene.session("ada")
    let fits = "\"\(String(repeating: "x", count: 16_382))\""
    #expect(await scene.append(fits, to: id, by: "ada").status == 201)
    let large = await scene.append("\"\(String(repeating: "x", count: 16_383))\"", to: id, by: "ada")
    #expect(large.status == 413 && large.problem == "too-large")
    // A page ends where it has enough, not with the limit.
    for _ in 0..<20 { #expect(await scene.append(fits, to: id, by: "ada").status == 201) }
    let page = await scene.calls.ask(.get, "\(scene.path("\(id)/events"))?limit=200", by: "bob")
    #expect(page.items.count == 16 && number(page, "next") == 16 && number(page, "last") == 21)
    let state = String(repeating: "y", count: 1_048_000)
    let kept = await scene.ask(.put, "\(id)/snapshot", #"{"seq":1,"state":"\#(state)"}"#, by: "ada")
    #expect(kept.status == 204)
    let shown = await scene.ask(.get, "\(id)/snapshot", by: "bob")
    #expect(shown.status == 200 && shown.text.utf8.count > 1_048_000)
    let deep = String(repeating: "[", count: 13) + String(repeating: "]", count: 13)
    for bad in [deep, #""\ud800""#, #""\udc00x""#, "1e400", "[1e99999]", "nul", ""] {
      let answer = await scene.append(bad, to: id, by: "ada")
      #expect(answer.status == 400 && answer.problem == "body", "\(bad)")
    }
    // Beside the app's own member there is little.
    let wide = (0..<60).map { #""m\#($0)":"\#(String(repeating: "z", count: 2_000))""# }.joined(
      separator: ",")
    #expect(await scene.ask(.put, "\(id)/snapshot", "{\(wide)}", by: "ada").status == 413)
  }

  @Test(arguments: StoreKind.allCases)
  func `each refusal has its name`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind, active: ["ada", "bob", "eve"], invited: ["zoe"]) {
      $0.sharing.sessionsOfCall = 2
      $0.sharing.changesPerMinute = 8
    }
    let id = try await scene.session("ada", "bob")
    let (taken, never) = (Self.uuid(), Self.uuid())
    #expect(await scene.append("1", to: id, by: "ada", id: taken).status == 201)
    let start = { (id: String, kind: String) in #"{"id":"\#(id)","experience":"\#(kind)"}"# }
    let event = { (id: String, type: String) in #"{"id":"\#(id)","type":"\#(type)","data":2}"# }
    let rows: [(HTTPMethod, String, String, String, Int, String)] = [
      (.post, "", start(id, "board"), "bob", 409, "id-taken"),
      (.post, "", start(Self.uuid(), "board"), "zoe", 403, "not-allowed"),
      (.post, "", #"{"id":"\#(Self.uuid())","experience":"b","from":"\#(never)"}"#, "ada", 404, "not-found"),
      (.post, "", #"{"id":"\#(Self.uuid())","experience":"b","from":"\#(id)"}"#, "eve", 404, "not-found"),
      (.post, "", #"{"id":"x","experience":"b"}"#, "ada", 400, "body"),
      (.post, "", #"{"id":"\#(Self.uuid())"}"#, "ada", 400, "body"),
      (.post, "", start(Self.uuid(), String(repeating: "e", count: 129)), "ada", 400, "body"),
      (.post, "\(never)/join", "", "ada", 404, "not-found"), (.post, "x/join", "", "ada", 404, "not-found"),
      (.post, "\(id)/join", "", "zoe", 403, "not-allowed"),
      (.delete, id, "", "bob", 403, "not-allowed"),
      (.post, "\(id)/events", event(Self.uuid(), "x"), "eve", 403, "not-allowed"),
      (.post, "\(id)/events", event(taken, "x"), "ada", 409, "id-taken"),
      (.post, "\(id)/events", event(Self.uuid(), "system.left"), "ada", 422, "reserved-type"),
      (.post, "\(id)/events", event("x", "x"), "ada", 400, "body"),
      (.post, "\(id)/events", event(Self.uuid(), ""), "ada", 400, "body"),
      (.post, "\(id)/events", "[]", "ada", 400, "body"),
      (.put, "\(id)/snapshot", #"{"seq":1}"#, "ada", 400, "body"),
      (.put, "\(id)/snapshot", #"{"state":1}"#, "ada", 400, "body"),
      (.put, "\(id)/snapshot", #"{"seq":1,"state":1,"participants":[""]}"#, "ada", 400, "body"),
      (.get, "\(id)/events", "", "zoe", 403, "not-allowed"),
      (.get, "\(id)/snapshot", "", "zoe", 403, "not-allowed"),
      (.put, id, "", "ada", 405, "method"),
    ]
    for (method, rest, body, person, status, problem) in rows {
      let answer = await scene.ask(method, rest, body, by: person)
      #expect(
        answer.status == status && answer.problem == problem, "\(method) \(rest) \(body): \(answer.text)")
    }
    for query in ["after=-1", "after=x", "limit=0", "limit=201"] {
      let answer = await scene.calls.ask(.get, "\(scene.path("\(id)/events"))?\(query)", by: "ada")
      #expect(answer.status == 400 && answer.problem == "query", "\(query)")
    }
    #expect(await scene.calls.ask(.get, "\(scene.path())?status=odd", by: "ada").problem == "query")
    // A second one is as many as there may be here.
    #expect(await scene.ask(.post, "", start(Self.uuid(), "board"), by: "eve").status == 201)
    let third = await scene.ask(.post, "", start(Self.uuid(), "third"), by: "eve")
    #expect(third.status == 413 && third.problem == "too-large")
    // One who comes and goes does so now and then.
    var last = third
    for _ in 0..<10 { last = await scene.ask(.post, "\(id)/join", by: "eve") }
    #expect(last.status == 429 && last.problem == "too-many" && last.headers["retry-after"] != nil)
    #expect(await scene.ask(.delete, id, by: "ada").status == 200)
    let over = await scene.append("1", to: id, by: "ada")
    #expect(over.status == 410 && over.problem == "session-ended")
    #expect(await scene.ask(.post, "\(id)/join", by: "bob").problem == "session-ended")
    for person in ["ada", "bob", "eve"] {
      _ = await scene.calls.ask(.post, "/v1/calls/\(scene.call)/leave", by: person)
    }
    #expect(await scene.ask(.post, "", start(Self.uuid(), "late"), by: "ada").problem == "call-ended")
    await scene.calls.store.close()
    let down = await scene.ask(.get, by: "ada")
    #expect(down.status == 503 && down.problem == "store-unavailable")
  }

  @Test(arguments: StoreKind.allCases)
  func `so many events a second are one person's share`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind) { $0.sharing.eventsPerSecond = 4 }
    let id = try await scene.session("ada", "bob")
    var refused: House.Answer?
    for value in 0..<100 where refused == nil {
      let answer = await scene.append("\(value)", to: id, by: "ada")
      if answer.status != 201 { refused = answer }
    }
    #expect(refused?.status == 429 && refused?.problem == "too-many")
    #expect(await scene.append("1", to: id, by: "bob").status == 201)
  }

  @Test(arguments: StoreKind.allCases)
  func `what is read is paid for by who reads it`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind, active: ["ada", "bob"])
    let id = try await scene.session("ada", "bob")
    let state = String(repeating: "y", count: 1_000_000)
    #expect(
      await scene.ask(.put, "\(id)/snapshot", #"{"seq":0,"state":"\#(state)"}"#, by: "ada").status == 204)
    var answers: [Int] = []
    for _ in 0..<8 { answers.append(await scene.ask(.get, "\(id)/snapshot", by: "bob").status) }
    #expect(answers.first == 200 && answers.contains(429), "\(answers)")
    #expect(await scene.append("1", to: id, by: "ada").status == 201)
  }

  @Test(arguments: StoreKind.allCases)
  func `the token of the call opens its sessions, and that of another doesn't`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind)
    let id = try await scene.session("ada", "bob")
    let house = scene.calls.house
    let token = try #require(scene.tokens["bob"])
    #expect(await house.ask(.get, scene.path(), token: token).items.count == 1)
    #expect(await house.ask(.post, scene.path("\(id)/leave"), token: token).status == 200)
    let (other, started) = await scene.calls.start("zoe", "kim")
    let foreign = try #require(started["token"] as? String)
    let refused = await house.ask(.get, scene.path(), token: foreign)
    #expect(refused.status == 403 && refused.problem == "not-allowed")
    // A session is of its call alone.
    let moved = await scene.calls.ask(.post, "/v1/calls/\(other)/sessions/\(id)/join", by: "zoe")
    #expect(moved.status == 404)
    #expect(await house.ask(.get, scene.path(), token: nil).status == 401)
    #expect(await house.ask(.get, scene.path()).status == 403, "an administrator is none of the people")
  }

  @Test(arguments: StoreKind.allCases)
  func `the live stream has the session as REST gives it`(kind: StoreKind) async throws {
    let scene = try await SessionScene(kind, active: ["ada", "bob"], invited: ["zoe"])
    let id = try await scene.session("ada", "bob")
    func heard(_ person: String) async -> [(String, NSDictionary)] {
      let page = await scene.calls.ask(.get, "/v1/calls/events?after=0&limit=200", by: person)
      return page.items.compactMap { item in
        guard let event = item["event"] as? String, event.hasPrefix("session."),
          let data = item["data"] as? NSDictionary
        else { return nil }
        return (event, data)
      }
    }
    for person in ["ada", "bob", "zoe"] {
      let events = await heard(person)
      #expect(events.map(\.0) == ["session.started", "session.updated"], "\(person)")
      let listed = await scene.ask(.get, by: person).items
      #expect(events.allSatisfy { [$0.1] == listed }, "\(person): \(events) \(listed)")
    }
    _ = await scene.ask(.delete, id, by: "ada")
    let last = try #require(await heard("zoe").last)
    #expect(last.0 == "session.ended" && last.1["status"] as? String == "inactive")
  }
}
