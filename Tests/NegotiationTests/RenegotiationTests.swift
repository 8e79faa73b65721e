import Model
import Negotiation
import Testing
import Wire

@Suite("Offer after offer", .timeLimit(.minutes(2)))
struct RenegotiationTests {
  private var negotiator = Negotiator()
  private var offer = OfferText()

  @Test mutating func `the same offer again changes nothing but the version`() throws {
    let first = try negotiator.answer(offer)
    var second = try negotiator.answer(offer, seed: 99)
    #expect(second.description.origin.sessionID == first.description.origin.sessionID)
    #expect(first.description.origin.version == 1 && second.description.origin.version == 2)
    second.description.origin = first.description.origin
    #expect(second == first)
  }

  @Test(arguments: [
    ([true, true], true), ([true, false], false), ([false, false], false),
  ])
  func `RTCP is of reduced size where every section that flows agrees`(offered: [Bool], agreed: Bool) throws {
    var negotiator = Negotiator()
    var offer = OfferText()
    for (index, isOffered) in offered.enumerated() where isOffered {
      offer.sections[index].append("a=rtcp-rsize")
    }
    let answer = try negotiator.answer(offer)
    #expect(try SessionDescription(parsing: answer.sdp).media.map(\.rtcpReducedSize) == offered)
    #expect(answer.agreement.media.allowsReducedSizeRTCP == agreed)
    #expect(negotiator.media.allowsReducedSizeRTCP == agreed)
  }

  @Test mutating func `an offer can take reduced-size RTCP back, and a section at rest has no say`() throws {
    offer.sections[0].append("a=rtcp-rsize")
    #expect(try !negotiator.answer(offer).agreement.media.allowsReducedSizeRTCP)
    offer.replace("a=sendonly", with: "a=inactive", in: 1)
    #expect(try negotiator.answer(offer).agreement.media.allowsReducedSizeRTCP)
    offer.replace("a=rtcp-rsize", with: nil)
    #expect(try !negotiator.answer(offer).agreement.media.allowsReducedSizeRTCP)
  }

