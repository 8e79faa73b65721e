internal import Synchronization

/// What a participant was last said to be, kept as long as that holds: so it is encoded once, and not for each who comes.
///
/// It remembers what can be made at any time, so copies of a room's state may have it in common.
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
