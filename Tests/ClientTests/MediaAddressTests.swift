import Model
import Testing

@testable import Client

@Suite("Where a client's media goes", .timeLimit(.minutes(1)))
struct MediaAddressTests {
  @Test func `datagrams to this machine leave from it`() throws {
    let local = try #require(LocalAddress.towards(host: "127.0.0.1", port: 9))
    #expect(local.with(port: 5) == SocketAddress(ipv4: 127, 0, 0, 1, port: 5))
    #expect(LocalAddress.towards(host: "[::1", port: 9) == nil)
  }

  @Test func `an answer's candidates become the one that was asked for`() {
    let answer =
      "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=candidate:1 1 udp 5 10.0.0.1 7882 typ host\r\n"
      + "a=candidate:2 1 udp 4 10.0.0.2 7882 typ host\r\na=mid:0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n"
      + "a=candidate:1 1 udp 5 10.0.0.1 7882 typ host\r\n"
    let wanted =
      "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=candidate:1 1 udp 2130706431 192.0.2.9 99 typ host\r\na=mid:0\r\n"
      + "m=video 9 UDP/TLS/RTP/SAVPF 96\r\na=candidate:1 1 udp 2130706431 192.0.2.9 99 typ host\r\n"
    #expect(AnswerRewriting.withCandidate(("192.0.2.9", 99), answer) == wanted)
  }
}
