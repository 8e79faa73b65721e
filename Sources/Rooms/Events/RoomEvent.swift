public import Model

/// An entry of a room's log of events.
public struct RoomEvent: Sendable {
  public typealias Kind = RoomEventKind

  /// From 1, without gaps, per room id.
  public let id: Int
  public let time: WallTime
  public var room: RoomInfo
  public let kind: Kind
  public var participant: EventParticipant?
  public var track: TrackInfo?
  public var reason: LeaveReason?
  public var recording: EventRecording?
  public var call: EventCall?
  public var waiting: EventWaiting?
  /// For the front doors.
  public let wire = SharedText()
}

/// The recording that an event is about.
public struct EventRecording: Equatable, Sendable {
  public let id: RecordingID
  /// The room is recorded from here on, by this or another one.
  public let isActive: Bool
  /// Once it has ended.
  public var reason: RecordingEndReason?
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
