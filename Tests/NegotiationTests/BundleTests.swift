import Model
import Negotiation
import Testing
import Wire

@Suite("Bundles, RFC 9143", .timeLimit(.minutes(2)))
struct BundleTests {
  private func answer(_ change: (inout OfferText) -> Void) throws -> Answer {
    var offer = OfferText()
    change(&offer)
    var negotiator = Negotiator()
    return try negotiator.answer(offer)
  }

  @Test func `without group the first section goes alone`() throws {
    let answer = try answer { $0.session = [] }
    #expect(answer.outcomes == [.accepted(receive: 0, send: nil), .declined(.notBundled)])
    #expect(answer.description.groups.isEmpty)
  }

  @Test func `a single section needs neither group nor MID`() throws {
    let answer = try answer {
      $0.session = []
      $0.sections = [OfferText.audio("0")]
      $0.replace("a=mid", with: nil)
      $0.replace("a=extmap", with: nil)
    }
    #expect(answer.outcomes == [.accepted(receive: 0, send: nil)])
    #expect(answer.agreement.media.receive.map(\.mid) == [""])
    #expect(answer.description.media[0].mid == nil)
  }

  @Test func `unknown and repeated MIDs in a group are passed over`() throws {
    let answer = try answer { $0.bundle("x", "1", "1", "0", "y") }
    #expect(answer.description.groups == [GroupAttribute(semantics: "BUNDLE", mids: ["1", "0"])])
  }

  @Test func `a group of unknown MIDs is no group`() throws {
    let answer = try answer { $0.bundle("x", "y") }
    #expect(answer.outcomes == [.accepted(receive: 0, send: nil), .declined(.notBundled)])
    #expect(answer.description.groups.isEmpty)
  }

  @Test func `of two groups the first that is of use is taken`() throws {
    let answer = try answer {
      $0.sections[0][0] = "m=application 9 UDP/DTLS/SCTP webrtc-datachannel"
      $0.sections.append(OfferText.audio("2", ssrc: 31))
      $0.session = ["a=group:LS 1 2", "a=group:BUNDLE 0", "a=group:BUNDLE 2 1"]
    }
    #expect(
      answer.outcomes == [
        .declined(.unsupported), .accepted(receive: 0, send: nil), .accepted(receive: 1, send: nil),
      ])
    #expect(answer.description.groups.map(\.mids) == [["2", "1"]])
  }

  @Test func `the transport is that of the first section accepted`() throws {
    let answer = try answer {
      $0.replace("a=rtcp-mux", with: nil, in: 0)
      $0.replace("a=ice-ufrag", with: "a=ice-ufrag:second", in: 1)
    }
    #expect(answer.agreement.transport?.remote.credentials.ufrag == "second")
    #expect(answer.description.media[1].candidates.count == 2)
  }

  /// aiortc takes the candidates of the last section, and no answer in which a section lacks credentials or codecs.
  @Test func `sections that are declined or stopped name the transport too`() throws {
    var offer = OfferText()
    offer.replace("a=rtcp-mux", with: nil, in: 1)
    offer.sections.append(OfferText.audio("2", ssrc: 31))
    offer.stop(2)
    var negotiator = Negotiator()
    let answer = try negotiator.answer(offer)
    #expect(answer.outcomes == [.accepted(receive: 0, send: nil), .declined(.rtcpMux), .stopped])
    let sections = try SessionDescription(parsing: answer.sdp).media
    #expect(sections.map { $0.port == 0 } == [false, true, true])
    for section in sections {
      #expect(section.candidates == sections[0].candidates && section.candidates.count == 2)
      #expect(section.shared.iceCredentials == local().credentials)
      #expect(section.shared.fingerprints.count == 1 && section.shared.setup == .passive)
    }
    #expect(sections[1].formats.count == 1 && sections[1].rtpMaps.count == 1)
    #expect(sections.map(\.rtcpMux) == [true, false, true])
    #expect(sections[1].shared.direction == .inactive)
  }

  @Test func `without a transport no section names one`() throws {
    let answer = try answer { $0.replace("a=rtcp-mux", with: nil) }
    #expect(answer.description.media.allSatisfy { $0.candidates.isEmpty && $0.shared.iceUfrag == nil })
  }

  @Test func `the offer's first section carries the transport even if we have none of its codecs`() throws {
    var offer = OfferText()
    offer.replace("a=rtpmap:111", with: "a=rtpmap:111 CN/8000", in: 0)
    offer.replace("a=ice-ufrag", with: nil, in: 1)
    var negotiator = Negotiator()
    for _ in 1...2 {
      let answer = try negotiator.answer(offer)
      #expect(answer.outcomes == [.declined(.codec), .accepted(receive: 0, send: nil)])
      #expect(answer.description.groups.map(\.mids) == [["0", "1"]])
      let carrier = answer.description.media[0]
      #expect(carrier.port == 7882 && carrier.candidates.count == 2)
      #expect(carrier.shared.direction == .inactive && carrier.formats == ["111"])
      #expect(carrier.rtpMaps.map(\.encodingName) == ["CN"] && carrier.shared.extensions.isEmpty)
      #expect(answer.agreement.media.receive.map(\.mid) == ["1"])
      #expect(answer.agreement.transport?.remote.credentials.ufrag == "remote")
    }
    offer.stop(1)
    let alone = try negotiator.answer(offer)
    #expect(alone.outcomes == [.declined(.codec), .stopped])
    #expect(alone.description.media.map(\.port) == [0, 0] && alone.agreement.transport == nil)
  }

  @Test func `a bundled section may leave the transport to others`() throws {
    let answer = try answer {
      for line in ["a=ice-", "a=fingerprint", "a=setup"] { $0.replace(line, with: nil, in: 1) }
    }
    #expect(answer.outcomes == [.accepted(receive: 0, send: nil), .accepted(receive: 1, send: nil)])
  }

  @Test func `bundle-only is no refusal, port 0 alone is`() throws {
    let answer = try answer {
      $0.stop(1)
      $0.sections[1].append("a=bundle-only")
    }
    #expect(answer.outcomes[1] == .accepted(receive: 1, send: nil))
    #expect(answer.description.media[1].port == 7882 && !answer.description.media[1].isBundleOnly)
    #expect(try self.answer { $0.stop(1) }.outcomes[1] == .stopped)
  }

  @Test func `where nothing is accepted there is an answer and no transport`() throws {
    let answer = try answer { $0.replace("a=rtpmap", with: nil) }
    #expect(answer.outcomes == [.declined(.codec), .declined(.codec)])
    #expect(answer.agreement.transport == nil)
    #expect(answer.description.groups.isEmpty)
    #expect(answer.description.media.map(\.port) == [0, 0])
  }
}
