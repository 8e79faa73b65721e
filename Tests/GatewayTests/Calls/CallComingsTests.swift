import AccessTokens
import CallDesk
import Calls
import Crypto
import Foundation
import HTTPServer
import Rooms
import TestStores
import Testing

@testable import Gateway

@Suite("Which device of a person comes into a call's room", .timeLimit(.minutes(2)))
struct CallComingsTests {
  private let bob = PersonID("bob")
  private let phone = DeviceID("phone")
  private let tablet = DeviceID("tablet")

  @Test func `while one is on the way no other is, until all that it is on the way by has been decided`() {
    let comings = CallComings()
    #expect(comings.begin(bob, phone, into: "r") && comings.begin(bob, phone, into: "r"))
    #expect(!comings.begin(bob, tablet, into: "r") && !comings.begin(bob, nil, into: "r"))
    // Into another room, and of another person.
    #expect(comings.begin(bob, tablet, into: "s") && comings.begin(PersonID("eve"), tablet, into: "r"))
    comings.end(bob, phone, into: "r")
    #expect(!comings.begin(bob, tablet, into: "r"))
    // What was refused has nothing to end.
    comings.end(bob, tablet, into: "r")
    #expect(!comings.begin(bob, tablet, into: "r"))
    comings.end(bob, phone, into: "r")
    #expect(comings.begin(bob, tablet, into: "r") && !comings.begin(bob, phone, into: "r"))
  }

  @Test func `those that don't say which they are aren't the same`() {
    let comings = CallComings()
    #expect(comings.begin(bob, nil, into: "r") && !comings.begin(bob, nil, into: "r"))
    comings.end(bob, nil, into: "r")
    #expect(comings.begin(bob, nil, into: "r"))
  }

  // MARK: - By the doors

