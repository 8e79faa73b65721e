internal import Model
internal import SyntheticPeers

/// A meeting: some people with pictures, all with sound, on laptops and phones, and each of them on a path of its kind.
extension LayerPlan {
  /// What a viewer's path to the server is like.
  struct MeetingPath {
    /// Bits per second that come to it.
    var rate: Int64
    /// What is lost of everything, both ways: 0 ..< 1.
    var loss: Double
    /// Nanoseconds, each way.
    var delay: Int64
    /// Nanoseconds that the queue before it holds.
    var queue: Int64
    var isPhone: Bool
  }

  static let meetingPaths = [
    // On a train.
    MeetingPath(rate: 800_000, loss: 0.05, delay: 80_000_000, queue: 200_000_000, isPhone: true),
    // On a good radio.
    MeetingPath(rate: 2_000_000, loss: 0.01, delay: 40_000_000, queue: 150_000_000, isPhone: true),
    // Behind a line at home, whose modem queues much.
    MeetingPath(rate: 2_000_000, loss: 0, delay: 25_000_000, queue: 300_000_000, isPhone: false),
    // In an office.
    MeetingPath(rate: 20_000_000, loss: 0, delay: 15_000_000, queue: 100_000_000, isPhone: false),
  ]

  private static let mostPublishers = 4

  /// - Parameter people: 4 or more. A quarter of them publish video, at least two and at most four.
  init(meeting seed: UInt64, people: Int, span: Duration) {
    var random = RandomSource.seeded(state: seed &* 0x9E37_79B9 ^ 0x3EE7_1260)
    let count = max(2, min(Self.mostPublishers, people / 4))
    let publishers = (0..<count).map { Self.camera(Int(seed % 2) + $0, &random) }
    let viewers = (0..<max(people - count, 1)).map {
      Self.attendee(Self.meetingPaths[$0 % Self.meetingPaths.count], &random)
    }
    self.init(publishers: publishers, viewers: viewers, span: span)
  }

  /// Three encodings, each of which is sent while it is watched.
  private static func camera(_ number: Int, _ random: inout RandomSource) -> LayeredVideo {
    let encodings: [LayeredVideo.Encoding] = [
      .init(rid: "q", width: 320, height: 180, rate: 60_000),
      .init(rid: "h", width: 640, height: 360, rate: 200_000),
      .init(rid: "f", width: 1_280, height: 720, rate: 700_000),
    ]
    var video = LayeredVideo(
      encodings: encodings.shuffled(using: &random),
      structure: LayerStructure(codec: .vp8, temporalLayers: Int.random(in: 1...3, using: &random)))
    video.interval = random.next() % 2 == 0 ? 50_000_000 : 66_666_667
    video.isEncrypted = number % 3 == 1
    video.obeysPublish = true
    return video
  }

  private static func attendee(_ path: MeetingPath, _ random: inout RandomSource) -> Viewer {
    var dialect = Dialect()
    dialect.tellsArrivals = true
    dialect.reducesRTCP = random.next() % 4 != 0
    if random.next() % 2 == 0 { dialect.lacks.insert(.red) }
    if random.next() % 2 == 0 { dialect.shuffle(&random) }
    var viewer = Viewer(
      capacities: [Capacity(from: 0, rate: path.rate)], queue: path.queue, delay: path.delay,
      viewsEvery: 6_000_000_000...12_000_000_000, dialect: dialect)
    viewer.loss = path.loss
    viewer.speaks = true
    viewer.isPhone = path.isPhone
    return viewer
  }
}