  @Test mutating func `new sections get new numbers and old ones keep theirs`() throws {
    _ = try negotiator.answer(offer)
    offer.sections.append(OfferText.audio("2", "recvonly"))
    offer.sections.append(OfferText.video("3", ssrc: 41))
    offer.bundle("0", "1", "2", "3")
    let answer = try negotiator.answer(offer, seed: 2)
    #expect(
      answer.outcomes == [
        .accepted(receive: 0, send: nil), .accepted(receive: 1, send: nil), .accepted(receive: nil, send: 0),
        .accepted(receive: 2, send: nil),
      ])
    #expect(answer.agreement.media.receive.map(\.mid) == ["0", "1", "3"])
    #expect(negotiator.media == answer.agreement.media)
  }

  @Test mutating func `a slot keeps its identity from offer to offer`() throws {
    offer.sections = [OfferText.audio("0", "recvonly"), OfferText.video("1", "recvonly")]
    let first = try negotiator.answer(offer).agreement.media.send
    offer.sections.append(OfferText.video("2", "recvonly"))
    offer.bundle("0", "1", "2")
    let second = try negotiator.answer(offer, seed: 5).agreement.media.send
    #expect(Array(second.prefix(2)) == first)
    #expect(second[2].streamID != first[1].streamID)
    #expect(first[0].streamID == first[1].streamID)
  }

  @Test mutating func `an SSRC never comes back under the same keys`() throws {
    offer.sections = [OfferText.audio("0"), OfferText.video("1", "recvonly")]
    var seen: Set<UInt32> = []
    for round in 0..<50 {
      offer.sections[1] = OfferText.video("1", round.isMultiple(of: 2) ? "recvonly" : "inactive")
      let answer = try negotiator.answer(offer, seed: 3)
      #expect(answer.agreement.media.send.count == (round + 1) % 2)
      for slot in answer.agreement.media.send {
        #expect(slot.index == UInt16(round / 2))
        #expect(seen.insert(slot.ssrc).inserted)
        #expect(try seen.insert(#require(slot.rtxSSRC)).inserted)
      }
    }
  }

  @Test mutating func `a track that pauses by direction comes back as a new one`() throws {
    let first = try negotiator.answer(offer)
    offer.replace("a=sendonly", with: "a=inactive", in: 1)
    let paused = try negotiator.answer(offer)
    #expect(paused.outcomes[1] == .accepted(receive: nil, send: nil))
    #expect(paused.description.media[1].shared.direction == .inactive)
    #expect(paused.description.media[1].port != 0)
    offer = OfferText()
    let again = try negotiator.answer(offer)
    #expect(first.outcomes[1] == .accepted(receive: 1, send: nil))
    #expect(again.outcomes[1] == .accepted(receive: 2, send: nil))
  }

  @Test mutating func `a section may turn around`() throws {
    _ = try negotiator.answer(offer)
    offer.sections[1] = OfferText.video("1", "recvonly")
    #expect(try negotiator.answer(offer).outcomes[1] == .accepted(receive: nil, send: 0))
    offer.sections[1] = OfferText.video("1", "sendrecv")
    #expect(try negotiator.answer(offer).outcomes[1] == .accepted(receive: 2, send: 0))
  }

  @Test mutating func `a stopped section rests, and its place is taken under a new MID`() throws {
    _ = try negotiator.answer(offer)
    offer.stop(1)
    offer.bundle("0")
    let stopped = try negotiator.answer(offer)
    #expect(stopped.outcomes == [.accepted(receive: 0, send: nil), .stopped])
    #expect(stopped.description.media[1].port == 0)
    #expect(stopped.description.groups.map(\.mids) == [["0"]])
    #expect(negotiator.media.receive.map(\.mid) == ["0"])

    offer.sections[1] = OfferText.audio("new", ssrc: 51)
    offer.bundle("0", "new")
    let reused = try negotiator.answer(offer)
    #expect(reused.outcomes[1] == .accepted(receive: 2, send: nil))
    #expect(reused.agreement.media.receive.map(\.mid) == ["0", "new"])
    #expect(reused.agreement.media.receive.map(\.kind) == [.audio, .audio])
  }

  @Test mutating func `the first section may go; the next carries the transport`() throws {
    _ = try negotiator.answer(offer)
    offer.stop(0)
    offer.bundle("1")
    let answer = try negotiator.answer(offer)
    #expect(answer.description.groups.map(\.mids) == [["1"]])
    #expect(answer.agreement.transport?.restartsICE == false)
  }

  @Test mutating func `a declined section may come back changed`() throws {
    offer.replace("a=rtcp-mux", with: nil, in: 1)
    #expect(try negotiator.answer(offer).outcomes[1] == .declined(.rtcpMux))
    offer = OfferText()
    #expect(try negotiator.answer(offer).outcomes[1] == .accepted(receive: 1, send: nil))
  }

  @Test mutating func `a restart is reported, and takes new credentials of ours`() throws {
    let first = try #require(try negotiator.answer(offer).agreement.transport)
    #expect(!first.restartsICE && first.localCredentials.ufrag == "home")
    let second = try #require(try negotiator.answer(offer, local: local("other")).agreement.transport)
    #expect(!second.restartsICE && second.localCredentials.ufrag == "home")

    offer.replace("a=ice-ufrag", with: "a=ice-ufrag:remote2")
    let answer = try negotiator.answer(offer, local: local("other"))
    let third = try #require(answer.agreement.transport)
    #expect(third.restartsICE && third.localCredentials.ufrag == "other")
    #expect(third.remote.credentials.ufrag == "remote2")
    #expect(answer.description.media.allSatisfy { $0.shared.iceUfrag == "other" })
    #expect(
      try negotiator.answer(offer, local: local("third")).agreement.transport?.localCredentials.ufrag
        == "other")
  }

  @Test mutating func `the password alone restarts too`() throws {
    _ = try negotiator.answer(offer)
    offer.replace("a=ice-pwd", with: "a=ice-pwd:anotherpasswordanotherpassword")
    #expect(try negotiator.answer(offer).agreement.transport?.restartsICE == true)
  }

  @Test mutating func `roles stay for life`() throws {
    _ = try negotiator.answer(offer)
    offer.replace("a=setup", with: "a=setup:active")
    #expect(try negotiator.answer(offer).agreement.transport?.remote.role == .server)
    offer.replace("a=setup", with: "a=setup:passive")
    try refuses(.roleChanged(section: 0, .passive))

    negotiator = Negotiator()
    _ = try negotiator.answer(offer)
    offer.replace("a=setup", with: "a=setup:actpass")
    #expect(try negotiator.answer(offer).description.media[0].shared.setup == .active)
    offer.replace("a=setup", with: "a=setup:active")
    try refuses(.roleChanged(section: 0, .active))
  }

  @Test mutating func `another certificate needs another transport`() throws {
    _ = try negotiator.answer(offer)
    let digest = Array(repeating: "CD", count: 32).joined(separator: ":")
    offer.replace("a=fingerprint", with: "a=fingerprint:sha-256 \(digest)")
    try refuses(.fingerprintChanged(section: 0))
  }

  @Test mutating func `sections neither vanish nor change under their index`() throws {
    _ = try negotiator.answer(offer)
    let good = offer
    offer.sections.removeLast()
    try refuses(.sectionsMissing(found: 1, agreed: 2))
    offer = good
    offer.sections.swapAt(0, 1)
    try refuses(.sectionChanged(section: 0, agreed: "audio with mid 0", found: "video with mid 1"))
    offer = good
    offer.replace("a=mid", with: nil, in: 1)
    try refuses(.sectionChanged(section: 1, agreed: "video with mid 1", found: "video with mid (none)"))
    offer = good
    #expect(try negotiator.answer(offer).outcomes[1] == .accepted(receive: 1, send: nil))
  }

  @Test mutating func `an id that was agreed on stays what it is`() throws {
    _ = try negotiator.answer(offer)
    offer.sections.append(OfferText.audio("2", ssrc: 61))
    offer.bundle("0", "1", "2")
    offer.replace("a=extmap", with: "a=extmap:9 urn:ietf:params:rtp-hdrext:sdes:mid")
    let answer = try negotiator.answer(offer)
    #expect(answer.agreement.media.receive.map { $0.extensions[.mid] } == [0, 0, 0])
    offer.replace("a=extmap", with: "a=extmap:4 urn:stolen")
    #expect(
      try negotiator.answer(offer).outcomes == Array(repeating: .declined(.extensionConflict), count: 3))
  }

  @Test mutating func `the numbers of one transport run out and nothing else does`() throws {
    offer.sections = (0..<64).flatMap {
      [OfferText.audio("a\($0)", ssrc: 1000 + $0), OfferText.audio("b\($0)", "recvonly")]
    }
    offer.session = ["a=group:BUNDLE " + (0..<64).map { "a\($0) b\($0)" }.joined(separator: " ")]
    let on = try offer.parsed()
    var off = on
    for index in off.media.indices { off.media[index].port = 0 }
    var random = RandomSource.seeded(state: 1)
    for round in 1...16 {
      let media = try negotiator.answer(to: on, local: local(), random: &random).agreement.media
      #expect(
        media.receive.last?.index == UInt16(round * 64 - 1)
          && media.send.last?.index == UInt16(round * 64 - 1))
      #expect(media.receive.count == 64 && media.send.count == 64)
      let stopped = try negotiator.answer(to: off, local: local(), random: &random)
      #expect(stopped.outcomes.allSatisfy { $0 == .stopped })
    }
    #expect(Negotiator.maximumIndices == 16 * 64)
    let last = try negotiator.answer(to: on, local: local(), random: &random)
    #expect(last.outcomes.allSatisfy { $0 == .declined(.limit) })
    #expect(last.agreement.media == AgreedMedia())
  }

  private mutating func refuses(_ expected: NegotiationError) throws {
    let before = negotiator
    #expect(throws: expected) { try negotiator.answer(offer) }
    #expect(negotiator == before)
  }
}
