import Model
import Negotiation
import Testing
import Wire

// Chromium's sections, as the server answers them.
private let hear = "opus/111 transport-cc · 1 audioLevel, 3 transportSequence, 4 mid"
private let see = "VP8/96+97 nack nack pli transport-cc · 3 transportSequence, 4 mid"
private let simulcast = see + ", 10 rid, 11 repairedRid · f"
private let seeAlone = "VP8/96+97 nack nack pli transport-cc · 4 transportSequence, 9 mid"
private let talk = "opus/111 · 1 audioLevel, 4 mid"
private let show = "VP8/96+97 nack nack pli · 4 mid"
private let bothAudio = "sendrecv opus/111 transport-cc · 1 audioLevel, 3/recvonly transportSequence, 4 mid"
private let bothVideo = "sendrecv VP8/96+97 nack nack pli transport-cc · 3/recvonly transportSequence, 4 mid"

// Firefox's.
private let foxHear = "opus/109 transport-cc · 1 audioLevel, 3 mid, 7 transportSequence"
private let foxSee = "VP8/120+124 nack nack pli transport-cc · 3 mid, 7 transportSequence"
private let foxSimulcast = foxSee + ", 9/recvonly rid, 10/recvonly repairedRid · f"
private let foxTalk = "opus/109 · 1 audioLevel, 3 mid"
private let foxShow = "VP8/120+124 nack nack pli · 3 mid"
private let foxBothAudio =
  "sendrecv opus/109 transport-cc · 1 audioLevel, 3 mid, 7/recvonly transportSequence"
private let foxBothVideo =
  "sendrecv VP8/120+124 nack nack pli transport-cc · 3 mid, 7/recvonly transportSequence"

/// What each recorded offer is answered with, MIDs counting from 0.
private let table: [String: [String]] = [
  "chromium-156-audio-only": ["recvonly " + hear],
  "chromium-156-audio-video-sendonly": ["recvonly " + hear, "recvonly " + see],
  "chromium-156-audio-video-sendrecv": [bothAudio, bothVideo],
  "chromium-156-camera-and-screen": ["recvonly " + hear, "recvonly " + simulcast, "recvonly " + see],
  "chromium-156-conference": ["recvonly " + hear, "recvonly " + simulcast]
    + Array(repeating: "sendonly " + talk, count: 3) + Array(repeating: "sendonly " + show, count: 6)
    + ["declined unsupported"],
  "chromium-156-datachannel": ["declined unsupported"],
  "chromium-156-mdns-recvonly": ["sendonly " + talk, "sendonly " + show],
  "chromium-156-only-av1": [bothAudio, "declined codec"],
  "chromium-156-only-h264": [bothAudio, "declined codec"],
  "chromium-156-only-vp8": [bothAudio, bothVideo],
  "chromium-156-only-vp9": [bothAudio, "declined codec"],
  "chromium-156-prefer-av1": [bothAudio, bothVideo],
  "chromium-156-prefer-h264": [bothAudio, bothVideo],
  "chromium-156-prefer-vp8": [bothAudio, bothVideo],
  "chromium-156-prefer-vp9": [bothAudio, bothVideo],
  "chromium-156-recvonly-pool": Array(repeating: "sendonly " + talk, count: 3)
    + Array(repeating: "sendonly " + show, count: 6),
  "chromium-156-simulcast": ["recvonly " + hear, "recvonly " + simulcast],
  "chromium-156-simulcast-av1": ["recvonly " + hear, "declined codec"],
  "chromium-156-simulcast-h264": ["recvonly " + hear, "declined codec"],
  "chromium-156-simulcast-vp8": ["recvonly " + hear, "recvonly " + simulcast],
  "chromium-156-simulcast-vp9": ["recvonly " + hear, "declined codec"],
  "chromium-156-svc-av1": ["recvonly " + seeAlone],
  "chromium-156-svc-vp9": ["recvonly " + seeAlone],
  "chromium-156-trickle-no-candidates": [bothAudio, bothVideo],
  "chromium-156-whep-recvonly": [
    "sendonly VP8/96+97 nack nack pli · 9 mid", "sendonly opus/111 · 14 audioLevel, 9 mid",
  ],
  "firefox-153-audio-only": ["recvonly " + foxHear],
  "firefox-153-audio-video-sendonly": ["recvonly " + foxHear, "recvonly " + foxSee],
  "firefox-153-audio-video-sendrecv": [foxBothAudio, foxBothVideo],
  "firefox-153-camera-and-screen": ["recvonly " + foxHear, "recvonly " + foxSimulcast, "recvonly " + foxSee],
  "firefox-153-conference": ["recvonly " + foxHear, "recvonly " + foxSimulcast]
    + Array(repeating: "sendonly " + foxTalk, count: 3) + Array(repeating: "sendonly " + foxShow, count: 6)
    + ["declined unsupported"],
  "firefox-153-datachannel": ["declined unsupported"],
  "firefox-153-mdns-recvonly": ["sendonly " + foxTalk, "sendonly " + foxShow],
  "firefox-153-only-av1": [foxBothAudio, "declined codec"],
  "firefox-153-only-vp8": [foxBothAudio, foxBothVideo],
  "firefox-153-only-vp9": [foxBothAudio, "declined codec"],
  "firefox-153-prefer-av1": [foxBothAudio, foxBothVideo],
  "firefox-153-prefer-vp8": [foxBothAudio, foxBothVideo],
  "firefox-153-prefer-vp9": [foxBothAudio, foxBothVideo],
  "firefox-153-recvonly-pool": Array(repeating: "sendonly " + foxTalk, count: 3)
    + Array(repeating: "sendonly " + foxShow, count: 6),
  "firefox-153-simulcast": ["recvonly " + foxHear, "recvonly " + foxSimulcast],
  "firefox-153-simulcast-av1": ["recvonly " + foxHear, "declined codec"],
  "firefox-153-simulcast-vp8": ["recvonly " + foxHear, "recvonly " + foxSimulcast],
  "firefox-153-simulcast-vp9": ["recvonly " + foxHear, "declined codec"],
  "firefox-153-svc-av1": ["recvonly " + foxSee],
  "firefox-153-svc-vp9": ["recvonly " + foxSee],
  "firefox-153-trickle-no-candidates": [foxBothAudio, foxBothVideo],
  "firefox-153-whep-recvonly": ["sendonly " + foxShow, "sendonly " + foxTalk],
]

