internal import Calls
internal import Synchronization

/// Whose answers are to be looked through for those that are too many: a person's now and then, so that each one costs little.
///
/// Bounded: with more people than it counts for at once, all are counted from none.
final class AnswerTurns: Sendable {
  /// Of so many answers of a person one has its others looked through.
  private let span: Int
  private let capacity: Int
  private let counts = Mutex<[PersonID: Int]>([:])

  init(span: Int = 64, capacity: Int = 100_000) {
    self.span = span
    self.capacity = capacity
  }

  /// Counts one.
  /// - Returns: whether it is the one of its span.
  func take(_ person: PersonID) -> Bool {
    counts.withLock { counts in
      let count = (counts[person] ?? 0) + 1
      guard count < span else {
        counts[person] = nil
        return true
      }
      if counts[person] == nil, counts.count >= capacity { counts = [:] }
      counts[person] = count
      return false
    }
  }
}
