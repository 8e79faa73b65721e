import AccessTokens
import Congestion
import Engine
import Model
import Signalling
import Testing

@testable import Gateway
@testable import Rooms

@Suite("Explanations on the wire", .timeLimit(.minutes(1)))
struct ExplanationTests {
  private static let own = ParticipantID(known: "PA_own")

  private static func subscription(
    asker: SubscriptionExplanation.Request.Asker, media: SlotExplanation? = nil
  ) -> SubscriptionExplanation {
    SubscriptionExplanation(
      track: TrackInfo(id: TrackID(known: "TR_1"), kind: .video, source: .camera, name: nil),
      publisher: ParticipantName(id: ParticipantID(known: "PA_ada"), identity: "ada", name: "Ada"),
      transport: TransportID(number: 1), mid: "3", state: .paused(.bandwidth), wanted: PicturePreference(),
      media: media, rid: "m", keyFrame: WallTime(milliseconds: 1),
      request: SubscriptionExplanation.Request(at: WallTime(milliseconds: 2), asker: asker),
      reason: .bandwidth(300_000))
  }

  private static func asker(_ name: String, isHidden: Bool) -> SubscriptionExplanation.Request.Asker {
    .participant(
      ParticipantName(id: ParticipantID(known: "PA_\(name)"), identity: name, name: nil), isHidden: isHidden)
  }

  @Test func `who asked for a key frame is named to participants unless it is hidden, and to administrators`()
  {
    let ghost = Self.subscription(asker: Self.asker("ghost", isHidden: true))
    let shown = ExplainedStream(ghost, own: Self.own)
    #expect(shown.keyFrameRequest?.by == .other && shown.keyFrameRequest?.participant == nil)
    #expect(!shown.json.contains("ghost"))
    #expect(ExplainedStream(ghost).keyFrameRequest?.participant == "PA_ghost")
    let bob = ExplainedStream(Self.subscription(asker: Self.asker("bob", isHidden: false)), own: Self.own)
    #expect(bob.keyFrameRequest?.participant == "PA_bob")
    // One that is hidden itself knows of itself.
    let itself = ExplainedStream(Self.subscription(asker: Self.asker("own", isHidden: true)), own: Self.own)
    #expect(itself.keyFrameRequest?.participant == "PA_own")
  }

  @Test func `every reason has its word`() {
    for code in StreamReason.codes { #expect(StreamReasonWord(rawValue: code) != nil, "\(code)") }
    #expect(StreamReason.codes.count == StreamReasonWord.allCases.count)
  }

  @Test func `numbers are finite, short, and left out where they aren't known`() {
    var slot = SlotExplanation(slot: 0, track: TrackKey(peer: PeerKey(home: 0, serial: 1), index: 0))
    (slot.loss, slot.bitrate) = (1.0 / 3, .infinity)
    slot.sent = LayerOption(encoding: 1, spatial: 0, temporal: 2, rate: 1, peak: 1)
    let stream = ExplainedStream(Self.subscription(asker: .server, media: slot))
    #expect(stream.loss == 0.3333 && stream.bitrate == 1_000_000_000_000_000)
    #expect(stream.sent?.rid == "m" && stream.sent?.width == nil && stream.sent?.temporal == 2)
    #expect(stream.roundTrip == nil && !stream.json.contains("roundTrip"))
    var peer = PeerExplanation(peer: PeerKey(home: 0, serial: 1), roundTrip: .microseconds(12_345))
    (peer.wanted, peer.allotted, peer.loss) = (.infinity, -1, 0.00004)
    let report = TransportReport(peer)
    #expect(report.target == nil && report.wanted > 0 && report.allotted == 0)
    #expect(report.loss == 0 && report.roundTrip == 0.012)
  }
}
