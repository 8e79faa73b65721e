import HTTPServer
import Model
import Rooms
import Testing

@testable import Gateway

/// Origins are compared whole, wherever they are: one that merely looks like an allowed one is another one.
@Suite("Origins", .timeLimit(.minutes(2)))
struct OriginTests {
  static let allowed = "https://desk.example"
  static let cases: [(origin: String, isAllowed: Bool)] = [
    ("https://desk.example", true), ("https://DESK.Example", true), ("HTTPS://desk.example", true),
    ("https://desk.example.evil", false), ("https://desk.exampl", false), ("https://desk.example:444", false),
    ("https://desk.example:443", false), ("http://desk.example", false), ("https://desk.example/", false),
    ("https://evil.desk.example", false), ("https://user@desk.example", false),
    ("https://desk.example@evil", false), ("https://desk.example, https://evil", false),
    ("desk.example", false),
    ("https://", false), ("null", false), ("", false), ("*", false),
  ]

  @Test(arguments: Self.cases.indices)
  func `a page of another origin reads nothing`(index: Int) async throws {
    let (origin, isAllowed) = Self.cases[index]
    let house = try House {
      $0.crossOrigin = CrossOrigin(origins: ["https://other.example:8443", Self.allowed])
      $0.attempts = AttemptLimiter(rate: 1, burst: 3) { Instant(nanoseconds: 0) }
    }
    let headers = [("origin", origin)]
    let read = await house.ask(.get, "/v1/rooms", headers: headers)
    let asked = await house.ask(
      .options, "/v1/rooms", token: nil, headers: headers + [("access-control-request-method", "POST")])
    _ = await house.ask(.get, "/v1/rooms")
    let refused = await house.ask(.get, "/v1/rooms", headers: headers)
    #expect(read.status == 200 && asked.status == 204 && refused.status == 429)
    for answer in [read, asked, refused] {
      #expect(answer.headers["access-control-allow-origin"] == (isAllowed ? origin : nil))
      #expect(answer.headers["vary"] == "origin")
    }
    #expect((asked.headers["access-control-allow-methods"] != nil) == isAllowed)
  }

  @Test func `with a port it is that port alone`() async throws {
    let house = try House { $0.crossOrigin = CrossOrigin(origins: ["https://desk.example:8443"]) }
    for (origin, isAllowed) in [
      ("https://desk.example:8443", true), ("https://desk.example", false),
      ("https://desk.example:84", false),
      ("https://desk.example:84433", false), ("https://desk.example:08443", false),
    ] {
      let answer = await house.ask(.get, "/v1/rooms", headers: [("origin", origin)])
      #expect((answer.headers["access-control-allow-origin"] != nil) == isAllowed, "\(origin)")
    }
  }

  /// While trying out, sockets and requests of foreign pages are turned away at the door.
  @Test(arguments: [
    ("http://192.168.1.5:7880", true), ("HTTP://192.168.1.5:7880", true), ("https://192.168.1.5:7880", true),
    ("http://attic.local:7880", false), ("http://192.168.1.5:7881", false), ("http://192.168.1.5", false),
    ("http://192.168.1.5:78800", false), ("http://192.168.1.5:7880.evil", false),
    ("http://192.168.1.5:7880/", false), ("http://user@192.168.1.5:7880", false),
    ("ws://192.168.1.5:7880", false), ("//192.168.1.5:7880", false), ("192.168.1.5:7880", false),
    ("null", false),
    ("", false), ("HTTP://LOCALHOST", true), ("http://localhost.evil", false), ("http://localhost/", false),
    ("http://evil@localhost", false),
  ])
  func `with --dev neither requests nor sockets come from foreign pages`(origin: String, isServed: Bool) async
  {
    let gateway = Gateway(
      configuration: GatewayConfiguration(
        keys: ["devkey": "secret"], development: .network(names: ["attic.local"])
      ) { 0 }, rooms: TestRoom())
    let headers: HTTPHeaders = [
      "host": "192.168.1.5:7880", "origin": origin, "sec-websocket-protocol": "roost.v1",
    ]
    let answer = await gateway.respond(
      to: HTTPRequest(method: .get, path: "/healthz", query: "", headers: headers, body: []))
    #expect(answer.status == (isServed ? 200 : 403))
    let decision = await gateway.upgrade(
      HTTPRequest(method: .get, path: "/v1/rooms/demo/connect", query: "", headers: headers, body: []))
    switch decision {
    case .accept: #expect(isServed)
    case .refuse(let refusal): #expect(!isServed && refusal.status == 403)
    }
  }
}
