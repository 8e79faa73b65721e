import AccessTokens
import CallDesk
import Calls
import Foundation
import HTTPServer
import TestStores
import Testing

@testable import Gateway

@Suite(
  "One who comes into a call's room while the end of its connection before is waited for",
  .timeLimit(.minutes(2)))
struct CallTakeoverTests {
  enum Coming: CaseIterable, Sendable {
    case byAnotherDevice
    case byTheSameOnceMore
  }

  private func come(_ coming: Coming, into id: String, _ calls: CallHouse) async -> House.Answer {
    switch coming {
    case .byAnotherDevice:
      return await calls.ask(
        .post, "/v1/calls/\(id)/join", #"{"deviceId":"tablet","takeover":true}"#, by: "bob")
    case .byTheSameOnceMore:
      let left = await calls.ask(
        .post, "/v1/calls/\(id)/leave", #"{"deviceId":"phone","reason":"networkError"}"#, by: "bob")
      #expect(left.status == 200)
      return await calls.join(id, "bob", device: "phone")
    }
  }

  private func connect(_ joined: House.Answer, _ room: String, _ calls: CallHouse) async throws -> Guest {
    let guest = calls.house.connect(try #require(joined["token"] as? String), room: room)
    #expect(try await guest.next("joined")["type"] as? String == "joined")
    return guest
  }

  @Test(arguments: StoreKind.allCases, Coming.allCases)
  func `takes the place of that one, which reads that it moved, and stays`(kind: StoreKind, coming: Coming)
    async throws
  {
    let outlet = HeldOutlet()
    let calls = try await CallHouse(on: kind, outlet: { outlet.passing(to: $0) })
    let (id, started) = await calls.start("ada", "bob", "eve")
    let room = try #require((started["call"] as? NSDictionary)?["room"] as? String)
    let phone = try await connect(await calls.join(id, "bob", device: "phone"), room, calls)
    let eve = try await connect(await calls.join(id, "eve"), room, calls)
    outlet.hold()
    let later = try await connect(await come(coming, into: id, calls), room, calls)
    #expect(try await phone.next("closed")["reason"] as? String == "movedElsewhere")
    // Its end is carried out behind that of Bob's connection.
    #expect(await calls.ask(.post, "/v1/calls/\(id)/leave", by: "eve").status == 200)
    outlet.release()
    #expect(try await eve.next("closed")["reason"] as? String == "left")
    #expect(await calls.house.ask(.get, "/v1/rooms/\(room)/participants/bob").status == 200)
    #expect(later.socket.closeCode == nil)
    // It goes with its own.
    #expect(await calls.ask(.post, "/v1/calls/\(id)/leave", by: "bob").status == 200)
    #expect(try await later.next("closed")["reason"] as? String == "left")
  }

  @Test(arguments: StoreKind.allCases)
  func `an administrator of the same name is there beside the person, and isn't closed with it`(
    kind: StoreKind
  )
    async throws
  {
    let calls = try await CallHouse(on: kind)
    let (id, started) = await calls.start("ada", "bob", "eve")
    let room = try #require((started["call"] as? NSDictionary)?["room"] as? String)
    #expect(await calls.join(id, "bob").status == 200)
    let eve = try await connect(await calls.join(id, "eve"), room, calls)
    let boss = calls.house.connect(
      House.token("bob") {
        $0 = .join(room)
        $0.roomAdmin = true
      }, room: room)
    _ = try await boss.next("joined")
    for person in ["bob", "eve"] {
      #expect(await calls.ask(.post, "/v1/calls/\(id)/leave", by: person).status == 200)
    }
    #expect(try await eve.next("closed")["reason"] as? String == "left")
    #expect(boss.socket.closeCode == nil)
  }
}
