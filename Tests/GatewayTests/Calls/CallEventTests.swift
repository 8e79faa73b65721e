import CallDesk
import Calls
import Foundation
import HTTPServer
import TestStores
import Testing

@testable import Gateway

@Suite("Events of calls in the log of rooms", .timeLimit(.minutes(2)))
struct CallEventTests {
  /// Of all rooms, once there are so many.
  private func events(_ calls: CallHouse, _ count: Int, of id: String) async throws -> [NSDictionary] {
    var found: [NSDictionary] = []
    for _ in 0..<500 {
      let all = (await calls.house.ask(.get, "/v1/events?limit=200")).items
      found = all.compactMap { $0["event"] as? NSDictionary }
        .filter { ($0["call"] as? NSDictionary)?["id"] as? String == id }
      if found.count >= count { return found }
      try await Task.sleep(for: .milliseconds(10))
    }
    return found
  }

  private func kinds(_ events: [NSDictionary]) -> [String] { events.compactMap { $0["type"] as? String } }

  @Test(arguments: StoreKind.allCases)
  func `a call's beginning and end are events of its room, in order, and the room is over after them`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob")
    let room = try #require((started["call"] as? NSDictionary)?["room"] as? String)
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", "{}", by: "ada")
    let found = try await events(calls, 2, of: id)
    try #require(kinds(found) == ["call.started", "call.ended"])
    #expect(found.allSatisfy { $0["room"] as? String == room })
    let call = try #require(found[1]["call"] as? NSDictionary)
    #expect(call["outcome"] as? String == "cancelled" && call["callerId"] as? String == "ada")
    #expect(call["allParticipants"] as? [String] == ["ada", "bob"] && call["durationMs"] == nil)
    for _ in 0..<200 {
      let own = await calls.house.ask(.get, "/v1/rooms/\(room)/events")
      if (own.items.last?["type"] as? String) == "room.finished" {
        #expect(own.items.compactMap { $0["id"] as? Int } == Array(1...own.items.count))
        return
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("the room isn't over")
  }

  @Test(arguments: StoreKind.allCases)
  func `a call without a room has its events under its own id, numbered from one`(kind: StoreKind)
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, _) = await calls.start("ada", "bob", more: #","path":"direct""#)
    _ = await calls.ask(.post, "/v1/calls/\(id)/leave", "{}", by: "ada")
    let found = try await events(calls, 2, of: id)
    #expect(kinds(found) == ["call.started", "call.ended"])
    #expect(found.compactMap { $0["id"] as? Int } == [1, 2])
    #expect(Set(found.compactMap { $0["roomId"] as? String }) == ["CA_\(id)"])
    #expect(await calls.house.ask(.get, "/v1/rooms/call-\(id)").status == 404)
  }

  @Test(arguments: StoreKind.allCases)
  func `what was decided and not said is said by the next process, and remembered until it is stored`(
    kind: StoreKind
  ) async throws {
    let outlet = HeldOutlet()
    let calls = try await CallHouse(on: kind, outlet: { outlet.passing(to: $0) })
    outlet.hold()
    let (id, _) = await calls.start("ada", "bob", more: #","path":"direct""#)
    let uuid = try #require(CallUUID(id))
    await calls.tidy()
    #expect(try await calls.desk.unsaidSteps().map(\.call.id) == [uuid])
    // It ends before it has said anything.
    await calls.stop()
    let next = try await CallHouse(after: calls.store)
    #expect(kinds(try await events(next, 1, of: id)) == ["call.started"])
    await next.tidy()
    #expect(try await next.desk.unsaidSteps().isEmpty)
    // One that follows has nothing to say any more.
    await next.stop()
    let last = try await CallHouse(after: calls.store)
    #expect(try await last.desk.unsaidSteps().isEmpty)
    #expect((await last.house.ask(.get, "/v1/events?limit=200")).items.isEmpty)
  }
}
