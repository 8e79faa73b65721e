import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import TestStores
import Testing

@testable import Gateway

@Suite("REST: calls that are encrypted end to end", .timeLimit(.minutes(2)))
struct CallKeyDoorTests {
  private static let root = String(repeating: "ab", count: 32)

  private func call(_ answer: House.Answer) -> NSDictionary { answer["call"] as? NSDictionary ?? [:] }

  /// An encrypted call of ada's, its key `word` wrapped for people.
  private func start(
    _ calls: CallHouse, _ word: String, _ others: [String], more: String = ""
  ) async throws -> String {
    var keys: [String] = []
    for other in others { keys.append(String(await calls.wrap(word, for: other).dropFirst().dropLast())) }
    let id = UUID().uuidString.lowercased()
    let list = others.map { "\"\($0)\"" }.joined(separator: ",")
    let body =
      #"{"id":"\#(id)","recipients":[\#(list)],"media":"audio","e2ee":true,"deviceId":"ada1","keys":["#
      + #"\#(keys.joined(separator: ","))]\#(more)}"#
    let answer = await calls.ask(.post, "/v1/calls", body, by: "ada")
    #expect(answer.status == 201, "\(answer.text)")
    return id
  }

  @Test(arguments: StoreKind.allCases)
  func `each device gets its own key, by the ring, by join and when it is another`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    for device in ["phone", "tablet"] { _ = try await calls.put("bob", device) }
    let head = #","head":{"size":2,"root":"\#(Self.root)"}"#
    let id = try await start(calls, "k0", ["bob"], more: head)
    for device in ["phone", "tablet"] {
      let rung = await calls.rings("bob", device: device)
      #expect(rung.count == 1)
      let ring = try #require(rung.first)
      #expect(ring.word == "k0 for bob/\(device)" && ring["keyFrom"] as? String == "ada")
      #expect(ring["keyIndex"] as? Int == 0)
      let seen = ring["head"] as? NSDictionary
      #expect(seen?["size"] as? Int == 2 && seen?["root"] as? String == Self.root)
      #expect((ring["call"] as? NSDictionary)?["e2ee"] as? Bool == true)
    }
    // A device without a key, and one that doesn't say which it is, get none.
    for device in ["watch", nil] {
      let ring = try #require(await calls.rings("bob", device: device).first)
      #expect(ring["key"] == nil && ring["keyFrom"] == nil)
    }
    let joined = await calls.join(id, "bob", device: "tablet")
    #expect(joined.json.word == "k0 for bob/tablet" && joined["keyFrom"] as? String == "ada")
    // The ring is over: its event opens nothing any more.
    #expect(await calls.rings("bob", device: "phone").map(\.word) == [nil])
    let keys = await calls.wrap("k1", for: "bob")
    let path = "/v1/calls/\(id)/keys"
    let changed = await calls.ask(.post, path, #"{"index":1,"keys":\#(keys)}"#, by: "ada")
    #expect(changed.status == 200 && changed["index"] as? Int == 1)
    #expect(changed["people"] as? [String] == ["bob"])
    for device in ["phone", "tablet"] {
      let news = await calls.events("bob", device: device).filter { $0.kind == "call.key" }
      #expect(news.count == 1 && news[0].data.word == "k1 for bob/\(device)")
      #expect(news[0].data["index"] as? Int == 1 && news[0].data["keyFrom"] as? String == "ada")
      #expect(news[0].data["call"] as? String == id)
    }
    let late = await calls.events("bob", device: "watch").filter { $0.kind == "call.key" }
    #expect(late.count == 1 && late[0].data["key"] == nil)
    #expect(await calls.events("ada", device: "ada1").allSatisfy { $0.kind != "call.key" })
    // Of several only the last is heard of.
    let other = await calls.wrap("k2", for: "bob")
    #expect(await calls.ask(.post, path, #"{"index":7,"keys":\#(other)}"#, by: "ada").status == 200)
    let news = await calls.events("bob", device: "phone").filter { $0.kind == "call.key" }
    #expect(news.map(\.data.word) == ["k2 for bob/phone"])
  }

