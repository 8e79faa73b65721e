import HTTPClient
import Testing

@testable import Load

@Suite("Where a WHIP or WHEP session is", .timeLimit(.minutes(1)))
struct StandaloneSessionTests {
  @Test(
    arguments: [
      ("/whip/r/WS_1", "https", "roost.example", 8_443, "/whip/r/WS_1"),
      ("https://other.example/s?x=1", "https", "other.example", 443, "/s?x=1"),
      ("http://[::1]:99/s", "http", "[::1]", 99, "/s"),
    ] as [(String, String, String, UInt16, String)])
  func `a path is of the same server, and a URL of its own`(
    location: String, scheme: String, host: String, port: UInt16, target: String
  ) throws {
    let endpoint = try #require(HTTPURL("https://roost.example:8443/whip/r"))
    let found = try #require(endpoint.resolving(location))
    #expect(found.isSecure == (scheme == "https") && found.host == host && found.port == port)
    #expect(found.path + found.query == target)
  }

  @Test(arguments: ["", "session", "ftp://x/y", "//other.example/s", "/a b"])
  func `anything else is none`(location: String) throws {
    let endpoint = try #require(HTTPURL("http://127.0.0.1:7880/whip/r"))
    #expect(endpoint.resolving(location) == nil)
  }
}
