internal import Synchronization

/// The state in which a participant was last announced, so that it is encoded once and not for each participant that joins.
///
/// It is a cache of what can be made at any time, so copies of a room's state may share it.
final class LastInfo: Sendable {
  private let value = Mutex<ParticipantInfo?>(nil)

  /// - Parameter info: as it is now.
  /// - Returns: an equal one, which may have been encoded already.
  func same(as info: ParticipantInfo) -> ParticipantInfo {
    value.withLock { known in
      if let known, known == info { return known }
      known = info
      return info
    }
  }
}
