import AccessTokens
import CallDesk
import Foundation
import HTTPServer
import KeyLog
import TestStores
import Testing

@testable import Gateway

@Suite("REST: the log of keys", .timeLimit(.minutes(2)))
struct KeyDoorTests {
  private func terms(_ entries: Int = 1_000) -> CallDeskTerms {
    var terms = CallDeskTerms()
    (terms.keys.entriesPerMinute, terms.keys.entriesPerHour) = (entries, entries)
    return terms
  }

  @Test(arguments: StoreKind.allCases)
  func `a key is published, read with proofs, replaced and revoked`(kind: StoreKind) async throws {
    let calls = try await CallHouse(terms(), on: kind)
    var reader = try await calls.reader()
    try reader.take(await calls.ask(.get, "/v1/keys/head", by: "bob").json)
    #expect(reader.size == 0)
    let point = try CallHouse.point()
    let put = try await calls.put("ada", key: point)
    #expect(put.status == 201 && put["person"] as? String == "ada")
    let entry = try #require(try reader.entries(of: put.json).first)
    #expect(entry["key"] as? String == point && entry["algorithm"] as? String == "p256")
    let again = try await calls.put("ada", key: point)
    #expect(
      again.status == 200 && (again["entry"] as? NSDictionary)?["id"] as? String == entry["id"] as? String)
    for number in 0..<7 { _ = try await calls.put("bob", "device \(number % 3)") }
    let found = await calls.ask(.get, "/v1/keys/bob?head=\(reader.size)", by: "ada")
    #expect(found.status == 200)
    #expect(
      try reader.entries(of: found.json).map { $0["device"] as? String } == [
        "device 1", "device 2", "device 0",
      ])
    try reader.take(
      try #require(found["head"] as? NSDictionary), consistency: found["consistency"] as? [String])
    #expect(reader.size == 8)
    let revoked = await calls.ask(.delete, "/v1/keys/bob/device%201", by: "bob")
    let last = try #require(try reader.entries(of: revoked.json).first)
    #expect(revoked.status == 200 && last["key"] == nil && last["algorithm"] == nil)
    let fewer = await calls.ask(.get, "/v1/keys/bob?head=\(reader.size)", by: "ada")
    #expect(try reader.entries(of: fewer.json).count == 2)
    let proof = await calls.ask(.get, "/v1/keys/consistency?from=8&to=9", by: "eve")
    #expect(proof["from"] as? Int == 8 && proof["to"] as? Int == 9)
    try reader.take(
      await calls.ask(.get, "/v1/keys/head", by: "eve").json, consistency: proof["consistency"] as? [String])
    #expect(reader.size == 9)
  }

  @Test(arguments: StoreKind.allCases)
  func `a person reads all entries of its own, in pages, and no one else's`(kind: StoreKind) async throws {
    let calls = try await CallHouse(terms(), on: kind)
    let reader = try await calls.reader()
    for number in 0..<7 {
      _ = try await calls.put("ada", "device \(number % 2)")
      _ = try await calls.put("bob")
    }
    var (leaves, next): ([Int], String?) = ([], nil)
    repeat {
      let before = next.map { "&before=\($0)" } ?? ""
      let page = await calls.ask(.get, "/v1/keys/ada/history?limit=3\(before)", by: "ada")
      leaves += try reader.entries(of: page.json).compactMap { $0["leaf"] as? Int }
      next = page["next"] as? String
    } while next != nil
    #expect(leaves == [12, 10, 8, 6, 4, 2, 0])
    let other = await calls.ask(.get, "/v1/keys/ada/history", by: "bob")
    #expect(other.status == 403 && other.problem == "not-allowed")
    let none = await calls.ask(.get, "/v1/keys/eve/history", by: "eve")
    #expect(none.status == 200 && none.items.isEmpty && none["salt"] == nil)
    for query in ["limit=0", "limit=201", "before=-1", "before=x", "limit=1e3"] {
      let answer = await calls.ask(.get, "/v1/keys/ada/history?\(query)", by: "ada")
      #expect(answer.status == 400 && answer.problem == "query", "\(query)")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `keys are published by the very person alone`(kind: StoreKind) async throws {
    let calls = try await CallHouse(terms(), on: kind)
    let refused = try await calls.put("ada", by: "bob")
    #expect(refused.status == 403 && refused.problem == "not-allowed")
    _ = try await calls.put("ada")
    #expect(await calls.ask(.delete, "/v1/keys/ada/phone", by: "bob").status == 403)
    // What runs every room is no person either, unless it is that one.
    #expect(await calls.house.ask(.delete, "/v1/keys/ada/phone").status == 403)
    // What looks the same is another.
    let (one, two) = ("caf\u{E9}", "cafe\u{301}")
    let path = "/v1/keys/caf%C3%A9"
    let body = #"{"device":"phone","algorithm":"p256","key":"\#(try CallHouse.point())"}"#
    #expect(await calls.ask(.put, path, body, by: two).status == 403)
    #expect(await calls.ask(.put, path, body, by: one).status == 201)
  }

  @Test(arguments: StoreKind.allCases)
  func `a token of a room or of a call opens none of it`(kind: StoreKind) async throws {
    let calls = try await CallHouse(terms(), on: kind)
    _ = try await calls.put("bob")
    let (id, _) = await calls.start("ada", "bob")
    let joined = await calls.join(id, "bob")
    let ofCall = try #require(joined["token"] as? String)
    let ofRoom = House.token("bob") { $0 = .join("demo") }
    let body = #"{"device":"bob1","algorithm":"p256","key":"\#(try CallHouse.point())"}"#
    let requests: [(HTTPMethod, String, String)] = [
      (.put, "/v1/keys/bob", body), (.delete, "/v1/keys/bob/phone", ""), (.get, "/v1/keys/bob", ""),
      (.get, "/v1/keys/bob/history", ""), (.get, "/v1/keys/head", ""), (.get, "/v1/keys/log", ""),
      (.get, "/v1/keys/consistency?from=0&to=1", ""),
      (.post, "/v1/calls/\(id)/keys", #"{"index":1,"keys":[]}"#),
    ]
    for (method, path, body) in requests {
      for token in [ofCall, ofRoom] {
        let answer = await calls.house.ask(method, path, body, token: token)
        #expect(answer.status == 403 && answer.problem == "not-allowed", "\(method) \(path)")
      }
      #expect(await calls.house.ask(method, path, body, token: nil).status == 401)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who asks wrongly learns what is wrong`(kind: StoreKind) async throws {
    let calls = try await CallHouse(terms(), on: kind)
    let good = try CallHouse.point()
    let large = Data(repeating: 0, count: 4_097).base64EncodedString()
    let bodies: [(String, Int, String)] = [
      ("{}", 400, "device"),
      (#"{"device":"","algorithm":"p256","key":"\#(good)"}"#, 400, "device"),
      (#"{"device":"phone","key":"\#(good)"}"#, 400, "algorithm"),
      (#"{"device":"phone","algorithm":"rot13","key":"\#(good)"}"#, 400, "rsa-oaep-256"),
      (#"{"device":"phone","algorithm":"p256"}"#, 400, "key"),
      (#"{"device":"phone","algorithm":"p256","key":"%%%%"}"#, 400, "base64"),
      (#"{"device":"phone","algorithm":"p256","key":"AAAA"}"#, 400, "key"),
      (#"{"device":"phone","algorithm":"rsa-oaep-256","key":"\#(good)"}"#, 400, "key"),
      (#"{"device":"phone","algorithm":"p256","key":"\#(large)"}"#, 413, "key"),
      (#"{"device":"phone","algorithm":"p256","key":"\#(good)","colour":1}"#, 400, "colour"),
    ]
    for (body, status, word) in bodies {
      let answer = await calls.ask(.put, "/v1/keys/ada", body, by: "ada")
      #expect(
        answer.status == status && answer.detail?.contains(word) == true, "\(body.prefix(80)): \(answer.text)"
      )
    }
    let missing = await calls.ask(.delete, "/v1/keys/ada/phone", by: "ada")
    #expect(missing.status == 404 && missing.problem == "not-found")
    for path in ["/v1/keys/bob?head=1", "/v1/keys/consistency?from=0&to=1"] {
      let answer = await calls.ask(.get, path, by: "ada")
      #expect(
        answer.status == 409 && answer.problem == "no-such-head" && answer["size"] as? Int == 0, "\(path)")
    }
    for path in [
      "/v1/keys/consistency", "/v1/keys/consistency?from=0", "/v1/keys/consistency?from=0&to=",
      "/v1/keys/consistency?from=0&to=99999999999999999999", "/v1/keys/bob?head=-1",
    ] {
      let answer = await calls.ask(.get, path, by: "ada")
      #expect(answer.status == 400 && answer.problem == "query", "\(path)")
    }
    for number in 0..<16 { #expect(try await calls.put("ada", "device \(number)").status == 201) }
    let more = try await calls.put("ada", "another")
    #expect(more.status == 413 && more.problem == "too-large" && more.detail == "devices")
  }

  @Test(arguments: StoreKind.allCases)
  func `names of the log are no person's, and a device may be called anything`(kind: StoreKind) async throws {
    let calls = try await CallHouse(terms(), on: kind)
    // Every name that has an operation of its own is among them.
    let fixed = CallOperation.all.map(\.path).filter { $0.hasPrefix("/v1/keys/") }
      .map { $0.split(separator: "/")[2] }.filter { !$0.hasPrefix("{") }
    #expect(Set(fixed.map(String.init)) == CallDoor.namesOfLog)
    for name in CallDoor.namesOfLog {
      let answer = try await calls.put(name)
      #expect(answer.status == 422 && answer.problem == "reserved-name")
      // Not even one that has no key of its own is mistaken for another by that.
      #expect(try await calls.put(name, by: "ada").status == 403)
      #expect(await calls.ask(.get, "/v1/keys/\(name)/history", by: name).items.isEmpty)
    }
    #expect(await calls.ask(.post, "/v1/keys/head", by: "ada").status == 405)
    for device in ["history", "head", "log"] {
      #expect(try await calls.put("ada", device).status == 201)
      #expect(await calls.ask(.delete, "/v1/keys/ada/\(device)", by: "ada").status == 200)
    }
    #expect(await calls.ask(.get, "/v1/keys/ada/history", by: "ada").items.count == 6)
    #expect(await calls.ask(.get, "/v1/keys/ada/phone", by: "ada").status == 405)
  }

  @Test(arguments: StoreKind.allCases)
  func `a person appends so often, and may read all the same`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let point = try CallHouse.point()
    for _ in 0..<5 { _ = try await calls.put("ada", key: point) }
    for number in 0..<2 { #expect(try await calls.put("ada", "d\(number)").status == 201) }
    let refused = try await calls.put("ada", "d3")
    #expect(refused.status == 429 && refused.problem == "too-many")
    #expect(refused.headers["retry-after"].flatMap { Int($0) } ?? 0 > 50)
    let revoked = await calls.ask(.delete, "/v1/keys/ada/d1", by: "ada")
    #expect(revoked.status == 429)
    #expect(try await calls.put("bob").status == 201)
    #expect(await calls.ask(.get, "/v1/keys/ada", by: "ada").status == 200)
    calls.clock.move(60_000)
    #expect(try await calls.put("ada", "d3").status == 201)
  }

  @Test(arguments: StoreKind.allCases)
  func `who reads a thousand times waits, and no other does for it`(kind: StoreKind) async throws {
    let calls = try await CallHouse(terms(), on: kind)
    _ = try await calls.put("ada")
    var refused: House.Answer?
    for _ in 0..<1_000 where refused == nil {
      let answer = await calls.ask(.get, "/v1/keys/ada/history?limit=200", by: "ada")
      if answer.status != 200 { refused = answer }
    }
    #expect(refused?.status == 429 && refused?.problem == "too-many")
    #expect(await calls.ask(.get, "/v1/keys/ada", by: "bob").status == 200)
  }

  @Test(arguments: StoreKind.allCases)
  func `a person that is erased has no salt, and proofs of others hold`(kind: StoreKind) async throws {
    let calls = try await CallHouse(terms(), on: kind)
    var reader = try await calls.reader()
    for person in ["ada", "bob", "eve"] { _ = try await calls.put(person) }
    let before = await calls.ask(.get, "/v1/keys/bob?head=0", by: "ada")
    try reader.take(try #require(before["head"] as? NSDictionary))
    #expect(await calls.ask(.delete, "/v1/people/bob", by: "bob").status == 204)
    let erased = await calls.ask(.get, "/v1/keys/bob?head=3", by: "ada")
    #expect(erased["salt"] == nil && (erased.json["keys"] as? [NSDictionary])?.isEmpty == true)
    let other = await calls.ask(.get, "/v1/keys/eve?head=3", by: "ada")
    #expect(try reader.entries(of: other.json).count == 1)
    try reader.take(
      try #require(other["head"] as? NSDictionary), consistency: other["consistency"] as? [String])
    let back = try await calls.put("bob")
    #expect(back.status == 201 && back["salt"] as? String != before["salt"] as? String)
    try reader.entries(of: back.json)
  }

  @Test(arguments: StoreKind.allCases)
  func `those who call each other hear of a changed key`(kind: StoreKind) async throws {
    let calls = try await CallHouse(terms(), on: kind)
    _ = await calls.start("ada", "bob")
    _ = try await calls.put("bob")
    for (person, count) in [("ada", 1), ("bob", 1), ("mallory", 0)] {
      let heard = await calls.events(person).filter { $0.kind == "key.changed" }
      let changed = heard.map { $0.data["person"] as? String }
      #expect(changed == Array(repeating: "bob", count: count), "\(person)")
    }
  }
}
