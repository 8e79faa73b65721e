public import Model
internal import Synchronization

/// What happened in all rooms, to be read again: by room, after an event's number, or over all rooms, after a cursor.
///
/// Of each room the last `Limits.events` are kept, none longer than `Limits.age`, also when the room is over. All
/// together stay below `Limits.bytes`: beyond, whichever room has the most gives up its oldest. Any thread may use it.
///
/// With a journal it goes on from what a process before this one had (`restore`), and readers from outside are given an event
/// once the journal has stored it. So no number and no cursor that anybody was given stands for another event after a crash.
public final class EventLog: Sendable {
  public struct Limits: Sendable {
    /// Of one room.
    public var events: Int
    public var age: Duration
    /// Of all rooms, as estimated.
    public var bytes: Int

    public init(events: Int = 10_000, age: Duration = .seconds(3_600), bytes: Int = 64 * 1_024 * 1_024) {
      self.events = events
      self.age = age
      self.bytes = bytes
    }
  }

  /// Events per answer at most.
  public static let pageLimit = 1_000

  let limits: Limits
  let state: Mutex<State>
  private let journal: (any RoomJournal)?
  let now: @Sendable () -> Instant

  /// - Parameters:
  ///   - journal: where events are written down; nil: they end with the process.
  ///   - now: the server's monotonic clock.
  public init(
    limits: Limits = Limits(), journal: (any RoomJournal)? = nil, now: @escaping @Sendable () -> Instant
  ) {
    self.limits = limits
    self.journal = journal
    self.now = now
    var random = RandomSource.system
    state = Mutex(State(run: random.next()))
    journal?.whenStored { [weak self] in self?.show() }
  }

  /// The next event of its room.
  func append(_ event: RoomEvent) {
    let now = now()
    // The journal has events in the order of their positions.
    let watchers = state.withLock { state in
      state.append(event, now: now, limits: limits)
      handOver(&state)
      journal?.record(event, at: state.lastPosition)
      return state.watchersToWake(shown: shown)
    }
    for look in watchers { look() }
  }

  /// The next event of a call that has no room, under the call's id.
  func note(_ kind: RoomEventKind, _ call: EventCall, time: WallTime) {
    let now = now()
    let watchers = state.withLock { state in
      let room = RoomInfo(ofCall: call.id)
      var event = RoomEvent(
        id: (state.rooms[room.id]?.lastEvent ?? 0) + 1, time: time, room: room, kind: kind)
      event.call = call
      state.append(event, now: now, limits: limits)
      handOver(&state)
      journal?.record(event, at: state.lastPosition)
      return state.watchersToWake(shown: shown)
    }
    for look in watchers { look() }
  }

  /// Drops what is too old; reading does so too.
  func expire() {
    let now = now()
    state.withLock { state in
      state.expire(now: now, limits: limits)
      handOver(&state)
    }
  }

  private func handOver(_ state: inout State) {
    let gone = state.takeGivenUp()
    if !gone.isEmpty { journal?.giveUp(gone) }
  }

  /// The last position that is given to readers from outside.
  var shown: UInt64 {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.shownUnstored) { return .max }
    #endif
    return journal?.stored ?? .max
  }

  private func show() {
    for look in state.withLock({ $0.watchersToWake(shown: shown) }) { look() }
  }

  /// How much is kept, for the operator and for tests.
  public var size: (rooms: Int, events: Int, bytes: Int) {
    state.withLock { ($0.rooms.count, $0.count, $0.bytes) }
  }

  // MARK: - Reading

  /// A room's events in order.
  public struct Page: Sendable {
    public let room: RoomInfo
    public let events: [RoomEvent]
    /// The last that the room has had: no more follow `events` if they end with it.
    public let lastEvent: Int
    /// Nothing ever comes after that.
    public let isOver: Bool
  }

  /// Events of a room of that name.
  /// - Parameters:
  ///   - life: the id of the room whose events are meant; nil: the one that bears the name, or bore it last.
  ///   - after: the last event that is known already; nil: none, from the oldest that is kept. Without `life` only
  ///     where one room alone has had that name, as far as is known: numbers of another are never answered.
  ///   - limit: 1–`pageLimit`, clamped.
  public func events(
    of room: String, life: String? = nil, after: Int?, limit: Int = pageLimit
  ) throws(EventLogError) -> Page {
    let now = now()
    let found: Result<Page, EventLogError> = state.withLock { state in
      state.expire(now: now, limits: limits)
      let present = state.byName[ExactName(room)].flatMap { state.rooms[$0] }
      let limit = min(max(limit, 1), Self.pageLimit)
      let shown = shown
      if let life {
        let named = state.rooms[RoomID(naming: life)].flatMap { $0.room.name.isExactly(room) ? $0 : nil }
        return named?.page(after: after, limit: limit, shown: shown)
          ?? .failure(present?.gone(shown: shown) ?? .unknownRoom)
      }
      guard let present else { return .failure(.unknownRoom) }
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.eventsOfBefore) {
          return present.page(after: after, limit: limit, shown: shown)
        }
      #endif
      if let after, after > 0, present.isReborn { return .failure(present.gone(shown: shown)) }
      return present.page(after: after, limit: limit, shown: shown)
    }
    return try found.get()
  }

  /// How one goes on who knows events of another room of that name than is meant.
  public func gone(of room: String) -> EventLogError {
    state.withLock { state in
      state.byName[ExactName(room)].flatMap { state.rooms[$0] }?.gone(shown: shown) ?? .unknownRoom
    }
  }

  /// As above, of the room with that very id, for those who are in it: also what isn't stored yet.
  func events(of room: RoomID, after: Int, limit: Int) throws(EventLogError) -> Page {
    let found: Result<Page, EventLogError> = state.withLock { state in
      guard let record = state.rooms[room] else { return .failure(.unknownRoom) }
      return record.page(after: after, limit: limit, shown: .max)
    }
    return try found.get()
  }
}

extension RoomInfo {
  private static let callPrefix = "CA_"

  /// What bears the events of a call that has no room.
  fileprivate init(ofCall id: String) {
    self.init(id: RoomID(naming: Self.callPrefix + id), name: "call-\(id)", metadata: nil)
  }

  var isOfCallAlone: Bool { id.text.hasPrefix(Self.callPrefix) }
}

/// Why events could not be read.
public enum EventLogError: Error, Equatable, Sendable {
  /// No room has that name, nor had lately.
  case unknownRoom
  /// What follows that number is no longer kept, or is of another room of that name: the state has to be read again.
  /// `room` is the one that bears the name, or bore it last; `oldest` its first event that can be read, one more than
  /// `latest` where none is kept.
  case gone(room: RoomID, oldest: Int, latest: Int)
  /// What follows the cursor is no longer kept, or the server has started since.
  case cursorGone(oldest: String)
  case notACursor
}
