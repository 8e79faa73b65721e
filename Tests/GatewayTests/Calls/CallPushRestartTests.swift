import CallDesk
import Calls
import Foundation
import HTTPServer
import Logging
import Model
import Push
import TestStores
import Testing

@testable import Gateway

@Suite("Rings that are pushed over a restart", .timeLimit(.minutes(2)))
struct CallPushRestartTests {
  /// Has rooms and pushes carry out what was decided.
  private final class Outlet: CallOutlet {
    private let rooms: CallRooms
    private let pushes: CallPushes

    init(_ rooms: CallRooms, _ pushes: CallPushes) {
      self.rooms = rooms
      self.pushes = pushes
    }

    func perform(_ aftermath: Aftermath) {
      rooms.perform(aftermath)
      pushes.perform(aftermath, rooms.feeds)
    }

    func readers(of person: PersonID) -> EventReaders { rooms.readers(of: person) }
  }

  /// Another process on the store of one that is over.
  private func restart(
    _ calls: CallHouse, _ services: PushDesk.Services, _ body: (CallHouse) async throws -> Void
  ) async throws {
    await calls.stop()
    let ended = try await calls.desk.endedRings()
    var terms = CallPushes.Terms(keys: ["APIkey": House.secret], now: { House.now })
    terms.url = "https://media.example"
    let origin = ContinuousClock.now
    let pushes = CallPushes(
      to: services, terms: terms,
      clocks: PushClocks(
        wall: { WallTime(milliseconds: Int64(House.now) * 1_000) },
        instant: { Instant(nanoseconds: (ContinuousClock.now - origin).wholeNanoseconds) }),
      log: Log(level: .error) { _ in })
    let again = try await CallHouse(after: calls.store, outlet: { Outlet($0, pushes) })
    pushes.restore(try await again.desk.runningRings(), ended: ended)
    let running = Task { await pushes.run(again.desk) }
    defer { running.cancel() }
    try await body(again)
    await pushes.stop()
  }

  private func register(_ calls: CallHouse, _ person: String, _ device: String) async {
    let answer = await calls.ask(
      .put, "/v1/devices/\(device)", #"{"platform":"webhook","token":"\#(device)"}"#, by: person)
    #expect(answer.status == 200)
  }

  private func waitForDeliveries(_ count: Int, of id: String, by person: String, _ calls: CallHouse)
    async throws
  {
    for _ in 0..<500 {
      let answer = await calls.ask(.get, "/v1/calls/\(id)/deliveries", by: person)
      if answer.items.count >= count { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("\(count) deliveries aren't there within five seconds")
  }

  @Test(arguments: StoreKind.allCases)
  func `a ring that was decided and not pushed is pushed at the next start, and so is its end`(
    kind: StoreKind
  )
    async throws
  {
    try await PushReceiver.with { receiver, services in
      let calls = try await CallHouse(on: kind)
      await register(calls, "bob", "phone")
      let (id, _) = await calls.start("ada", "bob")
      let rung = await calls.ask(.get, "/v1/calls/events?after=0", by: "bob")
      let ring = try #require((rung.items.first?["data"] as? NSDictionary)?["ringId"] as? String)
      try await restart(calls, services) { again in
        let push = try await receiver.wait(1)[0]
        #expect(push.type == "ring" && push.ringId == ring && push.device == "phone" && push["callId"] == id)
        let token = try #require(push["token"])
        #expect(await again.house.ask(.get, "/v1/calls/\(id)", token: token).status == 200)
        #expect(await again.ask(.post, "/v1/calls/\(id)/leave", "{}", by: "ada").status == 200)
        let end = try await receiver.wait(2)[1]
        #expect(end.type == "ended" && end.ringId == ring && end["reason"] == "cancelled")
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a ring that was pushed isn't pushed again, and its end goes where it was taken`(kind: StoreKind)
    async throws
  {
    try await PushReceiver.with(["deaf": 400]) { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      for device in ["deaf", "phone"] { await register(calls, "bob", device) }
      let (id, _) = await calls.start("ada", "bob")
      try await waitForDeliveries(2, of: id, by: "bob", calls)
      try await restart(calls, services) { again in
        try await Task.sleep(for: .milliseconds(300))
        #expect(receiver.all.count == 2)
        #expect(await again.ask(.post, "/v1/calls/\(id)/leave", "{}", by: "ada").status == 200)
        _ = try await receiver.wait(3)
        try await Task.sleep(for: .milliseconds(200))
        #expect(receiver.all.filter { $0.type == "ended" }.map(\.device) == ["phone"])
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func
    `the end of a ring that was decided and not pushed is pushed at the next start, where the ring may be, and once`(
      kind: StoreKind
    )
    async throws
  {
    try await PushReceiver.with(["deaf": 400]) { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      for device in ["deaf", "phone", "tablet"] { await register(calls, "bob", device) }
      let (id, _) = await calls.start("ada", "bob")
      try await waitForDeliveries(3, of: id, by: "bob", calls)
      // From here on nothing is pushed: the process ends behind the decision.
      await calls.stop()
      #expect(await calls.join(id, "bob", device: "tablet").status == 200)
      try await restart(calls, services) { again in
        let end = try await receiver.wait(4)[3]
        #expect(end.type == "ended" && end.device == "phone" && end["reason"] == "answeredElsewhere")
        #expect(end.ringId == receiver.all[0].ringId && end["callId"] == id)
        try await waitForDeliveries(4, of: id, by: "bob", again)
      }
      try await restart(calls, services) { _ in
        try await Task.sleep(for: .milliseconds(300))
        #expect(receiver.all.count == 4)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the end of a ring that no phone can be ringing for any more is pushed by no start`(kind: StoreKind)
    async throws
  {
    try await PushReceiver.with { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      await register(calls, "bob", "phone")
      let (id, _) = await calls.start("ada", "bob")
      try await waitForDeliveries(1, of: id, by: "bob", calls)
      await calls.stop()
      #expect(await calls.ask(.post, "/v1/calls/\(id)/leave", "{}", by: "ada").status == 200)
      #expect(try await calls.desk.endedRings().map(\.devices.count) == [1])
      calls.clock.move(60_000)
      #expect(try await calls.desk.endedRings().isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `one who has blocked the caller is woken by no start, and neither is one who has answered`(
    kind: StoreKind
  )
    async throws
  {
    try await PushReceiver.with { receiver, services in
      let calls = try await CallHouse(on: kind)
      for person in ["bob", "eve"] { await register(calls, person, "\(person)-phone") }
      #expect(await calls.ask(.put, "/v1/blocks/ada", by: "bob").status == 204)
      let (id, _) = await calls.start("ada", "bob", "eve")
      #expect(await calls.join(id, "eve").status == 200)
      try await restart(calls, services) { again in
        #expect(try await again.desk.runningRings().isEmpty)
        try await Task.sleep(for: .milliseconds(300))
        // A ring may have been pushed to Eve before, and is over.
        #expect(receiver.all.allSatisfy { $0.type == "ended" && $0.device == "eve-phone" }, "\(receiver.all)")
      }
    }
  }
}