  @Test(arguments: StoreKind.allCases)
  func `what is missing, stale or taken is said by name, with what there is now`(kind: StoreKind) async throws
  {
    let calls = try await CallHouse(on: kind)
    for person in ["bob", "eve"] { _ = try await calls.put(person) }
    let id = try await start(calls, "k0", ["bob"])
    let begin = { (keys: String) in
      await calls.ask(
        .post, "/v1/calls",
        #"{"id":"\#(UUID())","recipients":["bob","zoe"],"media":"audio","e2ee":true,"keys":\#(keys)}"#,
        by: "ada")
    }
    let missing = await begin("[]")
    #expect(missing.status == 422 && missing.problem == "key-missing")
    #expect(missing["people"] as? [String] == ["bob", "zoe"])
    let stale = await calls.wrap("k0", for: "eve")
    let put = try await calls.put("eve")
    let current = (put["entry"] as? NSDictionary)?["id"] as? String ?? ""
    let invite = { (keys: String) in
      await calls.ask(.post, "/v1/calls/\(id)/invite", #"{"recipients":["eve"],"keys":\#(keys)}"#, by: "ada")
    }
    let refused = await invite(stale)
    #expect(refused.status == 409 && refused.problem == "stale-key" && refused["index"] == nil)
    let listed = refused.json["current"] as? [NSDictionary] ?? []
    #expect(listed.map { $0["keyId"] as? String } == [current])
    #expect(listed.map { $0["person"] as? String } == ["eve"])
    #expect(listed.map { $0["device"] as? String } == ["phone"])
    let path = "/v1/calls/\(id)/keys"
    let keys = await calls.wrap("k1", for: "bob")
    #expect(await calls.ask(.post, path, #"{"index":3,"keys":\#(keys)}"#, by: "ada").status == 200)
    #expect(await calls.ask(.post, path, #"{"index":3,"keys":\#(keys)}"#, by: "ada").status == 200)
    let taken = await calls.ask(.post, path, #"{"index":3,"keys":[]}"#, by: "ada")
    #expect(taken.status == 409 && taken.problem == "id-taken")
    let late = await invite(await calls.wrap("k0", for: "eve"))
    #expect(late.status == 409 && late.problem == "stale-key" && late["index"] as? Int == 3)
    let far = await calls.ask(.post, path, #"{"index":2000,"keys":\#(keys)}"#, by: "ada")
    #expect(far.status == 413 && far.problem == "too-large")
    let wrapped = await calls.wrap("k1", for: "eve")
    let good = #"{"recipients":["eve"],"keys":\#(wrapped),"keyIndex":3}"#
    #expect(await calls.ask(.post, "/v1/calls/\(id)/invite", good, by: "ada").status == 200)
    #expect(await calls.rings("eve", device: "phone").first?["keyIndex"] as? Int == 3)
    let (plain, _) = await calls.start("ada", "zoe")
    let secret = await calls.ask(.post, "/v1/calls/\(plain)/keys", #"{"index":1,"keys":[]}"#, by: "ada")
    #expect(secret.status == 403 && secret.problem == "not-allowed")
  }

  @Test(arguments: StoreKind.allCases)
  func `keys that are none are refused before anything is made of them`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let put = try await calls.put("bob")
    let id = (put["entry"] as? NSDictionary)?["id"] as? String ?? ""
    func key(
      _ person: String = "bob", _ device: String = "phone", _ keyID: String? = nil,
      _ ciphertext: String = "AAAA"
    ) -> String {
      #"{"person":"\#(person)","device":"\#(device)","keyId":"\#(keyID ?? id)","ciphertext":"\#(ciphertext)"}"#
    }
    let long = Data(repeating: 7, count: 1_025).base64EncodedString()
    let crowd = (0..<17).map { key("bob", "d\($0)") }.joined(separator: ",")
    let flood = Array(repeating: "{}", count: 513).joined(separator: ",")
    let lists: [(String, Int, String)] = [
      ("{}", 400, "list"), ("[1]", 400, "keys[0]"), ("[{}]", 400, "keyId"),
      ("[\(key("bob", "phone", "xyz"))]", 400, "keys[0].keyId"),
      ("[\(key("bob", "phone", String(repeating: "A", count: 64)))]", 400, "keys[0].keyId"),
      ("[\(key("bob", "phone", nil, "%"))]", 400, "ciphertext"),
      ("[\(key("bob", "phone", nil, ""))]", 400, "ciphertext"),
      ("[\(key("bob", "phone", nil, long))]", 413, "ciphertext"),
      ("[\(key("bob", ""))]", 400, "device"), ("[\(key("*"))]", 400, "person"),
      ("[\(key("mallory"))]", 400, "recipients"), ("[\(key()),\(key())]", 400, "one for each device"),
      ("[\(crowd)]", 400, "16"), ("[\(flood)]", 400, "512"),
      (#"[{"person":"bob","colour":1}]"#, 400, "keys[0].colour"),
    ]
    for (list, status, word) in lists {
      let body =
        #"{"id":"\#(UUID())","recipients":["bob"],"media":"audio","e2ee":true,"keys":\#(list)}"#
      let answer = await calls.ask(.post, "/v1/calls", body, by: "ada")
      #expect(
        answer.status == status && answer.detail?.contains(word) == true, "\(list.prefix(60)): \(answer.text)"
      )
    }
    for head in [#"{"size":1}"#, #"{"size":-1,"root":"\#(Self.root)"}"#, #"{"size":1,"root":"ab"}"#, "3"] {
      let body =
        #"{"id":"\#(UUID())","recipients":["bob"],"media":"audio","e2ee":true,"keys":[\#(key())],"head":\#(head)}"#
      #expect(await calls.ask(.post, "/v1/calls", body, by: "ada").status == 400, "\(head)")
    }
    #expect(await calls.rings("bob").isEmpty)
  }

  @Test(arguments: StoreKind.allCases)
  func `the largest request of keys is taken, and the largest answer given`(kind: StoreKind) async throws {
    var terms = CallDeskTerms()
    (terms.keys.entriesPerMinute, terms.keys.entriesPerHour) = (100, 100)
    let calls = try await CallHouse(terms, on: kind)
    let devices = (0..<16).map { String(repeating: "d", count: 126) + String($0 + 10) }
    for device in devices { #expect(try await calls.put("bob", device).status == 201) }
    let answer = await calls.ask(.get, "/v1/keys/bob", by: "ada")
    let entries = answer.json["keys"] as? [NSDictionary] ?? []
    #expect(entries.count == 16)
    let largest = Data(repeating: 7, count: 1_024).base64EncodedString()
    let keys = entries.map { entry in
      let (device, id) = (entry["device"] as? String ?? "", entry["id"] as? String ?? "")
      return #"{"person":"bob","device":"\#(device)","keyId":"\#(id)","ciphertext":"\#(largest)"}"#
    }
    let body =
      #"{"id":"\#(UUID())","recipients":["bob"],"media":"audio","e2ee":true,"keys":[\#(keys.joined(separator: ","))]}"#
    #expect(await calls.ask(.post, "/v1/calls", body, by: "ada").status == 201)
    let ring = try #require(await calls.rings("bob", device: devices[9]).first)
    #expect((ring["key"] as? NSDictionary)?["ciphertext"] as? String == largest)
  }

  @Test(arguments: StoreKind.allCases)
  func `a stranger is answered byte for byte like one who asks for what never was`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    for person in ["bob", "mallory"] { _ = try await calls.put(person) }
    let id = try await start(calls, "k0", ["bob"])
    let never = UUID().uuidString.lowercased()
    let keys = await calls.wrap("x", for: "mallory", "bob")
    for (path, body) in [
      ("keys", #"{"index":1,"keys":\#(keys)}"#), ("keys", #"{"index":1,"keys":[]}"#),
      ("invite", #"{"recipients":["bob","mallory"],"keys":\#(keys)}"#),
      ("invite", #"{"recipients":["bob"],"keyIndex":7}"#),
    ] {
      let known = await calls.ask(.post, "/v1/calls/\(id)/\(path)", body, by: "mallory")
      let unknown = await calls.ask(.post, "/v1/calls/\(never)/\(path)", body, by: "mallory")
      #expect(known.status == 404 && known.text == unknown.text, "\(path)")
      #expect("\(known.headers)" == "\(unknown.headers)")
    }
    #expect(await calls.events("mallory", device: "phone").allSatisfy { $0.kind == "key.changed" })
    // Nor does one of the call read what is for another's device of the same name.
    let ring = try #require(await calls.rings("bob", device: "phone").first)
    #expect(ring.word == "k0 for bob/phone")
    #expect(await calls.join(id, "mallory").status == 404)
  }

  @Test(arguments: StoreKind.allCases)
  func `who is removed, or of a call that is over, is given no key by what it has heard`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    for person in ["bob", "eve"] { _ = try await calls.put(person) }
    let id = try await start(calls, "k0", ["bob", "eve"])
    for person in ["bob", "eve"] { _ = await calls.join(id, person, device: "phone") }
    let keys = await calls.wrap("k1", for: "bob", "eve")
    let path = "/v1/calls/\(id)/keys"
    #expect(await calls.ask(.post, path, #"{"index":1,"keys":\#(keys)}"#, by: "ada").status == 200)
    func heard(_ person: String) async -> [String?] {
      await calls.events(person, device: "phone").filter { $0.kind == "call.key" }.map(\.data.word)
    }
    #expect(await heard("bob") == ["k1 for bob/phone"])
    _ = try await calls.desk.remove(PersonID("bob"), from: try #require(CallUUID(id)))
    #expect(await heard("bob").isEmpty)
    let back = await calls.join(id, "bob", device: "phone")
    #expect(back.status == 403 && back.problem == "removed" && back.json.word == nil)
    #expect(await heard("eve") == ["k1 for eve/phone"])
    #expect(await calls.house.ask(.delete, "/v1/calls/\(id)").status == 200)
    #expect(await heard("eve").isEmpty)
  }
}
