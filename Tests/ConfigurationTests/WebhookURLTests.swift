import Configuration
import Testing

@Suite("URLs of receivers", .timeLimit(.minutes(1)))
struct WebhookURLTests {
  @Test(arguments: [
    "http://desk.example", "https://desk.example/", "https://desk.example:8443/a?b=c", "http://192.0.2.1:80",
    "http://[2001:db8::1]/x", "https://[2001:db8::1]:443/x", "https://desk.example:/x",
    "HTTPS://desk.example",
  ])
  func `what can be asked is taken, with the key behind it`(text: String) {
    #expect(WebhookURL(text).map { $0.url == text && $0.key == nil } == true)
    #expect(WebhookURL(text + "#key").map { $0.url == text && $0.key == "key" } == true)
  }

  @Test(arguments: [
    "", "desk.example", "ftp://desk.example", "http://", "http:///path", "http://:80",
    "http://user@desk.example",
    "http://desk.example:0", "http://desk.example:65536", "http://desk.example:99999999999999999999",
    "http://desk.example:80a/x", "http://desk.example:-1", "http://desk.example:80:90", "http://[::1/x",
    "http://::1]/x",
    "http://[::1]x/y", "http://[::1]80", "http://desk example", "http://desk.example#",
    "http://desk.example/,b",
  ])
  func `what can't be asked is refused as it is configured, and not when it is to be asked`(text: String) {
    #expect(WebhookURL(text) == nil)
  }
}
