import Model
import Negotiation
import Testing
import Wire

@Suite("Offers of our own", .timeLimit(.minutes(2)))
struct OfferTests {
  private var client = Negotiator(policy: .client)
  private var server = Negotiator()
  private var random = RandomSource.seeded(state: 4)

  private let microphone = TrackAnnouncement(
    kind: .audio, ssrc: 100, cname: "me", streamID: "stream", trackID: "microphone")
  private let camera = TrackAnnouncement(
    kind: .video, ssrc: 200, rtxSSRC: 201, cname: "me", streamID: "stream", trackID: "camera")
  private var plan: OfferPlan {
    OfferPlan(tracks: [microphone, camera], audioReceivers: 2, videoReceivers: 1)
  }
  private let end = local("peer", candidates: [SocketAddress(ipv4: 10, 0, 0, 1, port: 5000)], isLite: false)

  /// A whole round over text.
  private mutating func negotiate(_ plan: OfferPlan, restartICE: Bool = false, as end: LocalTransport? = nil)
    throws -> (
      offer: SessionDescription, answer: Answer, client: Agreement
    )
  {
    let offer = try client.offer(plan, local: end ?? self.end, restartICE: restartICE, random: &random)
    let received = try SessionDescription(parsing: offer.text)
    #expect(received == offer)
    let answer = try server.answer(to: received, local: local(), random: &random)
    return (offer, answer, try client.accept(SessionDescription(parsing: answer.sdp)))
  }

  @Test mutating func `both sides come to the same`() throws {
    let (_, answer, client) = try negotiate(plan)
    let server = answer.agreement
    #expect(client.sections.map(\.mid) == ["0", "1", "2", "3", "4"])
    #expect(client.media.send.map(\.mid) == server.media.receive.map(\.mid))
    #expect(client.media.receive.map(\.mid) == server.media.send.map(\.mid))
    for (sent, received) in zip(client.media.send, server.media.receive) {
      #expect(sent.kind == received.kind)
      #expect(sent.ssrc == received.ssrc && sent.rtxSSRC == received.rtxSSRC && sent.cname == received.cname)
      #expect(sent.extensions == received.extensions)
      #expect(sent.codecs.map(\.payloadType) == received.codecs.map(\.payloadType))
      #expect(sent.codecs.allSatisfy(\.transportCC) && received.codecs.allSatisfy(\.transportCC))
    }
    for (received, sent) in zip(client.media.receive, server.media.send) {
      #expect(sent.ssrc == received.ssrc && sent.rtxSSRC == received.rtxSSRC && sent.cname == received.cname)
      #expect(sent.extensions == received.extensions)
      #expect(sent.extensions[.transportSequence] == 0 && received.codecs.allSatisfy { !$0.transportCC })
    }
    #expect(client.media.send.map(\.ssrc) == [100, 200])
    #expect(client.media.send[1].rtxSSRC == 201)

    let ours = try #require(client.transport)
    let theirs = try #require(server.transport)
    #expect(ours.remote.role == .client && theirs.remote.role == .server)
    #expect(ours.remoteIsLite && !theirs.remoteIsLite)
    #expect(ours.remote.credentials == theirs.localCredentials)
    #expect(theirs.remote.credentials == ours.localCredentials)
    #expect(ours.remoteCandidates.count == 2 && theirs.remoteCandidates == end.candidates)
    #expect(ours.remote.fingerprints == [local().fingerprint])
  }

  @Test(arguments: [true, false])
  mutating func `an answer without reduced-size RTCP is held to`(answersSo: Bool) throws {
    let offer = try client.offer(plan, local: end, random: &random)
    let offersSo = offer.media.allSatisfy { $0.rtcpReducedSize }
    #expect(offersSo)
    let answer = try server.answer(to: offer, local: local(), random: &random)
    #expect(answer.agreement.media.allowsReducedSizeRTCP)
    var description = answer.description
    description.media[1].rtcpReducedSize = answersSo
    #expect(try client.accept(description).media.allowsReducedSizeRTCP == answersSo)
  }

