import Testing

@testable import WebSocketClient

@Suite("URLs of WebSockets", .timeLimit(.minutes(2)))
struct WebSocketURLTests {
  @Test(arguments: [
    ("ws://roost.example", false, "roost.example", 80, "/"),
    ("wss://roost.example/v1?a=b", true, "roost.example", 443, "/v1?a=b"),
    ("HTTP://127.0.0.1:7880/", false, "127.0.0.1", 7880, "/"),
    ("https://[2001:db8::1]:7443/x", true, "[2001:db8::1]", 7443, "/x"),
    ("ws://[::1]", false, "[::1]", 80, "/"),
    ("ws://h?q#fragment", false, "h", 80, "/?q"),
  ])
  func `parts are found`(text: String, isSecure: Bool, host: String, port: UInt16, target: String) throws {
    let url = try #require(WebSocketURL(text))
    #expect((url.isSecure, url.host, url.port, url.target) == (isSecure, host, port, target))
  }

  @Test(arguments: [
    "", "ws://", "ftp://h", "h:80", "ws://h:0", "ws://h:65536", "ws://h:x", "ws://u:p@h", "ws://h/ a",
    "ws://h\r\nX: y", "ws://ü", "ws://[::1", "ws://::1", "ws://:80",
  ]) func `what is no URL of a WebSocket is refused`(text: String) {
    #expect(WebSocketURL(text) == nil)
  }

  @Test func `the Host header names a port that isn't the scheme's`() throws {
    #expect(try #require(WebSocketURL("ws://h:80/")).hostHeader == "h")
    #expect(try #require(WebSocketURL("ws://h:443/")).hostHeader == "h:443")
    #expect(try #require(WebSocketURL("wss://h:7443/")).origin == "https://h:7443/")
  }
}

@Suite("The server's answer to an upgrade", .timeLimit(.minutes(2)))
struct UpgradeAnswerTests {
  private static let nonce = "dGhlIHNhbXBsZSBub25jZQ=="
  private static let good =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n"
    + "sec-websocket-accept:  s3pPLMBiTxaQ9kYGzzhZRbK+xOo= \r\nSec-WebSocket-Protocol: roost.v1\r\n\r\n"

  private func check(_ text: String, isWhole: Bool = false) throws(WebSocketClientError) -> [UInt8] {
    Array(
      try UpgradeAnswer(Array(text.utf8), isWhole: isWhole).check(nonce: Self.nonce, protocol: "roost.v1"))
  }

  @Test func `the proof of RFC 6455 is accepted, and what follows are frames`() throws {
    #expect(try check(Self.good).isEmpty)
    #expect(try check(Self.good + "\u{1}x") == [1, 120])
  }

  @Test func `an answer is waited for to its end`() throws {
    for length in 0..<Self.good.utf8.count {
      #expect(try !UpgradeAnswer(Array(Self.good.utf8.prefix(length)), isWhole: false).isComplete)
    }
  }

  @Test(arguments: [("xOo=", "xOp="), ("roost.v1", "chat"), ("Upgrade: WebSocket", "Upgrade: h2c")])
  func `a 101 without proof or with another protocol is refused`(part: String, other: String) {
    #expect(throws: WebSocketClientError.self) { try check(Self.good.replacing(part, with: other)) }
  }

  @Test func `a refusal is reported with its body`() {
    let text = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 9\r\n\r\nno token!"
    #expect(throws: WebSocketClientError.refused(status: 401, body: "no token!")) { try check(text) }
    #expect(throws: WebSocketClientError.refused(status: 401, body: "no t")) {
      try check(String(text.dropLast(5)), isWhole: true)
    }
  }

  @Test(arguments: ["SSH-2.0-x\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 xyz\r\n\r\n", "\r\n\r\n"])
  func `an answer that is no HTTP is reported as such`(text: String) {
    #expect(throws: WebSocketClientError.self) { try check(text) }
  }
}
