import Model
import Testing
import Wire

@Suite("Candidates, RFC 8839 §5.1", .timeLimit(.minutes(2)))
struct CandidateTests {
  @Test func `a host candidate is written as browsers read it`() throws {
    let address = try #require(SocketAddress(host: "192.0.2.7", port: 7882))
    #expect(CandidateAttribute(host: address, rank: 0).value == "1 1 udp 2130706431 192.0.2.7 7882 typ host")
    let second = try #require(SocketAddress(host: "2001:db8::1", port: 7882))
    #expect(CandidateAttribute(host: second, rank: 1).value == "2 1 udp 2130706175 2001:db8::1 7882 typ host")
    #expect(CandidateAttribute(host: second, rank: 100_000).priority == 126 << 24 | 255)
    #expect(CandidateAttribute(host: second, rank: 1).use == .udp(second))
  }

  @Test(
    arguments: [
      ("1 1 UDP 1 192.0.2.1 9 typ host", true), ("1 1 udp 1 ::1 9 typ srflx raddr 10.0.0.1 rport 5", true),
      ("candidate:1 1 udp 1 192.0.2.1 9 typ host generation 0 ufrag x", true),
      ("a=candidate:1 1 udp 1 192.0.2.1 9 typ newtype", true),
    ] as [(String, Bool)])
  func `signalling's spellings are read`(text: String, isUsable: Bool) throws {
    let candidate = try #require(CandidateAttribute(parsing: text))
    guard case .udp = candidate.use else {
      Issue.record("\(candidate)")
      return
    }
    #expect(CandidateAttribute(parsing: candidate.value) == candidate)
  }

  @Test(
    arguments: [
      ("0 1 TCP 2105458943 192.0.2.2 9 typ host tcptype active", .transport),
      ("1 1 UDP 2122252543 5a604215-c5f1-4c64-9a99-6643127be252.local 53454 typ host", .hostName),
      ("1 1 udp 1 turn.example.org 1 typ host", .hostName), ("1 2 udp 1 192.0.2.1 9 typ host", .component),
      ("1 1 udp 1 192.0.2.1 0 typ host", .port), ("1 1 udp 1 fe80::1%eth0 1 typ host", .hostName),
    ] as [(String, CandidateAttribute.Reason)])
  func `what can't be used is kept and says why`(text: String, reason: CandidateAttribute.Reason) throws {
    let candidate = try #require(CandidateAttribute(parsing: text))
    #expect(candidate.use == .unusable(reason))
    #expect(CandidateAttribute(parsing: candidate.value) == candidate)
  }

  @Test(arguments: [
    "", "candidate:", "a=candidate", "1 1 udp 1 192.0.2.1 9 typ host\r\na=x",
    "1 1 udp 1 192.0.2.1 9 typ host\u{0}",
    "x!y 1 udp 1 192.0.2.1 9 typ host", "1 1 udp 1 192.0.2.1 9 typ host rport x",
    "1 1 udp 1 192.0.2.1 9 typ host raddr",
  ])
  func `what is no candidate is none`(text: String) {
    #expect(CandidateAttribute(parsing: text) == nil)
  }

  @Test func `an endless candidate is refused`() {
    let filler = String(repeating: " a b", count: 300)
    #expect(CandidateAttribute(parsing: "1 1 udp 1 192.0.2.1 9 typ host" + filler) == nil)
  }
}

@Suite("Attributes", .timeLimit(.minutes(2)))
struct AttributeTests {
  @Test func `directions turn around`() {
    #expect(MediaDirection.allCases.map(\.reversed) == [.sendrecv, .recvonly, .sendonly, .inactive])
  }

  @Test func `simulcast keeps order, alternatives and pauses`() throws {
    let section = try media(["a=simulcast:send a,~b;c recv ~d"])
    let simulcast = try #require(section.simulcast)
    #expect(simulcast.send == [[.init(rid: "a"), .init(rid: "b", isPaused: true)], [.init(rid: "c")]])
    #expect(simulcast.receive == [[.init(rid: "d", isPaused: true)]])
  }

  @Test func `simulcast has 32 names per direction and no more`() throws {
    let names = (0..<32).map { "r\($0)" }
    let list = names.prefix(16).joined(separator: ";") + "," + names.dropFirst(16).joined(separator: ",")
    #expect(try media(["a=simulcast:send \(list)"]).simulcast?.send.flatMap { $0 }.map(\.rid) == names)
    #expect(throws: SDPError.self) { try media(["a=simulcast:send \(list);more"]) }
  }