  @Test mutating func `a plan is carried out as sections`() throws {
    let audio = "opus/111 red/63 G722/9 PCMU/0 PCMA/8"
    let video = "VP8/96+97 VP9-0/98+99 H264-42e01f-1/102+103 H265-1/106+107 AV1-0/104+105"
    let (offer, answer, _) = try negotiate(plan)
    #expect(offer.media.map(\.media) == ["audio", "video", "audio", "audio", "video"])
    #expect(offer.media.map(\.shared.direction) == [.sendonly, .sendonly, .recvonly, .recvonly, .recvonly])
    #expect(offer.media.allSatisfy { $0.shared.setup == .actpass && $0.rtcpMux })
    #expect(
      try summary(of: answer) == [
        "0 recvonly \(audio): transport-cc · 1 audioLevel, 2 transportSequence, 3 mid",
        "1 recvonly \(video): nack, nack pli, transport-cc · 2 transportSequence, 3 mid",
        "2 sendonly \(audio) · 1 audioLevel, 3 mid", "3 sendonly \(audio) · 1 audioLevel, 3 mid",
        "4 sendonly \(video): nack, nack pli · 3 mid",
      ])
  }

  @Test mutating func `what the next plan lacks is stopped and its place used again`() throws {
    _ = try negotiate(plan)
    var next = plan
    next.tracks.removeLast()
    next.audioReceivers = 1
    let (_, stopped, _) = try negotiate(next)
    #expect(
      stopped.outcomes == [
        .accepted(receive: 0, send: nil), .stopped, .accepted(receive: nil, send: 0), .stopped,
        .accepted(receive: nil, send: 2),
      ])
    #expect(client.media.send.map(\.ssrc) == [100])

    let screen = TrackAnnouncement(
      kind: .video, ssrc: 300, rtxSSRC: 301, cname: "me", streamID: "screen", trackID: "screen")
    next.tracks.append(screen)
    let (offer, again, agreed) = try negotiate(next)
    #expect(offer.media.count == 5)
    #expect(offer.media[1].mid == "5")
    #expect(again.outcomes[1] == .accepted(receive: 2, send: nil))
    #expect(agreed.media.send.map(\.ssrc) == [100, 300])
    #expect(agreed.media.send.map(\.index) == [0, 2])
  }

  @Test mutating func `a restart of ours is one for both`() throws {
    _ = try negotiate(plan)
    let new = local("renewed", candidates: end.candidates, isLite: false)
    let kept = try negotiate(plan, as: new)
    #expect(kept.answer.agreement.transport?.restartsICE == false)
    #expect(kept.offer.media[0].shared.iceUfrag == "peer")
    let (offer, answer, agreed) = try negotiate(plan, restartICE: true, as: new)
    #expect(offer.media[0].shared.iceUfrag == "renewed")
    #expect(answer.agreement.transport?.restartsICE == true)
    #expect(agreed.transport?.localCredentials.ufrag == "renewed")
  }

  @Test mutating func `declined sections are closed and offered elsewhere`() throws {
    let offer = try client.offer(plan, local: end, random: &random)
    var copy = offer
    copy.media[1].rtpMaps = []
    let answer = try server.answer(to: copy, local: local(), random: &random)
    let agreed = try client.accept(answer.description)
    #expect(agreed.sections[1].outcome == .declined(.refused))
    #expect(agreed.media.send.map(\.ssrc) == [100])
    #expect(try client.offer(plan, local: end, random: &random).media[1].mid == "5")
  }

  @Test mutating func `without retransmission stream there is no RTX`() throws {
    var camera = camera
    camera.rtxSSRC = nil
    let (offer, answer, agreed) = try negotiate(OfferPlan(tracks: [camera]))
    #expect(offer.media[0].formats == ["96", "98", "102", "106", "104"])
    #expect(answer.agreement.media.receive[0].codecs[0].rtxPayloadType == nil)
    #expect(agreed.media.send[0].rtxSSRC == nil)
  }

  @Test mutating func `one offer at a time`() throws {
    #expect(throws: NegotiationError.noOfferPending) { try client.accept(OfferText().parsed()) }
    let before = client
    let offer = try client.offer(plan, local: end, random: &random)
    #expect(throws: NegotiationError.offerPending) { try client.offer(plan, local: end, random: &random) }
    #expect(throws: NegotiationError.offerPending) { try client.answer(OfferText()) }
    client.withdrawOffer()
    #expect(client.sections == before.sections)
    let second = try client.offer(plan, local: end, random: &random)
    #expect(
      second.origin.version == offer.origin.version || second.origin.version == offer.origin.version + 1)
  }

  @Test mutating func `more sections than a description may have are not offered`() throws {
    let before = client
    #expect(throws: NegotiationError.tooManySections(limit: 128)) {
      try client.offer(OfferPlan(videoReceivers: 129), local: end, random: &random)
    }
    #expect(client == before)
    #expect(try client.offer(OfferPlan(videoReceivers: 128), local: end, random: &random).media.count == 128)
  }

  @Test mutating func `the side that answered can offer next`() throws {
    _ = try negotiate(plan)
    let before = (client: client.media, server: server.media)
    let offer = try server.offer(OfferPlan(), local: local(), random: &random)
    #expect(offer.media.map(\.shared.direction) == [.recvonly, .recvonly, .sendonly, .sendonly, .sendonly])
    let answer = try client.answer(to: SessionDescription(parsing: offer.text), local: end, random: &random)
    let agreed = try server.accept(SessionDescription(parsing: answer.sdp))
    #expect(agreed.media == before.server)
    #expect(agreed.transport?.restartsICE == false)
    #expect(agreed.transport?.remote.role == .server && answer.agreement.transport?.remote.role == .client)
    #expect(answer.agreement.media.receive == before.client.receive)
    #expect(answer.agreement.media.send.map(\.ssrc) == before.client.send.map(\.ssrc))
  }

  @Test(arguments: [true, false])
  mutating func `sound of every codec is asked for again by those who want it, and by no others`(wanted: Bool)
    throws
  {
    var policy = NegotiationPolicy.client
    policy.repairsSound = wanted
    client = Negotiator(policy: policy)
    let offer = try client.offer(OfferPlan(audioReceivers: 1), local: end, random: &random)
    let lines = offer.text.split(separator: "\r\n").map(String.init)
    for payloadType in [111, 9, 0, 8] {
      #expect(lines.contains("a=rtcp-fb:\(payloadType) nack") == wanted, "\(payloadType)")
    }
    // What is in RED is there twice already.
    #expect(!lines.contains("a=rtcp-fb:63 nack"))
  }

  @Test mutating func `a server may offer to a new transport`() throws {
    let slot = TrackAnnouncement(
      kind: .video, ssrc: 7, rtxSSRC: 8, cname: "slot", streamID: "pair", trackID: "pair-video")
    let offer = try server.offer(OfferPlan(tracks: [slot]), local: local(), random: &random)
    #expect(offer.isICELite)
    #expect(!offer.text.contains("transport-"), "the server evaluates no feedback")
    let answer = try client.answer(to: offer, local: end, random: &random)
    let agreed = try server.accept(answer.description)
    #expect(agreed.media.send.map(\.ssrc) == [7])
    #expect(agreed.transport?.remote.role == .client)
  }
}

