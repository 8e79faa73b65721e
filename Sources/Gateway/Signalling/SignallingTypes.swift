public import AccessTokens
public import Rooms

/// A client's description with what it says about the tracks that it sends.
public struct SessionOffer: Equatable, Sendable {
  public struct Track: Equatable, Sendable {
    public var mid: String
    /// nil: a camera or a microphone, by the section's kind.
    public var source: TrackSource?
    public var name: String?
    /// Muted from its first packet on.
    public var muted: Bool

    public init(mid: String, source: TrackSource?, name: String? = nil, muted: Bool = false) {
      self.mid = mid
      self.source = source
      self.name = name
      self.muted = muted
    }
  }

  public var sdp: String
  public var tracks: [Track]

  public init(sdp: String, tracks: [Track]) {
    self.sdp = sdp
    self.tracks = tracks
  }
}

public struct SessionAnswer: Equatable, Sendable, Encodable {
  /// A section of the offer that became a track.
  public struct Track: Equatable, Sendable, Encodable {
    public var mid: String
    public var track: String

    public init(mid: String, track: String) {
      self.mid = mid
      self.track = track
    }
  }

  /// A section that was answered by port 0.
  public struct Declined: Equatable, Sendable, Encodable {
    public var mid: String
    public var code: String

    public init(mid: String, code: String) {
      self.mid = mid
      self.code = code
    }
  }

  public var sdp: String
  public var tracks: [Track]
  public var slots: [Slot]
  public var declined: [Declined]

  public init(sdp: String, tracks: [Track] = [], slots: [Slot] = [], declined: [Declined] = []) {
    self.sdp = sdp
    self.tracks = tracks
    self.slots = slots
    self.declined = declined
  }
}

/// A receive section and the track that plays in it.
public struct Slot: Equatable, Sendable, Encodable {
  public var mid: String
  public var track: String?

  public init(mid: String, track: String?) {
    self.mid = mid
    self.track = track
  }

  private enum CodingKeys: CodingKey { case mid, track }

  /// An empty slot says `null`: absent would mean unknown.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(mid, forKey: .mid)
    try container.encode(track, forKey: .track)
  }
}

public struct TrackBody: Equatable, Sendable, Encodable {
  public var id: String
  /// `audio` or `video`.
  public var kind: String
  public var source: TrackSource
  public var name: String?
  /// It reaches no subscriber.
  public var muted: Bool
  /// An administrator's mute stands, which the publisher can't lift.
  public var mutedByAdmin: Bool

  public init(
    id: String, kind: String, source: TrackSource, name: String? = nil, muted: Bool = false,
    mutedByAdmin: Bool = false
  ) {
    self.id = id
    self.kind = kind
    self.source = source
    self.name = name
    self.muted = muted
    self.mutedByAdmin = mutedByAdmin
  }
}

/// What a participant may do.
public struct PermissionsBody: Equatable, Sendable, Encodable {
  public var canPublish: Bool
  /// nil: every source, where it may publish at all. Never empty, because REST and tokens read an empty list as every source.
  public var canPublishSources: [String]?
  public var canSubscribe: Bool
  public var canPublishData: Bool
  public var canUpdateOwnMetadata: Bool

  public init(_ permissions: Permissions) {
    let sources = permissions.canPublishSources?.map(\.rawValue).sorted()
    canPublish = permissions.canPublish && sources?.isEmpty != true
    canPublishSources = sources?.isEmpty == true ? nil : sources
    canSubscribe = permissions.canSubscribe
    canPublishData = permissions.canPublishData
    canUpdateOwnMetadata = permissions.canUpdateOwnMetadata
  }
}

public struct ParticipantBody: Equatable, Sendable, Encodable {
  public var id: String
  public var identity: String
  public var name: String?
  public var metadata: String?
  public var attributes: [String: String]
  public var permissions: PermissionsBody?
  public var tracks: [TrackBody]

