public import Model

/// Where what outlives a room and the process is written down: the settings of rooms, their events, and removals, in the order
/// in which they happen.
///
/// Rooms write at the moment of the act and don't wait, so each call answers at once; a journal on a disk or in a database writes
/// behind a queue of its own that keeps this order. Rooms never read it while they run, since what they read is in memory
/// (`RoomRecords`). What it has kept comes back as a `RoomRecovery`, before the first participant does.
public protocol RoomJournal: Sendable {
  /// The next event of its room. With `room.finished` what was kept last for this very room, by its id, is over.
  /// - Parameter position: among the events of all rooms, one more than the last.
  func record(_ event: RoomEvent, at position: UInt64)
  /// What holds for a room from here on: said before its `room.started`, and before each `room.updated`, with which it is written
  /// down.
  ///
  /// Rooms stand one at a time under a name: an earlier room of the name has none from here on.
  func keep(_ settings: RoomSettings, of life: RoomLife)
  /// A room was closed while somebody is still on the way in: it comes back under its name no more.
  func giveUpName(of room: RoomID)
  /// Events that can be read no more, because they are too old or too many.
  func giveUp(_ events: GivenUpEvents)
  /// An identity's tokens of before are no longer good for a room; in place of an earlier removal of the same identity.
  func remember(_ removal: Removal)
  /// An identity's last removal from a room has ended: it is older than `rooms.removalMemory`, or the room has no place for it
  /// beside newer ones.
  func forget(_ removal: Removal)

  /// An invitation holds, or was opened once more: in place of what was said of it before.
  func keep(_ invitation: Invitation)
  /// One is over.
  func forget(_ invitation: InvitationID)

  /// The position up to which events outlive the process. Who reads the log from outside is given no later ones: after a
  /// crash their numbers would be those of others.
  var stored: UInt64 { get }
  /// - Parameter body: called whenever `stored` has become more.
  func whenStored(_ body: @escaping @Sendable () -> Void)
  /// Returns once all that was said before the call outlives the process and the machine.
  func synced() async throws(JournalError)
}

/// A room under its id, from its first event to its last.
public struct RoomLife: Equatable, Sendable {
  public var id: RoomID
  public var name: String
  public var created: WallTime
  /// A room of the same name was known before this one: a number of an event alone doesn't say which of them is meant.
  public var isReborn: Bool

  public init(id: RoomID, name: String, created: WallTime, isReborn: Bool) {
    self.id = id
    self.name = name
    self.created = created
    self.isReborn = isReborn
  }
}

/// Events that the log no longer has.
public struct GivenUpEvents: Equatable, Sendable {
  /// Of all rooms, those up to this position.
  public var position: UInt64 = 0
  /// Of these rooms, those up to this number.
  public var rooms: [RoomID: Int] = [:]

  public var isEmpty: Bool { position == 0 && rooms.isEmpty }
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

/// Why something can't be said to outlive the process. It holds as long as that runs, and is written as soon as that is possible.
public enum JournalError: Error, Equatable, Sendable {
  /// It could not be written, and will be tried again.
  case failed(String)
  /// It was not written in time.
  case late
}
