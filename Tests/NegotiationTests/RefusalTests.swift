import Model
import Negotiation
import Testing
import Wire

@Suite("Offers that are refused, whole or in part", .timeLimit(.minutes(2)))
struct RefusalTests {
  /// The error of a changed offer, and that nothing is left of it.
  private func error(_ change: (inout OfferText) -> Void) throws -> NegotiationError? {
    var offer = OfferText()
    change(&offer)
    var negotiator = Negotiator()
    defer { #expect(negotiator == Negotiator()) }
    do {
      _ = try negotiator.answer(offer)
    } catch let error as NegotiationError {
      return error
    }
    return nil
  }

  private func outcomes(_ change: (inout OfferText) -> Void) throws -> [SectionResult.Outcome] {
    var offer = OfferText()
    change(&offer)
    var negotiator = Negotiator()
    return try negotiator.answer(offer).outcomes
  }

  private let both: [SectionResult.Outcome] = [
    .accepted(receive: 0, send: nil), .accepted(receive: 1, send: nil),
  ]

  @Test func `a plain offer is accepted`() throws {
    #expect(try outcomes { _ in } == both)
  }

  @Test(arguments: ["a=ice-ufrag", "a=ice-pwd"])
  func `without credentials there is no transport`(line: String) throws {
    let error = try error { $0.replace(line, with: nil) }
    #expect(error == .missingCredentials(section: 0))
    #expect("\(try #require(error))".contains("add a=ice-ufrag and a=ice-pwd"))
  }

  @Test func `without fingerprint there is no transport`() throws {
    #expect(try error { $0.replace("a=fingerprint", with: nil) } == .missingFingerprint(section: 0))
  }

  @Test func `weak hashes alone are refused by name`() throws {
    let error = try error {
      $0.replace(
        "a=fingerprint",
        with: "a=fingerprint:sha-1 AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD")
    }
    #expect(error == .unsupportedFingerprint(section: 0, hashes: ["sha-1"]))
    #expect("\(try #require(error))".contains("add one by sha-256"))
  }

  @Test func `of two fingerprints those by good hashes are kept`() throws {
    var offer = OfferText()
    let strong = Array(repeating: "01", count: 64).joined(separator: ":")
    offer.sections[0] += ["a=fingerprint:sha-1 AA", "a=fingerprint:SHA-512 \(strong)"]
    var negotiator = Negotiator()
    let transport = try #require(try negotiator.answer(offer).agreement.transport)
    #expect(transport.remote.fingerprints.map(\.algorithm) == [.sha256, .sha512])
  }

  @Test func `holdconn and a missing setup are refused`() throws {
    #expect(
      try error { $0.replace("a=setup", with: "a=setup:holdconn") }
        == .unsupportedSetup(section: 0, .holdconn))
    let error = try error { $0.replace("a=setup", with: nil) }
    #expect(error == .missingSetup(section: 0))
    #expect("\(try #require(error))".contains("add a=setup:actpass"))
  }

  @Test(
    arguments: [
      ("actpass", DTLSRole.server, SetupAttribute.passive), ("active", .server, .passive),
      ("passive", .client, .active),
    ])
  func `the handshake's role follows the offer`(offered: String, role: DTLSRole, answered: SetupAttribute)
    throws
  {
    var offer = OfferText()
    offer.replace("a=setup", with: "a=setup:\(offered)")
    var negotiator = Negotiator()
    let answer = try negotiator.answer(offer)
    #expect(answer.agreement.transport?.remote.role == role)
    #expect(answer.description.media.allSatisfy { $0.shared.setup == answered })
  }

  @Test(
    arguments: [
      ("m=video", "m=text 9 UDP/TLS/RTP/SAVPF 96 97", DeclineReason.unsupported),
      ("m=video", "m=video 9 UDP/DTLS/SCTP 96 97", .protocol), ("a=rtcp-mux", nil, .rtcpMux),
      ("a=rtpmap:96", "a=rtpmap:96 H266/90000", .codec), ("a=rtpmap:96", "a=rtpmap:96 VP8/8000", .codec),
      ("a=rtpmap:96", "a=rtpmap:98 VP8/90000", .codec), ("a=mid", nil, .notBundled),
      ("a=extmap", "a=extmap:4 urn:other", .extensionConflict),
    ] as [(String, String?, DeclineReason)])
  func `a section that can't be taken is declined alone`(start: String, line: String?, reason: DeclineReason)
    throws
  {
    let outcomes = try outcomes { $0.replace(start, with: line, in: 1) }
    #expect(outcomes == [.accepted(receive: 0, send: nil), .declined(reason)])
  }