@Suite("Answers to what browsers offer")
struct AnswerTableTests {
  @Test func `the table has every recorded offer`() {
    #expect(table.keys.map { $0 + "-offer.sdp" }.sorted() == Offers.names)
  }

  @Test(arguments: table.keys.sorted())
  func `a browser's offer gets its answer`(name: String) throws {
    let (answer, _) = try answer(to: name)
    #expect(try summary(of: answer) == (table[name] ?? []).enumerated().map { "\($0) \($1)" })
  }

  @Test(arguments: table.keys.sorted())
  func `an answer is whole`(name: String) throws {
    let (answer, offer) = try answer(to: name)
    let read = try SessionDescription(parsing: answer.sdp)
    #expect(read == answer.description)
    #expect(read.isICELite)
    let accepted = read.media.filter { $0.port != 0 }
    let mids = read.groups.filter { $0.semantics == "BUNDLE" }.flatMap(\.mids)
    #expect(mids == accepted.compactMap(\.mid))
    #expect(read.media.map(\.media) == offer.media.map(\.media))
    #expect(read.media.map(\.protocolName) == offer.media.map(\.protocolName))
    for (index, section) in accepted.enumerated() {
      #expect(section.shared.setup == .passive)
      #expect(section.shared.iceUfrag == "home")
      #expect(section.rtcpMux)
      #expect(section.candidates.count == (index == 0 ? 2 : 0))
      #expect(section.shared.endOfCandidates == (index == 0))
      #expect(section.port == 7882 && section.connection?.host == "192.0.2.7")
      #expect(!section.shared.extensions.contains { $0.uri == "urn:3gpp:video-orientation" })
      let sends = section.shared.direction?.sends == true
      #expect(section.streams.count == (sends ? 1 : 0))
      #expect(section.ssrcs.isEmpty != sends)
    }
    let mixes = offer.shared.allowsMixedExtensions
    #expect(read.shared.allowsMixedExtensions == mixes)
    #expect(mixes || accepted.allSatisfy { $0.shared.allowsMixedExtensions })
    #expect(answer.agreement.transport?.remote.role == (accepted.isEmpty ? nil : .server))
  }

