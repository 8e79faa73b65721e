/// A room as everybody in it may see it.
public struct RoomInfo: Equatable, Sendable {
  public let id: RoomID
  public let name: String
  /// At most 64 KiB.
  public var metadata: String?
  /// Its tracks are written to files.
  public var isRecorded = false
  /// Who comes waits until a host lets it in.
  public var admission = false
  /// No new session gets in.
  public var isLocked = false
}

/// The room as it was at the moment of joining.
public struct JoinedState: Sendable {
  public let room: RoomInfo
  public let participant: ParticipantInfo
  /// The others.
  public let participants: [ParticipantInfo]
  /// The last event that this state contains.
  public let lastEvent: Int
  /// Who waits to be let in; nil: that is none of the participant's business.
  public var waiting: [Waiter]?
  /// What was said before.
  public var history = KeptMessages.none
}
