internal import Model

/// How often thumbnails of a room's tracks are taken, how often a publisher is asked for a key frame because of that, which all who get
/// the track pay for, and how often everybody hears of it.
struct ThumbnailPaces: Sendable {
  /// Tracks whose paces are kept, before those that are full again are looked for.
  private static let kept = 256
  /// How long what was said holds for further pictures of the track that the same one takes.
  static let saying = Duration.seconds(60)

  /// What there is to a thumbnail that may be taken.
  struct Turn: Equatable, Sendable {
    /// Its publisher may be asked for a key frame.
    var asks: Bool
    /// Everybody hears of it.
    var isSaid: Bool
  }

  private struct Saying: Hashable {
    let track: TrackID
    /// Stands for who takes it.
    let taker: Int
  }

  private struct Pace {
    var taken = RateLimit(rate: 0.5, burst: 1)
    var asked = RateLimit(rate: 0.25, burst: 2)

    var full: Instant { max(taken.full, asked.full) }
  }

  private var room = RateLimit(rate: 8, burst: 16)
  private var tracks: [TrackID: Pace] = [:]
  /// What is said of all tracks: in an hour less than the events that are kept.
  private var words = RateLimit(rate: 0.5, burst: 60)
  /// Until when what was said holds.
  private var said: [Saying: Instant] = [:]

  /// Tracks whose paces are kept.
  var count: Int { tracks.count }

  /// Takes one of a track, whatever becomes of it.
  /// - Parameter taker: stands for who asks.
  /// - Returns: nil: it is too soon.
  mutating func take(_ track: TrackID, for taker: Int, now: Instant) -> Turn? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.thumbnailsAsAsked) { return Turn(asks: true, isSaid: true) }
    #endif
    if tracks.count >= Self.kept { tracks = tracks.filter { $0.value.full > now } }
    var pace = tracks[track] ?? Pace()
    let isSaid = said[Saying(track: track, taker: taker)].map { $0 <= now } ?? true
    guard pace.taken.take(now: now), room.take(now: now), !isSaid || words.take(now: now) else { return nil }
    let asks = pace.asked.take(now: now)
    tracks[track] = pace
    return Turn(asks: asks, isSaid: isSaid)
  }

  /// Everybody has heard that one takes pictures of a track. As many are noted as are said in the time.
  mutating func noteSaid(_ track: TrackID, for taker: Int, now: Instant) {
    said = said.filter { $0.value > now }
    said[Saying(track: track, taker: taker)] = now + Self.saying
  }
}
