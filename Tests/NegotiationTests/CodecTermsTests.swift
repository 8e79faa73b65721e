import Model
import Negotiation
import Testing
import Wire

@Suite("Codecs as offers and answers tell them apart", .timeLimit(.minutes(2)))
struct CodecTermsTests {
  /// The answer's codecs for a video section with these lines.
  private func answer(
    video lines: [String], formats: String, policy: NegotiationPolicy = .server
  ) throws -> (summary: [String], agreement: Agreement) {
    var offer = OfferText()
    offer.sections[1] =
      ["m=video 9 UDP/TLS/RTP/SAVPF \(formats)", "a=mid:1", "a=sendonly", "a=rtcp-mux", OfferText.midID]
      + lines + OfferText.transport + ["a=ssrc:21 cname:c"]
    var negotiator = Negotiator(policy: policy)
    let answer = try negotiator.answer(offer)
    return (try summary(of: answer), answer.agreement)
  }

  private func audio(_ lines: [String], formats: String) throws -> (String, AgreedMedia) {
    var offer = OfferText()
    offer.sections[0] =
      ["m=audio 9 UDP/TLS/RTP/SAVPF \(formats)", "a=mid:0", "a=sendrecv", "a=rtcp-mux", OfferText.midID]
      + lines + OfferText.transport + ["a=ssrc:11 cname:c"]
    var negotiator = Negotiator()
    let answer = try negotiator.answer(offer)
    return (try summary(of: answer)[0], answer.agreement.media)
  }

  @Test func `payload types that always meant a codec need no rtpmap`() throws {
    let (line, media) = try audio(["a=rtpmap:111 opus/48000/2"], formats: "8 111 0 9 3")
    #expect(line == "0 sendrecv PCMA/8 opus/111 PCMU/0 G722/9 · 4 mid")
    #expect(media.receive[0].codecs.map(\.codec) == [.pcma, .opus, .pcmu, .g722])
  }

  @Test(arguments: [
    ("111/111", "opus/111 red/63"), ("111", "opus/111 red/63"), ("", "opus/111"), ("110/110", "opus/111"),
    ("111/63", "opus/111"), ("111/x", "opus/111"), ("111//111", "opus/111"),
    (Array(repeating: "111", count: 40).joined(separator: "/"), "opus/111"),
  ])
  func `RED is taken with codecs in it that are taken`(parameters: String, codecs: String) throws {
    let fmtp = parameters.isEmpty ? [] : ["a=fmtp:63 \(parameters)"]
    let (line, _) = try audio(
      ["a=rtpmap:111 opus/48000/2", "a=rtpmap:63 red/48000/2"] + fmtp, formats: "111 63")
    #expect(line == "0 sendrecv \(codecs) · 4 mid")
  }

  @Test(arguments: [
    ("", "H264/96"), ("packetization-mode=1", "H264-1/96"), ("packetization-mode=2", nil),
    ("profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1", "H264-42e01f-1/96"),
    ("profile-level-id=64001F", "H264-64001F/96"), ("profile-level-id=640c1f", "H264-640c1f/96"),
    ("profile-level-id=580000", nil), ("profile-level-id=42e0", nil), ("profile-level-id=+2e01f", nil),
    ("profile-level-id=ffffff", nil), ("profile-level-id=42e01g", nil),
  ])
  func `H.264 is known by profile and packetization mode`(parameters: String, expected: String?) throws {
    let fmtp = parameters.isEmpty ? [] : ["a=fmtp:96 \(parameters)"]
    let found = try answer(video: ["a=rtpmap:96 H264/90000"] + fmtp, formats: "96").summary[1]
    #expect(found == (expected.map { "1 recvonly \($0) · 4 mid" } ?? "1 declined codec"))
  }

