import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import TestStores
import Testing

@testable import Gateway

@Suite("Pushes of calls", .timeLimit(.minutes(2)))
struct CallPushTests {
  private func register(_ calls: CallHouse, _ person: String, _ device: String) async {
    let answer = await calls.ask(
      .put, "/v1/devices/\(device)", #"{"platform":"webhook","token":"\#(device)"}"#, by: person)
    #expect(answer.status == 200)
  }

  /// What a token says.
  private func claims(_ token: String?) throws -> NSDictionary {
    let parts = try #require(token).split(separator: ".")
    try #require(parts.count == 3)
    let bytes = try #require(Base64URL.decode(parts[1].utf8))
    return try #require(JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
  }

  /// What was written down, once there is so much.
  private func deliveries(
    _ calls: CallHouse, _ id: String, by person: String, _ count: Int
  ) async throws -> House.Answer {
    for _ in 0..<500 {
      let answer = await calls.ask(.get, "/v1/calls/\(id)/deliveries", by: person)
      if answer.items.count >= count { return answer }
      try await Task.sleep(for: .milliseconds(10))
    }
    return await calls.ask(.get, "/v1/calls/\(id)/deliveries", by: person)
  }

  @Test(arguments: StoreKind.allCases)
  func `a ring wakes each device of a person, by a token that opens the call`(kind: StoreKind) async throws {
    try await PushReceiver.with { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      await register(calls, "bob", "phone")
      await register(calls, "bob", "tablet")
      await register(calls, "eve", "other")
      let (id, _) = await calls.start("ada", "bob")
      let pushes = try await receiver.wait(2)
      #expect(Set(pushes.map(\.device)) == ["phone", "tablet"] && Set(pushes.map(\.ringId)).count == 1)
      let push = pushes[0]
      #expect(push.type == "ring" && push["callId"] == id && push["callerId"] == "ada")
      #expect(push["url"] == "https://media.example" && push["expiresAt"] != nil)
      let token = try #require(push["token"])
      let joined = await calls.house.ask(
        .post, "/v1/calls/\(id)/join", #"{"deviceId":"phone"}"#, token: token)
      #expect(joined.status == 200)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `each device is woken by a token of its own, which has the person's name and joins by that device`(
    kind: StoreKind
  )
    async throws
  {
    try await PushReceiver.with { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      for device in ["phone", "tablet"] {
        let answer = await calls.house.ask(
          .put, "/v1/devices/\(device)", #"{"platform":"webhook","token":"\#(device)"}"#,
          token: CallHouse.token("bob", name: "Bob Smith"))
        #expect(answer.status == 200)
      }
      let (id, _) = await calls.start("ada", "bob")
      for push in try await receiver.wait(2) {
        let claims = try claims(push["token"])
        #expect(claims["sub"] as? String == "bob" && claims["name"] as? String == "Bob Smith")
        #expect((claims["call"] as? NSDictionary)?["device"] as? String == push.device)
      }
      let tablet = try #require(receiver.all.first { $0.device == "tablet" }?["token"])
      let joined = await calls.house.ask(.post, "/v1/calls/\(id)/join", "{}", token: tablet)
      #expect(joined.status == 200 && joined["device"] as? String == "tablet")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `names are kept from those who carry pushes where that is configured`(kind: StoreKind) async throws {
    try await PushReceiver.with { receiver, services in
      let calls = try await CallHouse(on: kind, services: services, adjust: { $0.showsCallerNames = false })
      let answer = await calls.house.ask(
        .put, "/v1/devices/phone", #"{"platform":"webhook","token":"phone"}"#,
        token: CallHouse.token("bob", name: "Bob Smith"))
      #expect(answer.status == 200)
      _ = await calls.start("ada", "bob")
      let push = try await receiver.wait(1)[0]
      #expect(push["callerName"] == nil)
      #expect(try claims(push["token"])["name"] == nil)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a push says of one who is rung beside another call that it is busy`(kind: StoreKind) async throws {
    try await PushReceiver.with { receiver, services in
      var terms = CallDeskTerms()
      terms.book.ringsBusy = true
      let calls = try await CallHouse(terms, on: kind, services: services)
      let (first, _) = await calls.start("ada", "bob")
      #expect(await calls.join(first, "bob").status == 200)
      await register(calls, "bob", "phone")
      await register(calls, "zoe", "other")
      _ = await calls.start("eve", "bob", "zoe")
      let pushes = try await receiver.wait(2)
      let busy = #""busy":true"#
      #expect(pushes.first { $0.device == "phone" }?.text.contains(busy) == true)
      #expect(pushes.first { $0.device == "other" }?.text.contains(busy) == false)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a ring that is retried ends with the others, and its device, which refused it, hears of no end`(
    kind: StoreKind
  )
    async throws
  {
    try await PushReceiver.with(["full": 503]) { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      for device in ["full", "phone"] { await register(calls, "bob", device) }
      let (id, _) = await calls.start("ada", "bob")
      _ = try await receiver.wait(3)
      #expect(await calls.ask(.post, "/v1/calls/\(id)/leave", "{}", by: "ada").status == 200)
      let items = try await deliveries(calls, id, by: "bob", 3).items
      #expect(items.contains { $0["device"] as? String == "full" && $0["reason"] as? String == "ringOver" })
      let count = receiver.all.count { $0.device == "full" }
      try await Task.sleep(for: .milliseconds(2_500))
      #expect(receiver.all.count { $0.device == "full" } == count)
      #expect(receiver.all.filter { $0.type == "ended" }.map(\.device) == ["phone"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the end of a ring is pushed to devices that took it and have no stream open`(kind: StoreKind)
    async throws
  {
    try await PushReceiver.with { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      for device in ["silent", "paging", "cut", "reading"] { await register(calls, "bob", device) }
      let (id, _) = await calls.start("ada", "bob")
      _ = try await receiver.wait(4)
      _ = try await deliveries(calls, id, by: "bob", 4)
      // A page is over with its answer, and hears no end.
      #expect(await calls.ask(.get, "/v1/calls/events?device=paging&after=0", by: "bob").status == 200)
      var cut = EventListener(await stream(calls, "cut"))
      _ = try #require(cut).events()
      cut = nil
      try await eventually("it reads no more") { calls.rooms.readers(of: PersonID("bob")).devices.isEmpty }
      let reading = try #require(EventListener(await stream(calls, "reading")))
      _ = reading.events()
      #expect(await calls.ask(.post, "/v1/calls/\(id)/leave", "{}", by: "ada").status == 200)
      let pushes = try await receiver.wait(7)
      try await Task.sleep(for: .milliseconds(200))
      let ends = receiver.all.filter { $0.type == "ended" }
      #expect(ends.map(\.device).sorted() == ["cut", "paging", "silent"])
      #expect(
        ends.allSatisfy {
          $0.ringId == pushes[0].ringId && $0["reason"] == "cancelled" && $0["token"] == nil
        })
      withExtendedLifetime(reading) {}
    }
  }

  private func stream(_ calls: CallHouse, _ device: String) async -> HTTPResponse {
    await calls.house.respond(
      .get, "/v1/calls/events?device=\(device)&after=0", token: CallHouse.token("bob"),
      headers: [House.stream])
  }

  @Test(arguments: StoreKind.allCases)
  func `a device that was given the end by a stream gets no push of it, also where that has closed since`(
    kind: StoreKind
  )
    async throws
  {
    try await PushReceiver.with { receiver, services in
      let outlet = HeldOutlet()
      let calls = try await CallHouse(on: kind, services: services, outlet: { outlet.passing(to: $0) })
      for device in ["silent", "reading"] { await register(calls, "bob", device) }
      let (id, _) = await calls.start("ada", "bob")
      _ = try await receiver.wait(2)
      _ = try await deliveries(calls, id, by: "bob", 2)
      var listener = EventListener(await stream(calls, "reading"))
      outlet.hold()
      #expect(await calls.ask(.post, "/v1/calls/\(id)/leave", "{}", by: "ada").status == 200)
      try await eventually("the end") {
        try #require(listener).events().contains { $0.type == "ring.ended" }
      }
      listener = nil
      try await eventually("no one reads") { calls.rooms.readers(of: PersonID("bob")).devices.isEmpty }
      outlet.release()
      _ = try await receiver.wait(3)
      try await Task.sleep(for: .milliseconds(200))
      #expect(receiver.all.filter { $0.type == "ended" }.map(\.device) == ["silent"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the device that answers gets no push of its own answer`(kind: StoreKind) async throws {
    try await PushReceiver.with { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      for device in ["bob1", "bob2"] { await register(calls, "bob", device) }
      let (id, _) = await calls.start("ada", "bob")
      _ = try await receiver.wait(2)
      _ = try await deliveries(calls, id, by: "bob", 2)
      #expect(await calls.join(id, "bob", device: "bob1").status == 200)
      _ = try await receiver.wait(3)
      try await Task.sleep(for: .milliseconds(200))
      let ends = receiver.all.filter { $0.type == "ended" }
      #expect(ends.map(\.device) == ["bob2"] && ends[0]["reason"] == "answeredElsewhere")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a device whose token is no good any more is removed, and its person hears of it`(kind: StoreKind)
    async throws
  {
    try await PushReceiver.with(["gone": 410]) { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      for device in ["gone", "here"] { await register(calls, "bob", device) }
      let (id, _) = await calls.start("ada", "bob")
      let found = try await deliveries(calls, id, by: "bob", 2)
      #expect(
        Set(found.items.compactMap { $0["state"] as? String }) == ["removed", "delivered"])
      let devices = await calls.ask(.get, "/v1/devices", by: "bob")
      #expect(devices.items.compactMap { $0["id"] as? String } == ["here"])
      let events = await calls.ask(.get, "/v1/calls/events?after=0", by: "bob")
      #expect(events.items.contains { $0["event"] as? String == "device.removed" })
      // Its end goes to no device that never rang.
      _ = await calls.ask(.post, "/v1/calls/\(id)/leave", "{}", by: "ada")
      _ = try await receiver.wait(3)
      try await Task.sleep(for: .milliseconds(200))
      #expect(receiver.all.filter { $0.type == "ended" }.map(\.device) == ["here"])
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `each sees the deliveries to its own devices, and the caller who was reached`(kind: StoreKind)
    async throws
  {
    try await PushReceiver.with(["deaf": 400]) { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      await register(calls, "bob", "phone")
      await register(calls, "eve", "deaf")
      let (id, _) = await calls.start("ada", "bob", "eve", "zoe")
      _ = try await deliveries(calls, id, by: "eve", 1)
      let own = try await deliveries(calls, id, by: "bob", 1)
      #expect(own.items.count == 1 && own.items[0]["device"] as? String == "phone")
      #expect(own["people"] == nil && own.items[0]["person"] == nil)
      let caller = await calls.ask(.get, "/v1/calls/\(id)/deliveries", by: "ada")
      #expect(caller.items.isEmpty)
      #expect(
        caller["people"] as? [String: String] == ["bob": "reached", "eve": "unreachable", "zoe": "unknown"])
      let room = try #require((await calls.ask(.get, "/v1/calls/\(id)", by: "ada"))["room"] as? String)
      let admin = House.token("boss") {
        $0.roomAdmin = true
        $0.room = room
      }
      let all = await calls.house.ask(.get, "/v1/calls/\(id)/deliveries", token: admin)
      #expect(Set(all.items.compactMap { $0["person"] as? String }) == ["bob", "eve"])
      #expect(await calls.ask(.get, "/v1/calls/\(id)/deliveries", by: "mallory").status == 404)
      #expect(!own.text.contains("\"token\""))
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one who has blocked the caller seems to be reached like any other`(kind: StoreKind) async throws {
    try await PushReceiver.with { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      await register(calls, "bob", "phone")
      #expect(await calls.ask(.put, "/v1/blocks/ada", by: "bob").status == 204)
      let (id, _) = await calls.start("ada", "bob")
      calls.clock.move(1_000)
      let caller = await calls.ask(.get, "/v1/calls/\(id)/deliveries", by: "ada")
      #expect(caller["people"] as? [String: String] == ["bob": "reached"])
      #expect(receiver.all.isEmpty)
    }
  }
}
