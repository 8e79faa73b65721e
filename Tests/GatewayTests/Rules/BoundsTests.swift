import Foundation
import HTTPServer
import Model
import Negotiation
import Rooms
import Signalling
import Testing

@testable import Gateway

@Suite("Bounds at the doors", .timeLimit(.minutes(2)))
struct BoundsTests {
  @Test func `a participant publishes so many tracks at once, and one more is declined`() async throws {
    var policy = NegotiationPolicy.server
    policy.maximumTracks = 2
    let house = try House(policy: policy)
    let ada = try await house.enter("ada")
    for kind in [MediaKind.audio, .video] {
      #expect(try await ada.publish(kind, as: "unknown").hasPrefix("TR_"))
    }
    let answer = try await ada.offer([.video], receivers: 1)
    #expect((answer["declined"] as? [NSDictionary])?.map { $0["code"] as? String } == ["limit"])
    // The others go on, and what it receives has bounds of its own.
    #expect(
      (answer["tracks"] as? [NSDictionary])?.count == 2 && (answer["slots"] as? [NSDictionary])?.count == 2)
    #expect(await house.ask(.get, "/v1/rooms/demo")["tracks"] == 2 as NSNumber)
  }

  @Test func `an offer has so many sections, and one with more is refused with the bound`() async throws {
    var policy = NegotiationPolicy.server
    policy.maximumSections = 4
    let house = try House(policy: policy)
    let ada = try await house.enter("ada")
    let answer = try await ada.offer([.audio], receivers: 1)
    #expect((answer["slots"] as? [NSDictionary])?.count == 2)
    let refused = try await ada.offer([.video, .video])
    #expect(refused["type"] as? String == "error" && refused["code"] as? String == "offer-refused")
    #expect((refused["message"] as? String)?.contains("4") == true)
    #expect(await house.ask(.get, "/v1/rooms/demo")["tracks"] == 1 as NSNumber)
  }

  @Test func `a slot that isn't there is none, and another room's track is unknown`() async throws {
    let house = try House()
    let ada = try await house.enter("ada")
    let track = try await ada.publish(.video, as: "camera")
    let bob = try await house.enter("bob")
    let eve = try await house.enter("eve", room: "other")
    #expect(try await bob.verdict("subscribe", #""track":"\#(track)""#) == "ok")
    #expect(try await bob.verdict("subscribe", #""track":"\#(track)","mid":"nowhere""#) == "unknown-slot")
    for request in ["subscribe", "unsubscribe"] {
      #expect(try await eve.verdict(request, #""track":"\#(track)""#) == "unknown-track")
    }
  }

  @Test(arguments: [1, 64, 128])
  func `names have 1 to 128 bytes without control characters, wherever they stand`(length: Int) async throws {
    let house = try House()
    let name = String(repeating: "n", count: length)
    #expect(await house.ask(.post, "/v1/rooms", #"{"name":"\#(name)"}"#).status == 201)
    #expect(await house.ask(.get, "/v1/rooms/\(name)").status == 200)
    _ = try await house.enter(name, room: name)
    #expect(await house.ask(.get, "/v1/rooms/\(name)/participants/\(name)").status == 200)
    for wrong in ["", "%00", "a%0A", "%C2%85", "%2E", "%2E%2E", String(repeating: "n", count: 129)] {
      let room = await house.ask(.get, "/v1/rooms/\(wrong)")
      #expect(room.status == 400 && room.problem == "room-name", "\(wrong)")
      let other = await house.ask(.get, "/v1/rooms/\(name)/participants/\(wrong)")
      #expect(other.status == 400 && other.problem == "identity", "\(wrong)")
    }
    // No UTF-8 and no encoding at all: no path that there is.
    for wrong in ["%FF", "%", "%4"] { #expect(await house.ask(.get, "/v1/rooms/\(wrong)").status == 404) }
  }

  @Test func `the end of a session has its reason and its close code`() async throws {
    let codes: [LeaveReason: UInt16] = [
      .left: 4000, .removed: 4010, .connectionLost: 4011, .duplicateIdentity: 4012, .roomClosed: 4014,
      .serverShutdown: 4016,
    ]
    for (reason, code) in codes { #expect(SignallingCloseCode(reason).rawValue == code) }
    let house = try House()
    let old = try await house.enter("ada")
    _ = try await house.enter("ada")
    #expect(try await old.next("closed")["reason"] as? String == "duplicateIdentity")
    await old.ended()
    #expect(old.socket.closeCode == 4012)
  }
}
