/// What of rooms may outlive them and the process: removals, settings, events. Rooms ask it in the moment of the act, so
/// it answers at once; one that writes to a disk or a database does so behind its own queue, in this order.
public protocol RoomJournal: Sendable {
  /// The next event of its room.
  func record(_ event: RoomEvent)
  /// A room's events after a number, in order.
  /// - Throws: they are not kept any more.
  func events(of room: RoomID, after: Int, limit: Int) throws(EventLogError) -> EventLog.Page
  /// Events that are too old are given up.
  func expire()

  /// What holds for a room from here on.
  func keep(_ settings: RoomSettings, of room: RoomInfo)

  /// An identity's tokens of before now let it into that room no more.
  /// - Parameter now: seconds since 1970.
  /// - Returns: false: no more can be remembered.
  func remove(_ identity: String, from room: String, now: Int) -> Bool
  /// Whether a token was issued before its identity was removed.
  /// - Parameter issued: seconds since 1970; nil: the token doesn't say.
  func forbids(_ identity: String, in room: String, issued: Int?, now: Int) -> Bool
}
