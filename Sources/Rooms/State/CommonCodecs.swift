internal import Model

/// The video formats that everybody present can be shown, as publishers go by them.
///
/// A format that somebody lacks is out at once: who lacks it sees nothing of it. One that all have is in once that has lasted: a
/// publisher that changes its codec begins with a key frame, and who comes and goes, or offers one list after the other, is not
/// to have every camera of the room do that each time.
struct CommonCodecs: Equatable, Sendable {
  static let patience = Duration.seconds(5)

  private(set) var known = CodecSet.all
  /// What all have by now, beside what is known; and since when they have had just that.
  private(set) var coming = CodecSet(rawValue: 0)
  private(set) var since: Instant?

  init() {}

  init(known: CodecSet, coming: CodecSet, since: Instant?) {
    (self.known, self.coming, self.since) = (known, coming, since)
  }

  /// - Parameter taken: what all have.
  /// - Returns: whether what is known has changed.
  mutating func take(_ taken: CodecSet, now: Instant) -> Bool {
    let before = known
    known = known.intersection(taken)
    let new = CodecSet(rawValue: taken.rawValue & ~known.rawValue)
    if new != coming { (coming, since) = (new, new.rawValue == 0 ? nil : now) }
    if let since, now - since >= Self.patience {
      known = taken
      (coming, self.since) = (CodecSet(rawValue: 0), nil)
    }
    return known != before
  }
}
