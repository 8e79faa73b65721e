import Model
import Testing

@testable import Congestion
@testable import Media

@Suite("Subscribers that can't be probed", .timeLimit(.minutes(1)))
struct UnprobedSubscriberTests {
  /// What a subscriber takes: transport-wide numbers, and retransmissions or none.
  private func media(repairs: Bool) -> AgreedMedia {
    var extensions = HeaderExtensionMap()
    extensions[.transportSequence] = 5
    return AgreedMedia(send: [
      SendSection(
        index: 0, mid: "s", kind: .video,
        codecs: [
          NegotiatedCodec(codec: .vp8, payloadType: 100, rtxPayloadType: repairs ? 101 : nil, nack: true)
        ],
        extensions: extensions, ssrc: 7_000, rtxSSRC: repairs ? 7_001 : nil, cname: "us", streamID: "s")
    ])
  }

  @Test func `a subscriber that takes no retransmissions any more can't be probed any more`() throws {
    let person = Person(9, media(repairs: true))
    var random = RandomSource.seeded(state: 1)
    let plan = person.session.takeProbe(now: milliseconds(0))
    let canProbe = person.session.estimator.probes.arePossible
    #expect(plan != nil && canProbe)
    _ = person.session.apply(media(repairs: true), random: &random, context: &person.context)
    let canStill = person.session.estimator.probes.arePossible
    #expect(canStill)
    _ = person.session.apply(media(repairs: false), random: &random, context: &person.context)
    let canYet = person.session.estimator.probes.arePossible
    #expect(!canYet)
  }
}