  @Test func `the level comes back as it was offered, and its asymmetry`() throws {
    let lines = [
      "a=rtpmap:96 H264/90000",
      "a=fmtp:96 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e034;sprop-parameter-sets=Z0I=",
    ]
    var offer = OfferText()
    offer.sections[1] =
      ["m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:1", "a=recvonly", "a=rtcp-mux", OfferText.midID] + lines
      + OfferText.transport
    var negotiator = Negotiator()
    let answer = try negotiator.answer(offer)
    #expect(
      answer.description.media[1].formatParameters.map(\.parameters)
        == ["level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e034"])
  }

  @Test func `formats of one codec are kept apart, and one listed twice counts once`() throws {
    let found = try answer(
      video: [
        "a=rtpmap:96 VP9/90000", "a=fmtp:96 profile-id=2", "a=rtpmap:97 VP9/90000", "a=rtpmap:98 VP9/90000",
        "a=fmtp:98 profile-id=0", "a=rtpmap:99 VP9/90000", "a=fmtp:99 profile-id=4",
        "a=rtpmap:100 AV1/90000", "a=fmtp:100 profile=x",
      ], formats: "96 97 98 99 100")
    #expect(found.summary[1] == "1 recvonly VP9/97 VP9-2/96 · 4 mid")
  }

  @Test func `video comes in the order of the configuration, and what it lacks is declined`() throws {
    let lines = ["a=rtpmap:96 VP8/90000", "a=rtpmap:97 AV1/90000", "a=rtpmap:98 VP9/90000"]
    let policy = NegotiationPolicy(usesTransportFeedback: false, videoCodecs: [.av1, .vp8])
    #expect(
      try answer(video: lines, formats: "96 97 98", policy: policy).summary[1]
        == "1 recvonly AV1/97 VP8/96 · 4 mid")
    #expect(try answer(video: [lines[2]], formats: "98", policy: policy).summary[1] == "1 declined codec")
  }

  @Test(arguments: [
    (["goog-remb"], "goog-remb", true), (["goog-remb", "transport-cc"], "transport-cc", false),
    (["ccm fir"], "ccm fir", false), (["nack", "nack pli", "ccm fir"], "nack, nack pli", false),
  ])
  func `no feedback is agreed on that is not sent`(
    offered: [String], agreed: String, estimates: Bool
  ) throws {
    let found = try answer(
      video: ["a=rtpmap:96 VP8/90000"] + offered.map { "a=rtcp-fb:96 \($0)" }
        + ["a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"],
      formats: "96")
    #expect(found.summary[1].hasPrefix("1 recvonly VP8/96: \(agreed) ·"))
    #expect(found.agreement.media.receive[1].codecs[0].remb == estimates)
  }

  @Test func `transport-wide feedback without its extension leaves the estimate`() throws {
    let found = try answer(
      video: ["a=rtpmap:96 VP8/90000", "a=rtcp-fb:* goog-remb", "a=rtcp-fb:* transport-cc"], formats: "96")
    #expect(found.summary[1] == "1 recvonly VP8/96: goog-remb · 4 mid")
  }

  /// A section with VP8 under 96, and the lines of it.
  private func section(_ direction: String, _ lines: [String], policy: NegotiationPolicy = .client) throws
    -> (
      String, AgreedMedia, SessionDescription
    )
  {
    var offer = OfferText()
    offer.sections[1] =
      ["m=video 9 UDP/TLS/RTP/SAVPF 96", "a=mid:1", "a=\(direction)", "a=rtcp-mux", OfferText.midID]
      + ["a=rtpmap:96 VP8/90000"] + lines + OfferText.transport + ["a=ssrc:21 cname:c"]
    var negotiator = Negotiator(policy: policy)
    let answer = try negotiator.answer(offer)
    return (try summary(of: answer)[1], answer.agreement.media, answer.description)
  }

  private static let numbers =
    "a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
  private static let sendTime = "a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"

  @Test func `RFC 8888 is agreed on for all payload types, where there are no transport-wide numbers`() throws
  {
    let (_, alone, description) = try section("sendrecv", ["a=rtcp-fb:* ack ccfb", "a=rtcp-fb:* goog-remb"])
    #expect(alone.receive.last?.codecs[0].ccfb == true && alone.send.last?.codecs[0].ccfb == true)
    #expect(alone.receive.last?.codecs[0].remb == false)
    #expect(description.media[1].feedback.contains { $0.payloadType == nil && $0.kind == "ack ccfb" })
    let both = ["a=rtcp-fb:* ack ccfb", "a=rtcp-fb:* transport-cc", Self.numbers]
    let (_, numbered, answer) = try section("sendrecv", both)
    #expect(numbered.receive.last?.codecs[0].ccfb == false)
    #expect(numbered.receive.last?.codecs[0].transportCC == true)
    #expect(!answer.media[1].feedback.contains { $0.kind == "ack ccfb" })
    let (_, one, _) = try section("sendrecv", ["a=rtcp-fb:96 ack ccfb"])
    #expect(one.receive.last?.codecs[0].ccfb == false)
  }

  @Test func `what was agreed on survives, and older states are read`() throws {
    for (remb, ccfb) in [(false, false), (true, false), (false, true)] {
      let codec = NegotiatedCodec(
        format: .vp8, payloadType: 96, remb: remb, ccfb: ccfb, formatParameters: "x")
      var writer = StateWriter()
      codec.encode(into: &writer)
      var reader = StateReader(writer.bytes)
      #expect(try NegotiatedCodec(from: &reader) == codec)
    }
  }

  @Test func `a subscriber without transport-wide feedback is asked for its estimate`() throws {
    let (line, media, _) = try section("recvonly", ["a=rtcp-fb:96 goog-remb", Self.sendTime])
    #expect(line.hasPrefix("1 sendonly VP8/96: goog-remb ·"))
    #expect(media.send.last?.extensions[.absoluteSendTime] == 5)
    let (full, _, _) = try section(
      "recvonly", ["a=rtcp-fb:96 goog-remb", "a=rtcp-fb:96 transport-cc", Self.numbers])
    #expect(full.hasPrefix("1 sendonly VP8/96: transport-cc ·"))
  }

  @Test func `a publisher that adapts by our estimate alone says when its packets leave`() throws {
    let (_, alone, _) = try section("sendonly", ["a=rtcp-fb:96 goog-remb", Self.sendTime], policy: .server)
    #expect(alone.receive.last?.extensions[.absoluteSendTime] == 5)
    let (_, full, _) = try section(
      "sendonly", ["a=rtcp-fb:96 goog-remb", "a=rtcp-fb:96 transport-cc", Self.numbers, Self.sendTime],
      policy: .server)
    #expect(full.receive.last?.extensions[.absoluteSendTime] == 0)
  }

  @Test func `ids above 14 are sent where both forms may mix`() throws {
    for allowsMixed in [true, false] {
      var offer = OfferText()
      offer.sections = [OfferText.audio("0", "recvonly")]
      offer.bundle("0")
      offer.replace("a=extmap:4", with: "a=extmap:20 urn:ietf:params:rtp-hdrext:sdes:mid")
      if allowsMixed { offer.sections[0].append("a=extmap-allow-mixed") }
      var negotiator = Negotiator()
      let slot = try #require(try negotiator.answer(offer).agreement.media.send.first)
      #expect(slot.extensions[.mid] == (allowsMixed ? 20 : 0))
      #expect(slot.allowsMixedExtensions == allowsMixed)
    }
  }

  @Test func `what a subscriber's section takes is asked of it`() throws {
    let baseline = try #require(CodecFormat.h264(.constrainedBaseline, mode: 0))
    let high = try #require(CodecFormat.h264(.high, mode: 1))
    let section = SendSection(
      index: 0, mid: "0", kind: .video,
      codecs: [
        NegotiatedCodec(format: high, payloadType: 35), NegotiatedCodec(codec: .vp8, payloadType: 96),
      ],
      extensions: HeaderExtensionMap(), ssrc: 1, rtxSSRC: nil, cname: "", streamID: "")
    #expect(section.codec(taking: baseline)?.payloadType == 35)
    #expect(section.codec(taking: .vp8)?.payloadType == 96)
    #expect(section.codec(taking: CodecFormat(.av1)) == nil)
  }
}
