import CallDesk
import Calls
import Foundation
import HTTPServer
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
    _ = await calls.house.ask(.delete, "/v1/rooms/\(room)/participants/bob")
    #expect(await calls.join(id, "bob").status == 503)
    try await calls.store.setCallsAway(false)
    let again = await calls.join(id, "bob")
    #expect(again.status == 403 && again.problem == "removed")
    let read = await calls.house.ask(.get, "/v1/calls/\(id)", token: token)
    #expect(read.status == 403 && read.problem == "removed")
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    let left = (shown["leftParticipants"] as? [NSDictionary])?.first { $0["id"] as? String == "bob" }
    #expect(left?["reason"] as? String == "removed")
  }

  @Test(arguments: StoreKind.allCases)
  func `a room that is closed while nothing can be stored ends its call once that goes again`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    let room = try self.room(started)
    try await calls.store.setCallsAway(true)
    _ = await calls.house.ask(.delete, "/v1/rooms/\(room)")
    try await calls.store.setCallsAway(false)
    let late = await calls.join(id, "bob")
    #expect(late.status == 410 && late.problem == "call-ended")
    let shown = await calls.ask(.get, "/v1/calls/\(id)", by: "ada")
    #expect(shown["status"] as? String == "inactive")
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
