/// What is said of a room beside who is in it.
public struct RoomSettings: Equatable, Sendable {
  /// Seconds that a room which was made ahead waits for its first participant.
  public var emptyTimeout: Int
  /// Seconds that a room stays once everybody has left.
  public var departureTimeout: Int
  /// Participants that it takes; nil: as many as any room.
  public var maxParticipants: Int?
  /// At most 64 KiB.
  public var metadata: String?
  /// Who comes waits until a host lets it in.
  public var admission: Bool
  /// No new session gets in.
  public var isLocked: Bool
  /// Which messages are kept for those who come later; nil: none.
  public var dataHistory: DataHistoryTerms?

  /// The longest time-out: a day.
  public static let maximumTimeout = 86_400

  public init(
    emptyTimeout: Int = 300, departureTimeout: Int = 20, maxParticipants: Int? = nil, metadata: String? = nil,
    admission: Bool = false, isLocked: Bool = false, dataHistory: DataHistoryTerms? = nil
  ) {
    self.emptyTimeout = emptyTimeout
    self.departureTimeout = departureTimeout
    self.maxParticipants = maxParticipants
    self.metadata = metadata
    self.admission = admission
    self.isLocked = isLocked
    self.dataHistory = dataHistory
  }
}

/// A change of a room's settings.
public struct RoomPatch: Equatable, Sendable {
  public var emptyTimeout = Change<Int>.keep
  public var departureTimeout = Change<Int>.keep
  public var maxParticipants = Change<Int>.keep
  public var metadata = Change<String>.keep
  public var admission = Change<Bool>.keep
  public var isLocked = Change<Bool>.keep
  public var dataHistory = Change<DataHistoryTerms>.keep

  public init() {}

  func apply(to settings: inout RoomSettings, defaults: RoomSettings) {
    emptyTimeout.apply(to: &settings.emptyTimeout, default: defaults.emptyTimeout)
    departureTimeout.apply(to: &settings.departureTimeout, default: defaults.departureTimeout)
    maxParticipants.apply(to: &settings.maxParticipants)
    metadata.apply(to: &settings.metadata)
    admission.apply(to: &settings.admission, default: defaults.admission)
    isLocked.apply(to: &settings.isLocked, default: false)
    dataHistory.apply(to: &settings.dataHistory)
  }
}
