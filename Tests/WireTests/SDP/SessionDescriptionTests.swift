import Model
import Testing
import Wire

@Suite("Session descriptions, RFC 8866", .timeLimit(.minutes(2)))
struct SessionDescriptionTests {
  @Test func `all of the recorded offers are here`() {
    #expect(Offers.names.count == 47)
  }

  @Test(arguments: Offers.names)
  func `a browser's offer is read, written and read to the same value`(name: String) throws {
    let text = try Offers.text(name)
    let offer = try SessionDescription(parsing: text)
    let written = offer.text
    #expect(try SessionDescription(parsing: written) == offer)
    #expect(try SessionDescription(parsing: written).text == written)
    #expect(offer.media.count == text.components(of: "m=").count)
    #expect(written.utf8.count { $0 == 0x0A } == text.utf8.count { $0 == 0x0A }, "a line got lost")
    #expect(written.utf8.count { $0 == 0x0D } == written.utf8.count { $0 == 0x0A })
  }

  @Test(arguments: Offers.names)
  func `line feeds alone read the same`(name: String) throws {
    let text = try Offers.text(name)
    let bare = String(decoding: text.utf8.filter { $0 != 0x0D }, as: UTF8.self)
    #expect(try SessionDescription(parsing: bare) == SessionDescription(parsing: text))
  }

  @Test(arguments: ["chromium-156-conference-offer.sdp", "firefox-153-conference-offer.sdp"])
  func `an offer that is cut anywhere is read or refused`(name: String) throws {
    let bytes = Array(try Offers.text(name).utf8)
    for size in stride(from: 0, through: bytes.count, by: 211) {
      do {
        _ = try SessionDescription(parsing: Array(bytes[..<size]))
      } catch {
        #expect(!"\(error)".isEmpty)
      }
    }
  }

  @Test func `a Chromium simulcast offer says what it says`() throws {
    let offer = try SessionDescription(parsing: Offers.text("chromium-156-simulcast-offer.sdp"))
    #expect(offer.origin.sessionID == 2_321_259_818_398_053_011)
    #expect(offer.origin.version == 2)
    #expect(offer.groups == [GroupAttribute(semantics: "BUNDLE", mids: ["0", "1"])])
    #expect(offer.shared.allowsMixedExtensions)
    #expect(offer.others.map(\.name) == ["msid-semantic"])

    let audio = offer.media[0]
    #expect(audio.media == "audio")
    #expect(audio.port == 44_075)
    #expect(audio.payloadTypes == [111, 63, 9, 0, 8, 13, 110, 126])
    #expect(
      audio.rtpMap(of: 111)
        == RTPMapAttribute(payloadType: 111, encodingName: "opus", clockRate: 48_000, channels: 2))
    #expect(audio.parameters(of: 111)?["useinbandfec"] == "1")
    #expect(audio.feedback(of: 111) == ["transport-cc"])
    #expect(
      audio.streams == [
        StreamAttribute(
          streamID: "f51c93ad-41d7-4aea-ba99-60a3bb3a97e6", trackID: "0a616f56-c4c6-4b9a-bda2-e6bb3c28df36")
      ])
    #expect(
      audio.ssrcs.first == SSRCAttribute(ssrc: 694_730_790, name: "cname", attributeValue: "7wlRFG57cVoCK+YH")
    )

    let video = offer.media[1]
    let attributes = offer.attributes(of: video)
    #expect(attributes.iceCredentials == ICECredentials(ufrag: "9SGm", password: "71WHdwq0N4ipsHfCwmcRidwo"))
    #expect(attributes.setup == .actpass)
    #expect(attributes.fingerprints.first?.fingerprint?.digest.prefix(3) == [0x14, 0xB4, 0xAC])
    #expect(attributes.direction == .sendonly)
    #expect(video.rids.map(\.rid) == ["q", "h", "f"])
    #expect(video.simulcast?.send.map { $0.map(\.rid) } == [["q"], ["h"], ["f"]])
    #expect(video.feedback(of: 96) == ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"])
    #expect(video.rtcpMux && video.rtcpReducedSize)
  }

  @Test func `Firefox keeps its fingerprint and options in the session`() throws {
    let offer = try SessionDescription(parsing: Offers.text("firefox-153-recvonly-pool-offer.sdp"))
    #expect(offer.media.allSatisfy { $0.shared.fingerprints.isEmpty })
    #expect(offer.media.allSatisfy { offer.attributes(of: $0).fingerprints == offer.shared.fingerprints })
    #expect(offer.attributes(of: offer.media[0]).iceOptions == ["trickle"])
    #expect(offer.shared.direction == .sendrecv)
    #expect(offer.attributes(of: offer.media[0]).direction == .recvonly)
    #expect(offer.media[1].port == 0 && offer.media[1].isBundleOnly && !offer.media[1].isStopped)
    #expect(offer.media[3].shared.extensions.contains { $0.id == 6 && $0.direction == .recvonly })
  }

  @Test func `each half of the credentials is inherited alone`() throws {
    let offer = try SessionDescription(
      parsing: session(["a=ice-pwd:0123456789012345678901"], audio + ["a=ice-ufrag:abcd"]))
    #expect(
      offer.attributes(of: offer.media[0]).iceCredentials
        == ICECredentials(ufrag: "abcd", password: "0123456789012345678901"))
  }

  @Test func `data channels are described`() throws {
    let offer = try SessionDescription(parsing: Offers.text("firefox-153-datachannel-offer.sdp"))
    #expect(offer.media[0].formats == ["webrtc-datachannel"])
    #expect(offer.media[0].payloadTypes.isEmpty)
    #expect(offer.media[0].sctpPort == 5000)
    #expect(offer.media[0].maximumMessageSize == 1_073_741_823)
  }

  @Test func `what is unknown is kept as it came`() throws {
    let text = session(["a=x-flag", "a=x-name:a:b  c"], audio + ["a=imageattr:96 send [x=1]"])
    let offer = try SessionDescription(parsing: text)
    #expect(
      offer.others == [OtherAttribute(name: "x-flag"), OtherAttribute(name: "x-name", value: "a:b  c")])
    #expect(offer.media[0].others == [OtherAttribute(name: "imageattr", value: "96 send [x=1]")])
    #expect(try SessionDescription(parsing: offer.text) == offer)
  }
}

