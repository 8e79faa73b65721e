/// Where what outlives a room and the process is written down: the settings of rooms, their events, and removals, in the order
/// in which they happen.
///
/// Rooms write at the moment of the act and don't wait, so each call answers at once; a journal on a disk or in a database writes
/// behind a queue of its own that keeps this order. Rooms never read it while they run, since what they read is in memory
/// (`RoomRecords`). What it has kept comes back as a `RoomRecovery`, before the first participant does.
public protocol RoomJournal: Sendable {
  /// The next event of its room. With `room.finished` what was kept last for this very room, by its id, is over.
  func record(_ event: RoomEvent)
  /// What holds for a room from here on; first said before its `room.started`.
  ///
  /// Rooms stand one at a time under a name. So settings take the place of all that was kept under the name before, also by a
  /// process before this one, whose rooms have other ids and finish no more.
  func keep(_ settings: RoomSettings, of room: RoomInfo)
  /// An identity's tokens of before are no longer good for a room; in place of an earlier removal of the same identity.
  func remember(_ removal: Removal)
  /// An identity's last removal from a room has ended: it is older than `rooms.removalMemory`, or the room has no place for it
  /// beside newer ones.
  func forget(_ removal: Removal)
}

/// From when on an identity's older tokens let it into a room no more.
public struct Removal: Equatable, Sendable {
  public var identity: String
  public var room: String
  /// Seconds since 1970, by the clock that tokens go by.
  public var time: Int

  public init(identity: String, room: String, time: Int) {
    self.identity = identity
    self.room = room
    self.time = time
  }
}

/// What a journal has of the process before this one.
public struct RoomRecovery: Equatable, Sendable {
  /// A room that had not finished.
  public struct Room: Equatable, Sendable {
    public var name: String
    public var settings: RoomSettings

    public init(name: String, settings: RoomSettings) {
      self.name = name
      self.settings = settings
    }
  }

  public var rooms: [Room]
  /// In any order.
  public var removals: [Removal]

  public init(rooms: [Room] = [], removals: [Removal] = []) {
    self.rooms = rooms
    self.removals = removals
  }
}
