import Foundation
import HTTPServer
import Signalling
import Testing

@testable import Gateway

@Suite("STUN and TURN servers for clients", .timeLimit(.minutes(2)))
struct ICEServersTests {
  @Test func `a user name expires and is signed with the shared secret`() {
    let servers = ICEServers(
      stunURLs: ["stun:a.example"], turnURLs: ["turn:b.example", "turns:b.example:443?transport=tcp"],
      turnSecret: "north", turnLifetime: 86_400)
    // The credential was made with Python's hmac.
    #expect(
      servers.list(for: "PA_1", now: 1_700_000_000) == [
        ICEServerBody(urls: ["stun:a.example"]),
        ICEServerBody(
          urls: ["turn:b.example", "turns:b.example:443?transport=tcp"], username: "1700086400:PA_1",
          credential: "KmqWCrZ3PV7pWAzkkk962yS8Qy4="),
      ])
  }

  @Test func `what isn't configured is left out`() {
    #expect(ICEServers().list(for: "PA_1", now: 0).isEmpty)
    #expect(ICEServers(stunURLs: ["stun:a"]).list(for: "x", now: 0) == [ICEServerBody(urls: ["stun:a"])])
  }

  @Test func `joined carries them, and no null beside a STUN server`() async throws {
    var joined = ServerMessage.Joined(
      participant: ParticipantBody(id: "PA_1", identity: "ada"), room: RoomBody(id: "RM_1", name: "r"),
      participants: [], lastEvent: 1)
    joined.iceServers = [
      ICEServerBody(urls: ["stun:a"]), ICEServerBody(urls: ["turn:b"], username: "u", credential: "c"),
    ]
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(ServerMessage(.joined(joined)).json.utf8)) as? [String: Any]
    )
    let expected: NSArray = [["urls": ["stun:a"]], ["urls": ["turn:b"], "username": "u", "credential": "c"]]
    #expect(json["iceServers"] as? NSArray == expected)
  }
}
