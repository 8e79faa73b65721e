internal import Model

/// Tracks whose packets have ceased to come, as their subscribers know it.
///
/// A publisher decides when its packets come, and each change is a message to every subscriber that shows the track. So a
/// stall is announced at once, and the next one only when the track has been active for `wait`, which doubles with each stall.
/// What was active for `calm` begins again with the shortest wait.
struct Stalls: Equatable, Sendable {
  /// Without packets for so long a track is stalled.
  static let silence = Duration.seconds(3)
  static let shortestWait = Duration.seconds(3)
  static let longestWait = Duration.seconds(30)
  static let calm = Duration.seconds(60)

  struct Track: Equatable, Sendable {
    var isStalled: Bool
    /// When that was announced.
    var since: Instant
    /// How long it must be active before its next stall is announced.
    var wait: Duration
  }

  /// Those that are stalled, or were lately.
  private(set) var tracks: [TrackID: Track]

  init(_ tracks: [TrackID: Track] = [:]) { self.tracks = tracks }

  func contains(_ id: TrackID) -> Bool { tracks[id]?.isStalled == true }

  /// Whether it is to be announced now that a track is silent, or that it isn't.
  func isDue(_ id: TrackID, isSilent: Bool, now: Instant) -> Bool {
    guard let track = tracks[id] else { return isSilent }
    guard isSilent else { return track.isStalled }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.stallsAtOnce) { return !track.isStalled }
    #endif
    return !track.isStalled && now - track.since >= track.wait
  }

  /// It is announced.
  mutating func note(_ id: TrackID, isSilent: Bool, now: Instant) {
    let known = tracks[id]
    let wait =
      isSilent ? known.map { min($0.wait * 2, Self.longestWait) } ?? Self.shortestWait : known?.wait
    tracks[id] = Track(isStalled: isSilent, since: now, wait: wait ?? Self.shortestWait)
  }

  /// A track is unmuted: what comes of it begins with a key frame that is yet to be asked for, so that its silence counts from now.
  mutating func unmute(_ id: TrackID, now: Instant) {
    var track = tracks[id] ?? Track(isStalled: false, since: now, wait: Self.shortestWait)
    guard !track.isStalled else { return }
    track.since = max(track.since, now + (Self.silence - track.wait))
    tracks[id] = track
  }

  mutating func forget(_ id: TrackID) { tracks[id] = nil }

  mutating func forgetCalm(now: Instant) {
    guard tracks.values.contains(where: { $0.isOver(now) }) else { return }
    tracks = tracks.filter { !$0.value.isOver(now) }
  }
}

extension Stalls.Track {
  fileprivate func isOver(_ now: Instant) -> Bool { !isStalled && now - since >= Stalls.calm }
}
