public import Engine
public import Model

/// Why participants get what they get: one page of a room.
public struct RoomExplanation: Sendable {
  /// In the order of their identities' bytes.
  public var participants: [ParticipantExplanation]
  /// There are more behind them.
  public var hasMore = false
  /// Workers that did not answer in time, of whose peers nothing is known.
  public var unanswered = 0
}

/// What one participant gets, and why.
public struct ParticipantExplanation: Sendable {
  public let id: ParticipantID
  public let identity: String
  public let name: String?
  public let transports: [TransportExplanation]
  /// Of every track that it wants and may have, in the order of their ids.
  public let subscriptions: [SubscriptionExplanation]
}

/// What the path of one transport carries.
public struct TransportExplanation: Sendable {
  public let id: TransportID
  public let bitrates: Bitrates
  /// nil: it has no peer in the media plane, or that did not answer in time.
  public let media: PeerExplanation?
  /// When the last probe for more began.
  public let probedAt: WallTime?
}

/// What one participant gets of one track, and why.
public struct SubscriptionExplanation: Sendable {
  public let track: TrackInfo
  public let publisher: ParticipantName
  /// On which it comes, or would.
  public let transport: TransportID
  /// The section that shows it; nil: none.
  public let mid: String?
  public let state: StreamState
  /// How its subscriber shows it; nil of audio.
  public let wanted: PicturePreference?
  /// What its slot gets; nil without a slot, and where the media plane did not answer.
  public let media: SlotExplanation?
  /// Of the encoding that is sent, where it has a name.
  public let rid: String?
  /// The last key frame of that encoding.
  public let keyFrame: WallTime?
  public let request: Request?
  public let reason: StreamReason

  /// The last request for a key frame of the track.
  public struct Request: Sendable {
    public enum Asker: Sendable {
      case server
      case participant(ParticipantName, isHidden: Bool)
      /// One that is gone, or of which it isn't known.
      case other
    }

    public let at: WallTime
    public let asker: Asker
  }
}
