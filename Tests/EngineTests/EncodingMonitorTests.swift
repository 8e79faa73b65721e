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
    var descriptions: [EncodingDescription]
    private(set) var now = Instant(nanoseconds: 1_000_000_000)

    init(_ encodings: Int) {
      monitors = Array(repeating: EncodingMonitor(), count: encodings)
      counts = Array(repeating: LayerCounts(), count: encodings)
      frames = Array(repeating: 0, count: encodings)
      descriptions = Array(repeating: EncodingDescription(), count: encodings)
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
            counts[index].note(1_000, LayerID(), startsFrame: true)
            frames[index] += 1
          }
          monitors[index].watch(watched.contains(index), now: now)
          monitors[index].sample(counts[index], frames: frames[index], descriptions[index], now: now)
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

  /// A screen has few pictures: it is missed once five of them are.
  @Test func `of few pictures a second five have to be missing`() {
    let track = Track(2)
    for _ in 0..<10 {
      // One picture in 400 ms.
      #expect(track.run(1, [0, 1]) == [0, 1])
      #expect(track.run(3, []) == [0, 1])
    }
    for step in 1...6 {
      let active = track.run(1, [0]) + track.run(3, [])
      #expect(active.contains(0) && active.contains(1) == (step < 5), "after \(step) pictures")
    }
  }

  /// - Parameter traits: of the track.
  /// - Returns: which encodings are watched, as the publisher hears, after all that comes has stopped for some tenths of a second.
  private func watched(
    _ track: Track, _ traits: TrackTraits = [], muted: [Bool] = [], silentFor tenths: Int
  ) -> UInt8 {
    var group = TrackGroup()
    (group.monitors, group.traits) = (track.monitors, traits)
    for isMuted in muted { group.mute(isMuted) }
    var said: UInt8 = 0
    for tenth in 1...tenths {
      let now = track.now + .milliseconds(tenth * 100)
      said = group.watch({ $0 == 1 }, now: now) ?? said
    }
    return said & 0b11
  }

  @Test func `where a camera's encoding stops that alone is on, the one that is off is called in`() {
    let track = Track(2)
    _ = track.run(100, [0, 1], watched: [1])
    #expect(track.off == [0])
    _ = track.run(10, [1], watched: [1])
    #expect(watched(track, silentFor: 4) == 0b10)
    #expect(watched(track, silentFor: 7) == 0b11)
    #expect(watched(track, .screen, silentFor: 40) == 0b10, "a screen may stand still")
    #expect(
      watched(track, muted: [true], silentFor: 40) == 0b10, "what is muted is silent as its publisher wants")
    #expect(watched(track, muted: [true, false], silentFor: 40) == 0b10, "it hasn't begun again yet")
    // Once: what doesn't come is not called in again and again.
    #expect(watched(track, silentFor: 200) == 0b10)
  }

  @Test func `one that never came keeps none from being called in`() {
    let track = Track(3)
    _ = track.run(100, [0, 1], watched: [1])
    _ = track.run(10, [1], watched: [1])
    #expect(track.off == [0] && watched(track, silentFor: 7) & 1 == 1)
  }

  private func givesKeyFrames(_ track: Track) -> [Bool] {
    var group = TrackGroup()
    group.monitors = track.monitors
    return track.monitors.indices.map { group.givesKeyFrames($0) }
  }

  @Test func `an encoding that doesn't come while others do isn't asked for key frames`() {
    let track = Track(3)
    #expect(givesKeyFrames(track) == [true, true, true], "nothing has come yet")
    _ = track.run(20, [0, 1], watched: [0, 1, 2])
    #expect(givesKeyFrames(track) == [true, true, false], "the last has never come")
    _ = track.run(3, [0])
    #expect(givesKeyFrames(track) == [true, true, false])
    _ = track.run(5, [0])
    #expect(givesKeyFrames(track) == [true, false, false])
    _ = track.run(1, [0, 1, 2])
    #expect(givesKeyFrames(track) == [true, true, true])
  }

  @Test func `a still screen is asked, in one encoding or several`() {
    for count in 1...2 {
      let track = Track(count)
      _ = track.run(20, Set(0..<count), watched: [0, 1])
      _ = track.run(100, [], watched: [0, 1])
      #expect(givesKeyFrames(track).allSatisfy { $0 })
    }
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
    #expect(track.run(2, [0], watched: [0, 1]) == [0, 1] && track.off == [])
    #expect(track.run(20, [0, 1], watched: [0, 1]) == [0, 1])
  }

  @Test func `one that never came is asked for all the same, and has its five seconds once it comes`() {
    let track = Track(2)
    #expect(track.run(100, [0], watched: [0]) == [0] && track.off == [])
    #expect(track.run(40, [0, 1], watched: [0]) == [0, 1] && track.off == [])
    #expect(track.run(20, [0, 1], watched: [0]) == [0, 1] && track.off == [1])
  }

  // MARK: - What is announced

  private func announcement(_ kilobits: [UInt32], at now: Instant) -> EncodingAnnouncement {
    var announcement = EncodingAnnouncement(arrival: now)
    announcement.layers[0].temporalCount = UInt8(kilobits.count)
    announcement.layers[0].frameRate = 30
    announcement.layers[0].picture = PictureSize(width: 640, height: 360)
    for (index, rate) in kilobits.enumerated() { announcement.layers[0].rates[index] = rate }
    return announcement
  }

  @Test func `one that its publisher says is off has stopped at once, and is back when it says so`() {
    let track = Track(2)
    _ = track.run(20, [0, 1])
    track.descriptions[1].announced = announcement([], at: track.now)
    #expect(track.run(1, [0]) == [0])
    track.descriptions[1].announced = announcement([500], at: track.now)
    #expect(track.run(1, [0, 1]) == [0, 1])
  }

  @Test func `what comes long after its publisher said that it is off comes all the same`() {
    let track = Track(2)
    track.descriptions[1].announced = announcement([], at: track.now)
    #expect(track.run(3, [0, 1]) == [0])
    #expect(track.run(10, [0, 1]) == [0, 1])
  }

  @Test func `one without viewers that is off can be had`() {
    let track = Track(2)
    _ = track.run(20, [0, 1])
    _ = track.run(60, [0], watched: [0])
    track.descriptions[1].announced = announcement([], at: track.now)
    #expect(track.run(20, [0], watched: [0]) == [0, 1])
  }

  @Test func `what is announced counts until it flows, or doesn't come`() {
    let track = Track(2)
    track.descriptions[1].announced = announcement([200, 500], at: track.now)
    #expect(track.run(5, [0]) == [0, 1])
    let expected = track.monitors[1].layers
    #expect(
      expected.layers.map(\.rate) == [200_000, 500_000] && expected.layers.map(\.frameRate) == [15, 30])
    #expect(expected.picture == PictureSize(width: 640, height: 360))
    #expect(track.run(30, [0]) == [0])
    // It flows: its rate is the one that is measured, its size the one that is announced.
    track.descriptions[1].announced = announcement([200], at: track.now)
    track.descriptions[1].set(PictureSize(width: 320, height: 180))
    _ = track.run(30, [0, 1])
    let flowing = track.monitors[1].layers
    #expect((75_000...90_000).contains(flowing.layers[0].rate), "\(flowing.layers[0].rate)")
    #expect(flowing.picture == PictureSize(width: 640, height: 360))
  }

  @Test func `what is announced again and again and never comes counts for three seconds in thirty`() {
    let track = Track(2)
    var counted = 0
    for step in 0..<1_200 {
      // Also where it is taken back each second.
      let isOn = step < 600 || step % 20 < 10
      track.descriptions[1].announced = announcement(isOn ? [200, 500] : [], at: track.now)
      if track.run(1, [0]).contains(1) { counted += 1 }
    }
    // In tenths of a second, of two minutes.
    #expect((60...130).contains(counted), "\(counted)")
  }

  @Test func `a layer of size that is announced and never comes takes no room beside one that does`() {
    let track = Track(1)
    var more = announcement([100], at: track.now)
    more.layers[1] = announcement([5_000], at: track.now).layers[0]
    var counted = 0
    for _ in 0..<600 {
      more.arrival = track.now
      track.descriptions[0].announced = more
      _ = track.run(1, [0])
      if track.monitors[0].layers.layers.contains(where: { $0.spatial == 1 }) { counted += 1 }
    }
    #expect((25...70).contains(counted), "\(counted)")
  }

  @Test
  func
    `one that could not be sent is tried again when its publisher says that there is room, but not at each word`()
  {
    let track = Track(2)
    _ = track.run(20, [0, 1])
    _ = track.run(60, [0], watched: [0])
    var tried = 0
    for step in 0..<600 {
      track.descriptions[1].announced = announcement(step % 2 == 0 ? [] : [500], at: track.now)
      if track.run(1, [0], watched: [0, 1]).contains(1) { tried += 1 }
    }
    #expect(tried < 120, "\(tried) tenths of a second")
  }

  @Test func `each layer of frame rate has its pictures a second`() {
    var monitor = EncodingMonitor()
    var counts = LayerCounts()
    var now = Instant(nanoseconds: 1_000_000_000)
    // Thirty a second in three layers, each in two layers of size, which begin a frame each.
    for tick in 0..<60 {
      now = now + .milliseconds(100)
      for picture in 0..<3 {
        let temporal = [0, 2, 1, 2][(3 * tick + picture) % 4]
        for spatial in 0..<2 {
          counts.note(
            500, LayerID(spatial: UInt8(spatial), temporal: UInt8(temporal)), startsFrame: true)
        }
      }
      monitor.sample(counts, frames: UInt64(3 * tick), EncodingDescription(), now: now)
      if tick == 5 { #expect(monitor.layers.layers.allSatisfy { $0.frameRate == 0 }, "not yet measured") }
    }
    for layer in monitor.layers.layers {
      let wanted = [7, 15, 30][Int(layer.temporal)]
      #expect(abs(Int(layer.frameRate) - wanted) <= 1, "\(layer)")
    }
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

  @Test func `one that didn't come when it was asked for can be had again once it comes of its own accord`() {
    let track = Track(2)
    #expect(track.run(20, [0, 1]) == [0, 1])
    #expect(track.run(70, [1], watched: [1]) == [0, 1])
    #expect(track.run(40, [1]) == [1], "it is asked for, and doesn't come")
    #expect(track.run(60, [1], watched: [1]) == [1])
    // A publisher that hears of nothing to be turned off goes on with it when it can.
    #expect(track.run(10, [0, 1], watched: [1]) == [0, 1])
    #expect(track.run(50, [1], watched: [1]) == [0, 1])
  }

  @Test func `a size that was said is of the best layer, and what a key frame says goes before`() {
    var (monitor, counts, description) = (EncodingMonitor(), LayerCounts(), EncodingDescription())
    description.said = PictureSize(width: 640, height: 360)
    func run() -> [UInt16] {
      for tenth in 1...20 {
        for spatial in 0..<2 as Range<UInt8> {
          counts.note(1_000, LayerID(spatial: spatial), startsFrame: spatial == 0)
        }
        monitor.sample(
          counts, frames: UInt64(tenth), description, now: Instant(nanoseconds: Int64(tenth) * 100_000_000))
      }
      return monitor.layers.layers.map(\.picture.width)
    }
    #expect(run() == [0, 640] && monitor.layers.picture.width == 640)
    description.set(PictureSize(width: 320, height: 180))
    #expect(run() == [320, 320])
  }
}