  /// A call that rings bob.
  private func call(_ calls: CallHouse) async throws -> (id: String, room: String) {
    let (id, started) = await calls.start("ada", "bob")
    return (id, try #require((started["call"] as? NSDictionary)?["room"] as? String))
  }

  /// A ring's token, for one of bob's devices.
  private func ringToken(_ query: String, _ calls: CallHouse) async throws -> String {
    let rung = await calls.ask(.get, "/v1/calls/events?after=0\(query)", by: "bob")
    return try #require((rung.items.first?["data"] as? NSDictionary)?["token"] as? String)
  }

  private func active(_ id: String, _ calls: CallHouse) async -> [String]? {
    await calls.ask(.get, "/v1/calls/\(id)", by: "ada")["activeParticipants"] as? [String]
  }

  @Test(arguments: StoreKind.allCases)
  func `one that the room doesn't let in keeps no other device out`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, room) = try await call(calls)
    let broken = await Encoder(
      calls.house, "whip", try await ringToken("&device=phone", calls), room, "v=0\r\no=x\r\n")
    #expect(broken.answer.status == 400 && broken.answer.problem == "sdp")
    #expect(await active(id, calls) == ["ada"])
    let guest = calls.house.connect(try await ringToken("&device=tablet", calls), room: room)
    #expect(try await guest.next("joined")["type"] as? String == "joined")
    #expect(await active(id, calls) == ["ada", "bob"])
  }

  @Test(arguments: StoreKind.allCases)
  func `by a token that names no device the same one comes back, and by another token another one`(
    kind: StoreKind
  ) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, room) = try await call(calls)
    let tokens = (0..<2).map { number in
      House.token("bob", expires: House.now + 600 + number) { $0 = .join(room) }
    }
    var guests: [Guest] = []
    for _ in 0..<3 {
      guests.append(calls.house.connect(tokens[0], room: room))
      #expect(try await guests.last?.next("joined")["type"] as? String == "joined")
    }
    let other = calls.house.connect(tokens[1], room: room)
    #expect(try await other.next("joined")["code"] as? String == "not-allowed")
    #expect(await active(id, calls) == ["ada", "bob"] && guests.last?.socket.closeCode == nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `a token that was renewed is of the same device, and one that says more of another`(
    kind: StoreKind
  ) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, room) = try await call(calls)
    func token(_ more: String) -> String {
      let grants = #""video":{"room":"\#(room)","roomJoin":true}"#
      let claims = #"{"iss":"APIkey","sub":"bob","exp":\#(House.now + 600),\#(grants)\#(more)}"#
      let parts = [#"{"alg":"HS256"}"#, claims].map { Base64URL.encode(Array($0.utf8)) }
      let signed = parts.joined(separator: ".")
      let code = HMAC.code(.sha256, key: Array(House.secret.utf8), message: Array(signed.utf8))
      return signed + "." + Base64URL.encode(code)
    }
    var text = token("")
    var guests: [Guest] = []
    for renewals in 0..<3 {
      guests.append(calls.house.connect(text, room: room))
      #expect(try await guests.last?.next("joined")["type"] as? String == "joined", "\(renewals)")
      let read = try AccessToken(verifying: text, keys: ["APIkey": House.secret], now: House.now)
      text = read.renewed(at: House.now + renewals, grants: read.grants).signed(secret: House.secret)
    }
    for number in 0..<2 {
      let other = calls.house.connect(token(#","jti":"\#(number)""#), room: room)
      #expect(try await other.next("joined")["code"] as? String == "not-allowed")
    }
    #expect(await active(id, calls) == ["ada", "bob"] && guests.last?.socket.closeCode == nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `who publishes and plays by one token is one device`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, room) = try await call(calls)
    let tokens = (0..<2).map { number in
      House.token("bob", expires: House.now + 600 + number) { $0 = .join(room) }
    }
    let camera = await Encoder(calls.house, "whip", tokens[0], room, try Encoder.offer())
    #expect(camera.answer.status == 201, "\(camera.answer.text)")
    let offer = try Encoder.offer(sending: [], audio: 1, video: 1)
    let screen = await Encoder(calls.house, "whep", tokens[0], room, offer)
    #expect(screen.answer.status == 201, "\(screen.answer.text)")
    let other = await Encoder(calls.house, "whep", tokens[1], room, offer)
    #expect(other.answer.status == 409 && other.answer.problem == "active-elsewhere")
    #expect(await active(id, calls) == ["ada", "bob"])
  }

  // MARK: - By the token of a ring

  @Test(arguments: StoreKind.allCases)
  func
    `who answers by a ring's token and says which device it is signals as that one, and leaves by the token`(
      kind: StoreKind
    ) async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = try await call(calls)
    let token = try await ringToken("", calls)
    let joined = await calls.house.ask(
      .post, "/v1/calls/\(id)/join", #"{"deviceId":"phone"}"#, token: token)
    #expect(joined.status == 200 && joined["device"] as? String == "phone")
    let body = #"{"id":"\#(UUID().uuidString)","to":"ada","kind":"offer","payload":"AAAA"}"#
    #expect(await calls.house.ask(.post, "/v1/calls/\(id)/signals", body, token: token).status == 201)
    let heard = await calls.ask(.get, "/v1/calls/events?after=0", by: "ada").items
    let signal = try #require(heard.first { $0["event"] as? String == "call.signal" })
    #expect((signal["data"] as? NSDictionary)?["device"] as? String == "phone")
    let left = await calls.house.ask(.post, "/v1/calls/\(id)/leave", "{}", token: token)
    #expect(left.status == 200 && left["ended"] as? Bool == true)
  }

  /// - Parameter query: of the device that answers; the other one doesn't say which it is.
  @Test(arguments: StoreKind.allCases, ["", "&device=phone"])
  func
    `a device that has answered stays where a reader that doesn't say which it is declines or signals behind it`(
      kind: StoreKind, query: String
    ) async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, room) = try await call(calls)
    let (token, other) = (try await ringToken(query, calls), try await ringToken("", calls))
    let guest = calls.house.connect(token, room: room)
    #expect(try await guest.next("joined")["type"] as? String == "joined")
    for reason in ["rejected", "userLeft"] {
      let late = await calls.house.ask(
        .post, "/v1/calls/\(id)/leave", #"{"reason":"\#(reason)"}"#, token: other)
      #expect(late.status == 200 && late["ended"] as? Bool == false, "\(reason)")
    }
    #expect(await active(id, calls) == ["ada", "bob"])
    // What each signals is its own.
    var devices: [String] = []
    for sender in [token, other] {
      let body = #"{"id":"\#(UUID().uuidString)","to":"ada","kind":"reject","payload":"AAAA"}"#
      #expect(await calls.house.ask(.post, "/v1/calls/\(id)/signals", body, token: sender).status == 201)
      let heard = await calls.ask(.get, "/v1/calls/events?after=0", by: "ada").items
      let last = try #require(heard.last(where: { $0["event"] as? String == "call.signal" }))
      devices.append(try #require((last["data"] as? NSDictionary)?["device"] as? String))
    }
    #expect(devices[0] != devices[1] && (query.isEmpty || devices[0] == "phone"))
    // The one that is in the call leaves it.
    let left = await calls.house.ask(.post, "/v1/calls/\(id)/leave", "{}", token: token)
    #expect(left.status == 200 && left["ended"] as? Bool == true)
  }

  @Test(arguments: StoreKind.allCases)
  func `a reader that doesn't say which it is declines for its person while no device has answered`(
    kind: StoreKind
  ) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = try await call(calls)
    let token = try await ringToken("", calls)
    let body = #"{"id":"\#(UUID().uuidString)","to":"ada","kind":"reject","payload":"AAAA"}"#
    #expect(await calls.house.ask(.post, "/v1/calls/\(id)/signals", body, token: token).status == 201)
    let declined = await calls.house.ask(
      .post, "/v1/calls/\(id)/leave", #"{"reason":"rejected"}"#, token: token)
    #expect(declined.status == 200 && declined["ended"] as? Bool == true)
    let call = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    #expect(call["outcome"] as? String == "declined")
  }

  @Test(arguments: StoreKind.allCases)
  func
    `a device that has answered by a reader's token, under its own name, leaves by either, and no other reader for it`(
      kind: StoreKind
    ) async throws
  {
    for byToken in [true, false] {
      let calls = try await CallHouse(on: kind)
      let (id, _) = try await call(calls)
      let (token, other) = (try await ringToken("", calls), try await ringToken("", calls))
      let joined = await calls.house.ask(
        .post, "/v1/calls/\(id)/join", #"{"deviceId":"phone"}"#, token: token)
      #expect(joined.status == 200 && joined["device"] as? String == "phone")
      let own = try #require(joined["token"] as? String)
      let late = await calls.house.ask(.post, "/v1/calls/\(id)/leave", "{}", token: other)
      #expect(late.status == 200 && late["ended"] as? Bool == false)
      let left = await calls.house.ask(.post, "/v1/calls/\(id)/leave", "{}", token: byToken ? token : own)
      #expect(left.status == 200 && left["ended"] as? Bool == true)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a device joins again by whichever of its names, and goes on by its own`(kind: StoreKind) async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = try await call(calls)
    let (token, other) = (try await ringToken("", calls), try await ringToken("", calls))
    for body in [#"{"deviceId":"phone"}"#, "", "{}", #"{"deviceId":"phone"}"#] {
      let joined = await calls.house.ask(.post, "/v1/calls/\(id)/join", body, token: token)
      #expect(joined.status == 200 && joined["device"] as? String == "phone", "\(body)")
    }
    let late = await calls.house.ask(.post, "/v1/calls/\(id)/join", "{}", token: other)
    #expect(late.status == 409 && late.problem == "active-elsewhere")
  }

  @Test(arguments: StoreKind.allCases)
  func `one that has come in by a ring's token says which it is behind that, and stays in the room`(
    kind: StoreKind
  ) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, room) = try await call(calls)
    let token = try await ringToken("", calls)
    let guest = calls.house.connect(token, room: room)
    #expect(try await guest.next("joined")["type"] as? String == "joined")
    let joined = await calls.house.ask(
      .post, "/v1/calls/\(id)/join", #"{"deviceId":"phone"}"#, token: token)
    #expect(joined.status == 200 && joined["device"] as? String == "phone")
    #expect(await active(id, calls) == ["ada", "bob"])
    let left = await calls.house.ask(.post, "/v1/calls/\(id)/leave", "{}", token: token)
    #expect(left.status == 200 && left["ended"] as? Bool == true)
  }

  @Test(arguments: StoreKind.allCases)
  func `a device that has answered stays where another one, which says its name, declines behind it`(
    kind: StoreKind
  ) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = try await call(calls)
    let token = try await ringToken("&device=tablet", calls)
    #expect(await calls.join(id, "bob", device: "phone").status == 200)
    let late = await calls.house.ask(.post, "/v1/calls/\(id)/leave", #"{"reason":"rejected"}"#, token: token)
    #expect(late.status == 200 && late["ended"] as? Bool == false)
    #expect(await active(id, calls) == ["ada", "bob"])
  }
}
