internal import Model

/// The video formats that everybody present can be shown, as publishers go by them.
///
/// A format is removed as soon as one subscriber lacks it, since that subscriber sees nothing until publishers change. It is added
/// only after every subscriber has supported it for `patience`: a change of codec costs each publisher a key frame, so a participant
/// that joins and leaves, or alternates its offers, must not trigger one every time.
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
