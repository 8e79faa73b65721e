internal import Synchronization

/// Bytes that wait on all WebSockets together of what sessions begin or go on with: each has bounds of its own, but far
/// higher ones than all else that waits, so their sum has one too.
final class OpeningTotal: Sendable {
  private let limit: Int
  private let bytes = Mutex(0)

  init(limit: Int) { self.limit = limit }

  /// - Returns: false, and nothing is taken, where it would be too much.
  func take(_ count: Int) -> Bool {
    bytes.withLock { bytes in
      guard bytes + count <= limit else { return false }
      bytes += count
      return true
    }
  }

  func release(_ count: Int) { bytes.withLock { $0 -= count } }
}
