import Model
import Negotiation
import Testing
import Wire

/// RFC 7798 §7.1 and §7.2.2.
@Suite("H.265 in offers and answers", .timeLimit(.minutes(2)))
struct H265TermsTests {
  /// A video section that takes and sends these formats, as an offer; the answer and what is agreed on.
  private func answer(_ lines: [String], formats: String, policy: NegotiationPolicy = .server) throws
    -> Answer
  {
    var offer = OfferText()
    offer.sections[1] =
      ["m=video 9 UDP/TLS/RTP/SAVPF \(formats)", "a=mid:1", "a=sendrecv", "a=rtcp-mux", OfferText.midID]
      + lines
      + OfferText.transport + ["a=ssrc:21 cname:c"]
    var negotiator = Negotiator(policy: policy)
    return try negotiator.answer(offer)
  }

  private func codecs(_ answer: Answer) -> [String] {
    answer.agreement.media.receive.filter { $0.kind == .video }.flatMap(\.codecs).map {
      "\($0.format)/\($0.payloadType)" + ($0.rtxPayloadType.map { "+\($0)" } ?? "")
    }
  }

  private static let known: [(String?, String?)] = [
    // Safari says nothing; Chromium on machines that decode H.265.
    (nil, "H265 main tier 0"), ("level-id=180;profile-id=1;tier-flag=0;tx-mode=SRST", "H265 main tier 0"),
    ("level-id=93", "H265 main tier 0"), ("level-id=120;tier-flag=1", "H265 main tier 1"),
    ("level-id=156;profile-id=2;tier-flag=0;tx-mode=SRST", "H265 main10 tier 0"),
    ("PROFILE-ID=2; TIER-FLAG=1", "H265 main10 tier 1"),
    ("profile-space=0;sprop-max-don-diff=0", "H265 main tier 0"),
    // Several profiles, or none, have these numbers.
    ("profile-id=0", nil), ("profile-id=3", nil), ("profile-id=4", nil), ("profile-id=x", nil),
    ("tier-flag=2", nil), ("tier-flag=-1", nil), ("profile-space=1", nil), ("level-id=256", nil),
    ("level-id=high", nil), ("level-id=", nil), ("tx-mode=MRST", nil), ("tx-mode=MRMT", nil),
    ("tx-mode=srst", nil),
    ("tx-mode=", nil), ("sprop-max-don-diff=1", nil), ("sprop-max-don-diff=32767", nil),
  ]

  @Test(arguments: known)
  func `it is known by profile and tier, in a single stream`(parameters: String?, expected: String?) throws {
    let fmtp = parameters.map { ["a=fmtp:49 \($0)"] } ?? []
    let found = codecs(try answer(["a=rtpmap:49 H265/90000"] + fmtp, formats: "49"))
    #expect(found == (expected.map { ["\($0)/49"] } ?? []))
  }

  @Test(arguments: ["H265/8000", "H265/90000/2", "HEVC/90000"])
  func `another name or clock is another codec`(map: String) throws {
    #expect(codecs(try answer(["a=rtpmap:49 \(map)"], formats: "49")) == [])
  }

  @Test func `profiles and tiers are kept apart, levels aren't, and each has its retransmissions`() throws {
    let offered: [(UInt8, String)] = [
      (51, "level-id=180;profile-id=2;tier-flag=0;tx-mode=SRST"), (49, "level-id=93;profile-id=1"),
      (53, "level-id=180;profile-id=1;tier-flag=0;tx-mode=SRST"), (55, "profile-id=1;tier-flag=1"),
    ]
    let lines = offered.flatMap { number, parameters in
      [
        "a=rtpmap:\(number) H265/90000", "a=rtcp-fb:\(number) nack", "a=fmtp:\(number) \(parameters)",
        "a=rtpmap:\(number + 1) rtx/90000", "a=fmtp:\(number + 1) apt=\(number)",
      ]
    }
    let found = try answer(
      lines + ["a=rtpmap:96 VP8/90000", "a=rtpmap:45 AV1/90000", "a=rtpmap:102 H264/90000"],
      formats: "51 52 49 50 53 54 55 56 45 102 96")
    #expect(
      codecs(found) == [
        "VP8/96", "H264 baseline mode 0/102", "H265 main tier 0/49+50", "H265 main tier 1/55+56",
        "H265 main10 tier 0/51+52", "AV1/45",
      ])
  }

  @Test func `all that a format is known by comes back as it was offered, and nothing else`() throws {
    let known =
      "interop-constraints=B00000000000;level-id=150;profile-compatibility-indicator=60000000;profile-id=1;tier-flag=0;tx-mode=SRST"
    let lines = [
      "a=rtpmap:49 H265/90000", "a=fmtp:49 \(known);sprop-vps=QAEMAf//;max-fps=6000;recv-sub-layer-id=1",
    ]
    #expect(
      try answer(lines, formats: "49").description.media[1].formatParameters.map(\.parameters) == [known])
    let plain = try answer(["a=rtpmap:49 H265/90000"], formats: "49")
    #expect(plain.description.media[1].formatParameters.isEmpty)
    let long = [
      "a=rtpmap:49 H265/90000",
      "a=fmtp:49 interop-constraints=B000000000000;profile-compatibility-indicator=6x",
    ]
    #expect(try answer(long, formats: "49").description.media[1].formatParameters.isEmpty)
  }

  @Test func `a RID names each of its encodings, whatever their level`() throws {
    let found = try answer(
      [
        "a=rtpmap:49 H265/90000", "a=fmtp:49 level-id=180;profile-id=1;tier-flag=0;tx-mode=SRST",
        "a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id", "a=rid:q send", "a=rid:h send pt=49",
        "a=rid:f send", "a=simulcast:send q;h;f",
      ], formats: "49")
    #expect(found.agreement.media.receive.last?.encodings.compactMap(\.rid) == ["q", "h", "f"])
    #expect(codecs(found) == ["H265 main tier 0/49"])
  }

  @Test func `a configuration without it declines it`() throws {
    let policy = NegotiationPolicy(usesTransportFeedback: false, videoCodecs: [.vp8, .h264])
    let declined = try answer(["a=rtpmap:49 H265/90000"], formats: "49", policy: policy)
    #expect(try summary(of: declined)[1] == "1 declined codec")
  }

  @Test func `a subscriber that decodes more is given less under its payload type`() throws {
    let main = try #require(CodecFormat.h265(.main, tier: 0))
    let high = try #require(CodecFormat.h265(.main10, tier: 1))
    func section(_ formats: [(CodecFormat, UInt8)]) -> SendSection {
      SendSection(
        index: 0, mid: "0", kind: .video,
        codecs: formats.map { NegotiatedCodec(format: $0.0, payloadType: $0.1) },
        extensions: HeaderExtensionMap(), ssrc: 1, rtxSSRC: nil, cname: "", streamID: "")
    }
    #expect(section([(high, 51)]).codec(taking: main)?.payloadType == 51)
    #expect(section([(high, 51), (main, 49)]).codec(taking: main)?.payloadType == 49)
    #expect(section([(main, 49)]).codec(taking: high) == nil)
    #expect(section([(CodecFormat(.h264), 49)]).codec(taking: main) == nil)
  }
}
