import AccessTokens
import Foundation
import HTTPServer
import Rooms
import TestScripts
import Testing

@testable import Gateway

@Suite("REST of those who wait and are invited, and what openapi.json says", .timeLimit(.minutes(2)))
struct WaitingOpenAPITests {
  /// All of them work here once.
  static let operations: Set<String> = [
    "GET /v1/rooms/{room}/waiting", "POST /v1/rooms/{room}/participants/{identity}/admit",
    "POST /v1/rooms/{room}/invitations", "GET /v1/rooms/{room}/invitations",
    "DELETE /v1/rooms/{room}/invitations/{invitation}", "POST /v1/invitations/open",
  ]

  /// Requests of a host, in an order in which they work: the last are the names in the path.
  private typealias Talk = [(method: HTTPMethod, template: String, body: String, names: [String: String])]

  private static func talk(_ secret: String, _ invitation: String) -> Talk {
    [
      (.get, "/v1/rooms/{room}/waiting", "", [:]), (.get, "/v1/rooms/{room}", "", [:]),
      (.post, "/v1/rooms/{room}/participants/{identity}/admit", "", ["identity": "guest"]),
      (
        .post, "/v1/rooms/{room}/invitations",
        #"{"ttl":60,"grants":{"canPublishSources":["camera"],"canPublishData":null,"admitted":true}}"#, [:]
      ),
      (.get, "/v1/rooms/{room}/invitations", "", [:]),
      (.post, "/v1/invitations/open", #"{"invitation":"\#(secret)","name":"Eve"}"#, [:]),
      (.delete, "/v1/rooms/{room}/invitations/{invitation}", "", ["invitation": invitation]),
      (.get, "/v1/rooms/{room}/participants/{identity}", "", ["identity": "guest"]),
      (.get, "/v1/rooms/{room}/events", "", [:]),
    ]
  }

  @Test func `every answer that is no refusal is one that is described, field by field`() async throws {
    let house = try House()
    try await house.makeAsking("demo", #","dataHistory":{"topics":["chat"],"max":2,"seconds":60}"#)
    let guest = try await house.wait("guest")
    let host = House.host()
    func make(_ body: String) async -> House.Answer {
      await house.ask(.post, "/v1/rooms/demo/invitations", body, token: host)
    }
    let secret = try #require(await make(#"{"ttl":60}"#)["invitation"] as? String)
    let invitation = try #require(await make(#"{"ttl":60,"uses":1}"#)["id"] as? String)
    var lines: [String] = []
    var good: Set<String> = []
    for (method, template, body, names) in Self.talk(secret, invitation) {
      let path = OpenAPITests.path(template, ["room": "demo"].merging(names) { $1 })
      let answer = await house.ask(method, path, body, token: host)
      #expect((200...299).contains(answer.status), "\(method) \(path): \(answer.text)")
      good.insert("\(method.rawValue) \(template)")
      lines.append(
        "\(method.rawValue) \(template) \(answer.status) \(answer.headers["content-type"] ?? "-") "
          + (answer.text.isEmpty ? "-" : answer.text))
      guard method == .post, template.hasSuffix("/admit") else { continue }
      #expect(try await guest.next("joined")["type"] as? String == "joined")
      #expect(try await guest.verdict("hand", #""raised":true"#) == "ok")
    }
    #expect(Self.operations.subtracting(good).isEmpty)
    for kind in ["participant.waiting", "waiting.ended"] { #expect(lines.last?.contains(kind) == true) }
    let (status, output) = try Script.run("scripts/check-openapi", lines)
    #expect(status == 0, "\(output)")
  }
}
