/// A room as everybody in it may see it.
public struct RoomInfo: Equatable, Sendable {
  public let id: RoomID
  public let name: String
  /// At most 64 KiB.
  public var metadata: String?
  /// Its tracks are written to files.
  public var isRecorded = false
}

/// The room as it was at the moment of joining.
public struct JoinedState: Sendable {
  public let room: RoomInfo
  public let participant: ParticipantInfo
  /// The others.
  public let participants: [ParticipantInfo]
  /// The last event that this state contains.
  public let lastEvent: Int
}
