/// What a command of the operator asks of a server, and how its answer is shown.
public struct OperatorRequest: Equatable, Sendable {
  /// A part of what a list has.
  public struct Page: Equatable, Sendable {
    /// At most so many items; nil: as the command has it without `--limit`.
    public var limit: Int?
    /// What an earlier answer named as its end.
    public var after: String?

    public init(limit: Int? = nil, after: String? = nil) {
      self.limit = limit
      self.after = after
    }
  }

  public enum Deed: Equatable, Sendable {
    case listRooms(Page)
    case showRoom(String)
    case createRoom(String, RoomChange)
    case updateRoom(String, RoomChange)
    case closeRoom(String)
    case listParticipants(room: String, Page)
    case showParticipant(room: String, identity: String)
    case updateParticipant(room: String, identity: String, ParticipantChange)
    case removeParticipant(room: String, identity: String)
    /// `track` is an id, or a source, which stands for all tracks of it.
    case mute(room: String, identity: String, track: String, muted: Bool)
    case events(EventsWanted)
    case publish(PublishWanted)
    case record(RecordWanted)
  }

  public var deed: Deed
  public var access = ServerAccess()
  /// One JSON value, or one line an event, rather than text for people.
  public var json = false
  /// Whether nothing is shortened to fit the terminal.
  public var wide = false

  public init(_ deed: Deed) { self.deed = deed }
}

/// Which events are shown.
public struct EventsWanted: Equatable, Sendable {
  /// nil: those of all rooms.
  public var room: String?
  /// Of which room of that name; nil: of the one that has it now, or had it last.
  public var roomID: String?
  public var page = OperatorRequest.Page()
  /// Whether it goes on with those that are still to come.
  public var follows = false

  public init(room: String? = nil) { self.room = room }
}
