public import Rooms

/// An entry of a room's event log, such as `participant.joined` or `track.published`.
public struct EventBody: Equatable, Sendable, Encodable {
  /// From 1, without gaps, for each room id.
  public var id: Int
  /// RFC 3339, UTC, milliseconds.
  public var time: String
  public var room: String
  public var roomId: String
  public var type: String
  public var participant: EventParticipantBody?
  public var track: TrackBody?
  public var reason: LeaveReason?
  /// The room's, in `room.updated`.
  public var metadata: String?

  public init(
    id: Int, time: String, room: String, roomId: String, type: String,
    participant: EventParticipantBody? = nil,
    track: TrackBody? = nil, reason: LeaveReason? = nil, metadata: String? = nil
  ) {
    self.id = id
    self.time = time
    self.room = room
    self.roomId = roomId
    self.type = type
    self.participant = participant
    self.track = track
    self.reason = reason
    self.metadata = metadata
  }
}

/// The participant that an event is about.
public enum EventParticipantBody: Equatable, Sendable, Encodable {
  case whole(ParticipantBody)
  case named(PublisherBody)

  init(_ participant: EventParticipant) {
    switch participant {
    case .whole(let info): self = .whole(ParticipantBody(info))
    case .named(let name):
      self = .named(PublisherBody(id: name.id.text, identity: name.identity, name: name.name))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .whole(let body): try body.encode(to: encoder)
    case .named(let body): try body.encode(to: encoder)
    }
  }
}

/// Whose track it is, in the events of tracks.
public struct PublisherBody: Equatable, Sendable, Encodable {
  public var id: String
  public var identity: String
  public var name: String?
}
