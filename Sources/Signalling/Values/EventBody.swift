public import Model

/// An entry of a room's event log.
public struct EventBody: Record {
  public static let definition = "RoomEvent"
  public static let summary = "What happened in a room."

  /// From 1, without gaps, for each room id.
  public var id = 1
  /// RFC 3339, UTC, milliseconds.
  public var time = ""
  public var room = ""
  public var roomId = ""
  public var type = RoomEventKind.roomStarted
  public var participant: EventSubject?
  public var track: TrackBody?
  public var reason: LeaveReason?
  /// The room's, in `room.updated`.
  public var metadata: String?
  public var recording: RecordingBody?
  public var call: EventCallBody?
  /// Who waits to be let in.
  public var waiting: WaiterBody?
  /// The room's, in `room.updated`.
  public var settings: RoomSettingsBody?

  public init() {}
  public init(
    id: Int, time: String, room: String, roomId: String, type: RoomEventKind,
    participant: EventSubject? = nil, track: TrackBody? = nil, reason: LeaveReason? = nil,
    metadata: String? = nil, recording: RecordingBody? = nil, call: EventCallBody? = nil,
    waiting: WaiterBody? = nil, settings: RoomSettingsBody? = nil
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
    self.recording = recording
    self.call = call
    self.waiting = waiting
    self.settings = settings
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.integer(Field("id", "From 1, without gaps, for each room id."), &id, 1...Int.max)
    try coder.text(Field("time", "RFC 3339, UTC, milliseconds."), &time, .any)
    try coder.text("room", &room, .any)
    try coder.text("roomId", &roomId, .room)
    try coder.word("type", &type)
    try coder.choice(Field("participant", "Its publisher, in the events of a track."), &participant)
    try coder.record("track", &track)
    try coder.word("reason", &reason)
    try coder.text(
      Field("metadata", "The room's, in `room.updated`; absent: it has none."), &metadata, .any)
    try coder.record(Field("recording", "In `room.recording` and `recording.ended`."), &recording)
    try coder.record(Field("call", "In `call.…` and `session.…`."), &call)
    try coder.record(
      Field("waiting", "In `participant.waiting` and `waiting.ended`, which hosts alone get."), &waiting)
    try coder.record(Field("settings", "The room's, in `room.updated`."), &settings)
  }
}

/// A call, in the events about it.
public struct EventCallBody: Record {
  public static let definition = "EventCall"
  public static let summary = "The call that a room is of, as it stood at an event."

  public var id = ""
  public var callerId = ""
  public var path = ""
  public var media = ""
  public var allParticipants: [String] = []
  public var outcome: String?
  public var durationMs: Int?
  public var session: String?
  public var experience: String?

  public init() {}

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("id", &id, .any)
    try coder.text(Field("callerId", "Who started it."), &callerId, .any)
    try coder.text(Field("path", "`relay` or `direct`."), &path, .any)
    try coder.text(Field("media", "`audio` or `video`."), &media, .any)
    try coder.texts(Field("allParticipants", "Everyone who was ever invited."), &allParticipants, .people)
    try coder.text(Field("outcome", "In `call.ended`."), &outcome, .any)
    try coder.integer(
      Field("durationMs", "In `call.ended`, of one that was connected."), &durationMs, 0...Int.max)
    try coder.text(Field("session", "In `session.…`: its id."), &session, .any)
    try coder.text(Field("experience", "In `session.…`: what it is."), &experience, .any)
  }
}

/// The participant that an event is about.
public enum EventSubject: RecordChoice {
  case whole(ParticipantBody)
  /// The publisher of a track.
  case named(PublisherBody)

  /// A publisher has names alone.
  public static let mark = "tracks"
  public init(first: ParticipantBody) { self = .whole(first) }
  public init(second: PublisherBody) { self = .named(second) }
  public var first: ParticipantBody? { if case .whole(let participant) = self { participant } else { nil } }
  public var second: PublisherBody? { if case .named(let publisher) = self { publisher } else { nil } }

  public var id: String {
    switch self {
    case .whole(let participant): participant.id
    case .named(let publisher): publisher.id
    }
  }

  public var identity: String {
    switch self {
    case .whole(let participant): participant.identity
    case .named(let publisher): publisher.identity
    }
  }
}
