import Engine
import Model
import Simulation
import SyntheticPeers
import Testing

/// A slot that its subscriber has turned off for one track goes from track to track, as the room changes what it shows.
@Suite("Slots that go on to a track that is turned off", .timeLimit(.minutes(1)))
struct OffSlotTests {
  private final class Stage {
    let room: SimulationRoom
    let viewer: SyntheticPeer
    private let key: PeerKey

    /// Two publishers, of which a viewer's slot shows the first.
    /// - Parameter layers: of the second's picture; nil: it has one encoding.
    init(workers: Int, layers: LayeredVideo? = nil) throws {
      room = try SimulationRoom(workers: workers)
      for host in [10, 11] as [UInt8] {
        try room.join(at: SocketAddress(ipv4: 192, 0, 2, host, port: 40_000), publishes: true) {
          if host == 11 { $0.layers = layers }
        }
      }
      viewer = try room.join(
        at: room.address(onWorker: workers - 1, host: 20), home: workers - 1, publishes: false
      ) {
        $0.audioReceivers = 0
        $0.videoReceivers = 1
      }
      key = room.keys[2]
    }

    /// As a room says it: first how the track is shown, then which it is.
    func show(_ publisher: Int, _ quality: PicturePreference.Quality) {
      want(quality)
      room.server.bridge.post(.assign(key, slot: 0, TrackKey(peer: room.keys[publisher], index: 1)))
    }

    func want(_ quality: PicturePreference.Quality) {
      var picture = PicturePreference()
      picture.quality = quality
      room.server.bridge.post(.prefer(key, slot: 0, picture))
    }

    /// How many packets of a publisher's come while a span passes.
    func packets(of publisher: Int, for span: Duration) -> Int {
      let before = viewer.streams.flatMap(\.entries).count { $0.publisher == publisher }
      room.run(for: span)
      return viewer.streams.flatMap(\.entries).count { $0.publisher == publisher } - before
    }

    /// How often publishers were asked for key frames.
    var requests: UInt64 {
      room.journal.mechanisms[.keyFrame] + room.journal.mechanisms[.encodingKeyFrame]
    }

    /// The encodings of what came of the second publisher.
    var encodings: Set<Int> {
      Set(
        viewer.streams.flatMap(\.entries).filter { $0.publisher == 1 }.compactMap { entry in
          room.journal.layered[entry.trackName].map {
            $0.frames[$0.packets[Int(entry.packet)].frame].encoding
          }
        })
    }
  }

  /// The largest comes first, as roost.js offers them.
  private static let video = LayeredVideo(
    encodings: [
      LayeredVideo.Encoding(rid: "f", width: 1_280, height: 720, rate: 700_000),
      LayeredVideo.Encoding(rid: "h", width: 640, height: 360, rate: 200_000),
      LayeredVideo.Encoding(rid: "q", width: 320, height: 180, rate: 60_000),
    ], structure: LayerStructure(codec: .vp8, temporalLayers: 1))

  @Test(arguments: [1, 2])
  func `no packet of the track leaves until it is turned on`(workers: Int) throws {
    let stage = try Stage(workers: workers)
    #expect(stage.packets(of: 0, for: .seconds(3)) > 0)
    // What the source keeps for those who come could be shown at once.
    stage.show(1, .off)
    #expect(stage.packets(of: 1, for: .seconds(2)) == 0)
    stage.want(.high)
    #expect(stage.packets(of: 1, for: .seconds(2)) > 0)
    #expect(stage.room.journal.violations == [])
  }

  @Test(arguments: [1, 2])
  func `a track that was turned off begins with the encoding that is wanted, and with no other`(
    workers: Int
  ) throws {
    let stage = try Stage(workers: workers, layers: Self.video)
    stage.room.run(for: .seconds(3))
    stage.show(1, .off)
    stage.room.run(for: .seconds(2))
    #expect(stage.encodings == [])
    stage.want(.low)
    stage.room.run(for: .seconds(3))
    #expect(stage.encodings == [2])
    #expect(stage.room.journal.violations == [])
  }

  @Test func `a viewer that asks for key frames of what it has turned off has none requested`() throws {
    let stage = try Stage(workers: 1)
    stage.room.run(for: .seconds(3))
    stage.want(.off)
    stage.room.run(for: .seconds(1))
    let before = stage.requests
    for _ in 0..<6 {
      stage.viewer.requestKeyFrame(stream: 0)
      stage.room.run(for: .seconds(5))
    }
    #expect(stage.requests == before)
    stage.want(.high)
    stage.room.run(for: .seconds(1))
    #expect(stage.requests > before)
    let shown = stage.requests
    stage.viewer.requestKeyFrame(stream: 0)
    stage.room.run(for: .seconds(1))
    #expect(stage.requests > shown)
  }

  @Test func `a slot that was off shows the next track, which is on, without another word`() throws {
    let stage = try Stage(workers: 1)
    stage.room.run(for: .seconds(3))
    stage.want(.off)
    stage.room.run(for: .milliseconds(300))
    #expect(stage.packets(of: 0, for: .seconds(1)) == 0)
    stage.show(1, .high)
    #expect(stage.packets(of: 1, for: .seconds(1)) > 0)
    stage.show(0, .off)
    stage.show(1, .high)
    #expect(stage.packets(of: 0, for: .seconds(1)) == 0)
    #expect(stage.packets(of: 1, for: .seconds(1)) > 0)
    #expect(stage.room.journal.violations == [])
  }
}
