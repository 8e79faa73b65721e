import Model
import Testing

@testable import Simulation
@testable import SyntheticPeers

/// What a decoder needs of a stream, whether it sees what refers to what or not.
@Suite("A decoder's needs", .timeLimit(.minutes(1)))
struct ModelDecoderTests {
  private static func packet(_ number: Int, temporal: Int, isNamed: Bool) -> ModelDecoder.Packet {
    let frame = LayerFrame(
      encoding: 0, picture: number, spatial: 0, temporal: temporal, isKey: number == 0,
      references: number == 0 ? [] : [0], packets: temporal == 0 ? 1 : 2, timestamp: UInt32(number) * 3_000,
      pictureID: UInt16(number), tl0PictureIndex: 0, sentAt: Instant(nanoseconds: 0), bytes: 1_000,
      moment: number)
    return ModelDecoder.Packet(
      sequence: UInt16(number), timestamp: UInt32(number) * 3_000, isMarked: temporal == 0,
      pictureID: UInt16(number), tl0PictureIndex: nil, isVP8: true, track: TrackName(1, 0), frame: frame,
      frameNumber: number, place: 0, namesReferences: isNamed)
  }

  @Test(arguments: [false, true])
  func `key frame, half of 1, 0: none but those who see what refers to what go on`(isNamed: Bool) {
    var decoder = ModelDecoder()
    var problems: [String] = []
    for (number, temporal) in [0, 1, 0].enumerated() {
      problems += decoder.take(Self.packet(number, temporal: temporal, isNamed: isNamed)).problems
    }
    #expect(problems.isEmpty == isNamed, "\(problems)")
  }
}
