import Model
import Negotiation
import Testing
import Wire

@Suite("Offers at the limits of size", .timeLimit(.minutes(2)))
struct LimitTests {
  /// Thousands of lines of one kind in the second section, each as `line` makes it from its number.
  @Test(
    arguments: [
      "a=ssrc:# cname:#", "a=ssrc-group:F # #", "a=fmtp:97 apt=#", "a=rtcp-fb:* #", "a=rid:r# send", "a=x#",
      "a=msid:s# t#", "a=ice-options:#", "b=AS:#", "a=fingerprint:x# AA",
    ])
  func `ten thousand lines of one kind change nothing`(line: String) throws {
    var offer = OfferText()
    let room = SessionDescription.maximumLines - offer.sections.joined().count - 5
    offer.sections[1] += (1...room).map { line.replacing("#", with: "\($0)") }
    var negotiator = Negotiator()
    let answer = try negotiator.answer(offer)
    #expect(answer.outcomes == [.accepted(receive: 0, send: nil), .accepted(receive: 1, send: nil)])
    #expect(answer.description.text.utf8.count < 4_000)
    offer.sections[1].append("a=x")
    #expect(throws: SDPError.tooManyLines(limit: 10_000)) { try offer.parsed() }
  }

  @Test func `all sections with all groups are answered`() throws {
    let mids = (0..<128).map { "\($0)" }
    var offer = OfferText()
    offer.sections = mids.map { OfferText.audio($0, "recvonly") }
    offer.session =
      Array(repeating: "a=group:BUNDLE x", count: 200) + ["a=group:BUNDLE " + mids.joined(separator: " ")]
    var negotiator = Negotiator()
    let answer = try negotiator.answer(offer)
    #expect(answer.agreement.media.send.count == 128)
    #expect(Set(answer.agreement.media.send.map(\.streamID)).count == 128)
    #expect(try SessionDescription(parsing: answer.sdp) == answer.description)
  }

  @Test func `candidates and fingerprints are kept in a measure`() throws {
    var offer = OfferText()
    offer.sections[0] += (1...3_000).map { "a=candidate:1 1 udp \($0) 10.0.0.1 \($0) typ host" }
    offer.sections[0] += (0..<100).map { number in
      "a=fingerprint:sha-256 " + Array(repeating: "\(number % 10)0", count: 32).joined(separator: ":")
    }
    var negotiator = Negotiator()
    let transport = try #require(try negotiator.answer(offer).agreement.transport)
    #expect(transport.remoteCandidates.count == 64)
    #expect(transport.remoteCandidates.first?.port == 3_000)
    #expect(transport.remote.fingerprints.count == 8)
  }
}
