internal import Calls
internal import Synchronization

/// Decisions of which the store hasn't said whether they are on the disk: its connection was lost on the way. They are kept until it
/// answers again, which shows what of them stands.
final class UnknownDecisions: Sendable {
  struct Decision: Sendable {
    /// What is to be done if it is on the disk.
    var aftermath: Aftermath
    /// The moment that it was written down with.
    var at: CallTime
  }

  /// Four times what the store writes in one transaction. Beyond, what follows is let go.
  private static let capacity = 4_096

  private let decisions = Mutex<[Decision]>([])

  /// - Returns: whether it is kept.
  func keep(_ decision: Decision) -> Bool {
    decisions.withLock { decisions in
      guard decisions.count < Self.capacity else { return false }
      decisions.append(decision)
      return true
    }
  }

  /// Some of them, in the order in which they came here.
  func first(_ limit: Int) -> [Decision] { decisions.withLock { Array($0.prefix(limit)) } }

  /// They were looked at.
  func removeFirst(_ count: Int) { decisions.withLock { $0.removeFirst(min(count, $0.count)) } }
}
