internal import Model

/// How often thumbnails of a room's tracks are taken, and how often a publisher is asked for a key frame because of that, which all who
/// get the track pay for.
struct ThumbnailPaces: Sendable {
  /// Tracks whose paces are kept, before those that are full again are looked for.
  private static let kept = 256

  private struct Pace {
    var taken = RateLimit(rate: 0.5, burst: 1)
    var asked = RateLimit(rate: 0.25, burst: 2)

    var full: Instant { max(taken.full, asked.full) }
  }

  private var room = RateLimit(rate: 8, burst: 16)
  private var tracks: [TrackID: Pace] = [:]

  /// Tracks whose paces are kept.
  var count: Int { tracks.count }

  /// Takes one of a track, whatever becomes of it.
  /// - Returns: whether its publisher may be asked for a key frame; nil: it is too soon.
  mutating func take(_ track: TrackID, now: Instant) -> Bool? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.thumbnailsAsAsked) { return true }
    #endif
    if tracks.count >= Self.kept { tracks = tracks.filter { $0.value.full > now } }
    var pace = tracks[track] ?? Pace()
    guard pace.taken.take(now: now), room.take(now: now) else { return nil }
    let asks = pace.asked.take(now: now)
    tracks[track] = pace
    return asks
  }
}
