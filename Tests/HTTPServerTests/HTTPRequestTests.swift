import Testing

@testable import HTTPServer

@Suite("Requests as values", .timeLimit(.minutes(2)))
struct HTTPRequestTests {
  func parse(
    _ method: String = "GET", _ target: String = "/", _ fields: KeyValuePairs<String, String> = ["Host": "h"],
    isHTTP10: Bool = false, size: Int = 100
  ) throws -> RequestHead {
    var headers = HTTPHeaders()
    for (name, value) in fields { headers.add(name, value) }
    var limits = HTTPLimits()
    limits.bodyBytes = 1000
    return try RequestHead(
      method: method, target: RequestTarget(Array(target.utf8)), headers: headers, isHTTP10: isHTTP10,
      size: size, limits: limits)
  }

  @Test(arguments: ["", "x", "/a#b", "/\u{7F}", "/ä", "/a b", "ftp://h/p", "http://h", "**"])
  func `a target that is none is refused`(target: String) {
    #expect(throws: RequestRefusal.malformedTarget) { try parse("GET", target) }
  }

  @Test func `the asterisk is for OPTIONS alone`() throws {
    #expect(try parse("OPTIONS", "*").target.path == "*")
    #expect(throws: RequestRefusal.malformedTarget) { try parse("GET", "*") }
  }

  @Test func `the absolute form is the same request`() throws {
    let target = try parse("GET", "http://evil.example/p?q?r").target
    #expect(target.path == "/p" && target.query == "q?r")
    #expect(try parse("GET", "HTTPS://h/").target.path == "/")
  }

  @Test(arguments: ["BREW", "get", "", "CONNECT", "TRACE"])
  func `an unknown method is refused`(method: String) {
    #expect(throws: RequestRefusal.unknownMethod) { try parse(method) }
  }

