internal import Model
internal import SyntheticPeers

/// What a viewer's decoder shows of what came through its path: a picture is shown once it is whole and all that it refers to is.
enum FarPictures {
  /// One packet of a picture, at the far end.
  struct Arrival {
    /// The frame's place in its track, and the packet's in its frame.
    var frame: Int
    var place: Int
    var at: Instant
  }

  /// - Parameters:
  ///   - arrivals: of one stream, each packet once or more, in any order.
  ///   - frames: of the track that they are of.
  /// - Returns: when each picture was shown, in order; one that is ready behind a later one is not shown.
  static func shown(_ arrivals: [Arrival], frames: [LayerFrame]) -> [Instant] {
    // By frame and place; a second copy makes nothing later.
    var places: [Int: [Int: Instant]] = [:]
    for arrival in arrivals where frames.indices.contains(arrival.frame) {
      let known = places[arrival.frame]?[arrival.place] ?? arrival.at
      places[arrival.frame, default: [:]][arrival.place] = min(known, arrival.at)
    }
    var ready: [Int: Instant] = [:]
    for frame in places.keys.sorted() where places[frame]?.count == frames[frame].packets {
      let needed = frames[frame].references.map { ready[$0] }
      guard var moment = places[frame]?.values.max(), !needed.contains(nil) else { continue }
      for case .some(let other) in needed { moment = max(moment, other) }
      ready[frame] = moment
    }
    var latest = -1
    var moments: [Instant] = []
    let inOrder = ready.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
    for (frame, moment) in inOrder where frame > latest {
      latest = frame
      moments.append(moment)
    }
    return moments
  }
}

/// For how long a picture may stand still for want of what a path has lost.
struct StillBound {
  /// Of everything, both ways: 0 ..< 1.
  var loss: Double
  /// Nanoseconds, each way.
  var delay: Int64
  /// Nanoseconds that the queue before the path holds.
  var queue: Int64
  /// Nanoseconds between pictures of the lowest layer of frame rate.
  var interval: Int64

  /// A bound that fails by chance no more often than this, for each packet that is lost.
  static let rare = 1e-6
  /// To the publisher and back, on a good path.
  private static let publisher: Int64 = 40_000_000
  /// Encoders make no key frame sooner behind another, and are asked for one no sooner again.
  private static let keyFrames: Int64 = 250_000_000 + 500_000_000

  /// How many in a row are lost less often than `rare`.
  static func tries(_ loss: Double) -> Int {
    var (count, left) = (0, 1.0)
    while loss > 0, left > rare {
      left *= min(loss, 0.9)
      count += 1
    }
    return count
  }

  /// A loss is seen by the next picture. The packet is asked for until it comes: each time the request or the answer may be lost, and
  /// the server answers once in three quarters of a round trip. What is not repaired ends with a key frame, for which two round trips
  /// are needed.
  var longest: Duration {
    let round = 2 * delay + queue
    let tries = Int64(Self.tries(1 - (1 - loss) * (1 - loss)))
    let retry = ReceivedStream.retry
    let step = max(retry, (round * 3 / 4 + retry - 1) / retry * retry)
    let repair = tries == 0 ? 0 : round + (tries - 1) * step
    return .nanoseconds(2 * interval + repair + round + Self.publisher + Self.keyFrames)
  }
}
