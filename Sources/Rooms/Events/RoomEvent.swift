public import Model

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
