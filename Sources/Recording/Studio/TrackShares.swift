internal import Model

/// How many entries of a recording are whose, by identity.
struct TrackShares {
  /// Tracks that run or have files.
  private var written = ShareCount<ExactName>()
  /// Those of which nothing is or was written.
  private var noted = ShareCount<ExactName>()
  private var limited: Set<ExactName> = []

  mutating func take(_ identity: String) -> Bool {
    written.take(ExactName(identity), most: RecordingLimits.tracks, share: RecordingLimits.tracksOfOne)
  }

  mutating func giveBack(_ identity: String) { written.giveBack(ExactName(identity)) }

  mutating func note(_ identity: String) -> Bool {
    noted.take(ExactName(identity), most: RecordingLimits.notes, share: RecordingLimits.notesOfOne)
  }

  /// Whether to note that an identity is above its share; once for each.
  mutating func noteLimit(_ identity: String) -> Bool {
    guard !limited.contains(ExactName(identity)), note(identity) else { return false }
    limited.insert(ExactName(identity))
    return true
  }
}
