/// What a journal has of the process before this one.
public struct RoomRecovery: Sendable {
  /// A room that had not finished.
  public struct Room: Equatable, Sendable {
    public var name: String
    public var settings: RoomSettings
    /// nil: it is another one, of the same name.
    public var life: RoomLife?
    /// The last event that it had.
    public var lastEvent = 0
    /// It has its name still; else it was being closed.
    public var stands = true
    /// Who was in, but for hidden ones, in the order in which they came.
    public var participants: [Participant] = []
    /// Who waited to be let in, as far as the events say it, in the order in which they came.
    public var waiting: [Waiter] = []

    public init(name: String, settings: RoomSettings, life: RoomLife? = nil) {
      self.name = name
      self.settings = settings
      self.life = life
    }
  }

  /// Somebody who was in a room as the process ended.
  public struct Participant: Equatable, Sendable {
    /// Without tracks.
    public var info: ParticipantInfo
    /// In the order in which they were published.
    public var tracks: [TrackInfo]

    public init(info: ParticipantInfo, tracks: [TrackInfo]) {
      self.info = info
      self.tracks = tracks
    }
  }

  /// The log of events, as far as it was kept.
  public struct Events: Sendable {
    /// By which cursors know it.
    public var run: UInt64
    /// The last position that was given to an event.
    public var lastPosition: UInt64 = 0
    /// In their order.
    public var events: [(position: UInt64, event: RoomEvent)] = []

    public init(run: UInt64) { self.run = run }
  }

  public var rooms: [Room]
  /// In any order.
  public var removals: [Removal]
  /// In any order.
  public var invitations: [Invitation] = []
  /// nil: the log begins with this process.
  public var events: Events?

  public init(rooms: [Room] = [], removals: [Removal] = [], events: Events? = nil) {
    self.rooms = rooms
    self.removals = removals
    self.events = events
  }
}
