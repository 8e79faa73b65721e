import AccessTokens
import Foundation
import HTTPServer
import TestStores
import Testing

@testable import Gateway

@Suite("REST: what calls and devices have in them, member by member", .timeLimit(.minutes(2)))
struct CallContractTests {
  private func call(_ answer: House.Answer) throws -> NSDictionary {
    try #require(answer["call"] as? NSDictionary, "\(answer.text)")
  }

  /// What a person has heard of a kind.
  private func heard(_ kind: String, by person: String, _ calls: CallHouse) async -> [NSDictionary] {
    let page = await calls.ask(.get, "/v1/calls/events?after=0&limit=200", by: person)
    return page.items.filter { $0["event"] as? String == kind }.compactMap { $0["data"] as? NSDictionary }
  }

  /// All that the log has for webhooks, in order.
  private func logged(_ calls: CallHouse) async -> [NSDictionary] {
    await calls.house.ask(.get, "/v1/events?limit=200").items.compactMap { $0["event"] as? NSDictionary }
  }

  @Test(arguments: StoreKind.allCases)
  func `a direct call has no room and no token, and is answered once two say that they are connected`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob", more: #","path":"direct""#)
    #expect(started.status == 201 && started["token"] == nil && started["url"] == nil)
    let first = try call(started)
    #expect(first["path"] as? String == "direct" && first["room"] == nil && first["outcome"] is NSNull)
    let ring = try #require(await heard("call.ringing", by: "bob", calls).first)
    #expect(ring["ringId"] is NSString && ring["token"] == nil && ring["url"] == nil)
    let joined = await calls.join(id, "bob")
    #expect(joined.status == 200 && joined["token"] == nil && joined["url"] == nil)
    for (person, other) in [("ada", "bob"), ("bob", "ada")] {
      #expect(await calls.ask(.get, "/v1/calls/\(id)", by: person)["connectedAt"] == nil)
      let uuid = UUID().uuidString
      let signal = #"{"id":"\#(uuid)","to":"\#(other)","kind":"status","clear":{"connected":true}}"#
      #expect(await calls.ask(.post, "/v1/calls/\(id)/signals", signal, by: person).status == 201)
    }
    let connected = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    #expect(connected["connectedAt"] is NSString && connected["status"] as? String == "active")
    calls.clock.move(1_500)
    let left = await calls.ask(.post, "/v1/calls/\(id)/leave", #"{"deviceId":"bob1"}"#, by: "bob")
    #expect(left["ended"] as? Bool == true)
    let over = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    #expect(over["status"] as? String == "inactive" && over["outcome"] as? String == "answered")
    #expect(over["endedBy"] as? String == "bob")
    let lasted = try #require(over["durationMs"] as? Int)
    #expect((1_500..<60_000).contains(lasted))
    try await eventually("its three steps are in the log") {
      let types = await logged(calls).compactMap { $0["type"] as? String }
      return types.filter { $0.hasPrefix("call.") } == ["call.started", "call.answered", "call.ended"]
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `times are in UTC with milliseconds, those of each one's own part as well`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    let first = try call(started)
    #expect(first["endedAt"] == nil && first["connectedAt"] == nil && first["durationMs"] == nil)
    // The house's clock has whole seconds, and what it is moved by.
    calls.clock.move(1_234)
    let joined = try call(await calls.join(id, "bob"))
    calls.clock.move(1_001)
    let left = await calls.ask(.post, "/v1/calls/\(id)/leave", #"{"deviceId":"bob1"}"#, by: "bob")
    #expect(left.status == 200)
    let over = try #require(await calls.ask(.get, "/v1/calls", by: "bob").items.first)
    let whole = try #require(await calls.ask(.get, "/v1/calls", by: "ada").items.first)
    let mine = try #require(over["mine"] as? NSDictionary)
    let callers = try #require(whole["mine"] as? NSDictionary)
    #expect(mine["role"] as? String == "recipient" && callers["role"] as? String == "caller")
    let gone = try #require(over["leftParticipants"] as? [NSDictionary])
    let times: [(Any?, String)] = [
      (first["createdAt"], ".000Z"), (over["createdAt"], ".000Z"), (first["updatedAt"], ".000Z"),
      (joined["updatedAt"], ".234Z"), (over["updatedAt"], ".235Z"), (over["endedAt"], ".235Z"),
      (callers["joinedAt"], ".000Z"), (callers["leftAt"], ".235Z"), (mine["joinedAt"], ".234Z"),
      (mine["leftAt"], ".235Z"), (gone.first?["at"], ".235Z"),
    ]
    for (time, ending) in times {
      let text = try #require(time as? String)
      #expect(text.count == 24 && text.contains("T") && text.hasSuffix(ending), "\(text), not \(ending)")
    }
  }

  @Test(
    arguments: StoreKind.allCases, ["serverError", "networkError", "timedOut", "userLeft"])
  func `a caller who gives up has left by the reason that it gives, and the call is over as that says`(
    kind: StoreKind, reason: String
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    let body = #"{"reason":"\#(reason)","deviceId":"ada1"}"#
    let left = await calls.ask(.post, "/v1/calls/\(id)/leave", body, by: "ada")
    #expect(left["ended"] as? Bool == true)
    let over = try call(left)
    let wanted =
      switch reason {
      case "serverError", "networkError": "failed"
      case "timedOut": "missed"
      default: "cancelled"
      }
    #expect(over["outcome"] as? String == wanted)
    let gone = try #require(over["leftParticipants"] as? [NSDictionary])
    let reasons = gone.map { "\($0["id"] as? String ?? "") \($0["reason"] as? String ?? "")" }
    #expect(Set(reasons) == ["ada \(reason)", "bob cancelled"])
  }

  @Test(arguments: StoreKind.allCases)
  func `a token of a person may name all rooms, and opens what is the person's and nothing else`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let token = House.token("ada") { $0.room = "*" }
    let id = UUID().uuidString.lowercased()
    let body = #"{"id":"\#(id)","recipients":["bob"],"media":"audio"}"#
    #expect(await calls.house.ask(.post, "/v1/calls", body, token: token).status == 201)
    let own = ["/v1/calls", "/v1/calls/\(id)", "/v1/calls/events?after=0", "/v1/devices", "/v1/blocks"]
    for path in own {
      #expect(await calls.house.ask(.get, path, token: token).status == 200, "\(path)")
    }
    for path in ["/v1/calls/\(id)", "/v1/people/bob"] {
      #expect(await calls.house.ask(.delete, path, token: token).status == 403, "\(path)")
    }
    let (other, _) = await calls.start("eve", "bob")
    #expect(await calls.house.ask(.get, "/v1/calls/\(other)", token: token).status == 404)
  }

  @Test(arguments: StoreKind.allCases)
  func `leaving says whether the call is over by that`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob", "eve")
    for person in ["bob", "eve"] { #expect(await calls.join(id, person).status == 200) }
    let first = await calls.ask(.post, "/v1/calls/\(id)/leave", #"{"deviceId":"bob1"}"#, by: "bob")
    #expect(first["ended"] as? Bool == false)
    let there = try call(first)
    #expect(there["activeParticipants"] as? [String] == ["ada", "eve"])
    #expect(there["allParticipants"] as? [String] == ["ada", "bob", "eve"])
    for person in ["eve", "ada"] {
      let left = await calls.ask(
        .post, "/v1/calls/\(id)/leave", #"{"deviceId":"\#(person)1"}"#, by: person)
      #expect(left["ended"] as? Bool == (person == "ada"))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a device keeps what it was registered with, and its end is said with the reason`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let place = #""platform":"apns-alert","environment":"sandbox","screen":"app""#
    let shown = #"{\#(place),"token":"abcdefgh","topic":"app.example"}"#
    #expect(await calls.ask(.put, "/v1/devices/phone", shown, by: "ada").status == 200)
    let plain = #"{"platform":"webhook","token":"other"}"#
    #expect(await calls.ask(.put, "/v1/devices/tablet", plain, by: "ada").status == 200)
    let words = ["platform", "environment", "screen", "topic"]
    let listed = await calls.ask(.get, "/v1/devices", by: "ada").items
    let known = listed.map { device in words.map { device[$0] as? String ?? "" } }
    #expect(
      Set(known) == [
        ["apns-alert", "sandbox", "app", "app.example"], ["webhook", "production", "system", ""],
      ])
    // Its token is another's now.
    #expect(await calls.ask(.put, "/v1/devices/pad", shown, by: "bob").status == 200)
    #expect(await calls.ask(.delete, "/v1/devices/tablet", by: "ada").status == 204)
    let gone = await heard("device.removed", by: "ada", calls)
    #expect(gone.map { $0["device"] as? String } == ["phone", "tablet"])
    #expect(gone.map { $0["reason"] as? String } == ["movedElsewhere", "unregistered"])
  }

  @Test(arguments: StoreKind.allCases)
  func `a body that is too large, a key that is none and a call with oneself are refused by name`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let long = String(repeating: "t", count: 65_536)
    let large = await calls.ask(
      .put, "/v1/devices/phone", #"{"platform":"webhook","token":"\#(long)"}"#, by: "ada")
    #expect(large.status == 413 && large.problem == "body-too-large")
    #expect(await calls.ask(.get, "/v1/devices", by: "ada").items.isEmpty)
    let (id, _) = await calls.start("ada", "bob")
    for (size, status) in [(65_536, 201), (65_537, 413)] {
      let payload = Data(count: size).base64EncodedString()
      let body = #"{"id":"\#(UUID().uuidString)","to":"bob","kind":"offer","payload":"\#(payload)"}"#
      let sent = await calls.ask(.post, "/v1/calls/\(id)/signals", body, by: "ada")
      #expect(sent.status == status && sent.problem == (status == 413 ? "too-large" : nil), "\(size)")
    }
    let keyed = await calls.ask(
      .post, "/v1/calls/\(id)/forget", by: "ada",
      headers: [("idempotency-key", String(repeating: "k", count: 129))])
    #expect(keyed.status == 400 && keyed.problem == "idempotency-key")
    #expect(await calls.ask(.get, "/v1/calls", by: "ada").items.count == 1)
    let (_, alone) = await calls.start("ada", "ada")
    #expect(alone.status == 422 && alone.problem == "no-recipients")
  }

  @Test(arguments: StoreKind.allCases)
  func `who owns a session and how it ends are among its events, its beginning and end in the log`(
    kind: StoreKind
  )
    async throws
  {
    let scene = try await SessionScene(kind, active: ["ada", "bob", "eve"])
    let id = try await scene.session("ada", "bob", "eve")
    let steps: [(HTTPMethod, String, String, String)] = [
      (.post, "\(id)/owner", #"{"to":"bob"}"#, "ada"), (.post, "\(id)/leave", "", "bob"),
      (.post, "\(id)/owner", #"{"accept":true}"#, "ada"), (.delete, id, "", "ada"),
    ]
    for (method, path, body, person) in steps {
      #expect(await scene.ask(method, path, body, by: person).status == 200, "\(path)")
    }
    let session = try #require(await scene.ask(.get, by: "eve").items.first)
    #expect(session["id"] as? String == id && session["experience"] as? String == "story")
    for name in ["createdAt", "endedAt"] {
      let time = try #require(session[name] as? String)
      #expect(time.count == 24 && time.hasSuffix(".000Z"), "\(name): \(time)")
    }
    let events = await scene.ask(.get, "\(id)/events", by: "eve").items
    #expect(
      events.compactMap { $0["type"] as? String } == [
        "system.joined", "system.joined", "system.ownerChanged", "system.left", "system.ownerLeft",
        "system.ownerChanged", "system.ended",
      ])
    let people = events.map { ($0["data"] as? NSDictionary)?["person"] as? String }
    #expect(people == ["bob", "eve", "bob", "bob", "bob", "ada", nil])
    try await eventually("its beginning and end are in the log") {
      let said = await logged(scene.calls).compactMap { event -> [String]? in
        guard let call = event["call"] as? NSDictionary, call["session"] as? String == id else { return nil }
        return [event["type"] as? String ?? "", call["experience"] as? String ?? ""]
      }
      return said == [["session.started", "story"], ["session.ended", "story"]]
    }
  }
}
