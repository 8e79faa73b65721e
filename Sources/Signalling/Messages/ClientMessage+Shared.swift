/// What is said to those who share something in the room's call.
extension ClientMessage {
  /// An event for a shared session; answered by `session.seq`.
  public struct SessionEvent: Message {
    public static let type = "session.event"
    public static let definition = "AppendSessionEvent"
    public static let summary = "An event for a shared session of the room's call."

    /// The session's.
    public var sid = ""
    public var event = NewSessionEvent()

    public init() {}
    public init(sid: String, event: NewSessionEvent) { (self.sid, self.event) = (sid, event) }

    public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
      try coder.text(Field("sid", "The session's id."), &sid, .from1(to: 36, "a session's id"))
      try coder.record("event", &event)
    }
  }
}

/// An event of a shared session as its sender makes it.
public struct NewSessionEvent: Record {
  public static let definition = "NewSessionEvent"
  public static let summary = "An event of a shared session, as its sender makes it."

  public var id = ""
  public var type = ""
  public var data = OpaqueJSON.null

  public init() {}
  public init(id: String, type: String, data: OpaqueJSON) {
    self.id = id
    self.type = type
    self.data = data
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text(
      Field("id", "A UUID that the client makes; one that was used before gets its first number again."), &id,
      .from1(to: 36, "a UUID"))
    try coder.text(
      Field("type", "The app's own; those that begin with `system.` are the server's."), &type, .name)
    try coder.opaque(
      Field("data", "The app's own: JSON of at most 16 KiB, 12 levels deep; absent: null."), &data,
      limit: ClientMessage.maximumEventBytes)
  }
}
