import Media
import Model
import Testing

@testable import Engine

@Suite("How loud a track is")
struct LevelMeterTests {
  /// Packets every 20 ms.
  func levels(_ attenuations: [UInt8?]) -> [UInt8?] {
    var meter = LevelMeter()
    return attenuations.enumerated().compactMap { index, attenuation -> TrackLevel? in
      var info = PacketInfo()
      info.arrival = Instant(nanoseconds: Int64(index) * 20_000_000)
      if let attenuation {
        info.flags.insert(.audioLevel)
        // The voice bit is no loudness.
        info.audioLevel = attenuation | 0x80
      }
      return meter.note(info)
    }.map(\.attenuation)
  }

  @Test func `a window of a tenth of a second has the mean of its packets`() {
    #expect(levels([50, 10, 20, 30, 40, 50]) == [50, 30])
    #expect(levels(Array(repeating: 127, count: 51)) == Array(repeating: 127, count: 11))
  }

  @Test func `packets that don't say how loud they are leave it open`() {
    #expect(levels(Array(repeating: nil, count: 6)) == [nil, nil])
    #expect(levels([nil, nil, 8, nil, nil, nil]) == [nil, 8])
  }
}
