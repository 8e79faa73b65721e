import Model
import Testing

@Suite("Networks that addresses are in", .timeLimit(.minutes(1)))
struct AddressPrefixTests {
  @Test(arguments: [
    ("10.0.0.0/8", ["10.0.0.0", "10.255.1.2"], ["11.0.0.0", "9.255.255.255", "::a00:0"]),
    ("192.0.2.7", ["192.0.2.7"], ["192.0.2.6", "192.0.2.8"]),
    ("192.0.2.128/25", ["192.0.2.128", "192.0.2.255"], ["192.0.2.127"]),
    ("0.0.0.0/0", ["0.0.0.0", "255.255.255.255"], ["::", "2001:db8::1"]),
    ("::/0", ["::", "2001:db8::1"], ["192.0.2.1"]),
    ("2001:db8::/32", ["2001:db8::", "2001:db8:ffff::1"], ["2001:db9::", "32.1.13.184"]),
    ("2001:db8:0:1::/64", ["2001:db8:0:1:ffff::"], ["2001:db8:0:2::"]),
    ("2001:db8::8/125", ["2001:db8::f"], ["2001:db8::10", "2001:db8::7"]),
    ("::1", ["::1"], ["::2", "127.0.0.1"]),
  ])
  func `a prefix holds the addresses that begin with it and no others`(
    text: String, inside: [String], outside: [String]
  ) throws {
    let prefix = try #require(AddressPrefix(text))
    #expect(prefix.description == text)
    for host in inside { #expect(prefix.contains(try #require(SocketAddress(host: host, port: 9)))) }
    for host in outside { #expect(!prefix.contains(try #require(SocketAddress(host: host, port: 9)))) }
  }

  @Test func `a whole length is one address`() throws {
    #expect(try #require(AddressPrefix("192.0.2.7/32")).description == "192.0.2.7")
    #expect(try #require(AddressPrefix("2001:db8::1/128")).description == "2001:db8::1")
  }

  @Test(arguments: [
    "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/+8", "10.0.0.0/8/8",
    "10.0.0.1/8",
    "2001:db8::/129", "2001:db8::1/64", "::1/0", "relay.example/8", "10.0.0.0/8 ", "10/8", "1.2.3.4/٨",
  ])
  func `what is no prefix is refused, also one with bits beyond its length`(text: String) {
    #expect(AddressPrefix(text) == nil)
  }
}