  public init(
    id: String, identity: String, name: String? = nil, metadata: String? = nil,
    attributes: [String: String] = [:], permissions: PermissionsBody? = nil, tracks: [TrackBody] = []
  ) {
    self.id = id
    self.identity = identity
    self.name = name
    self.metadata = metadata
    self.attributes = attributes
    self.permissions = permissions
    self.tracks = tracks
  }
}

public struct RoomBody: Equatable, Sendable, Encodable {
  public var id: String
  public var name: String
  public var metadata: String?

  public init(id: String, name: String, metadata: String? = nil) {
    self.id = id
    self.name = name
    self.metadata = metadata
  }
}

/// What a participant finds when it arrives.
public struct JoinedBody: Equatable, Sendable {
  public var participant: ParticipantBody
  public var room: RoomBody
  /// The others, each as JSON, which all who arrive have in common.
  public var others: [String]
  /// The event up to which this is the state.
  public var lastEvent: Int

  public init(participant: ParticipantBody, room: RoomBody, others: [String], lastEvent: Int) {
    self.participant = participant
    self.room = room
    self.others = others
    self.lastEvent = lastEvent
  }

  public init(
    participant: ParticipantBody, room: RoomBody, participants: [ParticipantBody], lastEvent: Int
  ) {
    self.init(
      participant: participant, room: room, others: participants.map { ServerMessage.encode($0) },
      lastEvent: lastEvent)
  }
}

/// What a client missed while its socket was gone.
public struct ResumedBody: Equatable, Sendable {
  /// The last of `missed`, or of what was known already.
  public var lastEvent: Int
  /// As of `lastEvent`, all of them.
  public var slots: [Slot]
  public var tracks: [SessionAnswer.Track]
  /// Events as they go out, which all who hear them have in common.
  public var missed: [String]
  /// What is otherwise told by change only, as it is now.
  public var notices: [RoomMessage]

  public init(
    lastEvent: Int, slots: [Slot] = [], tracks: [SessionAnswer.Track] = [],
    missed: [String] = [], notices: [RoomMessage] = []
  ) {
    self.lastEvent = lastEvent
    self.slots = slots
    self.tracks = tracks
    self.missed = missed
    self.notices = notices
  }
}

/// An answer that came while the session had no socket.
struct ResumedAnswer: Equatable, Sendable {
  /// Of the offer.
  var id: RequestID?
  var answer: SessionAnswer
  /// It was given to a socket that may have broken before it.
  var isSent = false
}

/// Somebody who speaks.
public struct SpeakerBody: Equatable, Sendable, Encodable {
  public var participant: String
  /// 0 to 1.
  public var level: Double

  public init(participant: String, level: Double) {
    self.participant = participant
    self.level = level
  }
}

/// How well somebody's media travels.
public struct QualityBody: Equatable, Sendable, Encodable {
  public var participant: String
  /// `excellent`, `good`, `poor` or `lost`.
  public var quality: String

  public init(participant: String, quality: String) {
    self.participant = participant
    self.quality = quality
  }
}

/// Whether a track reaches this participant.
public struct StreamBody: Equatable, Sendable {
  public var track: String
  /// `active`, `paused` or `waiting`.
  public var state: String
  /// Absent where it is active.
  public var reason: String?

  public init(track: String, state: String, reason: String? = nil) {
    self.track = track
    self.state = state
    self.reason = reason
  }
}

/// A message from another participant.
public struct DataBody: Equatable, Sendable {
  /// The sender's id; nil: somebody who is hidden.
  public var from: String?
  /// Base64.
  public var payload: String
  public var topic: String?
  public var reliable: Bool
  /// The whole message, once for all who get it.
  public let wire: SharedText

  public init(
    from: String?, payload: String, topic: String? = nil, reliable: Bool = true,
    wire: SharedText = SharedText()
  ) {
    self.from = from
    self.payload = payload
    self.topic = topic
    self.reliable = reliable
    self.wire = wire
  }
}
