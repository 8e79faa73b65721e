import AccessTokens
import Foundation
import HTTPServer
import Rooms
import Testing

@testable import Gateway

@Suite("Gateway", .timeLimit(.minutes(2)))
struct GatewayTests {
  let now = 1_790_000_000
  let secret = "a secret that is long enough to be one"

  func gateway(development: Bool = false, rooms: (any RoomService)? = TestRoom()) -> Gateway {
    let keys = development ? ["devkey": "secret"] : ["APIkey": secret]
    return Gateway(
      configuration: GatewayConfiguration(keys: keys, development: development ? .thisMachine : nil) {
        [now] in now
      },
      rooms: rooms)
  }

  func request(
    _ method: HTTPMethod, _ path: String, _ headers: HTTPHeaders = ["host": "localhost:7880"],
    body: String = "",
    query: String = ""
  ) -> HTTPRequest {
    HTTPRequest(method: method, path: path, query: query, headers: headers, body: Array(body.utf8))
  }

  @Test func `the page comes with its rules: no foreign and no inline script`() async throws {
    let script = "text/javascript"
    for (path, type) in [
      ("/", "text/html"), ("/index.html", "text/html"), ("/admin", "text/html"), ("/base.css", "text/css"),
      ("/icon.svg", "image/svg+xml"),
      ("/page.js", script), ("/roost.js", script), ("/signalling.js", script),
    ] {
      let answer = await gateway().respond(to: request(.get, path))
      #expect(answer.status == 200 && answer.body.count > 500)
      #expect(answer.headers["content-type"]?.hasPrefix(type) == true)
      let policy = answer.headers["content-security-policy"] ?? ""
      #expect(policy.contains("script-src 'self';") && !policy.contains("unsafe"))
    }
    var asked: [String] = []
    for path in ["/", "/admin"] {
      let page = String(decoding: await gateway().respond(to: request(.get, path)).body, as: UTF8.self)
      #expect(!page.contains("<script>") && !page.contains("onclick=") && !page.contains("style="))
      asked += page.matches(of: /(?:href|src)="(\/[a-z.-]+)"/).map { String($0.output.1) }
    }
    // Each file that another one asks for is there, and none makes elements or code of text.
    var seen = Set<String>()
    while let file = asked.popLast() {
      guard seen.insert(file).inserted else { continue }
      let answer = await gateway().respond(to: request(.get, file))
      try #require(answer.status == 200, "\(file)")
      let text = String(decoding: answer.body, as: UTF8.self)
      #expect(!text.contains("innerHTML") && !text.contains("eval(") && !text.contains("document.write"))
      asked += text.matches(of: /"\.?(\/[a-z-]+\.(?:js|css))"/).map { String($0.output.1) }
    }
    // All that there is but the two pages, whether it comes with them or when it is needed.
    #expect(seen.count == 117)
  }

  @Test(arguments: [
    "/v2", "/v1/rooms", "/openapi.json", "/whip/demo", "/dev/token", "/../etc", "/%zz",
  ])
  func `what isn't there is 404`(path: String) async {
    for method in HTTPMethod.allCases {
      let answer = await gateway().respond(to: request(method, path))
      #expect(answer.status == 404)
      #expect(answer.headers["content-type"] == "application/problem+json")
    }
  }

  @Test func `a wrong method is answered with the right ones`() async {
    let answer = await gateway().respond(to: request(.post, "/"))
    #expect(answer.status == 405 && answer.headers["allow"] == "GET, HEAD")
    let health = await gateway().respond(to: request(.get, "/healthz"))
    #expect(health.status == 200 && health.body.isEmpty && health.headers["cache-control"] == "no-store")
    #expect(await gateway().respond(to: request(.get, "/v1/rooms/demo/connect")).status == 426)
  }

