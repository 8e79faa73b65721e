import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import TestStores
import Testing

@testable import Gateway

@Suite("Who stays in a call", .timeLimit(.minutes(2)))
struct CallStandingTests {
  private func room(_ answer: House.Answer) throws -> String {
    try #require((answer["call"] as? NSDictionary)?["room"] as? String)
  }

  private func person(_ name: String, of id: String, _ calls: CallHouse, by reader: String) async
    -> NSDictionary?
  {
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: reader)
    return (shown["leftParticipants"] as? [NSDictionary])?.first { $0["id"] as? String == name }
  }

  @Test(arguments: StoreKind.allCases)
  func
    `whom an administrator of rooms takes out of the call's room is out of the call, and doesn't come back`(
      kind: StoreKind
    )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    let joined = await calls.join(id, "bob")
    let room = try room(started)
    let socket = calls.house.connect(try #require(joined["token"] as? String), room: room)
    _ = try await socket.next("joined")
    #expect(await calls.house.ask(.delete, "/v1/rooms/\(room)/participants/bob").status == 204)
    #expect(await person("bob", of: id, calls, by: "ada")?["reason"] as? String == "removed")
    let again = await calls.join(id, "bob")
    #expect(again.status == 403 && again.problem == "removed")
    // The token of the call is void as well.
    let read = await calls.house.ask(.get, "/v1/calls/\(id)", token: try #require(joined["token"] as? String))
    #expect(read.status == 403 && read.problem == "removed")
  }

  @Test(arguments: StoreKind.allCases)
  func `a room that is closed under a call ends the call`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    #expect(await calls.house.ask(.delete, "/v1/rooms/\(try room(started))").status == 204)
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    #expect(shown["status"] as? String == "inactive")
  }

  @Test(arguments: StoreKind.allCases)
  func `a token of a call is void once that is over`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    let token = try #require(started["token"] as? String)
    #expect(await calls.house.ask(.get, "/v1/calls/\(id)", token: token).status == 200)
    #expect(
      await calls.house.ask(.patch, "/v1/calls/\(id)", #"{"media":"video"}"#, token: token).status == 403)
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada")
    let late = await calls.house.ask(.get, "/v1/calls/\(id)", token: token)
    #expect(late.status == 410 && late.problem == "call-ended")
    #expect(await calls.ask(.get, "/v1/calls/\(id)", by: "ada").status == 200)
  }

  @Test(arguments: StoreKind.allCases)
  func `another device gets in by taking the call over, and not by a token alone`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    let room = try room(started)
    let rung = await calls.ask(.get, "/v1/calls/events?after=0&device=tablet", by: "bob")
    let token = try #require((rung.items.first?["data"] as? NSDictionary)?["token"] as? String)
    let phone = calls.house.connect(try #require(await calls.join(id, "bob")["token"] as? String), room: room)
    _ = try await phone.next("joined")
    let tablet = calls.house.connect(token, room: room)
    #expect(try await tablet.next("error")["code"] as? String == "not-allowed")
    #expect(await person("bob", of: id, calls, by: "ada") == nil)
  }

  @Test(arguments: StoreKind.allCases, ["?after=0", "?after=0&device="])
  func `of two devices that answer by the room at once one is in and stays, and the other hears so at once`(
    kind: StoreKind, query: String
  ) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    let room = try room(started)
    var tokens: [String] = []
    for name in ["phone", "tablet"] {
      // Those that don't say which they are aren't the same either.
      let which = query.hasSuffix("=") ? query + name : query
      let rung = await calls.ask(.get, "/v1/calls/events\(which)", by: "bob")
      tokens.append(try #require((rung.items.first?["data"] as? NSDictionary)?["token"] as? String))
    }
    let both = tokens.map { calls.house.connect($0, room: room) }
    var heard: [NSDictionary] = []
    for guest in both { heard.append(try await guest.next("joined")) }
    let first = try #require(heard.firstIndex { $0["type"] as? String == "joined" })
    #expect(heard.count { $0["type"] as? String == "joined" } == 1)
    #expect(heard.count { $0["code"] as? String == "not-allowed" } == 1)
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    #expect(shown["activeParticipants"] as? [String] == ["ada", "bob"])
    #expect(both[first].socket.closeCode == nil)
    // The other is no more in it later, and that one comes again as often as it likes.
    let late = calls.house.connect(tokens[1 - first], room: room)
    #expect(try await late.next("joined")["code"] as? String == "not-allowed")
    #expect(both[first].socket.closeCode == nil)
    let again = calls.house.connect(tokens[first], room: room)
    #expect(try await again.next("joined")["type"] as? String == "joined")
  }

  @Test(arguments: StoreKind.allCases)
  func `who answers from a push keeps the name that is known`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let device = #"{"platform":"webhook","token":"t"}"#
    #expect(
      await calls.house.ask(
        .put, "/v1/devices/phone", device, token: CallHouse.token("bob", name: "Bob Smith")
      ).status == 200)
    let (id, started) = await calls.start("ada", "bob")
    let rung = await calls.ask(.get, "/v1/calls/events?after=0&device=phone", by: "bob")
    let token = try #require((rung.items.first?["data"] as? NSDictionary)?["token"] as? String)
    let socket = calls.house.connect(token, room: try room(started))
    _ = try await socket.next("joined")
    _ = await calls.house.ask(.post, "/v1/calls/\(id)/leave", token: token)
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    #expect((shown["names"] as? [String: String])?["bob"] == "Bob Smith")
  }

  @Test(arguments: StoreKind.allCases)
  func `a caller learns of a block neither by histories nor by what was pushed`(kind: StoreKind) async throws
  {
    try await PushReceiver.with { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      for person in ["bob", "eve"] {
        let device = #"{"platform":"webhook","token":"of \#(person)"}"#
        #expect(await calls.ask(.put, "/v1/devices/phone", device, by: person).status == 200)
      }
      #expect(await calls.ask(.put, "/v1/blocks/ada", by: "bob").status == 204)
      let (id, _) = await calls.start("ada", "bob", "eve")
      for other in ["bob", "eve"] {
        let listed = await calls.ask(.get, "/v1/calls?participant=\(other)", by: "ada")
        #expect(listed.items.compactMap { $0["id"] as? String } == [id])
      }
      #expect(await calls.ask(.get, "/v1/calls?participant=ada", by: "bob").items.isEmpty)
      _ = try await receiver.wait(1)
      calls.clock.move(1_000)
      try await eventually("both seem to be reached") {
        let shown = await calls.ask(.get, "/v1/calls/\(id)/deliveries", by: "ada")
        return shown["people"] as? [String: String] == ["bob": "reached", "eve": "reached"]
      }
      let shown = await calls.ask(.get, "/v1/calls/\(id)/deliveries", by: "ada")
      #expect(shown.items.isEmpty && receiver.all.map(\.device) == ["of eve"])
      #expect(await calls.ask(.get, "/v1/calls/\(id)/deliveries", by: "bob").status == 404)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an administrator of all rooms who is a person reads and ends calls of others`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    let boss = House.token("boss") {
      $0.room = "*"
      $0.roomAdmin = true
    }
    #expect(await calls.house.ask(.get, "/v1/calls/\(id)", token: boss).status == 200)
    #expect(await calls.house.ask(.get, "/v1/calls/\(id)/deliveries", token: boss).status == 200)
    let own = await calls.ask(.delete, "/v1/calls/\(id)", by: "ada")
    #expect(own.status == 403 && own.problem == "not-allowed")
    let stranger = await calls.ask(.delete, "/v1/calls/\(id)", by: "eve")
    #expect(stranger.status == 404 || stranger.status == 403)
    #expect(await calls.house.ask(.delete, "/v1/calls/\(id)", token: boss).status == 200)
  }

  @Test(arguments: StoreKind.allCases)
  func `who left, declined or was taken out signals no one behind the end`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob", more: "")
    _ = await calls.ask(.post, "/v1/calls/\(id)/invite", #"{"recipients":["eve"]}"#, by: "ada")
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", #"{"reason":"rejected"}"#, by: "eve")
    calls.clock.move(10)
    _ = await calls.join(id, "bob")
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "bob")
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada")
    func signal(_ sender: String, to other: String) async -> House.Answer {
      let body = #"{"id":"\#(UUID().uuidString.lowercased())","to":"\#(other)","kind":"end"}"#
      return await calls.ask(.post, "/v1/calls/\(id)/signals", body, by: sender)
    }
    #expect(await signal("eve", to: "ada").status == 403)
    #expect(await signal("ada", to: "bob").status == 201)
  }

  @Test(arguments: StoreKind.allCases)
  func
    `a join that is sent again is answered by the same session of the same device, with a token of its own`(
      kind: StoreKind
    ) async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob")
    let first = await calls.ask(
      .post, "/v1/calls/\(id)/join", by: "bob", headers: [("idempotency-key", "one")])
    let second = await calls.ask(
      .post, "/v1/calls/\(id)/join", by: "bob", headers: [("idempotency-key", "one")])
    #expect(first.status == 200 && second.status == 200)
    #expect(first["device"] as? String == second["device"] as? String)
    #expect(first["session"] as? String == second["session"] as? String)
    let token = try #require(second["token"] as? String)
    #expect(await calls.house.ask(.get, "/v1/calls/\(id)", token: token).status == 200)
  }

  /// Of one who runs that room, or records it.
  private func beside(_ name: String, _ room: String) -> String {
    House.token(name) {
      $0 = .join(room)
      $0.roomAdmin = name == "boss"
      $0.recorder = name == "scribe"
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `who runs a call's room or records it comes in as long as the call, and brings no room back`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    let room = try room(started)
    for name in ["boss", "scribe"] {
      let guest = calls.house.connect(beside(name, room), room: room)
      _ = try await guest.next("joined")
    }
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    #expect(shown["allParticipants"] as? [String] == ["ada", "bob"])
    #expect(shown["activeParticipants"] as? [String] == ["ada"])
    #expect(await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada").status == 200)
    try await eventually("the room is over") {
      await calls.house.ask(.get, "/v1/rooms/\(room)").status == 404
    }
    for (name, gone) in [("boss", room), ("scribe", room), ("boss", "call-x"), ("scribe", "call-x")] {
      let late = calls.house.connect(beside(name, gone), room: gone)
      #expect(try await late.next("error")["code"] as? String == "room-not-found", "\(name) in \(gone)")
      #expect(await calls.house.ask(.get, "/v1/rooms/\(gone)").status == 404)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `rooms of calls are made by calls alone`(kind: StoreKind) async throws {
    let calls = try await CallHouse(on: kind)
    let made = await calls.house.ask(.post, "/v1/rooms", #"{"name":"call-mine"}"#)
    #expect(made.status == 400 && made.text.contains("calls"))
  }
}
