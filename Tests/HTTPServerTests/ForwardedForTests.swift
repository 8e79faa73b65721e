import HTTPServer
import Model
import Testing

@Suite("Who asks behind a proxy", .timeLimit(.minutes(1)))
struct ForwardedForTests {
  private let proxy = SocketAddress(ipv4: 10, 0, 0, 1, port: 4_000)
  private let stranger = SocketAddress(ipv4: 198, 51, 100, 9, port: 5_000)

  private func client(
    of remote: SocketAddress, _ fields: [String], trusting proxies: [String] = ["10.0.0.0/8", "fd00::/8"]
  ) -> String {
    var headers = HTTPHeaders()
    for field in fields { headers.add("x-forwarded-for", field) }
    return ForwardedFor.client(of: remote, headers, trusting: proxies.compactMap { AddressPrefix($0) }).host
  }

  @Test func `a trusted proxy names its client`() {
    #expect(client(of: proxy, ["203.0.113.7"]) == "203.0.113.7")
    #expect(client(of: proxy, ["2001:db8::7"]) == "2001:db8::7")
  }

  @Test func `a stranger tells nothing, whatever it writes`() {
    #expect(client(of: stranger, ["203.0.113.7"]) == "198.51.100.9")
    #expect(client(of: stranger, ["10.0.0.1"]) == "198.51.100.9")
    #expect(client(of: proxy, ["203.0.113.7"], trusting: []) == "10.0.0.1")
  }

  @Test func `what a client wrote itself is not believed, only what proxies added`() {
    #expect(client(of: proxy, ["1.1.1.1, 203.0.113.7"]) == "203.0.113.7")
    #expect(client(of: proxy, ["10.0.0.9", "1.1.1.1", "203.0.113.7"]) == "203.0.113.7")
  }

  @Test func `a chain of trusted proxies is followed to its beginning`() {
    #expect(client(of: proxy, ["1.1.1.1, 203.0.113.7, 10.2.0.1", "fd00::2"]) == "203.0.113.7")
    #expect(client(of: proxy, ["10.2.0.1, 10.3.0.1"]) == "10.2.0.1", "a proxy that asks for itself")
  }

  @Test func `ports and brackets of addresses are left out`() {
    #expect(client(of: proxy, ["203.0.113.7:1234"]) == "203.0.113.7")
    #expect(client(of: proxy, ["[2001:db8::7]:1234"]) == "2001:db8::7")
    #expect(client(of: proxy, ["[2001:db8::7]"]) == "2001:db8::7")
  }

  @Test(arguments: [
    "unknown", "_hidden", "", "203.0.113", "[2001:db8::7", "2001:db8::7:zz", "localhost", "a.b:1:2",
  ])
  func `where the proxy's header can't be read, the proxy is the client`(text: String) {
    #expect(
      client(of: proxy, ["203.0.113.7, 10.0.0.2, \(text)"]) == (text.isEmpty ? "203.0.113.7" : "10.0.0.1"))
  }

  @Test func `a chain that is too long ends at its sixteenth proxy`() {
    let chain = (1...40).map { "10.0.1.\($0)" }.joined(separator: ", ")
    #expect(client(of: proxy, [chain]) == "10.0.1.25")
  }

  @Test func `without the field the proxy itself asks`() {
    #expect(client(of: proxy, []) == "10.0.0.1")
  }
}
