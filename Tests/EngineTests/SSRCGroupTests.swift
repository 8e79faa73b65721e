import Engine
import Model
import Simulation
import SyntheticPeers
import Testing

/// A simulcast whose streams are tied together by their SSRCs and have no names (`a=ssrc-group:SIM`), through the server's workers, from
/// its offer to the pictures that its viewers get.
@Suite("Simulcast by SSRC groups", .timeLimit(.minutes(2)))
struct SSRCGroupTests {
  private static let publisher = SocketAddress(ipv4: 192, 0, 2, 10, port: 40_000)

  /// In an order that is neither from the smallest to the best nor the other way round.
  private static func video(isBySSRC: Bool) -> LayeredVideo {
    var video = LayeredVideo(
      encodings: [
        LayeredVideo.Encoding(rid: "h", width: 640, height: 360, rate: 200_000),
        LayeredVideo.Encoding(rid: "f", width: 1_280, height: 720, rate: 500_000),
        LayeredVideo.Encoding(rid: "q", width: 320, height: 180, rate: 80_000),
      ], structure: LayerStructure(codec: .vp8, temporalLayers: 2))
    video.isBySSRC = isBySSRC
    return video
  }

  /// A room with that publisher and so many viewers, whose cable loses each twentieth packet of the publisher's while `isLossy`.
  private final class Stage {
    let room: SimulationRoom
    var isLossy = true
    private var sent = 0
    private(set) var viewers: [SyntheticPeer] = []

    init(viewers count: Int, workers: Int, isBySSRC: Bool = true) throws {
      room = try SimulationRoom(workers: workers)
      try room.join(at: SSRCGroupTests.publisher, publishes: true) {
        $0.layers = SSRCGroupTests.video(isBySSRC: isBySSRC)
      }
      room.passes = { [unowned self] datagram in
        let isPublished = datagram.toServer && datagram.path.remote == SSRCGroupTests.publisher
        guard isLossy, isPublished, datagram.isMedia else { return true }
        sent += 1
        return sent % 20 != 0
      }
      for number in 0..<count {
        let address = room.address(onWorker: number % workers, host: UInt8(20 + number))
        let viewer = try room.join(at: address, home: number % workers, publishes: false) {
          $0.audioReceivers = 0
          $0.videoReceivers = 1
        }
        viewers.append(viewer)
      }
    }

    func want(_ quality: PicturePreference.Quality, _ viewer: Int) {
      var picture = PicturePreference()
      picture.quality = quality
      room.server.bridge.post(.prefer(room.keys[viewer + 1], slot: 0, picture))
    }

    /// Widths of the encodings whose packets a viewer got since a moment.
    func shown(_ viewer: Int, since: Instant) -> Set<UInt16> {
      var widths: Set<UInt16> = []
      for entry in viewers[viewer].streams.flatMap(\.entries)
      where entry.publisher >= 0 && entry.sentAt > since {
        guard let track = room.journal.layered[entry.trackName] else { continue }
        let frame = track.frames[track.packets[Int(entry.packet)].frame]
        widths.insert(track.video.encodings[frame.encoding].width)
      }
      return widths
    }
  }

  @Test(arguments: [1, 2])
  func `each viewer is shown the encoding that it wants, all three at a time`(workers: Int) throws {
    let stage = try Stage(viewers: 3, workers: workers)
    for (viewer, quality) in [PicturePreference.Quality.low, .medium, .high].enumerated() {
      stage.want(quality, viewer)
    }
    stage.room.run(for: .seconds(6))
    let since = stage.room.now
    stage.room.run(for: .seconds(2))
    for (viewer, width) in [320, 640, 1_280].enumerated() as EnumeratedSequence<[UInt16]> {
      #expect(stage.shown(viewer, since: since) == [width], "viewer \(viewer)")
    }
    let counts = stage.room.journal.mechanisms
    #expect(counts[.serverNACK] > 10 && counts[.serverRTX] > 10, "each stream is repaired by its own")
    #expect(stage.room.journal.violations == [])
  }

  @Test func `a viewer goes from one to another without a gap in what it gets`() throws {
    let stage = try Stage(viewers: 1, workers: 1)
    stage.isLossy = false
    let steps: [(PicturePreference.Quality, UInt16)] = [
      (.low, 320), (.high, 1_280), (.medium, 640), (.high, 1_280), (.low, 320), (.medium, 640),
    ]
    for (quality, width) in steps {
      stage.want(quality, 0)
      stage.room.run(for: .seconds(3))
      let since = stage.room.now
      stage.room.run(for: .seconds(1))
      #expect(stage.shown(0, since: since) == [width], "\(quality)")
    }
    #expect(stage.room.journal.mechanisms[.encodingKeyFrame] >= 5, "each switch asks for a key frame")
    #expect(stage.viewers[0].numbersMissing == [0])
    #expect(stage.room.journal.violations == [])
  }

  /// Nothing says to this publisher what is watched, as to one by WHIP: it sends all that it has, and whatever was long unwatched is there
  /// as soon as someone wants it.
  @Test(arguments: [true, false])
  func `what was unwatched for long is shown within a second and a half, though its publisher hears nothing`(
    isBySSRC: Bool
  ) throws {
    let stage = try Stage(viewers: 1, workers: 1, isBySSRC: isBySSRC)
    stage.isLossy = false
    for (quality, width) in [(.low, 320), (.high, 1_280)] as [(PicturePreference.Quality, UInt16)] {
      stage.want(quality, 0)
      stage.room.run(for: .milliseconds(width == 320 ? 12_000 : 1_500))
      let since = stage.room.now
      stage.room.run(for: .seconds(1))
      #expect(stage.shown(0, since: since) == [width])
    }
    let track = try #require(stage.room.journal.layered.values.first)
    let lately = stage.room.now.advanced(byNanoseconds: -2_000_000_000)
    for encoding in 0..<3 {
      let rate = track.rate(
        encoding: encoding, spatial: 0, temporal: 1, from: lately, until: stage.room.now)
      #expect(rate > 50_000, "it is sent to the end")
    }
    #expect(stage.room.journal.violations == [])
  }
}
