import Model
import Testing
import Wire

@Suite("Fragments of ICE, RFC 8840 §9", .timeLimit(.minutes(1)))
struct ICEFragmentTests {
  private static let restart = """
    a=ice-options:trickle ice2
    a=group:BUNDLE 0 1
    m=audio 9 UDP/TLS/RTP/SAVPF 111
    a=mid:0
    a=ice-ufrag:ysXw
    a=ice-pwd:vw5LmwG4y/e6dPP/zAP9Gp5k
    a=candidate:1387637174 1 udp 2122260223 192.0.2.1 61764 typ host generation 0 ufrag ysXw network-id 1
    a=candidate:3471623853 1 tcp 1518283007 192.0.2.1 9 typ host tcptype active
    a=end-of-candidates
    m=video 9 UDP/TLS/RTP/SAVPF 96
    a=mid:1

    """

  private func read(_ text: String) throws -> ICEFragment { try ICEFragment(parsing: Array(text.utf8)) }

  private func refusal(_ text: String) -> SDPError? {
    do {
      _ = try read(text)
      return nil
    } catch { return error as? SDPError }
  }

  @Test(arguments: ["\n", "\r\n"])
  func `a restart is read with all that belongs to it`(end: String) throws {
    let fragment = try read(Self.restart.replacing("\n", with: end))
    #expect(fragment.iceOptions == ["trickle", "ice2"] && !fragment.isICELite)
    #expect(fragment.groups == [GroupAttribute(semantics: "BUNDLE", mids: ["0", "1"])])
    #expect(fragment.credentials == ICECredentials(ufrag: "ysXw", password: "vw5LmwG4y/e6dPP/zAP9Gp5k"))
    #expect(fragment.sections.map(\.mid) == ["0", "1"])
    #expect(fragment.sections.map(\.endOfCandidates) == [true, false])
    #expect(fragment.sections.map(\.candidates.count) == [2, 0])
    #expect(
      try fragment.sections[0].candidates[0].use
        == .udp(#require(SocketAddress(host: "192.0.2.1", port: 61764))))
  }

  @Test func `what is written is read again as it was`() throws {
    let fragment = try read(Self.restart)
    #expect(try read(fragment.text) == fragment)
    #expect(
      fragment.text.hasSuffix("a=mid:1\r\n") && !fragment.text.replacing("\r\n", with: "").contains("\n"))
    let address = try #require(SocketAddress(host: "2001:db8::1", port: 7882))
    let ours = ICEFragment(
      isICELite: true, iceOptions: ["trickle"], iceUfrag: "server", icePassword: "serverserverserverserver",
      sections: [
        ICEFragmentSection(
          line: "video 9 UDP/TLS/RTP/SAVPF 0", mid: "",
          candidates: [CandidateAttribute(host: address, rank: 0)],
          endOfCandidates: true)
      ])
    #expect(try read(ours.text) == ours)
  }

  @Test func `credentials may stand before all sections, and those of a section come first`() throws {
    let both = "a=ice-ufrag:sess\na=ice-pwd:sessionsessionsessionse\n"
    #expect(try read(both).credentials?.ufrag == "sess")
    #expect(try read(both + "m=audio 9 UDP/TLS/RTP/SAVPF 0\na=mid:a\n").credentials?.ufrag == "sess")
    let own = "m=audio 9 UDP/TLS/RTP/SAVPF 0\na=mid:a\na=ice-ufrag:mine\na=ice-pwd:minemineminemineminemine\n"
    #expect(
      try read(both + own).credentials == ICECredentials(ufrag: "mine", password: "minemineminemineminemine"))
  }

  @Test(arguments: ["a=ice-ufrag:mine\n", "a=ice-pwd:minemineminemineminemine\n"])
  func `one half of the credentials is none, and is noticed`(line: String) throws {
    for text in [line, "m=audio 9 UDP/TLS/RTP/SAVPF 0\na=mid:a\n" + line] {
      let fragment = try read(text)
      #expect(fragment.credentials == nil && fragment.namesCredentials)
    }
  }

  @Test func `candidates alone name no credentials, and unknown attributes are dropped`() throws {
    let fragment = try read(
      "a=x:1\nm=audio 9 UDP/TLS/RTP/SAVPF 0\na=mid:a\na=rtpmap:0 PCMU/8000\n"
        + "a=candidate:1 1 udp 1 192.0.2.1 9 typ host\n")
    #expect(!fragment.namesCredentials && fragment.credentials == nil)
    #expect(fragment.sections.map(\.candidates.count) == [1])
    #expect(!fragment.text.contains("a=x") && !fragment.text.contains("rtpmap"))
  }

  @Test(
    arguments: [
      ("", .ended(line: 0, expected: "a= or m=")),
      ("v=0\r\n", .unexpectedLine(line: 1, found: "v=", expected: "a= or m=")),
      (
        "m=audio 9 UDP/TLS/RTP/SAVPF 0\na=mid:a\nc=IN IP4 0.0.0.0\n",
        .unexpectedLine(line: 3, found: "c=", expected: "a= or m=")
      ),
      ("m=audio 9 UDP/TLS/RTP/SAVPF 0\na=mid:a\na=mid:b\n", .duplicate(line: 3, field: "a=mid")),
      (
        "m=audio 9 UDP/TLS/RTP/SAVPF 0\na=mid:a\nm=video 9 UDP/TLS/RTP/SAVPF 0\na=mid:a\n",
        .duplicate(line: 3, field: "a=mid:a")
      ),
      (
        "m=audio 9 UDP/TLS/RTP/SAVPF 0\nm=video 9 UDP/TLS/RTP/SAVPF 0\n", .duplicate(line: 2, field: "a=mid:")
      ),
      (
        "m=audio 9 UDP/TLS/RTP/SAVPF 0\na=mid:a b\n",
        .malformed(line: 2, field: "a=mid", expected: "<token of at most 255 characters>")
      ),
    ] as [(String, SDPError)])
  func `what is no fragment is refused by its line`(text: String, error: SDPError) {
    #expect(refusal(text) == error)
  }

  @Test(arguments: [
    "a=candidate:x\n", "a=ice-ufrag:\n", "a=ice-ufrag:ab\n", "a=ice-pwd:short\n", "m=audio\n", "\u{0}\n",
    "a=ice-ufrag:good\na=ice-ufrag:good\n", "\u{FEFF}a=ice-lite\n",
  ])
  func `what is malformed is refused`(text: String) { #expect(refusal(text) != nil) }

  @Test func `bytes, sections, and candidates are bounded`() {
    let line = "a=candidate:1 1 udp 1 192.0.2.1 9 typ host\n"
    #expect(refusal(String(repeating: line, count: ICEFragment.maximumCandidates)) == nil)
    #expect(
      refusal(String(repeating: line, count: ICEFragment.maximumCandidates + 1))
        == .tooManyLines(limit: ICEFragment.maximumCandidates))
    let sections = (0...SessionDescription.maximumSections).map {
      "m=audio 9 UDP/TLS/RTP/SAVPF 0\na=mid:\($0)\n"
    }
    #expect(refusal(sections.dropLast().joined()) == nil)
    #expect(
      refusal(sections.joined())
        == .tooManySections(
          line: 2 * SessionDescription.maximumSections + 1, limit: SessionDescription.maximumSections))
    #expect(
      refusal(String(repeating: "a", count: ICEFragment.maximumBytes + 1))
        == .tooLong(bytes: ICEFragment.maximumBytes + 1, limit: ICEFragment.maximumBytes))
    #expect(throws: SDPError.notUTF8) { try ICEFragment(parsing: [0x61, 0x3D, 0xFF]) }
  }
}
