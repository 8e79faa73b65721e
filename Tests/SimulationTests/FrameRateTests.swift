import Model
import Signalling
import SyntheticPeers
import Testing

@testable import Simulation

/// `maxFrameRate` from a viewer's message to the pictures that leave for it: over its socket, through its room and the workers, to its far
/// end. What leaves is held against what a decoder needs by the simulation itself, packet by packet.
@Suite("How many pictures a second a viewer gets", .timeLimit(.minutes(2)))
struct FrameRateTests {
  /// A conference of one who publishes and two who see it, on paths that carry everything.
  private final class Scene {
    let conference: Conference
    private let publisher: Participant
    private let viewers: [Participant]

    private struct NotIn: Error {}

    /// - Parameter interval: nanoseconds between pictures. Of four of them one is of the lowest layer and one of the next.
    init(_ codec: LayerStructure.Codec, interval: Int64) throws {
      var options = Conference.Options()
      options.weather = false
      options.isHeavy = false
      options.isNarrow = true
      options.workers = 2
      let conference = try Conference(seed: 2, options: options)
      conference.control.begin(now: conference.now)
      self.conference = conference
      var video = LayeredVideo(
        encodings: [LayeredVideo.Encoding(rid: "f", width: 640, height: 360, rate: 200_000)],
        structure: LayerStructure(codec: codec, temporalLayers: 3))
      video.interval = interval
      publisher = try Scene.join(conference) { $0.layers = video }
      conference.run(until: conference.now + .seconds(2))
      viewers = try (0..<2).map { _ in
        try Scene.join(conference) {
          $0.publishesAudio = false
          $0.publishesVideo = false
          $0.audioReceivers = 1
          $0.videoReceivers = 1
        }
      }
      conference.run(until: conference.now + .seconds(5))
    }

    private static func join(
      _ conference: Conference, _ setUp: (inout PeerConfiguration) -> Void
    ) throws -> Participant {
      var configuration = PeerConfiguration(number: conference.participants.count)
      configuration.dialect.tellsArrivals = true
      setUp(&configuration)
      guard let participant = conference.join(configuration, room: 0, up: .good, down: .good) else {
        throw NotIn()
      }
      return participant
    }

    func close() {
      conference.control.end()
      conference.clock.release()
    }

    /// The first viewer says how it shows the picture, and a second passes, in which that comes to be.
    /// - Parameter isSubscribed: with `subscribe`, else with `view`.
    func show(_ maxFrameRate: Int?, isSubscribed: Bool) throws {
      let track = try #require(publisher.track(.video))
      let picture = PictureWanted(maxFrameRate: maxFrameRate)
      if isSubscribed {
        conference.ask(viewers[0], .subscribe(track)) { _ in
          .subscribe(ClientMessage.Subscribe(track: track, picture: picture))
        }
      } else {
        let tracks = [ClientMessage.ViewedTrack(track: track, picture: picture)]
        conference.ask(viewers[0], .view(tracks)) { _ in .view(ClientMessage.View(tracks: tracks)) }
      }
      conference.run(until: conference.now + .seconds(1))
    }

    /// What leaves in the next four seconds: of each viewer which layers of frame rate, and how many pictures a second.
    func sent() throws -> [(layers: Set<Int>, rate: Double)] {
      let since = conference.now
      conference.run(until: since + .seconds(4))
      let books = try #require(conference.layers)
      return viewers.map { viewer in
        let pictures = books.streams.filter { $0.slot.subscriber == viewer.number }
          .flatMap { $0.pictures.filter { $0.at >= since } }
        return (Set(pictures.map(\.temporal)), Double(pictures.count) / 4)
      }
    }

    /// Numbers that never came to the viewers, in all of their streams.
    var missing: Int { viewers.reduce(0) { $0 + $1.peer.numbersMissing.reduce(0, +) } }
  }

  private func isAbout(_ rate: Double, _ wanted: Double) -> Bool { abs(rate - wanted) <= 0.8 }

  @Test(arguments: [LayerStructure.Codec.vp8, .vp9], [false, true])
  func
    `a viewer gets no more than it says it shows, others all there is, and it all again once it says nothing`(
      codec: LayerStructure.Codec, isSubscribed: Bool
    ) throws
  {
    let scene = try Scene(codec, interval: 33_333_333)
    defer { scene.close() }
    let steps: [(most: Int?, layers: Set<Int>, rate: Double)] = [
      (nil, [0, 1, 2], 30), (15, [0, 1], 15), (7, [0], 7.5), (15, [0, 1], 15), (nil, [0, 1, 2], 30),
    ]
    for step in steps {
      try scene.show(step.most, isSubscribed: isSubscribed)
      let sent = try scene.sent()
      #expect(sent[0].layers == step.layers && isAbout(sent[0].rate, step.rate), "\(step): \(sent[0])")
      #expect(sent[1].layers == [0, 1, 2] && isAbout(sent[1].rate, 30), "\(step): \(sent[1])")
    }
    #expect(scene.missing == 0)
    #expect(scene.conference.journal.violations == [])
  }

  @Test func `between two rates it is the lower one, and the slowest comes whatever is said`() throws {
    let scene = try Scene(.vp8, interval: 50_000_000)
    defer { scene.close() }
    for (most, layers, rate) in [(15, [0, 1], 10), (240, [0, 1, 2], 20), (1, [0], 5)]
      as [(Int, Set<Int>, Double)]
    {
      try scene.show(most, isSubscribed: false)
      let sent = try scene.sent()
      #expect(sent[0].layers == layers && isAbout(sent[0].rate, rate), "\(most): \(sent[0])")
    }
    #expect(scene.missing == 0)
    #expect(scene.conference.journal.violations == [])
  }
}
