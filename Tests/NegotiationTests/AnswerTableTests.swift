import Model
import Negotiation
import Testing
import Wire

// What Chromium has.
private let opusRED = "opus/111[transport-cc] red/63 G722/9 PCMU/0 PCMA/8"
private let sound = "opus/111 red/63 G722/9 PCMU/0 PCMA/8"
private let vp9 = "VP9-0/98+99 VP9-2/100+101"
private let h264 =
  "H264-42e01f-1/108+109 H264-42e01f-0/114+115 H264-42001f-1/102+103 H264-42001f-0/104+107 H264-4d001f-1/116+117 H264-4d001f-0/39+40"
private let av1 = "AV1-0/45+46"
private let coded = "VP8/96+97 \(vp9) \(h264) \(av1)"
private let decoded =
  "VP8/96+97 VP9-0/98+99 VP9-1/35+36 VP9-2/100+101 VP9-3/37+38 \(h264) H264-f4001f-1/41+42 H264-f4001f-0/43+44 \(av1) AV1-1/47+48"

// What Firefox has.
private let foxSound = "opus/109 G722/9 PCMU/0 PCMA/8"
private let foxCodecs = "VP8/120+124 VP9/121+125 AV1/99+100"

// Feedback and header extensions of a section that the server receives, sends, or both.
private let seen = ": nack, nack pli, transport-cc · 3 transportSequence, 5 playoutDelay, 8 colorSpace, 4 mid"
private let seenRID =
  "\(seen), 10 rid, 11 repairedRid, 12 dependencyDescriptor, 9 videoLayersAllocation · q h f"
private let seenAlone =
  ": nack, nack pli, transport-cc · 4 transportSequence, 5 playoutDelay, 8 colorSpace, 9 mid, 13 dependencyDescriptor, 14 videoLayersAllocation"
private let shown =
  ": nack, nack pli, ccm fir · 2 absoluteSendTime, 5 playoutDelay, 8 colorSpace, 4 mid, 10 rid, 11 repairedRid"
private let seenAndShown =
  ": nack, nack pli, ccm fir, transport-cc · 2/sendonly absoluteSendTime, 3/recvonly transportSequence, 5 playoutDelay, 8 colorSpace, 4 mid, 10/sendonly rid, 11/sendonly repairedRid"
private let foxSeen = ": nack, nack pli, transport-cc · 3 mid, 7 transportSequence"
private let foxSeenRID =
  "\(foxSeen), 8/recvonly dependencyDescriptor, 9/recvonly rid, 10/recvonly repairedRid · q h f"
private let foxShown = ": nack, nack pli, ccm fir · 3 mid, 4 absoluteSendTime, 6/sendonly playoutDelay"
private let foxSeenAndShown =
  ": nack, nack pli, ccm fir, transport-cc · 3 mid, 4/sendonly absoluteSendTime, 6/sendonly playoutDelay, 7/recvonly transportSequence"

// Whole sections that come often.
private let hear = "recvonly \(opusRED) · 1 audioLevel, 3 transportSequence, 4 mid"
private let talk = "sendonly \(sound) · 1 audioLevel, 2 absoluteSendTime, 4 mid"
private let bothSound =
  "sendrecv \(opusRED) · 1 audioLevel, 2/sendonly absoluteSendTime, 3/recvonly transportSequence, 4 mid"
private let foxHear = "recvonly \(foxSound): transport-cc · 1 audioLevel, 3 mid, 7 transportSequence"
private let foxTalk = "sendonly \(foxSound) · 1 audioLevel, 3 mid"
private let foxBothSound =
  "sendrecv \(foxSound): transport-cc · 1 audioLevel, 3 mid, 7/recvonly transportSequence"