  @Test func `Opus with one channel is another codec`() throws {
    #expect(
      try outcomes { $0.replace("a=rtpmap:111", with: "a=rtpmap:111 opus/48000", in: 0) }
        == [.declined(.codec), .accepted(receive: 0, send: nil)])
  }

  @Test func `a stream that nothing identifies is declined`() throws {
    #expect(
      try outcomes {
        $0.replace("a=extmap", with: nil, in: 1)
        $0.replace("a=ssrc", with: nil, in: 1)
      } == [.accepted(receive: 0, send: nil), .declined(.unidentified)])
    #expect(try outcomes { $0.replace("a=extmap", with: nil) } == both, "SSRCs alone do")
    #expect(try outcomes { $0.replace("a=ssrc", with: nil) } == both, "MIDs alone do")
  }

  @Test func `an SSRC belongs to one section`() throws {
    #expect(
      try outcomes { $0.sections[1] = OfferText.video("1", ssrc: 10) }
        == [.accepted(receive: 0, send: nil), .declined(.duplicateSSRC)])
    #expect(try outcomes { $0.replace("a=ssrc:11", with: "a=ssrc:0 cname:c", in: 0) } == both)
  }

  @Test func `extension ids out of the one-byte range are received and never sent`() throws {
    var offer = OfferText()
    offer.sections[0] = OfferText.audio("0", "sendrecv")
    offer.replace("a=extmap", with: "a=extmap:15 urn:ietf:params:rtp-hdrext:sdes:mid")
    var negotiator = Negotiator()
    let answer = try negotiator.answer(offer)
    #expect(answer.agreement.media.receive.map { $0.extensions[.mid] } == [15, 15])
    #expect(answer.agreement.media.send.map { $0.extensions[.mid] } == [0])
    #expect(answer.description.media[0].shared.extensions.map(\.direction) == [.recvonly])
    #expect(answer.description.media[1].shared.extensions.map(\.direction) == [nil])
  }

  @Test func `an id to be chosen by us is not taken`() throws {
    var offer = OfferText()
    offer.replace("a=extmap", with: "a=extmap:4100 urn:ietf:params:rtp-hdrext:sdes:mid")
    var negotiator = Negotiator()
    let answer = try negotiator.answer(offer)
    #expect(answer.description.media.allSatisfy { $0.shared.extensions.isEmpty })
  }

  @Test func `an extension has one id in all of a bundle`() throws {
    var offer = OfferText()
    offer.replace("a=extmap", with: "a=extmap:5 urn:ietf:params:rtp-hdrext:sdes:mid", in: 1)
    var negotiator = Negotiator()
    let answer = try negotiator.answer(offer)
    #expect(answer.agreement.media.receive.map { $0.extensions[.mid] } == [4, 0])
  }

  @Test func `extensions are taken in the direction that is offered`() throws {
    var offer = OfferText()
    offer.sections = [OfferText.audio("0", "sendrecv"), OfferText.video("1", "recvonly")]
    offer.sections[0].append("a=extmap:1/sendonly urn:ietf:params:rtp-hdrext:ssrc-audio-level")
    offer.replace("a=extmap:4", with: "a=extmap:4/sendonly urn:ietf:params:rtp-hdrext:sdes:mid", in: 1)
    var negotiator = Negotiator()
    let answer = try negotiator.answer(offer)
    #expect(
      try summary(of: answer) == [
        "0 sendrecv opus/111 · 4 mid, 1/recvonly audioLevel", "1 sendonly VP8/96+97: nack, nack pli · ",
      ])
    #expect(answer.agreement.media.send[0].extensions[.audioLevel] == 0)
    #expect(answer.agreement.media.receive[0].extensions[.audioLevel] == 1)
  }

  @Test func `times of capture are agreed on in both kinds of section where they are offered`() throws {
    let line = "a=extmap:6 http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"
    for offered in [[], [0], [0, 1]] {
      var offer = OfferText()
      offer.sections = [OfferText.audio("0", "sendrecv"), OfferText.video("1", "sendrecv")]
      for index in offered { offer.sections[index].append(line) }
      var negotiator = Negotiator()
      let media = try negotiator.answer(offer).agreement.media
      let expected: [UInt8] = [0, 1].map { offered.contains($0) ? 6 : 0 }
      #expect(media.receive.map { $0.extensions[.absoluteCaptureTime] } == expected)
      #expect(media.send.map { $0.extensions[.absoluteCaptureTime] } == expected)
    }
  }

  @Test func `which layers are sent is taken from publishers alone`() throws {
    var offer = OfferText()
    offer.sections = [OfferText.audio("0", "sendrecv"), OfferText.video("1", "sendrecv")]
    for index in 0...1 {
      offer.sections[index].append(
        "a=extmap:6 http://www.webrtc.org/experiments/rtp-hdrext/video-layers-allocation00")
    }
    var negotiator = Negotiator()
    let media = try negotiator.answer(offer).agreement.media
    #expect(media.receive.map { $0.extensions[.videoLayersAllocation] } == [0, 6])
    #expect(media.send.map { $0.extensions[.videoLayersAllocation] } == [0, 0])
  }

  @Test func `transport-wide numbers go with their feedback or not at all`() throws {
    let uri = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    for lines in [["a=extmap:3 \(uri)"], ["a=rtcp-fb:* transport-cc"]] {
      var offer = OfferText()
      offer.sections[1] += lines
      var negotiator = Negotiator()
      let answer = try negotiator.answer(offer)
      #expect(!answer.sdp.contains("transport-"), "\(lines)")
      #expect(answer.agreement.media.receive.allSatisfy { !$0.codecs[0].transportCC })
    }
    var offer = OfferText()
    offer.sections[1] += ["a=extmap:3 \(uri)", "a=rtcp-fb:* transport-cc"]
    var negotiator = Negotiator()
    #expect(try negotiator.answer(offer).agreement.media.receive[1].codecs[0].transportCC)
  }

  @Test func `retransmission needs NACK and its own codec's clock`() throws {
    for (start, line) in [
      ("a=rtcp-fb:96 nack", nil), ("a=fmtp:97", "a=fmtp:97 apt=98"), ("a=rtpmap:97", "a=rtpmap:97 rtx/48000"),
      ("a=fmtp:97", nil),
    ] as [(String, String?)] {
      var offer = OfferText()
      offer.replace(start, with: line, in: 1)
      var negotiator = Negotiator()
      let track = try negotiator.answer(offer).agreement.media.receive[1]
      #expect(track.codecs[0].rtxPayloadType == nil && track.rtxSSRC == nil)
      #expect(track.ssrc == 21)
    }
  }

  @Test func `audio has NACK where it is offered`() throws {
    var offer = OfferText()
    offer.sections[0].append("a=rtcp-fb:111 nack")
    var negotiator = Negotiator()
    #expect(try negotiator.answer(offer).agreement.media.receive[0].codecs[0].nack)
  }

  @Test func `long format parameters come through up to a bound, and are not echoed`() throws {
    var offer = OfferText()
    let long = "x=" + String(repeating: "y", count: 900)
    offer.sections[0].append("a=fmtp:111 \(long);useinbandfec=1;stereo=z")
    var negotiator = Negotiator()
    let answer = try negotiator.answer(offer)
    #expect(answer.agreement.media.receive[0].codecs[0].formatParameters.utf8.count > 900)
    #expect(answer.description.media[0].formatParameters.map(\.parameters) == ["useinbandfec=1"])

    var huge = OfferText()
    huge.sections[0].append("a=fmtp:111 \(long)\(long);useinbandfec=1")
    negotiator = Negotiator()
    let other = try negotiator.answer(huge)
    #expect(other.agreement.sections[0].outcome == .declined(.codec))
    #expect(other.sdp.utf8.count < 4_000)
  }

  @Test func `a MID longer than its extension holds is received and not sent`() throws {
    let long = String(repeating: "m", count: 17)
    var offer = OfferText()
    offer.sections = [
      OfferText.audio(long, "sendrecv"), OfferText.audio(String(repeating: "n", count: 16), "recvonly"),
    ]
    offer.bundle(long, String(repeating: "n", count: 16))
    var negotiator = Negotiator()
    let media = try negotiator.answer(offer).agreement.media
    #expect(media.receive[0].extensions[.mid] == 4)
    #expect(media.send.map { $0.extensions[.mid] } == [0, 4])
  }

  @Test func `a description put together by hand can't name two sections alike`() throws {
    var offer = try OfferText().parsed()
    offer.media[1].mid = "0"
    var negotiator = Negotiator()
    var random = RandomSource.seeded(state: 1)
    #expect(throws: NegotiationError.duplicateMid("0")) {
      try negotiator.answer(to: offer, local: local(), random: &random)
    }
  }

  @Test(arguments: Offers.names)
  func `an offer whose lines are dropped one by one never traps`(name: String) throws {
    let lines = try Offers.text(name).split(separator: "\r\n")
    var accepted = 0
    for skipped in stride(from: 0, to: lines.count, by: max(1, lines.count / 9)) {
      let text = lines.enumerated().filter { $0.offset != skipped }.map { $0.element + "\r\n" }.joined()
      guard let offer = try? SessionDescription(parsing: text) else { continue }
      var negotiator = Negotiator()
      var random = RandomSource.seeded(state: 1)
      guard let answer = try? negotiator.answer(to: offer, local: local(), random: &random) else { continue }
      #expect(try SessionDescription(parsing: answer.sdp) == answer.description)
      accepted += 1
    }
    #expect(accepted > 0)
  }
}
