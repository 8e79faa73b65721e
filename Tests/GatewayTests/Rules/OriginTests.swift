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

  /// Of the server's own pages, at its name and its public address, and of programs, which name no origin.
  static let own: [(origin: String?, isAllowed: Bool)] = [
    (nil, true), ("https://relay.example", true), ("http://RELAY.example", true),
    ("https://calls.example:8443", true), ("https://relay.example.evil", false),
    ("https://relay.example:444", false), ("https://calls.example", false),
    ("https://evil@relay.example", false), ("//", false),
  ]

  /// A browser asks no one before it opens a socket to another origin.
  @Test func `a page of another origin opens no socket`() async {
    var configuration = GatewayConfiguration(keys: ["APIkey": "x"], development: nil) { 0 }
    configuration.crossOrigin = CrossOrigin(origins: ["https://other.example:8443", Self.allowed])
    configuration.publicURL = "https://calls.example:8443/"
    let gateway = Gateway(configuration: configuration, rooms: TestRoom())
    let named: [(origin: String?, isAllowed: Bool)] = Self.cases.map { ($0.origin, $0.isAllowed) }
    for (origin, isAllowed) in named + Self.own {
      var headers: HTTPHeaders = ["host": "relay.example", "sec-websocket-protocol": "roost.v1"]
      if let origin { headers.add("origin", origin) }
      let decision = await gateway.upgrade(
        HTTPRequest(method: .get, path: "/v1/rooms/demo/connect", query: "", headers: headers, body: []))
      switch decision {
      case .accept: #expect(isAllowed, "\(origin ?? "none")")
      case .refuse(let refusal): #expect(!isAllowed && refusal.status == 403, "\(origin ?? "none")")
      }
    }
  }

  /// Some clients write the port out that a scheme has anyway, some don't.
  @Test(arguments: [
    ("relay.example:443", "https://relay.example", true),
    ("relay.example", "https://relay.example:443", true),
    ("relay.example:80", "http://relay.example", true), ("relay.example", "http://relay.example:80", true),
    ("relay.example:443", "http://relay.example", false),
    ("relay.example:80", "https://relay.example", false),
    ("relay.example:4430", "https://relay.example", false),
    ("relay.example", "https://relay.example:80", false),
    ("relay.example:7880", "http://relay.example:7880", true), ("x", "https://calls.example:443", true),
    ("x", "https://calls.example", true),
  ])
  func `a port that goes without saying is the same said or unsaid`(
    host: String, origin: String, isServed: Bool
  )
    async
  {
    var configuration = GatewayConfiguration(keys: ["APIkey": "x"], development: nil) { 0 }
    configuration.crossOrigin = CrossOrigin(origins: [Self.allowed])
    configuration.publicURL = "https://calls.example"
    let gateway = Gateway(configuration: configuration, rooms: TestRoom())
    let headers: HTTPHeaders = ["host": host, "origin": origin, "sec-websocket-protocol": "roost.v1"]
    let decision = await gateway.upgrade(
      HTTPRequest(method: .get, path: "/v1/rooms/demo/connect", query: "", headers: headers, body: []))
    if case .accept = decision { #expect(isServed) } else { #expect(!isServed) }
  }

  /// roost.js may be imported where sockets may come from; the pages' own files by no other origin.
  @Test func `scripts of the module are for pages of allowed origins`() async {
    var configuration = GatewayConfiguration(keys: ["APIkey": "x"], development: nil) { 0 }
    configuration.crossOrigin = CrossOrigin(origins: [Self.allowed])
    let gateway = Gateway(configuration: configuration, rooms: TestRoom())
    func allowed(_ path: String, _ origin: String) async -> String? {
      let headers: HTTPHeaders = ["host": "relay.example", "origin": origin]
      let answer = await gateway.respond(
        to: HTTPRequest(method: .get, path: path, query: "", headers: headers, body: []))
      #expect(answer.status == 200)
      return answer.headers["access-control-allow-origin"]
    }
    for name in Pages.module {
      #expect(await allowed("/\(name)", Self.allowed) == Self.allowed)
      #expect(await allowed("/\(name)", "https://evil.example") == nil)
    }
    for path in ["/", "/admin", "/page.js", "/base.css"] {
      #expect(await allowed(path, Self.allowed) == nil)
    }
    // Each imports nothing but others of them.
    for name in Pages.module {
      let text = String(decoding: Pages.response(path: "/\(name)")?.body ?? [], as: UTF8.self)
      let imported = text.matches(of: /from "\.\/([a-z.]+)"/).map { String($0.output.1) }
      #expect(Set(imported).isSubset(of: Pages.module) && !text.contains("from \"/"))
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
