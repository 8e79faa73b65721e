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

/// A participant's names, without its state.
public struct ParticipantName: Equatable, Sendable {
  public let id: ParticipantID
  public let identity: String
  public let name: String?
}

/// The participant that an event is about.
public enum EventParticipant: Equatable, Sendable {
  /// As everybody in the room may see it.
  case whole(ParticipantInfo)
  /// The publisher of a track.
  case named(ParticipantName)

  public var id: ParticipantID {
    switch self {
    case .whole(let info): info.id
    case .named(let name): name.id
    }
  }

  public var identity: String {
    switch self {
    case .whole(let info): info.identity
    case .named(let name): name.identity
    }
  }
}

/// An entry of a room's log of events.
public struct RoomEvent: Sendable {
  public enum Kind: String, Sendable, CaseIterable {
    case roomStarted = "room.started"
    case roomFinished = "room.finished"
    case roomUpdated = "room.updated"
    case participantJoined = "participant.joined"
    case participantLeft = "participant.left"
    case participantUpdated = "participant.updated"
    /// Nothing has come on its way of media for a while; it may come back, or be left.
    case participantReconnecting = "participant.reconnecting"
    case participantReconnected = "participant.reconnected"
    case trackPublished = "track.published"
    case trackUnpublished = "track.unpublished"
    case trackMuted = "track.muted"
    case trackUnmuted = "track.unmuted"
  }

  /// From 1, without gaps, per room id.
  public let id: Int
  public let time: WallTime
  public let room: RoomInfo
  public let kind: Kind
  public var participant: EventParticipant?
  public var track: TrackInfo?
  public var reason: LeaveReason?
  /// For the front doors.
  public let wire = SharedText()
}

/// Which track a slot shows, by the section's mid.
public struct SlotAssignment: Equatable, Sendable {
  public let mid: String
  public let track: TrackID?
}

/// Why somebody is no longer in the room.
public enum LeaveReason: String, Codable, Sendable, CaseIterable {
  case left
  case removed
  case connectionLost
  case duplicateIdentity
  case roomClosed
  case serverShutdown
}

/// Why a participant was not let in.
public enum JoinError: Error, Equatable, Sendable {
  /// The server stops.
  case draining
  /// The room, or the server, has as many as it may.
  case full(limit: Int)
  /// There is no such room, and none is made by who comes.
  case noRoom
  /// The identity was removed from the room, and the token is not known to be of after that.
  case removed
  /// The token's metadata and attributes are more than the room has place for.
  case tooLarge(StateExcess)
  /// The identity has come and gone, or asked, too often in this room.
  case tooOften
}
