/// How many entries of a recording are whose: everybody has a share, so that no one uses up what there is for all.
struct TrackShares {
  private struct Count {
    var all = 0
    var byIdentity: [String: Int] = [:]

    mutating func take(_ identity: String, most: Int, share: Int) -> Bool {
      guard all < most, byIdentity[identity, default: 0] < share else { return false }
      all += 1
      byIdentity[identity, default: 0] += 1
      return true
    }

    mutating func giveBack(_ identity: String) {
      guard let count = byIdentity[identity] else { return }
      all -= 1
      byIdentity[identity] = count > 1 ? count - 1 : nil
    }
  }

  /// Tracks that run or have files.
  private var written = Count()
  /// Those of which nothing is or was written.
  private var noted = Count()
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
