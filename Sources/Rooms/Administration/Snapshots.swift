public import AccessTokens
public import Model

/// A room as those who run it see it.
public struct RoomSnapshot: Sendable {
  public let info: RoomInfo
  public let created: WallTime
  public let settings: RoomSettings
  /// Also those who are hidden.
  public let participants: Int
  /// Of these, those who publish something.
  public let publishers: Int
  public let tracks: Int
  /// Seconds since it was made.
  public let age: Double
  /// Of all its participants together.
  public let bitrates: Bitrates
  /// Sessions that wait to be let in, which are no participants.
  public let waiting: Int
  /// Of its participants' transports the worst: 0–1; nil: nothing is known.
  public let loss: Double?
  public let roundTrip: Duration?
  /// How many speak.
  public let speaking: Int
}

/// A participant as those who run the room see it.
public struct ParticipantSnapshot: Sendable {
  public let info: ParticipantInfo
  public let joined: WallTime
  public let grants: Grants
  /// nil: nothing is known yet.
  public let quality: ConnectionQuality?
  /// On all transports together.
  public let bitrates: Bitrates
  public let subscriptions: [SubscriptionSnapshot]
}

/// A track that a participant gets, or is to get.
public struct SubscriptionSnapshot: Equatable, Sendable {
  public let track: TrackID
  /// Where it is shown; nil: nowhere.
  public let mid: String?
  public let state: StreamState
}
