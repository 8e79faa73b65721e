public import Model

/// What happens in the room.
extension ServerMessage {
  public struct Event: Message {
    public static let type = "event"
    public static let definition = "Event"
    public static let summary = "What happened in the room."
    public static let id = RequestIDUse.none

    public var event = EventBody()

    public init() {}
    init(event: EventBody) { self.event = event }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.record("event", &event)
    }
  }

  public struct History: Message {
    public static let type = "history"
    public static let definition = "History"
    public static let summary = "What was said before, right behind joined; the oldest first."
    public static let id = RequestIDUse.none

    public var messages: [KeptMessageBody] = []

    public init() {}
    public init(messages: [KeptMessageBody]) { self.messages = messages }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.records("messages", &messages, .kept)
    }
  }

  public struct Speakers: Message {
    public static let type = "speakers"
    public static let definition = "Speakers"
    public static let summary = "Who speaks now, the loudest first."
    public static let id = RequestIDUse.none

    public var speakers: [SpeakerBody] = []

    public init() {}
    init(speakers: [SpeakerBody]) { self.speakers = speakers }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.records("speakers", &speakers, .people)
    }
  }

  public struct Quality: Message {
    public static let type = "quality"
    public static let definition = "Quality"
    public static let summary = "Participants whose connection changed."
    public static let id = RequestIDUse.none

    public var participants: [QualityBody] = []

    public init() {}
    init(participants: [QualityBody]) { self.participants = participants }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.records("participants", &participants, .people)
    }
  }
}

/// A participant that speaks.
public struct SpeakerBody: Record {
  public static let definition = "Speaker"
  public static let summary = "A participant that speaks."

  public var participant = ""
  /// 0 to 1.
  public var level = 0.0

  public init() {}
  public init(participant: String, level: Double) { (self.participant, self.level) = (participant, level) }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("participant", &participant, .participant)
    try coder.share("level", &level)
  }
}

/// How well a participant's media travels.
public struct QualityBody: Record {
  public static let definition = "ConnectionQuality"
  public static let summary = "How well a participant's media arrives."

  public var participant = ""
  public var quality = ConnectionQuality.excellent

  public init() {}
  public init(participant: String, quality: ConnectionQuality) {
    (self.participant, self.quality) = (participant, quality)
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("participant", &participant, .participant)
    try coder.word("quality", &quality)
  }
}

/// Whether a track reaches this participant.
public struct StreamBody: Message {
  public enum State: String, Word {
    case active, paused, waiting
  }

  public enum Reason: String, Word {
    case noSlot = "no-slot"
    case codec
    case noMedia = "no-media"
    case bandwidth, off
  }

  public static let type = "stream"
  public static let definition = "Stream"
  public static let summary = "Whether a track reaches this participant."
  public static let id = RequestIDUse.none

  public var track = ""
  public var state = State.active
  /// nil where it is active.
  public var reason: Reason?

  public init() {}
  public init(track: String, state: State, reason: Reason? = nil) {
    (self.track, self.state, self.reason) = (track, state, reason)
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("track", &track, .track)
    try coder.word("state", &state)
    try coder.word("reason", &reason)
  }
}

/// A message from another participant.
public struct DataBody: Message {
  public static let type = "data"
  public static let definition = "Data"
  public static let summary = "A message from another participant."
  public static let id = RequestIDUse.none

  /// The sender's id; nil: one that is hidden, which is said by null.
  public var from: String?
  public var payload: [UInt8] = []
  public var topic: String?
  public var reliable = true

  public init() {}
  public init(from: String?, payload: [UInt8], topic: String? = nil, reliable: Bool = true) {
    self.from = from
    self.payload = payload
    self.topic = topic
    self.reliable = reliable
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.nullableText("from", &from, .participant)
    try coder.bytes(Field("payload", "Base64."), &payload, limit: nil)
    try coder.text("topic", &topic, .any)
    try coder.flag("reliable", &reliable)
  }
}
