/// How many entries of a recording are whose, by identity.
struct TrackShares {
  /// Tracks that run or have files.
  private var written = ShareCount<String>()
  /// Those of which nothing is or was written.
  private var noted = ShareCount<String>()
  private var limited: Set<String> = []

  mutating func take(_ identity: String) -> Bool {
    written.take(identity, most: RecordingLimits.tracks, share: RecordingLimits.tracksOfOne)
  }

  mutating func giveBack(_ identity: String) { written.giveBack(identity) }

  mutating func note(_ identity: String) -> Bool {
    noted.take(identity, most: RecordingLimits.notes, share: RecordingLimits.notesOfOne)
  }

  /// Whether to note that an identity is above its share; once for each.
  mutating func noteLimit(_ identity: String) -> Bool {
    guard !limited.contains(identity), note(identity) else { return false }
    limited.insert(identity)
    return true
  }
}