@Suite("Descriptions that are refused", .timeLimit(.minutes(2)))
struct SDPErrorTests {
  @Test(
    arguments: [
      ("", "the description ends at line 0, v= (protocol version) expected"),
      ("v=1\r\n", "line 1: v= does not read 0"),
      ("v=0\r\ns=-\r\n", "line 2: o= (origin) expected, s= found"),
      ("v=0\r\n\r\no=- 1 1 IN IP4 0.0.0.0\r\n", "line 2: <letter>=<value> expected, an empty line found"),
      ("hello", "line 1: <letter>=<value> expected, \"hello\" found"),
      ("v=0\no=- 1 -1 IN IP4 0.0.0.0\n", "line 2: o= does not read <username> <session id>"),
      ("v=0\no=- 18446744073709551616 1 IN IP4 0.0.0.0\n", "line 2: o= does not read <username>"),
      (
        "v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\n",
        "the description ends at line 3, t= (time, as \"t=0 0\") expected"
      ),
      (
        "v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\nm=audio 9 RTP/AVP 0\n",
        "line 4: t= (time, as \"t=0 0\") before it expected, m= found"
      ),
      (
        "v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\nt=0 0\nx=1\n",
        "line 5: a line of the session or m= expected, x= found"
      ),
      ("v=0\no=- 1 1 IN IP4 0.0.0.0\ns=a\u{1}b\nt=0 0\n", "line 3 contains the control character 1"),
      ("v=0\no=- 1 1 IN IP4 0.0.0.0\ns=a\rb\nt=0 0\n", "line 3 contains the control character 13"),
    ])
  func `a broken frame is named by its line`(text: String, message: String) {
    let error = #expect(throws: SDPError.self) { try SessionDescription(parsing: text) }
    #expect(error.map { "\($0)" }?.hasPrefix(message) == true, "\(error.map { "\($0)" } ?? "")")
  }

