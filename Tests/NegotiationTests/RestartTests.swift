import Model
import Negotiation
import Testing
import Wire

@Suite("Answers that flow one way, and ICE restarts apart from offers", .timeLimit(.minutes(1)))
struct RestartTests {
  private var negotiator = Negotiator()
  private let other = ICECredentials(ufrag: "another", password: "anotheranotheranotheranother")

  private mutating func answer(_ directions: [String], narrowedTo direction: MediaDirection) throws -> Answer
  {
    var offer = OfferText()
    offer.sections = directions.enumerated().map { OfferText.video("\($0)", $1, ssrc: 21 + 10 * $0) }
    offer.bundle("0", "1", "2", "3")
    var random = RandomSource.seeded(state: 1)
    return try negotiator.answer(
      to: offer.parsed(), local: local(), direction: direction, random: &random)
  }

  private static let directions = ["sendrecv", "sendonly", "recvonly", "inactive"]

  @Test(
    arguments: [
      (.sendrecv, [.sendrecv, .recvonly, .sendonly, .inactive]),
      (.recvonly, [.recvonly, .recvonly, .inactive, .inactive]),
      (.sendonly, [.sendonly, .inactive, .sendonly, .inactive]),
      (.inactive, [.inactive, .inactive, .inactive, .inactive]),
    ] as [(MediaDirection, [MediaDirection])])
  mutating func `an answer goes no further than it may`(
    direction: MediaDirection, expected: [MediaDirection]
  ) throws {
    let answer = try answer(Self.directions, narrowedTo: direction)
    #expect(answer.description.media.map(\.shared.direction) == expected)
    #expect(answer.agreement.media.receive.count == expected.count { $0.receives })
    #expect(answer.agreement.media.send.count == expected.count { $0.sends })
  }

  @Test mutating func `a restart changes both ends' credentials and nothing else`() throws {
    let before = try negotiator.answer(OfferText()).agreement.media
    let ours = local("second").credentials
    let isRestarted = negotiator.restartICE(remote: other, local: ours)
    #expect(isRestarted)
    #expect(negotiator.media == before)
    #expect(negotiator.remote?.credentials == other)
    let fragment = try #require(
      negotiator.fragment(local("second"), group: ["0", "1"], options: ["trickle"]))
    #expect(fragment.credentials == ours)
    #expect(fragment.sections.map(\.mid) == ["0"] && fragment.iceOptions == ["trickle"])
    #expect(fragment.groups == [GroupAttribute(semantics: "BUNDLE", mids: ["0", "1"])])
    #expect(fragment.sections[0].candidates.count == local().candidates.count)
    #expect(fragment.sections[0].endOfCandidates && fragment.isICELite)
    #expect(try ICEFragment(parsing: Array(fragment.text.utf8)) == fragment)
  }

  @Test mutating func `the fragment stands in the section that carries the transport`() throws {
    _ = try negotiator.answer(OfferText())
    #expect(negotiator.fragment(local(), group: ["1", "0"], options: [])?.sections.map(\.mid) == ["1"])
    #expect(negotiator.fragment(local(), group: [], options: [])?.sections.map(\.mid) == ["0"])
    #expect(negotiator.fragment(local(), group: ["unknown"], options: [])?.sections.map(\.mid) == ["0"])
  }

  @Test mutating func `before anything is agreed on there is nothing to restart`() {
    let isRestarted = negotiator.restartICE(remote: other, local: local().credentials)
    #expect(!isRestarted)
    #expect(negotiator.fragment(local(), group: [], options: []) == nil)
  }

  @Test mutating func `while an offer of ours is out, nothing restarts`() throws {
    _ = try negotiator.answer(OfferText())
    let known = negotiator.remote?.credentials
    var random = RandomSource.seeded(state: 2)
    _ = try negotiator.offer(OfferPlan(audioReceivers: 1), local: local(), random: &random)
    let isRestarted = negotiator.restartICE(remote: other, local: local("second").credentials)
    #expect(!isRestarted)
    #expect(negotiator.remote?.credentials == known)
  }
}
