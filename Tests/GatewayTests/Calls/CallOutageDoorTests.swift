import CallDesk
import Calls
import Foundation
import HTTPServer
import Storage
import TestStores
import Testing

@testable import Gateway

@Suite("Calls at the door while nothing can be stored", .timeLimit(.minutes(2)))
struct CallOutageDoorTests {
  private func room(_ answer: House.Answer) throws -> String {
    try #require((answer["call"] as? NSDictionary)?["room"] as? String)
  }

  @Test(arguments: StoreKind.allCases)
  func `who is taken out of a call's room while nothing can be stored doesn't come back to the call`(
    kind: StoreKind
  ) async throws {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    let joined = await calls.join(id, "bob")
    let (room, token) = (try self.room(started), try #require(joined["token"] as? String))
    let socket = calls.house.connect(token, room: room)
    _ = try await socket.next("joined")
    try await calls.store.setCallsAway(true)
    let path = "/v1/rooms/\(room)/participants/bob"
    // It holds, and a crash would undo it: who asks learns that.
    let removed = await calls.house.ask(.delete, path)
    #expect(removed.status == 503 && removed.problem == "not-stored")
    #expect(Int(removed.headers["retry-after"] ?? "") ?? 0 > 0)
    #expect(try await socket.next("closed")["reason"] as? String == "removed")
    #expect(await calls.join(id, "bob").status == 503)
    try await calls.store.setCallsAway(false)
    let again = await calls.join(id, "bob")
    #expect(again.status == 403 && again.problem == "removed")
    let read = await calls.house.ask(.get, "/v1/calls/\(id)", token: token)
    #expect(read.status == 403 && read.problem == "removed")
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    let left = (shown["leftParticipants"] as? [NSDictionary])?.first { $0["id"] as? String == "bob" }
    #expect(left?["reason"] as? String == "removed")
    #expect(await calls.house.ask(.delete, path).status == 204)
  }

  @Test(arguments: StoreKind.allCases)
  func `a room that is closed while nothing can be stored ends its call once that goes again`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    let room = try self.room(started)
    try await calls.store.setCallsAway(true)
    let closed = await calls.house.ask(.delete, "/v1/rooms/\(room)")
    #expect(closed.status == 503 && closed.problem == "not-stored")
    try await calls.store.setCallsAway(false)
    let late = await calls.join(id, "bob")
    #expect(late.status == 410 && late.problem == "call-ended")
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    #expect(shown["status"] as? String == "inactive")
    try await eventually("the room is gone") {
      await calls.house.ask(.delete, "/v1/rooms/\(room)").problem == "room-not-found"
    }
  }

  @Test(arguments: StoreKind.allCases)
  func
    `what became of a push while that could not be stored is written down behind it, also if no other follows`(
      kind: StoreKind
    ) async throws
  {
    try await PushReceiver.with { receiver, services in
      let calls = try await CallHouse(on: kind, services: services)
      let device = #"{"platform":"webhook","token":"phone"}"#
      #expect(await calls.ask(.put, "/v1/devices/phone", device, by: "bob").status == 200)
      try await calls.store.setDeliveriesAway(true)
      let (id, started) = await calls.start("ada", "bob")
      #expect(started.status == 201)
      _ = try await receiver.wait(1)
      try await eventually("it was tried") { !calls.store.report.failures.isEmpty }
      try await calls.store.setDeliveriesAway(false)
      try await eventually("it is written down") {
        await calls.ask(.get, "/v1/calls/\(id)/deliveries", by: "bob").items.count == 1
      }
    }
  }

  @Test func `a call whose start may not have been stored, and was, wakes phones all the same`() async throws
  {
    try await PushReceiver.with { receiver, services in
      let relay = try PostgreSQLRelay()
      let calls = try await CallHouse(at: relay.location, services: services)
      let device = #"{"platform":"webhook","token":"phone"}"#
      #expect(await calls.ask(.put, "/v1/devices/phone", device, by: "bob").status == 200)
      relay.cut(.behindCommit)
      let (id, answer) = await calls.start("ada", "bob")
      #expect(answer.status == 503 && answer.problem == "store-unavailable" && relay.count == 1)
      let push = try await receiver.wait(1)[0]
      #expect(push.type == "ring" && push.device == "phone" && push["callId"] == id)
      let again = await calls.start("ada", "bob", id: id)
      #expect(again.answer.status == 201)
      #expect(await calls.ask(.post, "/v1/calls/\(id)/leave", by: "ada").status == 200)
      let end = try await receiver.wait(2)[1]
      #expect(end.type == "ended" && end.ringId == push.ringId && receiver.all.count == 2)
    }
  }
}