  @Test(
    arguments: [
      "a=", "a=:x", "a=b c", "a=mid", "a=mid:", "a=mid:a b", "a=ice-ufrag:abc", "a=ice-ufrag:ab:d",
      "a=ice-pwd:short",
      "a=ice-pwd:01234567890123456789_1", "a=fingerprint:sha-256", "a=fingerprint:sha-256 AA:BB",
      "a=fingerprint:sha-1 AA:B", "a=fingerprint:sha-1 AA::BB", "a=fingerprint:sha-1 +A", "a=setup:server",
      "a=setup",
      "a=extmap:0 urn:x", "a=extmap:256 urn:x", "a=extmap:4095 urn:x", "a=extmap:65537 urn:x", "a=extmap:1",
      "a=extmap:1/up urn:x", "a=extmap:-1 urn:x", "a=rtpmap:128 VP8/90000", "a=rtpmap:96 VP8",
      "a=rtpmap:96 VP8/0",
      "a=rtpmap:96 VP8/4294967296", "a=rtpmap:96 VP8/90000/x", "a=rtpmap:96 /90000", "a=rtpmap:x VP8/90000",
      "a=fmtp:200 x=1", "a=fmtp:", "a=rtcp-fb:128 nack", "a=rtcp-fb:96", "a=rtcp-fb:*",
      "a=ssrc:4294967296 cname:x",
      "a=ssrc:-1 cname:x", "a=ssrc:1", "a=ssrc:99999999999999999999999 cname:x",
      "a=ssrc-group:FID 1 4294967296",
      "a=ssrc-group:FID 1 x", "a=rid:é send", "a=rid:a", "a=rid:a both", "a=simulcast:", "a=simulcast:send",
      "a=simulcast:send a;;b", "a=simulcast:send a send b", "a=simulcast:up a", "a=candidate:1 1 udp",
      "a=candidate:1 0 udp 1 192.0.2.1 9 typ host", "a=candidate:1 257 udp 1 192.0.2.1 9 typ host",
      "a=candidate:1 1 udp 4294967296 192.0.2.1 9 typ host", "a=candidate:1 1 udp 1 192.0.2.1 65536 typ host",
      "a=candidate:1 1 udp 1 192.0.2.1 9 type host", "a=candidate:1 1 udp 1 a/b 9 typ host",
      "a=candidate:1 1 udp 1 192.0.2.1 9 typ host odd", "a=msid:", "a=msid:a b c", "a=sctp-port:65536",
      "a=max-message-size:-1", "b=AS", "b=AS:x", "c=IN IP5 ::", "c=IP4 0.0.0.0", "c=IN IP4",
      "o=- 1 1 IN IP4 0.0.0.0",
      "t=0 0", "v=0",
    ])
  func `a malformed line is named`(line: String) throws {
    let error = #expect(throws: SDPError.self) {
      try SessionDescription(parsing: session([], audio + [line]))
    }
    switch try #require(error) {
    case .malformed(let number, let field, let expected):
      #expect(number == 7)
      #expect(!field.isEmpty && !expected.isEmpty)
    case .unexpectedLine(let number, _, _): #expect(number == 7)
    default: Issue.record("\(String(describing: error))")
    }
  }

  @Test(arguments: [
    "m=audio 65536 UDP/TLS/RTP/SAVPF 0", "m=audio 9 UDP/TLS/RTP/SAVPF", "m=audio 9", "m=audio x RTP/AVP 0",
    "m=audio 9/2 RTP/AVP 0", "m=audio 9 UDP/TLS/RTP/SAVPF 128", "m=audio 9 UDP/TLS/RTP/SAVPF 96 a",
    "m=audio 9 UDP/TLS/RTP/SAVPF 1000000000000000000000", "m= 9 RTP/AVP 0",
  ])
  func `a media line that can't be is refused`(line: String) {
    let error = #expect(throws: SDPError.self) { try SessionDescription(parsing: session([], [line])) }
    guard case .malformed(5, "m=", _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(arguments: [
    ["a=mid:0", "a=mid:1"], ["a=ice-ufrag:abcd", "a=ice-ufrag:abcd"], ["a=setup:active", "a=setup:passive"],
    ["a=sendonly", "a=recvonly"], ["a=rtpmap:96 VP8/90000", "a=rtpmap:96 VP9/90000"],
    ["a=rid:a send", "a=rid:a recv"], ["a=simulcast:send a", "a=simulcast:send b"],
    ["c=IN IP4 0.0.0.0", "c=IN IP4 0.0.0.0"], ["a=extmap:1 urn:x", "a=extmap:1/sendonly urn:x"],
  ])
  func `what may stand once is refused when it stands twice`(lines: [String]) {
    let error = #expect(throws: SDPError.self) { try SessionDescription(parsing: session([], audio + lines)) }
    guard case .duplicate(8, _)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `two sections with one mid are refused at the second`() {
    #expect(throws: SDPError.duplicate(line: 9, field: "a=mid:0")) {
      try SessionDescription(parsing: session([], audio + ["a=mid:0"] + audio.prefix(1) + ["a=mid:0"]))
    }
  }

  @Test func `a payload type listed twice is refused`() {
    #expect(throws: SDPError.duplicate(line: 5, field: "payload type 96")) {
      try SessionDescription(parsing: session([], ["m=audio 9 RTP/AVP 96 096"]))
    }
  }

  @Test func `ten thousand lines are read and one more is not`() throws {
    let filler = Array(repeating: "a=x", count: 10_000 - 6)
    #expect(try SessionDescription(parsing: session([], audio + filler)).media[0].others.count == 9_994)
    #expect(throws: SDPError.tooManyLines(limit: 10_000)) {
      try SessionDescription(parsing: session([], audio + filler + ["a=x"]))
    }
    #expect(throws: SDPError.tooManyLines(limit: 10_000)) {
      try SessionDescription(parsing: String(repeating: "\n", count: 200_000))
    }
  }

  @Test func `sizes are bounded`() throws {
    let huge = "a=fmtp:111 " + String(repeating: "x", count: 8 * 1024 - 11)
    #expect(try SessionDescription(parsing: session([], audio + [huge])).media[0].formatParameters.count == 1)
    #expect(throws: SDPError.lineTooLong(line: 7, bytes: 8_193, limit: 8_192)) {
      try SessionDescription(parsing: session([], audio + [huge + "x"]))
    }
    #expect(throws: SDPError.tooLong(bytes: 262_145, limit: 262_144)) {
      try SessionDescription(parsing: String(repeating: "x", count: 262_145))
    }
    #expect(throws: SDPError.tooLong(bytes: 262_145, limit: 262_144)) {
      try SessionDescription(parsing: [UInt8](repeating: 0x61, count: 262_145))
    }
    let sections = (0..<128).map { _ in "m=audio 9 RTP/AVP 0" }
    #expect(try SessionDescription(parsing: session([], sections)).media.count == 128)
    #expect(throws: SDPError.tooManySections(line: 133, limit: 128)) {
      try SessionDescription(parsing: session([], sections + ["m=audio 9 RTP/AVP 0"]))
    }
  }

  @Test func `bytes that are no UTF-8 are refused`() {
    #expect(throws: SDPError.notUTF8) {
      try SessionDescription(parsing: [0x76, 0x3D, 0x30, 0x0A, 0xC3, 0x28])
    }
  }

  @Test func `a combining character does not hide a delimiter`() throws {
    let offer = try SessionDescription(
      parsing: session([], audio + ["a=x-name:\u{301}v", "a=fmtp:111 \u{301}a=1;\u{301}b=2"]))
    #expect(offer.media[0].others == [OtherAttribute(name: "x-name", value: "\u{301}v")])
    #expect(offer.media[0].formatParameters[0].pairs.count == 2)
  }

  @Test func `trailing empty lines and a missing end of line are tolerated`() throws {
    let text = session([], audio)
    #expect(try SessionDescription(parsing: text + "\r\n\r\n") == SessionDescription(parsing: text))
    #expect(try SessionDescription(parsing: String(text.dropLast())) == SessionDescription(parsing: text))
  }
}

private let audio = ["m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=rtcp-mux"]

/// Four lines, then these.
private func session(_ session: [String], _ media: some Sequence<String>) -> String {
  (["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0"] + session + media).map { $0 + "\r\n" }.joined()
}

extension String {
  fileprivate func components(of start: String) -> [Substring.UTF8View] {
    utf8[...].split(separator: 0x0A).filter { $0.starts(with: start.utf8) }
  }
}