  @Test(arguments: table.keys.sorted())
  func `what is agreed on says the same as the text`(name: String) throws {
    let (answer, offer) = try answer(to: name)
    let media = answer.agreement.media
    let sections = zip(answer.description.media, offer.media).filter { $0.0.port != 0 }
    let receiving = sections.filter { $0.0.shared.direction?.receives == true }
    let sending = sections.filter { $0.0.shared.direction?.sends == true }.map(\.0)
    #expect(media.receive.map(\.mid) == receiving.compactMap(\.0.mid))
    #expect(media.send.map(\.mid) == sending.compactMap(\.mid))
    #expect(media.receive.map(\.index) == (0..<media.receive.count).map { UInt16($0) })
    #expect(media.send.map(\.index) == (0..<media.send.count).map { UInt16($0) })

    for (track, (section, offered)) in zip(media.receive, receiving) {
      #expect(track.kind.rawValue == (section.media == "audio" ? 0 : 1))
      #expect(track.codecs.map(\.payloadType) == Array(section.payloadTypes.prefix(1)))
      #expect(track.codecs.allSatisfy { $0.transportCC } && track.extensions[.transportSequence] != 0)
      #expect(track.rid == (offered.simulcast == nil ? nil : "f"))
      #expect(track.ssrc == (offered.simulcast == nil ? offered.ssrcs.first?.ssrc : nil))
      #expect(track.rtxSSRC == (offered.simulcast == nil ? offered.ssrcGroups.first?.ssrcs.last : nil))
      #expect(track.cname == offered.ssrcs.first?.attributeValue ?? "")
    }
    for (slot, section) in zip(media.send, sending) {
      #expect(slot.codecs.allSatisfy { !$0.transportCC } && slot.extensions[.transportSequence] == 0)
      #expect(slot.ssrc == section.ssrcs.first?.ssrc)
      #expect(section.ssrcGroups.first?.ssrcs == slot.rtxSSRC.map { [slot.ssrc, $0] })
      #expect((slot.rtxSSRC != nil) == (slot.kind == .video))
      #expect(section.streams.first?.streamID == slot.streamID)
      #expect(section.ssrcs.allSatisfy { $0.name == "cname" && $0.attributeValue == slot.cname })
    }
    let numbers = media.send.flatMap { [$0.ssrc] + ($0.rtxSSRC.map { [$0] } ?? []) }
    #expect(Set(numbers).count == numbers.count && !numbers.contains(0))
    #expect(Set(numbers).isDisjoint(with: offer.media.flatMap { $0.ssrcs.map(\.ssrc) }))
  }

  @Test(arguments: ["chromium-156-recvonly-pool", "firefox-153-conference"])
  func `the k-th audio and the k-th video slot are a pair`(name: String) throws {
    let slots = try answer(to: name).answer.agreement.media.send
    let audio = slots.filter { $0.kind == .audio }
    let video = slots.filter { $0.kind == .video }
    #expect(audio.count == 3 && video.count == 6)
    #expect(zip(audio, video).allSatisfy { $0.streamID == $1.streamID && $0.cname == $1.cname })
    #expect(Set(video.map(\.streamID)).count == 6)
    #expect(Set(video.map(\.cname)).count == 6)
  }

  @Test(arguments: [
    ("chromium-156-audio-only", "minptime=10;useinbandfec=1"),
    ("firefox-153-audio-only", "stereo=1;useinbandfec=1"),
  ])
  func `Opus is asked for as its sender likes it`(name: String, parameters: String) throws {
    let answer = try answer(to: name).answer
    #expect(answer.description.media[0].formatParameters.map(\.parameters) == [parameters])
  }

  @Test func `the far end's candidates are the usable ones, best first`() throws {
    let transport = try #require(answer(to: "firefox-153-simulcast").answer.agreement.transport)
    #expect(
      transport.remoteCandidates == [
        try #require(SocketAddress(host: "fd00::2", port: 57_192)),
        SocketAddress(ipv4: 192, 0, 2, 2, port: 56_601),
      ])
    let hidden = try #require(answer(to: "firefox-153-mdns-recvonly").answer.agreement.transport)
    #expect(hidden.remoteCandidates.isEmpty)
  }

  private func answer(to name: String) throws -> (answer: Answer, offer: SessionDescription) {
    let offer = try SessionDescription(parsing: Offers.text(name + "-offer.sdp"))
    var negotiator = Negotiator()
    var random = RandomSource.seeded(state: 7)
    return (try negotiator.answer(to: offer, local: local(), random: &random), offer)
  }
}
