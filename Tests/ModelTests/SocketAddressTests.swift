import Model
import Testing

@Suite("Socket addresses", .timeLimit(.minutes(2)))
struct SocketAddressTests {
  @Test(arguments: [
    ("192.0.2.1", "192.0.2.1"), ("::1", "::1"), ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
    ("fe80::", "fe80::"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"), ("::ffff:10.0.0.9", "10.0.0.9"),
    ("1:0:3:0:5:0:7:0", "1:0:3:0:5:0:7:0"), ("::", "::"),
  ])
  func `a literal is read and written in its canonical form`(text: String, canonical: String) {
    #expect(SocketAddress(host: text, port: 1)?.host == canonical)
  }

  @Test(arguments: [
    "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.+4", "a.b.c.d", ":::", "1::2::3", "12345::",
    "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7::8:9", "::1%eth0", "::1.2.3", "localhost",
    "::+1", "1.2.3.4::", "--1:2", "１.2.3.4",
  ])
  func `anything else is refused`(text: String) {
    #expect(SocketAddress(host: text, port: 1) == nil)
  }

  @Test func `families and scopes make addresses different`() {
    #expect(SocketAddress(ipv4: 127, 3, 2, 1, port: 1).isLoopback)
    #expect(SocketAddress(ipv4: 169, 254, 0, 1, port: 1).isLinkLocal)
    #expect(SocketAddress(host: "fe80::1", port: 1)?.isLinkLocal == true)
    #expect(SocketAddress(host: "::1", port: 1)?.isLoopback == true)
    #expect(SocketAddress(host: "2001:db8::1", port: 7)?.description == "[2001:db8::1]:7")
  }
}
