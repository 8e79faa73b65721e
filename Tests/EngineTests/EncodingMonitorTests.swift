import Congestion
import Media
import Model
import Testing

@testable import Engine

@Suite("Which encodings of a track come", .timeLimit(.minutes(1)))
struct EncodingMonitorTests {
  /// Encodings of one track, looked at ten times a second.
  final class Track {
    var monitors: [EncodingMonitor]
    private var counts: [LayerCounts]
    private var frames: [UInt64]
    private var now = Instant(nanoseconds: 1_000_000_000)

    init(_ encodings: Int) {
      monitors = Array(repeating: EncodingMonitor(), count: encodings)
      counts = Array(repeating: LayerCounts(), count: encodings)
      frames = Array(repeating: 0, count: encodings)
    }

    /// - Parameters:
    ///   - flowing: encodings that come, at ten pictures a second.
    ///   - watched: encodings that have viewers.
    /// - Returns: encodings that can be had.
    func run(_ tenths: Int, _ flowing: Set<Int>, watched: Set<Int> = [0, 1, 2]) -> [Int] {
      for _ in 0..<tenths {
        now = now + .milliseconds(100)
        for index in monitors.indices {
          if flowing.contains(index) {
            counts[index].note(1_000, LayerID())
            frames[index] += 1
          }
          monitors[index].watch(watched.contains(index), now: now)
          monitors[index].sample(counts[index], frames: frames[index], PictureSize(), now: now)
        }
        let latest = monitors.map(\.lastHeard).max()!
        for index in monitors.indices { monitors[index].decide(siblings: latest, now: now) }
      }
      return monitors.indices.filter { monitors[$0].layers.isActive }
    }

    var off: [Int] { monitors.indices.filter { monitors[$0].isOff } }
  }

  @Test func `one that is silent while another flows has stopped within half a second`() {
    let track = Track(3)
    #expect(track.run(20, [0, 1, 2]) == [0, 1, 2])
    #expect(track.run(4, [0, 1]) == [0, 1, 2])
    #expect(track.run(2, [0, 1]) == [0, 1])
    #expect(track.run(1, [0, 1, 2]) == [0, 1, 2])
  }

  @Test func `where all are silent the picture stands still`() {
    let track = Track(2)
    _ = track.run(20, [0, 1])
    #expect(track.run(100, []) == [0, 1])
  }

  @Test func `one that never came can't be had`() {
    let track = Track(3)
    #expect(track.run(50, [0, 2]) == [0, 2])
  }

  @Test func `one without viewers is off after five seconds, and can be had again at once`() {
    let track = Track(2)
    _ = track.run(20, [0, 1])
    #expect(track.run(49, [0, 1], watched: [0]) == [0, 1] && track.off == [])
    #expect(track.run(5, [0], watched: [0]) == [0, 1] && track.off == [1])
    #expect(track.run(100, [0], watched: [0]) == [0, 1], "it counts as it was")
    #expect(track.run(1, [0], watched: [0, 1]) == [0, 1] && track.off == [])
    #expect(track.run(20, [0, 1], watched: [0, 1]) == [0, 1])
  }

  @Test func `one that doesn't come although it is watched again isn't tried again soon`() {
    let track = Track(2)
    _ = track.run(20, [0, 1])
    _ = track.run(60, [0], watched: [0])
    #expect(track.run(20, [0], watched: [0, 1]) == [0, 1], "it may take a while")
    #expect(track.run(20, [0], watched: [0, 1]) == [0])
    #expect(track.run(100, [0], watched: [0]) == [0] && track.off == [1])
    #expect(track.run(250, [0], watched: [0]) == [0, 1])
  }
}
