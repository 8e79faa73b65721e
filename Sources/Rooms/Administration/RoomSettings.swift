public import AccessTokens

/// What is said of a room beside who is in it.
public struct RoomSettings: Equatable, Sendable {
  /// Seconds that a room which was made ahead waits for its first participant.
  public var emptyTimeout: Int
  /// Seconds that a room stays once everybody has left.
  public var departureTimeout: Int
  /// Participants that it takes; nil: as many as any room.
  public var maxParticipants: Int?
  /// At most 64 KiB.
  public var metadata: String?

  /// The longest time-out: a day.
  public static let maximumTimeout = 86_400

  public init(
    emptyTimeout: Int = 300, departureTimeout: Int = 20, maxParticipants: Int? = nil, metadata: String? = nil
  ) {
    self.emptyTimeout = emptyTimeout
    self.departureTimeout = departureTimeout
    self.maxParticipants = maxParticipants
    self.metadata = metadata
  }
}

/// A change by a merge patch (RFC 7396): what isn't named stays.
public enum Change<Value: Equatable & Sendable>: Equatable, Sendable {
  case keep
  /// Back to what holds where nothing was said.
  case remove
  case set(Value)

  func apply(to value: inout Value?) {
    switch self {
    case .keep: break
    case .remove: value = nil
    case .set(let new): value = new
    }
  }

  func apply(to value: inout Value, default: Value) {
    switch self {
    case .keep: break
    case .remove: value = `default`
    case .set(let new): value = new
    }
  }
}

/// A change of a room's settings.
public struct RoomPatch: Equatable, Sendable {
  public var emptyTimeout = Change<Int>.keep
  public var departureTimeout = Change<Int>.keep
  public var maxParticipants = Change<Int>.keep
  public var metadata = Change<String>.keep

  public init() {}

  func apply(to settings: inout RoomSettings, defaults: RoomSettings) {
    emptyTimeout.apply(to: &settings.emptyTimeout, default: defaults.emptyTimeout)
    departureTimeout.apply(to: &settings.departureTimeout, default: defaults.departureTimeout)
    maxParticipants.apply(to: &settings.maxParticipants)
    metadata.apply(to: &settings.metadata)
  }
}

/// A change of a participant by somebody who administers the room.
public struct ParticipantPatch: Equatable, Sendable {
  public var name = Change<String>.keep
  public var metadata = Change<String>.keep
  /// By key; `remove` of all of them takes every attribute away.
  public var attributes = Change<[String: Change<String>]>.keep
  public var permissions = PermissionsPatch()

  public init() {}
}

/// A change of what a participant may do; what is removed is as a token without a word about it has it.
public struct PermissionsPatch: Equatable, Sendable {
  public var canPublish = Change<Bool>.keep
  public var canPublishSources = Change<Set<TrackSource>>.keep
  public var canSubscribe = Change<Bool>.keep
  public var canPublishData = Change<Bool>.keep
  public var canUpdateOwnMetadata = Change<Bool>.keep

  public init() {}

  func apply(to grants: inout Grants) {
    canPublish.apply(to: &grants.canPublish, default: grants.roomJoin)
    canPublishSources.apply(to: &grants.canPublishSources)
    canSubscribe.apply(to: &grants.canSubscribe, default: grants.roomJoin)
    canPublishData.apply(to: &grants.canPublishData, default: grants.canPublish)
    canUpdateOwnMetadata.apply(to: &grants.canUpdateOwnMetadata, default: false)
  }
}
