import Model
import Testing

@testable import Simulation
@testable import SyntheticPeers

/// What a viewer's decoder shows of what came, and for how long it may show nothing new.
@Suite("Pictures at the far end", .timeLimit(.minutes(1)))
struct FarPicturesTests {
  private static func at(_ milliseconds: Int) -> Instant {
    Instant(nanoseconds: Int64(milliseconds) * 1_000_000)
  }

  /// Of two packets each; every fifth is a key frame, each other refers to the one before it.
  private static var frames: [LayerFrame] {
    (0..<20).map { number in
      LayerFrame(
        encoding: 0, picture: number, spatial: 0, temporal: 0, isKey: number % 5 == 0,
        references: number % 5 == 0 ? [] : [number - 1], packets: 2, timestamp: 0, pictureID: 0,
        tl0PictureIndex: 0, sentAt: at(number * 50), bytes: 2_000, moment: number)
    }
  }

  /// All packets, 30 ms behind their sending.
  private static var arrivals: [FarPictures.Arrival] {
    frames.indices.flatMap { frame in
      (0..<2).map { FarPictures.Arrival(frame: frame, place: $0, at: at(frame * 50 + 30)) }
    }
  }

  @Test func `what comes whole is shown as it comes`() {
    let shown = FarPictures.shown(Self.arrivals, frames: Self.frames)
    #expect(shown == Self.frames.indices.map { Self.at($0 * 50 + 30) })
    #expect(FarPictures.shown(Self.arrivals.reversed(), frames: Self.frames) == shown)
    #expect(FarPictures.shown([], frames: Self.frames) == [])
  }

  @Test func `behind a loss nothing is shown before a key frame`() {
    let arrivals = Self.arrivals.filter { $0.frame != 2 || $0.place != 1 }
    let shown = FarPictures.shown(arrivals, frames: Self.frames)
    #expect(shown.prefix(3) == [Self.at(30), Self.at(80), Self.at(280)])
  }

  @Test func `a repair shows all that waited for it, the last of them at once`() {
    var arrivals = Self.arrivals
    for index in arrivals.indices where arrivals[index].frame == 2 && arrivals[index].place == 0 {
      arrivals[index].at = Self.at(200)
    }
    // A second copy makes nothing later, wherever it stands.
    arrivals.insert(FarPictures.Arrival(frame: 1, place: 0, at: Self.at(900)), at: 0)
    let shown = FarPictures.shown(arrivals, frames: Self.frames)
    #expect(shown.prefix(5) == [Self.at(30), Self.at(80), Self.at(200), Self.at(200), Self.at(230)])
  }

  @Test func `a picture that is ready behind a later one is not shown`() {
    var arrivals = Self.arrivals
    for index in arrivals.indices where arrivals[index].frame == 4 { arrivals[index].at = Self.at(500) }
    let shown = FarPictures.shown(arrivals, frames: Self.frames)
    #expect(shown.count == Self.frames.count - 1 && !shown.contains(Self.at(500)))
  }

  @Test(arguments: [(0.0, 0), (0.02, 4), (0.05, 5), (0.0975, 6)])
  func `so many in a row are lost less than once in a million`(loss: Double, tries: Int) {
    #expect(StillBound.tries(loss) == tries)
  }

  @Test func `without losses a key frame explains a picture that stands still, and nothing more does`() {
    let bound = StillBound(loss: 0, delay: 15_000_000, queue: 100_000_000, interval: 50_000_000)
    // Two pictures, a round trip of 130 ms to the viewer and one of 40 ms to the publisher, and 750 ms between key frames.
    let expected: Int64 = 100 + 130 + 40 + 750
    #expect(bound.longest == .milliseconds(expected))
  }

  @Test func `with losses each request and its answer have their time`() {
    let bound = StillBound(loss: 0.05, delay: 80_000_000, queue: 200_000_000, interval: 200_000_000)
    // Six tries, 320 ms apart: once in three quarters of 360 ms, as the viewer asks every 80 ms.
    let expected: Int64 = 400 + 360 + 5 * 320 + 360 + 40 + 750
    #expect(bound.longest == .milliseconds(expected))
    // Less than a viewer waits before it gives a packet up.
    #expect(bound.longest < .seconds(4))
  }
}
