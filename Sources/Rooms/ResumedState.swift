/// What a client missed while its socket was gone, and how things are now.
public struct ResumedState: Sendable {
  /// Who missed more than these had better join again.
  static let eventLimit = 1_000
  /// Events that are looked at for that: some are for hosts alone.
  static let readLimit = 4 * eventLimit
  /// Of them all, as estimated: less than may wait for a socket.
  static let byteLimit = 2 * 1_024 * 1_024

  /// The last event that all this contains.
  public let lastEvent: Int
  /// Events up to that one, in order.
  public let missed: [RoomEvent]
  /// Every transport that the participant has, in the order in which they were opened.
  public let transports: [Transport]
  /// What is otherwise said by change only, as it is now.
  public let notices: [ParticipantNotice]

  /// One of the participant's own transports.
  public struct Transport: Sendable {
    public let id: TransportID
    /// Every slot, and every track of one's own.
    public let slots: [SlotAssignment]
    public let tracks: [(mid: String, track: TrackID)]
  }

  /// What that transport has; nil: it is over.
  public func transport(_ id: TransportID) -> Transport? { transports.first { $0.id == id } }
}
