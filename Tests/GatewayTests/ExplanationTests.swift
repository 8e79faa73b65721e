import AccessTokens
import Congestion
import Engine
import Foundation
import Model
import Signalling
import TestScripts
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
    #expect(Set(Self.reasons.map(\.code)) == Set(StreamReason.codes))
  }

  /// One of each kind of sentence.
  private static let reasons: [StreamReason] = [
    .best, .publisher("ada", lines: 360), .publisher("ada", lines: 0), .bandwidth(420_000), .held(420_000),
    .view(.width(320)), .view(.height(180)), .view(.quality(.low)), .view(.frameRate(15)), .off,
    .mutedByPublisher("ada"), .mutedByAdmin, .noMedia("ada"), .noSlot, .codec, .keyFrame("ada"), .connecting,
    .unknown,
  ]

  /// A case that is new doesn't compile before it stands here, with a place of its own above.
  private static func kind(_ reason: StreamReason) -> Int {
    switch reason {
    case .best: 0
    case .publisher(_, let lines): lines > 0 ? 1 : 2
    case .bandwidth: 3
    case .held: 4
    case .view(.width): 5
    case .view(.height): 6
    case .view(.quality): 7
    case .view(.frameRate): 8
    case .off: 9
    case .mutedByPublisher: 10
    case .mutedByAdmin: 11
    case .noMedia: 12
    case .noSlot: 13
    case .codec: 14
    case .keyFrame: 15
    case .connecting: 16
    case .unknown: 17
    }
  }

  /// The table of docs/rest.md, by word; Tests/Pages/explained.mjs holds the words of the server's page to the same table.
  private static func documented() throws -> [String: [String]] {
    let page = try String(contentsOf: Script.root.appending(path: "docs/rest.md"), encoding: .utf8)
    let section = try #require(
      page.components(separatedBy: "\n## Explanations\n").last?.components(separatedBy: "\n## ").first)
    var rows: [String: [String]] = [:]
    for line in section.components(separatedBy: "\n") where line.hasPrefix("| `") {
      let cells = line.components(separatedBy: " | ")
      guard cells.count == 2, !cells[1].hasPrefix("`") else { continue }
      rows[String(cells[0].dropFirst(3).dropLast())] = String(cells[1].dropLast(2)).components(
        separatedBy: "; ")
    }
    return rows
  }

  @Test func `every sentence of every reason stands in docs/rest.md, and no other does`() throws {
    #expect(Self.reasons.map(Self.kind) == Array(0..<Self.reasons.count))
    let rows = try Self.documented()
    #expect(Set(rows.keys) == Set(StreamReason.codes))
    for (code, sentences) in rows {
      let own = Self.reasons.filter { $0.code == code }.map(\.text)
      #expect(Set(sentences) == Set(own), "\(code)")
    }
  }

  @Test func `a sentence is short, begins without a capital and ends without a stop`() {
    for reason in Self.reasons {
      let text = reason.text
      #expect(text.first?.isUppercase == false && text.last?.isPunctuation == false, "\(text)")
      #expect(text.utf8.count <= 80 && !text.contains("("), "\(text)")
    }
    #expect(Set(Self.reasons.map(\.text)).count == Self.reasons.count, "each says something else")
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