  static let refused: [([(String, String)], RequestRefusal)] = [
    ([("a", "b")], RequestRefusal.hostMissingOrRepeated),
    ([("Host", "a"), ("host", "b")], .hostMissingOrRepeated),
    ([("Host", "h"), ("Content-Length ", "5")], .malformedField),
    ([("Host", "h"), ("", "5")], .malformedField),
    ([("Host", "h"), ("Content-Length", "1"), ("Content-Length", "1")], .ambiguousLength),
    ([("Host", "h"), ("Content-Length", "1, 1")], .ambiguousLength),
    ([("Host", "h"), ("Content-Length", "+1")], .ambiguousLength),
    ([("Host", "h"), ("Content-Length", "-1")], .ambiguousLength),
    ([("Host", "h"), ("Content-Length", "")], .ambiguousLength),
    ([("Host", "h"), ("Content-Length", "1"), ("Transfer-Encoding", "chunked")], .ambiguousLength),
    ([("Host", "h"), ("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "x")], .ambiguousLength),
    ([("Host", "h"), ("Transfer-Encoding", "gzip, chunked")], .unknownTransferCoding),
    // The sign of kelvin is no letter of ASCII, though it looks like one and has its lower case.
    ([("Host", "h"), ("Transfer-Encoding", "chun\u{212A}ed")], .unknownTransferCoding),
    ([("Host", "h"), ("Connection", "a" + String(repeating: "\u{301}", count: 31))], .malformedField),
    ([("Host", "h"), ("X", "a" + String(repeating: "\u{301}\u{316}", count: 4_000))], .malformedField),
    ([("Host", "h"), ("Content-Length", "1001")], .bodyTooLarge),
    ([("Host", "h"), ("Content-Length", "99999999999999999999")], .bodyTooLarge),
  ]

  @Test(arguments: refused)
  func `what two readers could take differently is refused`(
    fields: [(String, String)], reason: RequestRefusal
  ) {
    var headers = HTTPHeaders()
    for (name, value) in fields { headers.add(name, value) }
    var limits = HTTPLimits()
    limits.bodyBytes = 1000
    #expect(throws: reason) {
      try RequestHead(
        method: "POST", target: RequestTarget([47]), headers: headers, isHTTP10: false, size: 100,
        limits: limits)
    }
  }

  @Test func `HTTP 1,0 needs no host and knows no chunks`() throws {
    #expect(try parse("GET", "/", [:], isHTTP10: true).headers.fields.isEmpty)
    #expect(throws: RequestRefusal.ambiguousLength) {
      try parse("POST", "/", ["Transfer-Encoding": "chunked"], isHTTP10: true)
    }
  }

  @Test func `a head is bounded in bytes and in fields`() throws {
    #expect(throws: RequestRefusal.headTooLarge) { try parse(size: 16_385) }
    var headers: HTTPHeaders = ["host": "h"]
    for _ in 0..<99 { headers.add("a", "b") }
    let target = RequestTarget([47])
    func head() throws -> RequestHead {
      try RequestHead(
        method: "GET", target: target, headers: headers, isHTTP10: false, size: 1000, limits: HTTPLimits())
    }
    #expect(try head().headers.fields.count == 100)
    headers.add("a", "b")
    #expect(throws: RequestRefusal.headTooLarge) { try head() }
  }

  @Test func `a field's value may be in any language`() throws {
    let text = "Zoë, 日本語 " + String(repeating: "e\u{301}\u{316}", count: 1_000)
    #expect(try parse("GET", "/", ["Host": "h", "X": text]).headers["x"] == text)
  }

  @Test func `a path or query with too many combining marks in a row is none`() throws {
    let pair = "%CC%81%CC%96"
    let (few, many) = (String(repeating: pair, count: 15), String(repeating: pair, count: 16))
    #expect(HTTPRequest(method: .get, path: "/v1/a\(few)").segments?.count == 2)
    #expect(HTTPRequest(method: .get, path: "/v1/a\(many)").segments == nil)
    #expect(HTTPRequest(method: .get, path: "/", query: "after=a\(few)").queryItem("after") != nil)
    #expect(HTTPRequest(method: .get, path: "/", query: "after=a\(many)").queryItem("after") == nil)
  }

  @Test(arguments: [
    ("  a b\t", "a b"), (" \t ", ""), ("", ""), (" \u{301}", "\u{301}"), ("a\u{600} ", "a\u{600}"),
  ])
  func `spaces go from both ends, whatever characters they are part of`(text: String, trimmed: String) {
    #expect(Array(text.trimmingSpaces().utf8) == Array(trimmed.utf8))
  }

  static let key = "dGhlIHNhbXBsZSBub25jZQ=="

  @Test func `a WebSocket is asked for by GET, with one key and version 13`() throws {
    let fields: KeyValuePairs = [
      "Host": "h", "Upgrade": "WebSocket", "Connection": "keep-alive, Upgrade", "Sec-WebSocket-Key": Self.key,
      "Sec-WebSocket-Version": "13",
    ]
    #expect(try parse("GET", "/", fields).webSocketKey == Self.key)
    #expect(throws: RequestRefusal.malformedUpgrade) { try parse("POST", "/", fields) }
    let kelvin: KeyValuePairs = [
      "Host": "h", "Upgrade": "webSoc\u{212A}et", "Connection": "Upgrade", "Sec-WebSocket-Key": Self.key,
      "Sec-WebSocket-Version": "13",
    ]
    #expect(try parse("GET", "/", kelvin).webSocketKey == nil)
    #expect(throws: RequestRefusal.malformedUpgrade) { try parse("GET", "/", fields, isHTTP10: true) }
    #expect(throws: RequestRefusal.malformedUpgrade) {
      try parse("GET", "/", ["Host": "h", "Upgrade": "websocket", "Connection": "upgrade"])
    }
    #expect(throws: RequestRefusal.unsupportedWebSocketVersion) {
      try parse(
        "GET", "/",
        [
          "Host": "h", "Upgrade": "websocket", "Connection": "upgrade", "Sec-WebSocket-Key": Self.key,
          "Sec-WebSocket-Version": "8",
        ])
    }
    #expect(
      try parse("GET", "/", ["Host": "h", "Upgrade": "h2c", "Connection": "upgrade"]).webSocketKey == nil)
  }

  @Test func `the key of RFC 6455 section 1,3 is answered`() {
    #expect(WebSocketHandshake.accept(key: Self.key) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
  }

  @Test func `an encoded slash stays inside its segment`() {
    let request = HTTPRequest(method: .get, path: "/v1/rooms/a%2fb/c%C3%A4", query: "t=%20+x&n&t=2")
    #expect(request.segments == ["v1", "rooms", "a/b", "cä"])
    #expect(request.queryItem("t") == "  x" && request.queryItem("n") == "" && request.queryItem("u") == nil)
    for path in ["/%", "/%4", "/%zz", "/%ff", "/%+1"] {
      #expect(HTTPRequest(method: .get, path: path).segments == nil, "\(path)")
    }
    // No path of the server has so many.
    let sixteen = String(repeating: "/a", count: 16)
    #expect(HTTPRequest(method: .get, path: sixteen).segments?.count == 16)
    #expect(HTTPRequest(method: .get, path: sixteen + "/").segments == nil)
  }

  @Test(arguments: [
    ("limit=5&limit=6", "5"), ("&&limit=5", "5"), ("a&limit", ""), ("limit=&limit=5", ""),
    ("=5&limit==5&", "=5"),
    ("%6c%69%6d%69%74=5", "5"), ("l+imit=5&%zzmit=6&limit=7", "7"), ("limit=%c3%a4+%26", "ä &"),
    ("limits=5&limi=6", nil), ("limit=%f&limit=5", nil), ("limit=%ff", nil), ("", nil), ("&", nil),
    ("LIMIT=5", nil),
  ])
  func `of a query the first item of a name counts, however it is written`(query: String, value: String?) {
    #expect(HTTPRequest(method: .get, path: "/", query: query).queryItem("limit") == value)
  }

  @Test func `neither query nor token shows in any description`() {
    var request = HTTPRequest(method: .get, path: "/p", query: "access_token=secret")
    request.headers.add("Authorization", "Bearer secret")
    var dumped = ""
    dump(request, to: &dumped)
    for text in ["\(request)", String(reflecting: request), dumped, String(describing: [request])] {
      #expect(!text.contains("secret"))
    }
    #expect(request.bearerToken == "secret")
  }
}
