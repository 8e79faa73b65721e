public import AccessTokens
public import Model

/// A track as everybody in the room may see it.
public struct TrackInfo: Equatable, Sendable {
  public let id: TrackID
  public let kind: MediaKind
  public let source: TrackSource
  public let name: String?
  /// Who has muted it: its publisher, an administrator, or both. Each lifts its own mute alone.
  public var mutedByPublisher = false
  public var mutedByAdmin = false

  /// It reaches no subscriber.
  public var muted: Bool { mutedByPublisher || mutedByAdmin }
}

/// A participant as everybody in the room may see it.
public struct ParticipantInfo: Equatable, Sendable {
  public let id: ParticipantID
  public let identity: String
  public var name: String? { didSet { wire = SharedText() } }
  /// At most 64 KiB.
  public var metadata: String? { didSet { wire = SharedText() } }
  /// At most 256 pairs, at most 64 KiB together.
  public var attributes: [String: String] = [:] { didSet { wire = SharedText() } }
  public var permissions = Permissions() { didSet { wire = SharedText() } }
  public var tracks: [TrackInfo] { didSet { wire = SharedText() } }
  /// For the front doors; another one once anything has changed.
  public private(set) var wire = SharedText()
}

public struct RoomInfo: Equatable, Sendable {
  public let id: RoomID
  public let name: String
  /// At most 64 KiB.
  public var metadata: String?
}

/// The room as it was at the moment of joining.
public struct JoinedState: Sendable {
  public let room: RoomInfo
  public let participant: ParticipantInfo
  /// The others.
  public let participants: [ParticipantInfo]
  /// The last event that this state contains.
  public let lastEvent: Int
}

/// Which track a slot shows, by the section's mid.
public struct SlotAssignment: Equatable, Sendable {
  public let mid: String
  public let track: TrackID?
}