/// What each recorded offer is answered with, MIDs counting from 0.
private let table: [String: [String]] = [
  "chromium-156-audio-only": [hear],
  "chromium-156-audio-video-sendonly": [hear, "recvonly \(coded)\(seen)"],
  "chromium-156-audio-video-sendrecv": [bothSound, "sendrecv \(coded)\(seenAndShown)"],
  "chromium-156-camera-and-screen": [
    hear, "recvonly \(coded)\(seenRID)",
    "recvonly \(coded)\(seen), 12 dependencyDescriptor, 9 videoLayersAllocation",
  ],
  "chromium-156-conference": [hear, "recvonly \(coded)\(seenRID)"] + Array(repeating: talk, count: 3)
    + Array(repeating: "sendonly \(decoded)\(shown), 12 dependencyDescriptor", count: 6) + [
      "declined unsupported"
    ],
  "chromium-156-datachannel": ["declined unsupported"],
  "chromium-156-mdns-recvonly": [talk, "sendonly \(decoded)\(shown)"],
  "chromium-156-only-av1": [bothSound, "sendrecv \(av1)\(seenAndShown)"],
  "chromium-156-only-h264": [bothSound, "sendrecv \(h264)\(seenAndShown)"],
  "chromium-156-only-vp8": [bothSound, "sendrecv VP8/96+97\(seenAndShown)"],
  "chromium-156-only-vp9": [bothSound, "sendrecv \(vp9)\(seenAndShown)"],
  "chromium-156-prefer-av1": [bothSound, "sendrecv \(coded)\(seenAndShown)"],
  "chromium-156-prefer-h264": [bothSound, "sendrecv \(coded)\(seenAndShown)"],
  "chromium-156-prefer-vp8": [bothSound, "sendrecv \(coded)\(seenAndShown)"],
  "chromium-156-prefer-vp9": [bothSound, "sendrecv \(coded)\(seenAndShown)"],
  "chromium-156-recvonly-pool": Array(repeating: talk, count: 3)
    + Array(repeating: "sendonly \(decoded)\(shown)", count: 6),
  "chromium-156-simulcast": [hear, "recvonly \(coded)\(seenRID)"],
  "chromium-156-simulcast-av1": [hear, "recvonly \(av1)\(seenRID)"],
  "chromium-156-simulcast-h264": [hear, "recvonly \(h264)\(seenRID)"],
  "chromium-156-simulcast-vp8": [hear, "recvonly VP8/96+97\(seenRID)"],
  "chromium-156-simulcast-vp9": [hear, "recvonly \(vp9)\(seenRID)"],
  "chromium-156-svc-av1": ["recvonly \(coded)\(seenAlone)"],
  "chromium-156-svc-vp9": ["recvonly \(coded)\(seenAlone)"],
  "chromium-156-trickle-no-candidates": [bothSound, "sendrecv \(coded)\(seenAndShown)"],
  "chromium-156-whep-recvonly": [
    "sendonly \(decoded): nack, nack pli, ccm fir · 2 absoluteSendTime, 5 playoutDelay, 8 colorSpace, 9 mid, 10 rid, 11 repairedRid",
    "sendonly \(sound) · 14 audioLevel, 2 absoluteSendTime, 9 mid",
  ],
  "firefox-153-audio-only": [foxHear],
  "firefox-153-audio-video-sendonly": [foxHear, "recvonly \(foxCodecs)\(foxSeen)"],
  "firefox-153-audio-video-sendrecv": [foxBothSound, "sendrecv \(foxCodecs)\(foxSeenAndShown)"],
  "firefox-153-camera-and-screen": [
    foxHear, "recvonly \(foxCodecs)\(foxSeenRID)",
    "recvonly \(foxCodecs)\(foxSeen), 8/recvonly dependencyDescriptor",
  ],
  "firefox-153-conference": [foxHear, "recvonly \(foxCodecs)\(foxSeenRID)"]
    + Array(repeating: foxTalk, count: 3) + Array(repeating: "sendonly \(foxCodecs)\(foxShown)", count: 6) + [
      "declined unsupported"
    ],
  "firefox-153-datachannel": ["declined unsupported"],
  "firefox-153-mdns-recvonly": [foxTalk, "sendonly \(foxCodecs)\(foxShown)"],
  "firefox-153-only-av1": [foxBothSound, "sendrecv AV1/99+100\(foxSeenAndShown)"],
  "firefox-153-only-vp8": [foxBothSound, "sendrecv VP8/120+124\(foxSeenAndShown)"],
  "firefox-153-only-vp9": [foxBothSound, "sendrecv VP9/121+125\(foxSeenAndShown)"],
  "firefox-153-prefer-av1": [foxBothSound, "sendrecv \(foxCodecs)\(foxSeenAndShown)"],
  "firefox-153-prefer-vp8": [foxBothSound, "sendrecv \(foxCodecs)\(foxSeenAndShown)"],
  "firefox-153-prefer-vp9": [foxBothSound, "sendrecv \(foxCodecs)\(foxSeenAndShown)"],
  "firefox-153-recvonly-pool": Array(repeating: foxTalk, count: 3)
    + Array(repeating: "sendonly \(foxCodecs)\(foxShown)", count: 6),
  "firefox-153-simulcast": [foxHear, "recvonly \(foxCodecs)\(foxSeenRID)"],
  "firefox-153-simulcast-av1": [foxHear, "recvonly AV1/99+100\(foxSeenRID)"],
  "firefox-153-simulcast-vp8": [foxHear, "recvonly VP8/120+124\(foxSeenRID)"],
  "firefox-153-simulcast-vp9": [foxHear, "recvonly VP9/121+125\(foxSeenRID)"],
  "firefox-153-svc-av1": ["recvonly \(foxCodecs)\(foxSeen)"],
  "firefox-153-svc-vp9": ["recvonly \(foxCodecs)\(foxSeen)"],
  "firefox-153-trickle-no-candidates": [foxBothSound, "sendrecv \(foxCodecs)\(foxSeenAndShown)"],
  "firefox-153-whep-recvonly": ["sendonly \(foxCodecs)\(foxShown)", foxTalk],
]

@Suite("Answers to what browsers offer", .timeLimit(.minutes(2)))
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
    // Those that are declined too, where there is a transport.
    for section in accepted.isEmpty ? [] : read.media {
      #expect(section.shared.setup == .passive)
      #expect(section.shared.iceUfrag == "home" && section.shared.icePassword != nil)
      #expect(section.shared.fingerprints.count == 1)
      #expect(section.candidates.count == 2)
      #expect(section.shared.endOfCandidates)
    }
    for section in accepted {
      #expect(section.rtcpMux)
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
      let media = section.payloadTypes.filter { section.rtpMap(of: $0)?.encodingName != "rtx" }
      #expect(track.codecs.map(\.payloadType) == media)
      #expect(Set(track.codecs.map(\.format)).count == media.count)
      #expect(track.codecs[0].transportCC && track.extensions[.transportSequence] != 0)
      // Both browsers adapt by arrival times, so none is sent an estimate; and have PLI, so none a FIR.
      #expect(!track.codecs.contains { $0.remb || $0.fir })
      #expect(track.encodings.compactMap(\.rid) == (offered.simulcast?.send.flatMap { $0 }.map(\.rid) ?? []))
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
    #expect(answer.description.media[0].formatParameters.first?.parameters == parameters)
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