  @Test func `a rid's restriction to payload types is read`() throws {
    let section = try media([
      "a=rid:f send pt=96,98;max-width=1280", "a=rid:h send max-width=640", "a=rid:q send",
    ])
    #expect(section.rids.map(\.payloadTypes) == [[96, 98], nil, nil])
    #expect(section.rids[0].restrictions == "pt=96,98;max-width=1280")
  }

  @Test func `wildcard feedback counts for every payload type`() throws {
    let section = try media(["a=rtcp-fb:* nack", "a=rtcp-fb:96 NACK PLI", "a=rtcp-fb:97 transport-cc"])
    #expect(section.feedback(of: 96) == ["nack", "nack pli"])
    #expect(section.feedback(of: 98) == ["nack"])
  }

  @Test(arguments: Offers.names)
  func `spaces behind attributes, as Pion writes them, mean nothing`(name: String) throws {
    let text = try Offers.text(name)
    let spaced = text.split(separator: "\r\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("a=") ? $0 + "  " : String($0) }.joined(separator: "\r\n")
    #expect(try SessionDescription(parsing: spaced) == SessionDescription(parsing: text))
  }

  @Test func `format parameters are taken apart with their blanks and cases`() throws {
    let section = try media(["a=fmtp:96  Apt = 97 ;flag;; x=a=b"])
    let parameters = try #require(section.parameters(of: 96))
    #expect(parameters["apt"] == "97")
    #expect(parameters["flag"] == "")
    #expect(parameters["x"] == "a=b")
    #expect(parameters["y"] == nil)
  }

  @Test func `the id of an extension and its direction are read`() throws {
    let section = try media(["a=extmap:15/sendonly urn:x  a b", "a=extmap:255 urn:y", "a=extmap:4096 urn:z"])
    #expect(
      section.shared.extensions == [
        ExtensionAttribute(id: 15, direction: .sendonly, uri: "urn:x", parameters: "a b"),
        ExtensionAttribute(id: 255, uri: "urn:y"), ExtensionAttribute(id: 4096, uri: "urn:z"),
      ])
  }

  @Test func `fingerprints by unknown functions are kept and not taken`() throws {
    let digest = Array(repeating: "0a", count: 32).joined(separator: ":")
    let section = try media(["a=fingerprint:SHA-256 \(digest)", "a=fingerprint:sha-1 AA:BB:CC"])
    #expect(section.shared.fingerprints[0].fingerprint?.algorithm == .sha256)
    #expect(section.shared.fingerprints[0].fingerprint?.digest == Array(repeating: 10, count: 32))
    #expect(
      section.shared.fingerprints[1] == FingerprintAttribute(hash: "sha-1", digest: [0xAA, 0xBB, 0xCC]))
    #expect(section.shared.fingerprints[1].fingerprint == nil)
  }

  @Test func `attributes of RTP mean nothing outside of it`() throws {
    let text = "v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\nt=0 0\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\n"
    let offer = try SessionDescription(parsing: text + "a=fmtp:webrtc-datachannel x=1\na=rtcp-mux\n")
    #expect(offer.media[0].others.map(\.name) == ["fmtp", "rtcp-mux"])
    #expect(!offer.media[0].rtcpMux)
  }

  private func media(_ lines: [String]) throws -> MediaDescription {
    let text = "v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\nt=0 0\nm=video 9 UDP/TLS/RTP/SAVPF 96 97 98\n"
    let offer = try SessionDescription(parsing: text + lines.joined(separator: "\n"))
    #expect(try SessionDescription(parsing: offer.text) == offer)
    return offer.media[0]
  }
}

@Suite("Directions", .timeLimit(.minutes(1)))
struct DirectionTests {
  @Test func `narrowing leaves what both allow, whichever stands first`() {
    for one in MediaDirection.allCases {
      #expect(one.narrowed(to: .sendrecv) == one && one.narrowed(to: one) == one)
      #expect(one.narrowed(to: .inactive) == .inactive)
      for other in MediaDirection.allCases {
        let both = one.narrowed(to: other)
        #expect(both == other.narrowed(to: one))
        #expect(both.sends == (one.sends && other.sends) && both.receives == (one.receives && other.receives))
      }
    }
  }
}
