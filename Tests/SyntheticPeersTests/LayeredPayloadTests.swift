import Model
import Testing
import Wire

@testable import SyntheticPeers

/// The packets of H.264 that comes in several encodings.
@Suite("H.264 in encodings, as synthetic peers send it", .timeLimit(.minutes(1)))
struct LayeredPayloadTests {
  private static let structure = LayerStructure(codec: .h264, temporalLayers: 3)
  private static let stampSize = 60

  /// The payloads of one frame.
  /// - Parameter place: of its picture behind the key frame.
  private func frame(isKey: Bool, place: Int, parts: Int) -> [[UInt8]] {
    let frame = LayerFrame(
      encoding: 0, picture: 0, spatial: 0, temporal: Self.structure.temporal(place), isKey: isKey,
      references: [], packets: parts, timestamp: 0, pictureID: 0, tl0PictureIndex: 0,
      sentAt: Instant(nanoseconds: 0), bytes: 0, moment: 0)
    return (0..<parts).map { part in
      let mark = LayeredPayload.Mark(
        frame: frame, place: place, part: part, parts: parts,
        encoding: LayeredVideo.Encoding(rid: "h", width: 640, height: 360, rate: 200_000))
      let stamp = PayloadStamp(
        publisher: 3, track: 1, packet: UInt32(part), frame: 2, length: UInt16(Self.stampSize),
        isKeyFrame: isKey, isFrameStart: part == 0, isFrameEnd: part == parts - 1)
      var bytes = LayeredPayload.head(mark, Self.structure, stampSize: Self.stampSize)
      stamp.write(to: &bytes)
      return bytes
    }
  }

  private func units(_ bytes: [UInt8]) throws -> H264Payload {
    try bytes.withUnsafeBytes { try H264Payload($0) }
  }

  /// Of fragments which begin a unit and which end one.
  private func cuts(_ packets: [[UInt8]]) -> (begin: [Int], end: [Int]) {
    let fragments = packets.indices.filter { packets[$0][0] & 0x1F == 28 }
    return (fragments.filter { packets[$0][1] & 0x80 != 0 }, fragments.filter { packets[$0][1] & 0x40 != 0 })
  }

  @Test
  func `a key frame brings its parameter sets in an aggregate, and what that doesn't hold in fragments`()
    throws
  {
    for (parts, kinds) in [(1, [24]), (2, [24, 5]), (4, [24, 28, 28, 28])] as [(Int, [UInt8])] {
      let packets = frame(isKey: true, place: 0, parts: parts)
      #expect(packets.map { $0[0] & 0x1F } == kinds)
      for (part, bytes) in packets.enumerated() {
        let found = try units(bytes)
        #expect(found.startsKeyFrame == (part == 0) && found.startsFrame == (part == 0))
        #expect(!found.isDiscardable)
      }
    }
    let cuts = cuts(frame(isKey: true, place: 0, parts: 4))
    #expect(cuts.begin == [1] && cuts.end == [3])
  }

  @Test func `another frame is one unit or its fragments, and says whether others refer to it`() throws {
    for (place, isFree) in [(1, true), (2, false), (3, true), (4, false)] {
      for (parts, kinds) in [(1, [1]), (3, [28, 28, 28])] as [(Int, [UInt8])] {
        let packets = frame(isKey: false, place: place, parts: parts)
        #expect(packets.map { $0[0] & 0x1F } == kinds)
        for (part, bytes) in packets.enumerated() {
          let found = try units(bytes)
          #expect(found.startsFrame == (part == 0) && !found.startsKeyFrame)
          #expect(found.isDiscardable == isFree, "picture \(place)")
        }
      }
    }
    let cuts = cuts(frame(isKey: false, place: 1, parts: 3))
    #expect(cuts.begin == [0] && cuts.end == [2])
  }

  @Test func `what is in it is read as it was written`() throws {
    for isKey in [true, false] {
      for parts in 1...4 {
        for (part, bytes) in frame(isKey: isKey, place: isKey ? 0 : 1, parts: parts).enumerated() {
          let (stamp, mark) = try #require(bytes.withUnsafeBytes { PayloadFormat.read($0, .h264) })
          #expect(Int(stamp.packet) == part && stamp.isFrameEnd == (part == parts - 1))
          #expect(mark.startsFrame == (part == 0) && mark.isKeyFrame == isKey)
        }
      }
    }
  }

  @Test func `a parameter set has the size of the pictures`() {
    for (width, height) in [(1_920, 1_080), (1_280, 720), (640, 360), (320, 180), (176, 144), (2, 2)]
      as [(UInt16, UInt16)]
    {
      let set = LayeredPayload.sequenceSet(
        LayeredVideo.Encoding(rid: "h", width: width, height: height, rate: 1))
      let found = set.withUnsafeBytes { H264ParameterSet.pictureSize($0) }
      #expect(found == PictureSize(width: width, height: height))
    }
  }
}
