public import Model

/// How a room does, and some of those who are in it.
public struct RoomFigures: Sendable {
  public let room: RoomSnapshot
  /// In the order that was asked for; behind them those that were asked for by their ids and have no place among them.
  public let people: [ParticipantFigures]
  /// There are more behind them.
  public let hasMore: Bool
}

/// How one participant does.
public struct ParticipantFigures: Sendable {
  public let name: ParticipantName
  public let isHidden: Bool
  public let joined: WallTime
  /// nil: nothing is known yet.
  public let quality: ConnectionQuality?
  /// On all transports together.
  public let bitrates: Bitrates
  /// Of its transports the worst: 0–1; nil: nothing is known.
  public let loss: Double?
  public let roundTrip: Duration?
  /// How loud it speaks: 0–1; nil: it doesn't.
  public let speaking: Double?
  public let tracks: [TrackFigures]
}

/// How a published track does.
public struct TrackFigures: Sendable {
  public let info: TrackInfo
  /// Of its packets; nil: none has come.
  public let codec: Codec?
  /// Of a picture, what is known of its encodings; nil of sound, and where the media plane did not answer.
  public let layers: TrackLayers?
}
