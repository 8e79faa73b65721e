public import Model

/// What a token allows (the claim `video`).
public struct Grants: Equatable, Sendable {
  /// In `room`: every room, for those who administer.
  public static let everyRoom = "*"

  public var room: String?
  public var roomJoin = false
  /// Allowed unless refused, once `roomJoin` is given; false without it.
  public var canPublish = false
  public var canSubscribe = false
  /// Follows `canPublish` unless given.
  public var canPublishData = false
  /// Nil allows every source.
  public var canPublishSources: Set<TrackSource>?
  public var canUpdateOwnMetadata = false
  public var hidden = false
  public var recorder = false
  public var roomCreate = false
  public var roomList = false
  public var roomAdmin = false

  public init() {}

  /// Joining with everything that is allowed unless refused.
  public static func join(_ room: String) -> Grants {
    var grants = Grants()
    grants.room = room
    grants.roomJoin = true
    grants.canPublish = true
    grants.canSubscribe = true
    grants.canPublishData = true
    return grants
  }

  /// Whether a track of that source may be published: the one place where that is decided.
  ///
  /// A hidden participant publishes nothing, because its tracks would have to be named to all who get them.
  public func mayPublish(_ source: TrackSource, as kind: MediaKind) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.sourceUnchecked) {
        return canPublish && !hidden && (source == .unknown || canPublishSources?.contains(source) ?? true)
      }
    #endif
    return canPublish && !hidden && source.fits(kind) && canPublishSources?.contains(source) ?? true
  }
}

/// What a participant may do, as everybody in the room may see it.
public struct Permissions: Equatable, Sendable {
  public var canPublish = false
  /// nil allows every source.
  public var canPublishSources: Set<TrackSource>?
  public var canSubscribe = false
  public var canPublishData = false
  public var canUpdateOwnMetadata = false

  public init() {}
}

extension Grants {
  /// What of it everybody in the room may see.
  public var permissions: Permissions {
    var permissions = Permissions()
    permissions.canPublish = canPublish
    permissions.canPublishSources = canPublishSources
    permissions.canSubscribe = canSubscribe
    permissions.canPublishData = canPublishData
    permissions.canUpdateOwnMetadata = canUpdateOwnMetadata
    return permissions
  }
}

extension Grants {
  /// What both allow of what a participant does in a room: one token's, used beside another's.
  public func narrowed(to other: Grants) -> Grants {
    var grants = self
    grants.canPublish = canPublish && other.canPublish
    grants.canSubscribe = canSubscribe && other.canSubscribe
    grants.canPublishData = canPublishData && other.canPublishData
    grants.canUpdateOwnMetadata = canUpdateOwnMetadata && other.canUpdateOwnMetadata
    grants.hidden = hidden || other.hidden
    if let sources = other.canPublishSources {
      grants.canPublishSources = canPublishSources?.intersection(sources) ?? sources
    }
    return grants
  }

  /// What either allows of that.
  public func widened(by other: Grants) -> Grants {
    var grants = self
    grants.canPublish = canPublish || other.canPublish
    grants.canSubscribe = canSubscribe || other.canSubscribe
    grants.canPublishData = canPublishData || other.canPublishData
    grants.canUpdateOwnMetadata = canUpdateOwnMetadata || other.canUpdateOwnMetadata
    grants.hidden = hidden && other.hidden
    // The sources of one that publishes nothing allow nothing.
    guard other.canPublish else { return grants }
    if canPublish, let sources = canPublishSources, let others = other.canPublishSources {
      grants.canPublishSources = sources.union(others)
    } else {
      grants.canPublishSources = canPublish ? nil : other.canPublishSources
    }
    return grants
  }
}
