internal import Synchronization

/// Messages for those who come later, of all rooms together: each room has a share that no other takes, and what it keeps above
/// that comes out of what they have in common.
///
/// Bytes are those of `DataHistory.bytes`.
final class HistoryDesk: Sendable {
  /// Above the shares of all rooms.
  static let common = 128 * 1_024 * 1_024
  /// Of all rooms together.
  static let shares = 128 * 1_024 * 1_024
  static let largestShare = 16_384

  private struct State {
    /// By the number of their room, without those that keep nothing.
    var kept: [UInt64: Int] = [:]
    var bytes = 0
    /// Above the shares.
    var above = 0
    var forgotten: UInt64 = 0
  }

  /// Of each room.
  let share: Int
  private let state = Mutex(State())

  /// - Parameter rooms: that there may be.
  init(rooms: Int) { share = min(Self.largestShare, Self.shares / max(1, rooms)) }

  /// A room keeps so many bytes, in place of what it said before; 0: it gives all back.
  /// - Returns: how many of them it may keep. What it had is never taken back.
  func keep(_ bytes: Int, of room: UInt64) -> Int {
    let share = share
    return state.withLock { state in
      let before = state.kept[room] ?? 0
      let aboveBefore = max(0, before - share)
      let above = min(max(0, bytes - share), aboveBefore + Self.common - state.above)
      let granted = min(bytes, share + above)
      state.above += above - aboveBefore
      state.bytes += granted - before
      state.kept[room] = granted > 0 ? granted : nil
      return granted
    }
  }

  /// A room has forgotten messages because it may keep no more.
  func forgot(_ messages: Int) { state.withLock { $0.forgotten += UInt64(messages) } }

  /// Bytes that are kept, and messages that were forgotten because of other rooms.
  var counts: (bytes: Int, forgotten: UInt64) { state.withLock { ($0.bytes, $0.forgotten) } }
}
