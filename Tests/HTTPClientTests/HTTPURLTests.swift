import HTTPClient
import Testing

@Suite("Addresses of servers", .timeLimit(.minutes(1)))
struct HTTPURLTests {
  @Test(arguments: [
    ("http://localhost:7880", "http://localhost:7880"),
    ("HTTPS://Relay.Example/", "https://relay.example"),
    ("https://relay.example:443/a/b//", "https://relay.example/a/b//"),
    ("http://relay.example:80", "http://relay.example"),
    ("http://[::1]:7880/?a=b", "http://[::1]:7880?a=b"),
    ("https://relay.example:8443/a/../b", "https://relay.example:8443/a/../b"),
  ])
  func `an address is read and written`(text: String, expected: String) {
    #expect(HTTPURL(text)?.description == expected)
  }

  @Test(arguments: [
    "", "relay.example", "ftp://a", "file:///etc/passwd", "http://", "http:///a", "http://a:0",
    "http://a:65536",
    "http://a:b", "http://me@a", "http://me:pw@a", "http://a/#f", "http://a b", "http://a/\r\nx: y",
    "http://ü.example", "http://[::1", "https://" + String(repeating: "a", count: 9_000),
  ])
  func `what is no address of a server is refused`(text: String) {
    #expect(HTTPURL(text) == nil)
  }

  @Test func `names become one segment each, whatever is in them`() throws {
    let url = try #require(HTTPURL("https://relay.example/roost/"))
    #expect(
      url.appending(["v1", "a/b", "ü %?#&"], query: [("after", "1+2=3&4"), ("", "")]).description
        == "https://relay.example/roost/v1/a%2Fb/%C3%BC%20%25%3F%23%26?after=1%2B2%3D3%264&=")
    #expect(url.appending(["..", "~-._"]).description == "https://relay.example/roost/../~-._")
  }

  @Test(arguments: [
    ("http://localhost", true), ("http://a.localhost", true), ("http://127.0.0.1", true),
    ("http://127.255.0.9:1", true), ("http://[::1]", true), ("http://127.0.0.1.example.com", false),
    ("http://127.evil.com", false), ("http://localhost.example", false), ("http://10.0.0.1", false),
    ("http://[::2]", false), ("http://relay.example", false), ("http://notlocalhost", false),
  ])
  func `this machine is known by addresses that never leave it`(text: String, isLoopback: Bool) throws {
    #expect(try #require(HTTPURL(text)).isLoopback == isLoopback)
  }
}
