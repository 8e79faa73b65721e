public import AccessTokens

/// A participant as everybody in the room may see it.
public struct ParticipantBody: Record {
  public static let definition = "Participant"
  public static let summary = "A participant as everybody in the room may see it."

  public var id = ""
  public var identity = ""
  public var name: String?
  public var metadata: String?
  public var attributes: [String: String] = [:]
  public var permissions: PermissionsBody?
  public var tracks: [TrackBody] = []
  /// Since when its hand is raised, RFC 3339; nil: it isn't.
  public var hand: String?

  public init() {}
  public init(
    id: String, identity: String, name: String? = nil, metadata: String? = nil,
    attributes: [String: String] = [:], permissions: PermissionsBody? = nil, tracks: [TrackBody] = [],
    hand: String? = nil
  ) {
    self.id = id
    self.identity = identity
    self.name = name
    self.metadata = metadata
    self.attributes = attributes
    self.permissions = permissions
    self.tracks = tracks
    self.hand = hand
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("id", &id, .participant)
    try coder.text(Field("identity", "The identity in the participant's token."), &identity, .identity)
    try coder.text(Field("name", "To be shown, as text."), &name, .any)
    try coder.text(Field("metadata", "At most 64 KiB."), &metadata, .any)
    try coder.attributes("attributes", &attributes)
    try coder.record("permissions", &permissions)
    try coder.records("tracks", &tracks, .sections)
    try coder.text(Field("hand", "Since when its hand is raised; absent: it isn't."), &hand, .any)
  }
}

/// Whose track it is, in the events of tracks.
public struct PublisherBody: Record {
  public static let definition = "Publisher"
  public static let summary = "Whose track it is."

  public var id = ""
  public var identity = ""
  public var name: String?

  public init() {}
  public init(id: String, identity: String, name: String?) {
    (self.id, self.identity, self.name) = (id, identity, name)
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("id", &id, .participant)
    try coder.text(Field("identity", "The identity in the participant's token."), &identity, .identity)
    try coder.text(Field("name", "To be shown, as text."), &name, .any)
  }
}

/// What a participant may do.
public struct PermissionsBody: Record {
  public static let definition = "Permissions"
  public static let summary = "What a participant may do; may change while it is in."

  public var canPublish = false
  /// nil: every source, where it may publish at all. Never empty, because REST and tokens read an empty list as every source.
  public var canPublishSources: [TrackSource]?
  public var canSubscribe = false
  public var canPublishData = false
  public var canUpdateOwnMetadata = false

  public init() {}
  public init(_ permissions: Permissions) {
    let sources = permissions.canPublishSources?.sorted { $0.rawValue < $1.rawValue }
    canPublish = permissions.canPublish && sources?.isEmpty != true
    canPublishSources = sources?.isEmpty == true ? nil : sources
    canSubscribe = permissions.canSubscribe
    canPublishData = permissions.canPublishData
    canUpdateOwnMetadata = permissions.canUpdateOwnMetadata
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.flag("canPublish", &canPublish)
    try coder.words(Field("canPublishSources", "Absent: every source."), &canPublishSources)
    try coder.flag("canSubscribe", &canSubscribe)
    try coder.flag("canPublishData", &canPublishData)
    try coder.flag("canUpdateOwnMetadata", &canUpdateOwnMetadata)
  }
}