  @Test func `while draining readiness fails, and a client with a token in its request is refused`()
    async
  {
    let draining = gateway(rooms: TestRoom(isDraining: true))
    let ready = await draining.respond(to: request(.get, "/readyz"))
    #expect(ready.status == 503 && ready.body.isEmpty && ready.headers["retry-after"] == "5")
    #expect(await draining.respond(to: request(.get, "/healthz")).status == 200)
    #expect(await gateway().respond(to: request(.get, "/readyz")).status == 200)
    #expect(await gateway().respond(to: request(.post, "/readyz")).status == 405)
    let headers: HTTPHeaders = ["host": "h", "sec-websocket-protocol": "roost.v1"]
    let path = "/v1/rooms/a/connect"
    let refused = await draining.upgrade(request(.get, path, headers, query: "access_token=x"))
    guard case .refuse(let response) = refused else {
      Issue.record("accepted")
      return
    }
    #expect(response.status == 503 && response.headers["retry-after"] == "5")
    #expect(status(await draining.upgrade(request(.get, path, headers))) == 101)
  }

  @Test func `metrics are nowhere at the public door`() async {
    for path in ["/metrics", "/metrics/", "/v1/doctor", "/debug"] {
      #expect(await gateway().respond(to: request(.get, path)).status == 404)
    }
  }

  @Test func `with --dev a token is there for the asking, and it joins`() async throws {
    let headers: HTTPHeaders = ["host": "localhost:7880", "content-type": "application/json"]
    let answer = await gateway(development: true).respond(
      to: request(.post, "/dev/token", headers, body: #"{"room":"demo","identity":"ada","name":"Ada"}"#))
    #expect(answer.status == 200 && answer.headers["cache-control"] == "no-store")
    let body = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: String])
    let token = try AccessToken(verifying: body["token"], keys: ["devkey": "secret"], now: now)
    #expect(try token.requireJoin(room: "demo") == "ada" && token.name == "Ada")
  }

