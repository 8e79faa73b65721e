internal import Model
internal import Synchronization

/// The state in which a participant was last announced, so that it is encoded once and not for each participant that joins.
///
/// It is a cache of what can be made at any time, so copies of a room's state may share it.
final class LastInfo: Sendable {
  private let value = Mutex<ParticipantInfo?>(nil)

  /// - Parameter info: as it is now.
  /// - Returns: one that says the same in the same bytes, which may have been encoded already.
  func same(as info: ParticipantInfo) -> ParticipantInfo {
    value.withLock { known in
      if let known, known.isExactly(info) { return known }
      known = info
      return info
    }
  }
}

extension RoomSettings {
  /// As of participants.
  func isExactly(_ other: RoomSettings) -> Bool {
    let topics = (dataHistory?.topics ?? []).map(ExactName.init)
    return self == other && hasSameMetadata(other)
      && Set(topics) == Set((other.dataHistory?.topics ?? []).map(ExactName.init))
  }

  func hasSameMetadata(_ other: RoomSettings) -> Bool { isSame(metadata, other.metadata) }
}

private func isSame(_ a: String?, _ b: String?) -> Bool {
  guard let a, let b else { return a == nil && b == nil }
  return a.isExactly(b)
}

extension ParticipantInfo {
  /// Whether all texts have the same bytes, too: strings are equal where Unicode calls them equivalent, and others are to
  /// get what the participant says.
  func isExactly(_ other: ParticipantInfo) -> Bool {
    self == other && identity.isExactly(other.identity) && isSame(name, other.name)
      && isSame(metadata, other.metadata)
      && attributes.allSatisfy { key, value in
        guard let index = other.attributes.index(forKey: key) else { return false }
        return other.attributes[index].key.isExactly(key) && other.attributes[index].value.isExactly(value)
      } && zip(tracks, other.tracks).allSatisfy { isSame($0.name, $1.name) }
  }
}
