internal import Model
internal import SyntheticPeers

/// What a seed decides of a conference on narrow paths: who sends which encodings and layers, and what each viewer's path carries
/// and its client shows.
struct LayerPlan {
  /// What a viewer's path carries from some moment on, in bits per second.
  struct Capacity {
    /// Nanoseconds after the beginning.
    var from: Int64
    var rate: Int64
  }

  struct Viewer {
    var capacities: [Capacity]
    /// Nanoseconds that the queue before its path holds.
    var queue: Int64
    var delay: Int64
    /// Nanoseconds between two changes of what it shows; nil: it shows the best of everything.
    var viewsEvery: ClosedRange<Int64>?
    var dialect: Dialect
    /// What is lost of everything, both ways, whatever is sent: 0 ..< 1.
    var loss = 0.0
    /// It is heard by the others.
    var speaks = false
    /// Its tiles are small.
    var isPhone = false
  }

  private(set) var publishers: [LayeredVideo] = []
  private(set) var viewers: [Viewer] = []
  /// Far ends, or workers, are rebuilt from their bytes at half-time.
  let isRebuilt: Bool
  /// A minute that is judged, and what comes before it; of a meeting as long as is asked for.
  let span: Duration
  /// All hear and see each other, within the slots that they have.
  let isMeeting: Bool

  /// Nanoseconds from one viewer's arrival to the next one's.
  var arrivalInterval: Int64 { isMeeting ? 60_000_000 : 400_000_000 }

  /// By its participant's number; nil for a publisher.
  func viewer(_ number: Int) -> Viewer? {
    let index = number - publishers.count
    return viewers.indices.contains(index) ? viewers[index] : nil
  }

  /// Seeds whose conference has one of these beside it.
  static func isPart(of seed: UInt64) -> Bool { seed % 5 == 2 }

  /// A meeting.
  init(publishers: [LayeredVideo], viewers: [Viewer], span: Duration) {
    self.publishers = publishers
    self.viewers = viewers
    self.span = span
    isRebuilt = false
    isMeeting = true
  }

  init(seed: UInt64) {
    span = .seconds(75)
    isMeeting = false
    var random = RandomSource.seeded(state: seed &* 0x9E37_79B9 ^ 0x1A7E_125)
    let number = seed / 5
    isRebuilt = number % 4 == 3
    let count = number % 3 == 2 ? 2 : 1
    for index in 0..<count {
      publishers.append(Self.video(number + UInt64(index), shared: count > 1, &random))
    }
    viewers = [
      Self.viewer(changes: 0, views: false, &random),
      Self.viewer(changes: 2, views: number % 2 == 1, &random),
      Self.viewer(changes: number % 2 == 0 ? 0 : 1, views: true, &random),
    ]
  }

  // MARK: - Publishers

  private static func video(
    _ number: UInt64, shared: Bool, _ random: inout RandomSource
  ) -> LayeredVideo {
    let codec: LayerStructure.Codec = [.vp8, .vp8, .vp9, .vp8, .vp9Flexible][Int(number % 5)]
    var structure = LayerStructure(
      codec: codec, temporalLayers: Int.random(in: codec == .vp8 ? 1...3 : 2...3, using: &random))
    var video: LayeredVideo
    if codec == .vp8 {
      let least = shared || number % 5 == 1 ? 2 : 1
      video = LayeredVideo(
        encodings: encodings(Int.random(in: least...3, using: &random), &random), structure: structure)
      video.obeysPublish = number % 2 == 0
      // These have no names by which anything could be said of them.
      video.isBySSRC = number % 10 == 1
      interrupt(&video, &random)
    } else {
      structure.spatialLayers = Int.random(in: 2...3, using: &random)
      structure.isKeyOnly = random.next() % 2 == 0
      let top = LayeredVideo.Encoding(rid: "s", width: 1_280, height: 720, rate: 850_000)
      video = LayeredVideo(encodings: [top], structure: structure)
    }
    video.interval = [33_333_333, 50_000_000, 66_666_667][Int(random.next() % 3)]
    video.isEncrypted = number % 3 == 1
    return video
  }

  private static func encodings(
    _ count: Int, _ random: inout RandomSource
  ) -> [LayeredVideo.Encoding] {
    let all: [LayeredVideo.Encoding] = [
      .init(rid: "q", width: 320, height: 180, rate: 80_000),
      .init(rid: "h", width: 640, height: 360, rate: 260_000),
      .init(rid: "f", width: 1_280, height: 720, rate: 800_000),
    ]
    // From the best to the smallest, or in any order.
    return Array(all.prefix(count)).shuffled(using: &random)
  }

  /// One of several may begin late, stop and come back, or never come.
  private static func interrupt(_ video: inout LayeredVideo, _ random: inout RandomSource) {
    guard video.encodings.count > 1 else { return }
    let index = Int(random.next() % UInt64(video.encodings.count))
    let second: Int64 = 1_000_000_000
    switch random.next() % 5 {
    case 0: video.encodings[index].absences = [0..<(.max / 2)]
    case 1: video.encodings[index].absences = [0..<Int64.random(in: 2...12, using: &random) * second]
    case 2:
      let begin = Int64.random(in: 20...35, using: &random) * second
      video.encodings[index].absences = [begin..<begin + Int64.random(in: 5...15, using: &random) * second]
    default: break
    }
  }

  // MARK: - Viewers

  private static func viewer(changes: Int, views: Bool, _ random: inout RandomSource) -> Viewer {
    let rates: [Int64] = [250_000, 400_000, 700_000, 1_100_000, 1_800_000, 4_000_000]
    var capacities: [Capacity] = []
    for index in 0...changes {
      var rate = rates[Int(random.next() % UInt64(rates.count))]
      while rate == capacities.last?.rate { rate = rates[Int(random.next() % UInt64(rates.count))] }
      let from = index == 0 ? 0 : Int64(index) * 24_000_000_000 + Int64(random.next() % 4_000_000_000)
      capacities.append(Capacity(from: from, rate: rate))
    }
    var dialect = Dialect()
    dialect.tellsArrivals = true
    dialect.reducesRTCP = random.next() % 4 != 0
    if random.next() % 2 == 0 { dialect.shuffle(&random) }
    return Viewer(
      capacities: capacities, queue: Int64.random(in: 150_000_000...400_000_000, using: &random),
      delay: Int64.random(in: 5_000_000...60_000_000, using: &random),
      viewsEvery: views ? 7_000_000_000...14_000_000_000 : nil, dialect: dialect)
  }
}