  @Test func `on a network the answer has the addresses at which others reach the page`() async throws {
    let headers: HTTPHeaders = ["host": "localhost:7880", "content-type": "application/json"]
    let asked = request(.post, "/dev/token", headers, body: #"{"room":"demo","identity":"ada"}"#)
    var configuration = GatewayConfiguration(keys: ["devkey": "x"], development: .network(names: [])) { 0 }
    configuration.hosts = ["192.168.1.5", "[2001:db8::1]"]
    let answer = await Gateway(configuration: configuration, rooms: nil).respond(to: asked)
    let body = try #require(try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
    #expect(body["hosts"] as? [String] == configuration.hosts)
    let alone = await gateway(development: true).respond(to: asked)
    #expect(alone.status == 200 && !String(decoding: alone.body, as: UTF8.self).contains("hosts"))
  }

  @Test(arguments: [
    (#"{"room":"demo"}"#, "application/json", 400), (#"{"room":"","identity":"a"}"#, "application/json", 400),
    (#"{"room":"a\nb","identity":"a"}"#, "application/json", 400), ("", "application/json", 400),
    (#"{"room":"demo","identity":"ada"}"#, "text/plain", 415),
  ])
  func `no token for nonsense`(body: String, type: String, status: Int) async {
    let headers: HTTPHeaders = ["host": "127.0.0.1", "content-type": type]
    let answer = await gateway(development: true).respond(
      to: request(.post, "/dev/token", headers, body: body))
    #expect(answer.status == status)
  }

  @Test(arguments: [
    ("localhost", nil, 200), ("LOCALHOST:7880", "http://localhost:7880", 200),
    ("[::1]:1", "http://[::1]:1", 200),
    ("127.0.0.1:9", "https://127.0.0.1", 200), ("evil.example", nil, 421),
    ("localhost.evil.example", nil, 421),
    ("localhost:7880.evil", nil, 421), ("127.0.0.1.evil", nil, 421), ("", nil, 421),
    ("localhost", "http://evil.example", 403), ("localhost", "null", 403),
    ("localhost", "http://localhost.evil", 403), ("localhost", "file://localhost", 403),
    ("localhost", "http://localhost:7880@evil", 403),
  ])
  func `with --dev only this machine's own pages are heard`(host: String, origin: String?, status: Int) async
  {
    var headers: HTTPHeaders = ["host": host]
    if let origin { headers.add("origin", origin) }
    #expect(await gateway(development: true).respond(to: request(.get, "/healthz", headers)).status == status)
    guard status != 200 else { return }
    guard case .refuse(let refusal) = await gateway(development: true).upgrade(request(.get, "/x", headers))
    else {
      Issue.record("accepted")
      return
    }
    #expect(refusal.status == status)
  }

  @Test(arguments: [
    ("192.168.1.5:7880", "https://192.168.1.5:7880", 200), ("[2001:db8::1]:7880", nil, 200),
    ("localhost:7880", "https://localhost:7880", 200), ("Attic.local:7880", "https://attic.local:7880", 200),
    ("attic.local.evil", nil, 421), ("evil.example", nil, 421), ("192.168.1.5.evil", nil, 421),
    ("192.168.1.5:7880", "https://192.168.1.6:7880", 403), ("192.168.1.5", "https://192.168.1.5:1", 403),
    ("192.168.1.5", "https://evil.example", 403), ("2001:db8::1", nil, 421), ("[]", nil, 421),
    ("[", nil, 421),
    ("[::1", nil, 421), ("[192.168.1.5]", nil, 421), (":1", nil, 421), ("192.168.1.5:", nil, 421),
  ])
  func `on a network addresses and own names are served, to the pages that came from there`(
    host: String, origin: String?, status: Int
  ) async {
    let gateway = Gateway(
      configuration: GatewayConfiguration(
        keys: ["devkey": "x"], development: .network(names: ["attic.local"])
      ) { 0 }, rooms: nil)
    var headers: HTTPHeaders = ["host": host]
    if let origin { headers.add("origin", origin) }
    #expect(await gateway.respond(to: request(.get, "/healthz", headers)).status == status)
  }

  func token(room: String = "a/b", expires: Int? = nil) -> String {
    AccessToken(apiKey: "APIkey", identity: "ada", expires: expires ?? now + 60, grants: .join(room))
      .signed(secret: secret)
  }

  func status(_ decision: UpgradeDecision) -> Int {
    switch decision {
    case .accept(let subprotocol, _, _): subprotocol == "roost.v1" ? 101 : 0
    case .refuse(let response): response.status
    }
  }

  @Test func `the door to a room opens by header, query or first message, else by status`() async {
    let path = "/v1/rooms/a%2Fb/connect"
    let headers: HTTPHeaders = ["host": "h", "sec-websocket-protocol": "x, roost.v1"]
    func ask(_ authorization: String?, query: String = "", path: String = path) async -> Int {
      var headers = headers
      if let authorization { headers.add("authorization", authorization) }
      return status(await gateway().upgrade(request(.get, path, headers, query: query)))
    }
    #expect(await ask(nil) == 101)
    #expect(await ask("Bearer \(token())") == 101)
    #expect(await ask(nil, query: "access_token=\(token())") == 101)
    #expect(await ask("Bearer \(token(room: "b"))") == 403)
    #expect(await ask("Bearer \(token(expires: now - 61))") == 401)
    #expect(await ask(nil, query: "access_token=x") == 401)
    #expect(await ask("Basic eDp5") == 401)
    #expect(await ask(nil, path: "/v1/rooms//connect") == 400)
    #expect(await ask(nil, path: "/v1/rooms/%00/connect") == 400)
    #expect(await ask(nil, path: "/v1/rooms/\(String(repeating: "x", count: 129))/connect") == 400)
    #expect(await ask(nil, path: "/v1/rooms/a/b/connect") == 404)
    #expect(status(await gateway().upgrade(request(.get, path, ["host": "h"]))) == 400)
    #expect(status(await gateway(rooms: nil).upgrade(request(.get, path, headers))) == 404)
  }

  @Test func `a problem has its stable type and says nothing of the token`() async throws {
    let headers: HTTPHeaders = [
      "host": "h", "sec-websocket-protocol": "roost.v1", "authorization": "Bearer \(token(expires: 1))",
    ]
    guard case .refuse(let refusal) = await gateway().upgrade(request(.get, "/v1/rooms/a/connect", headers))
    else {
      Issue.record("accepted")
      return
    }
    let body = try #require(try JSONSerialization.jsonObject(with: Data(refusal.body)) as? NSDictionary)
    #expect(
      body == [
        "type": "urn:roost:problem:token-expired", "title": "the access token has expired", "status": 401,
      ])
    #expect(refusal.headers["www-authenticate"] == "Bearer")
  }
}