@Suite("Answers that don't fit", .timeLimit(.minutes(2)))
struct AnswerMismatchTests {
  private let camera = TrackAnnouncement(
    kind: .video, ssrc: 200, rtxSSRC: 201, cname: "me", streamID: "stream", trackID: "camera")
  private var client = Negotiator(policy: .client)
  private var answer: SessionDescription

  init() throws {
    var random = RandomSource.seeded(state: 4)
    var server = Negotiator()
    let plan = OfferPlan(tracks: [camera], audioReceivers: 2)
    let offer = try client.offer(plan, local: local("peer", isLite: false), random: &random)
    answer = try server.answer(to: offer, local: local(), random: &random).description
  }

  private mutating func refuses(
    _ expected: NegotiationError, _ change: (inout SessionDescription) -> Void
  ) throws {
    let before = client
    change(&answer)
    #expect(throws: expected) { try client.accept(answer) }
    #expect(client == before, "the offer is pending still")
    #expect(expected.description.contains("section"))
  }
  private func mismatch(_ section: Int, _ what: AnswerMismatch) -> NegotiationError {
    .answerMismatch(section: section, what)
  }

  @Test mutating func `with another number of sections`() throws {
    try refuses(mismatch(2, .sectionCount(offered: 3, answered: 2))) { $0.media.removeLast() }
  }
  @Test mutating func `with sections in another order`() throws {
    try refuses(mismatch(1, .mid(offered: "1", answered: "2"))) { $0.media.swapAt(1, 2) }
  }
  @Test mutating func `with another kind of media`() throws {
    try refuses(mismatch(0, .media(offered: "video", answered: "audio"))) { $0.media[0].media = "audio" }
  }
  @Test mutating func `with more than was offered`() throws {
    try refuses(mismatch(0, .direction(offered: .sendonly, answered: .sendrecv))) {
      $0.media[0].shared.direction = .sendrecv
    }
  }
  @Test mutating func `with a payload type of its own`() throws {
    try refuses(mismatch(0, .payloadType(98))) {
      $0.media[0].formats[0] = "98"
      $0.media[0].rtpMaps[0].payloadType = 98
    }
  }
  @Test mutating func `with an extension's id of its own`() throws {
    try refuses(mismatch(0, .headerExtension(id: 9))) { $0.media[0].shared.extensions[0].id = 9 }
  }
  @Test mutating func `with a section outside of the bundle`() throws {
    try refuses(mismatch(1, .unusable(.notBundled))) { $0.groups[0].mids.removeAll { $0 == "1" } }
  }
  @Test mutating func `with one SSRC for two sections`() throws {
    try refuses(mismatch(2, .unusable(.duplicateSSRC))) { $0.media[2].ssrcs = $0.media[1].ssrcs }
  }
  @Test mutating func `with RTCP apart`() throws {
    try refuses(mismatch(0, .unusable(.rtcpMux))) { $0.media[0].rtcpMux = false }
  }
  @Test mutating func `with actpass`() throws {
    try refuses(.unsupportedSetup(section: 0, .actpass)) { $0.media[0].shared.setup = .actpass }
  }

  @Test mutating func `feedback that was not offered is not agreed on`() throws {
    answer.media[1].feedback.append(FeedbackAttribute(payloadType: nil, kind: "nack"))
    #expect(try client.accept(answer).media.receive[0].codecs[0].nack == false)
  }

  @Test mutating func `less than offered is fine`() throws {
    answer.media[0].shared.direction = .inactive
    answer.media[1].port = 0
    let agreed = try client.accept(answer)
    #expect(
      agreed.sections.map(\.outcome) == [
        .accepted(receive: nil, send: nil), .declined(.refused), .accepted(receive: 0, send: nil),
      ])
    #expect(agreed.media.send.isEmpty)
  }
}
