import Media
import Model
import Testing

@testable import Engine

@Suite("How loud a track is", .timeLimit(.minutes(2)))
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

  @Test func `a window of a tenth of a second has the mean power of its packets`() {
    #expect(levels([50, 13, 13, 13, 13, 13]) == [50, 13])
    #expect(levels([50, 20, 20, 127, 127, 127]) == [50, 24], "two fifths of the power are 4 dB less")
    #expect(levels(Array(repeating: 127, count: 51)) == Array(repeating: 127, count: 11))
    #expect(levels(Array(repeating: 0, count: 6)) == [0, 0])
  }

  @Test func `packets that don't say how loud they are leave it open`() {
    #expect(levels(Array(repeating: nil, count: 6)) == [nil, nil])
    #expect(levels([nil, nil, 8, nil, nil, nil]) == [nil, 8])
  }

  @Test
  func
    `who reads seldom learns of the loudest window, who reads often of each, and of the last packet always`()
  {
    let table = SampleTable()
    let track = TrackKey(peer: PeerKey(home: 0, serial: 1), index: 0)
    var place: Int32 = -1
    func set(_ attenuation: UInt8?, at milliseconds: Int64) {
      table.set(
        track,
        TrackLevel(attenuation: attenuation, lastPacket: Instant(nanoseconds: milliseconds * 1_000_000)),
        place: &place)
    }
    func read() -> [UInt8?] { table.tracks.map(\.value.attenuation) }
    set(20, at: 100)
    set(90, at: 200)
    set(nil, at: 300)
    #expect(table.tracks.map(\.value.lastPacket) == [Instant(nanoseconds: 300_000_000)])
    #expect(read() == [20], "nothing came since: as it was")
    set(90, at: 400)
    #expect(read() == [90])
    set(nil, at: 500)
    set(60, at: 600)
    #expect(read() == [60])
    // Another one at the same place knows nothing of the first.
    set(5, at: 700)
    table.remove(track)
    place = -1
    set(70, at: 800)
    #expect(read() == [70])
  }
}
