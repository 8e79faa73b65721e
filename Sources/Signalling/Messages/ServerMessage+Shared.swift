/// What those who share something in the room's call hear.
extension ServerMessage {
  /// An event of a shared session in which one takes part.
  public struct SessionEvent: Message {
    public static let type = "session.event"
    public static let definition = "SessionEvent"
    public static let summary = "An event of a shared session."
    public static let id = RequestIDUse.none

    /// The session's.
    public var sid = ""
    public var event = SharedEventBody()

    public init() {}
    public init(sid: String, event: SharedEventBody) { (self.sid, self.event) = (sid, event) }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text(Field("sid", "The session's id."), &sid, .any)
      try coder.record("event", &event)
    }
  }

  /// The number that an event has got; only where it was sent with an id.
  public struct SessionSeq: Message {
    public static let type = "session.seq"
    public static let definition = "SessionSeq"
    public static let summary = "The number that an event of a shared session has got."
    public static let id = RequestIDUse.required

    public var sid = ""
    /// The event's id.
    public var event = ""
    public var seq = 1

    public init() {}
    public init(sid: String, event: String, seq: Int) {
      self.sid = sid
      self.event = event
      self.seq = seq
    }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text(Field("sid", "The session's id."), &sid, .any)
      try coder.text(Field("event", "The event's id."), &event, .any)
      try coder.integer("seq", &seq, 1...Int.max)
    }
  }
}

/// An event of a shared session as everybody in it gets it.
public struct SharedEventBody: Record {
  public static let definition = "SharedEvent"
  public static let summary = "An event of a shared session."

  public var id = ""
  /// From 1, without gaps, in each session.
  public var seq = 1
  public var type = ""
  /// nil: the server itself.
  public var sender: String?
  /// RFC 3339, UTC, milliseconds.
  public var time = ""
  public var data = OpaqueJSON.null

  public init() {}
  public init(id: String, seq: Int, type: String, sender: String?, time: String, data: OpaqueJSON) {
    self.id = id
    self.seq = seq
    self.type = type
    self.sender = sender
    self.time = time
    self.data = data
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("id", &id, .any)
    try coder.integer(Field("seq", "From 1, without gaps, in each session."), &seq, 1...Int.max)
    try coder.text("type", &type, .any)
    try coder.nullableText(Field("sender", "An identity; null: the server itself."), &sender, .identity)
    try coder.text(Field("time", "RFC 3339, UTC, milliseconds."), &time, .any)
    try coder.opaque(Field("data", "The app's own."), &data, limit: nil)
  }
}
