import AccessTokens
import Model
import Testing

@testable import Rooms

@Suite("The state in which a participant was last announced", .timeLimit(.minutes(1)))
struct LastInfoTests {
  private static let id = ParticipantID(known: "PA_1")
  /// "é" in one character and in two, which Unicode calls equivalent.
  private static let composed = "\u{E9}"
  private static let decomposed = "e\u{301}"

  private func info(
    identity: String = "ada", name: String? = nil, metadata: String? = nil,
    attributes: [String: String] = [:], track: String? = nil
  ) -> ParticipantInfo {
    var info = ParticipantInfo(
      id: Self.id, identity: identity, name: name, metadata: metadata, attributes: attributes, tracks: [])
    if let track {
      info.tracks = [TrackInfo(id: TrackID(known: "TR_1"), kind: .video, source: .camera, name: track)]
    }
    return info
  }

  @Test func `what is the same is encoded once`() {
    let last = LastInfo()
    let all = ["a": Self.composed]
    let first = last.same(as: info(name: Self.composed, metadata: "m", attributes: all, track: "t"))
    let second = last.same(as: info(name: Self.composed, metadata: "m", attributes: all, track: "t"))
    #expect(first.wire === second.wire)
  }

  @Test func `texts in other bytes are another state, though Unicode calls them equivalent`() {
    let pairs = [Self.composed, Self.decomposed].map { text in
      [
        info(identity: text), info(name: text), info(metadata: text), info(attributes: ["a": text]),
        info(attributes: [text: "a"]), info(track: text),
      ]
    }
    for (one, other) in zip(pairs[0], pairs[1]) {
      #expect(one == other, "equal as Swift compares strings")
      let last = LastInfo()
      let first = last.same(as: one)
      let second = last.same(as: other)
      #expect(first.wire !== second.wire)
      #expect(second.isExactly(other) && !second.isExactly(one))
    }
  }

  @Test func `what is there and what is not are two states`() {
    let last = LastInfo()
    let first = last.same(as: info(name: ""))
    #expect(last.same(as: info()).wire !== first.wire)
  }
}
