public import Model

/// A room as its participants see it.
public struct RoomBody: Record {
  public static let definition = "Room"
  public static let summary = "A room; one of the same name made later has another id."

  public var id = ""
  public var name = ""
  public var metadata: String?
  /// Its tracks are written to files.
  public var recorded = false
  /// Who comes waits until a host lets it in.
  public var admission = false
  /// No new session gets in.
  public var locked = false

  public init() {}
  public init(
    id: String, name: String, metadata: String? = nil, recorded: Bool = false, admission: Bool = false,
    locked: Bool = false
  ) {
    (self.id, self.name, self.metadata, self.recorded) = (id, name, metadata, recorded)
    (self.admission, self.locked) = (admission, locked)
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("id", &id, .room)
    try coder.text("name", &name, .identity)
    try coder.text("metadata", &metadata, .any)
    try coder.flag(Field("recorded", "Its tracks are written to files on the server."), &recorded, or: false)
    try coder.flag(
      Field("admission", "Who comes waits until a host lets it in."), &admission, or: false)
    try coder.flag(Field("locked", "No new session gets in."), &locked, or: false)
  }
}

/// What of a room's settings everybody in it may see, in the event that they have changed.
public struct RoomSettingsBody: Record {
  public static let definition = "RoomSettings"
  public static let summary = "How a room takes those who come."

  public var admission = false
  public var locked = false

  public init() {}
  public init(admission: Bool, locked: Bool) { (self.admission, self.locked) = (admission, locked) }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.flag(Field("admission", "Who comes waits until a host lets it in."), &admission)
    try coder.flag(Field("locked", "No new session gets in."), &locked)
  }
}

/// A recording, in the events of its beginning and its end.
public struct RecordingBody: Record {
  public static let definition = "Recording"
  public static let summary = "A recording of the room on the server, as it begins or ends."

  public var id = ""
  /// The room is recorded from here on.
  public var active = false
  /// In `recording.ended`.
  public var reason: RecordingEndReason?

  public init() {}
  public init(id: String, active: Bool, reason: RecordingEndReason? = nil) {
    (self.id, self.active, self.reason) = (id, active, reason)
  }

  public mutating func fields<Coder: FieldCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.text("id", &id, .recording)
    try coder.flag(
      Field("active", "Whether the room is recorded from here on, by this recording or by another."), &active)
    try coder.word(Field("reason", "In `recording.ended`."), &reason)
  }
}
