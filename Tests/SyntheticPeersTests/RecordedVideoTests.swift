import Model
import Testing

@testable import SyntheticPeers

/// Files that are played over and over.
@Suite("Recorded video", .timeLimit(.minutes(1)))
struct RecordedVideoTests {
  private static func little(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private func file(
    codec: String = "VP80", rate: Int = 15, scale: Int = 1, header: Int = 32, _ pictures: [[UInt8]]
  ) -> [UInt8] {
    var bytes = Array("DKIF".utf8) + Self.little(0, 2) + Self.little(header, 2) + Array(codec.utf8)
    bytes += Self.little(320, 2) + Self.little(180, 2) + Self.little(rate, 4) + Self.little(scale, 4)
    bytes += [UInt8](repeating: 0, count: 8)
    for picture in pictures { bytes += Self.little(picture.count, 4) + Self.little(0, 8) + picture }
    return bytes
  }

  private let key: [UInt8] = [0x10, 1, 2, 3]
  private let delta: [UInt8] = [0x11, 4]

  @Test func `a file is what it says, picture by picture`() throws {
    let clip = try RecordedVideo(ivf: file([key, delta, delta]))
    #expect(clip.width == 320 && clip.height == 180 && clip.interval == 66_666_666)
    #expect(clip.pictures.map(Array.init) == [key, delta, delta])
  }

  @Test func `a file that can't be played says why`() {
    let whole = file([key, delta])
    for length in 0..<whole.count where length != whole.count - 14 {
      #expect(throws: RecordedVideo.Problem.self) { try RecordedVideo(ivf: Array(whole[..<length])) }
    }
    #expect(throws: RecordedVideo.Problem.notVP8) { try RecordedVideo(ivf: file(codec: "VP90", [key])) }
    #expect(throws: RecordedVideo.Problem.beginsWithoutKeyFrame) {
      try RecordedVideo(ivf: file([delta, key]))
    }
    #expect(throws: RecordedVideo.Problem.truncated) { try RecordedVideo(ivf: file([])) }
    #expect(throws: RecordedVideo.Problem.truncated) { try RecordedVideo(ivf: file([key, []])) }
    for (rate, scale) in [(0, 1), (15, 0), (10_000, 1), (1, 2)] {
      #expect(throws: RecordedVideo.Problem.notIVF) {
        try RecordedVideo(ivf: file(rate: rate, scale: scale, [key]))
      }
    }
    #expect(throws: RecordedVideo.Problem.notIVF) { try RecordedVideo(ivf: file(header: 31, [key])) }
    #expect(throws: RecordedVideo.Problem.truncated) { try RecordedVideo(ivf: file(header: 65_535, [key])) }
  }
}
