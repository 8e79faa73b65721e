public import AccessTokens

/// A change of a participant by the administrator of its room.
public struct ParticipantPatch: Equatable, Sendable {
  public var name = Change<String>.keep
  public var metadata = Change<String>.keep
  /// By key; `remove` of all of them takes every attribute away.
  public var attributes = Change<[String: Change<String>]>.keep
  public var permissions = PermissionsPatch()
  /// Who runs the room lowers the participant's hand; only the participant raises it.
  public var lowersHand = false

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
