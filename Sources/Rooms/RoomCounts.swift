public import Model

/// What there is in the rooms, and what has been, counted since the start.
public struct RoomCounts: Sendable {
  public var rooms = 0
  /// Sessions of participants, also of those that are on their way in.
  public var participants = 0
  /// Sessions that wait to be let in, which are no participants.
  public var waiting = 0
  public var roomsStarted: UInt64 = 0
  public var sessionsStarted: UInt64 = 0
  public var sessionsEnded: [LeaveReason: UInt64] = [:]
  /// Refused because the server stops.
  public var refusedDraining: UInt64 = 0
  /// Refused because the room, or the server, has as many as it may.
  public var refusedFull: UInt64 = 0
  /// Refused because there is no such room, and none is made by who comes.
  public var refusedNoRoom: UInt64 = 0
  /// Refused because the identity was removed after its token was issued, or the invitation that gave it out holds no more.
  public var refusedRemoved: UInt64 = 0
  /// Refused because of more metadata and attributes than the room has place for.
  public var refusedTooLarge: UInt64 = 0
  /// Refused because the person is in the room's call by another device.
  public var refusedElsewhere: UInt64 = 0
  /// Refused because the identity has spent too much in the room to come again.
  public var refusedTooOften: UInt64 = 0
  /// Refused because the room is locked.
  public var refusedLocked: UInt64 = 0
  /// Refused because no host has let them in: by a door that can't wait for that, or in the time for which sessions wait.
  public var refusedNotAdmitted: UInt64 = 0

  /// Bytes of the messages that rooms keep for those who come later.
  public var keptMessageBytes = 0
  /// Those that a room forgot because all rooms together keep as many as they may.
  public var messagesForgotten: UInt64 = 0

  /// From the moment that a participant is let in until the media of its first transport is connected. Nanoseconds.
  public var joining = Histogram.durations

  public init() {}

  /// Counts a refusal and hands it on.
  mutating func refuse(_ error: JoinError) -> JoinError {
    switch error {
    case .draining: refusedDraining &+= 1
    case .elsewhere: refusedElsewhere &+= 1
    case .full: refusedFull &+= 1
    case .noRoom: refusedNoRoom &+= 1
    case .removed, .revoked: refusedRemoved &+= 1
    case .tooLarge: refusedTooLarge &+= 1
    case .tooOften: refusedTooOften &+= 1
    case .locked: refusedLocked &+= 1
    case .admissionRequired, .notAdmitted: refusedNotAdmitted &+= 1
    // It was its own end, its identity's or the room's, and is counted as none of a session.
    case .waitingEnded: break
    }
    return error
  }
}
