internal import Model

/// Checks that were asked about at their home and wait for its answer: so that a path asks once, and one peer's paths leave
/// room for those of others.
///
/// A stranger that sees one check knows its fragment and can send as many with it as it likes, from addresses that it makes
/// up; what they are worth, only the home can tell.
struct PendingChecks {
  /// A home that does not answer found the check invalid: the path may ask again after this.
  static let patience = Duration.milliseconds(500)
  /// Paths that one fragment may ask for at once: a peer has no more pairs.
  static let perFragment = 8

  enum Outcome: Equatable {
    case asks
    /// The path asked just now.
    case repeated
    /// As many as may ask for the fragment's peer.
    case fragmentFull
    case full
  }

  private struct Question: Hashable {
    var path: NetworkPath
    var ufrag: UfragKey
  }

  private var since: [Question: Instant] = [:]
  private var counts: [UfragKey: Int] = [:]

  var count: Int { since.count }

  mutating func begin(_ path: NetworkPath, _ ufrag: UfragKey, now: Instant, limit: Int) -> Outcome {
    let question = Question(path: path, ufrag: ufrag)
    if let asked = since[question] {
      if now - asked < Self.patience { return .repeated }
      remove(question)
    }
    if counts[ufrag, default: 0] >= Self.perFragment { expire(now: now) }
    guard counts[ufrag, default: 0] < Self.perFragment else { return .fragmentFull }
    if since.count >= limit { expire(now: now) }
    guard since.count < limit else { return .full }
    since[question] = now
    counts[ufrag, default: 0] += 1
    return .asks
  }

  /// Whose the path is is known now, whichever check asked.
  mutating func end(_ path: NetworkPath) {
    for question in since.keys where question.path == path { remove(question) }
  }

  mutating func expire(now: Instant) {
    for (question, asked) in since where now - asked >= Self.patience { remove(question) }
  }

  private mutating func remove(_ question: Question) {
    since[question] = nil
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.pendingCount) { return }
    #endif
    let left = counts[question.ufrag, default: 1] - 1
    counts[question.ufrag] = left > 0 ? left : nil
  }
}
