public import AccessTokens
internal import Engine
public import Logging
internal import Model
internal import Peer
internal import Synchronization

/// All rooms of the server by name, and the way of the media plane's events to them.
public final class RoomDirectory: Sendable {
  public struct Limits: Sendable {
    public var rooms: Int
    public var participantsPerRoom: Int
    /// In all rooms together.
    public var participants: Int
    /// Whether a room is made for the first who comes.
    public var makesRooms = true
    /// Of a room of which nothing else is said.
    public var defaults = RoomSettings()
    /// Seconds for which it is remembered who was removed.
    public var removalMemory = 30 * 86_400

    public init(rooms: Int = 10_000, participantsPerRoom: Int = 1_000, participants: Int = 10_000) {
      self.rooms = rooms
      self.participantsPerRoom = participantsPerRoom
      self.participants = participants
    }
  }

  struct State {
    var rooms: [String: Room] = [:]
    /// Who is in, or about to be in, each room: a room with nobody goes.
    var sessions: [String: Attendance] = [:]
    /// Of all rooms together.
    var sessionCount = 0
    var settings: [String: RoomSettings] = [:]
    /// When rooms that nobody is in go.
    var deadlines: [String: Instant] = [:]
    var removals: Removals
    /// Every peer that the media plane has not reported as closed; its room may be gone before it.
    var peers: [PeerKey: Room] = [:]
    /// Until when those who are in may stay; nobody is let in any more.
    var deadline: WallTime?
    var isDraining: Bool { deadline != nil }
    /// When rooms want to look after those who are away, by their numbers.
    var alarms: [UInt64: (room: Room, at: Instant)] = [:]
    var counts = RoomCounts()
    var waitingUntilEmpty: [CheckedContinuation<Void, Never>] = []

    init(removals: Removals) { self.removals = removals }

    /// As they were made, so that what concerns all goes the same way every time.
    var inOrder: [Room] { rooms.values.sorted { $0.number < $1.number } }

    mutating func forget(_ name: String) {
      rooms[name] = nil
      settings[name] = nil
      deadlines[name] = nil
    }
  }

  let state: Mutex<State>
  let media: MediaPlane
  /// What happened in every room.
  public let events: EventLog
  /// How long a session lives on without a socket.
  let reconnectGrace: Duration
  let limits: Limits
  let stateBudget: StateBudget
  private let log: Log

  public init(
    media: MediaPlane, limits: Limits, log: Log, reconnectGrace: Duration = .seconds(15),
    events: EventLog.Limits = EventLog.Limits()
  ) {
    self.reconnectGrace = reconnectGrace
    self.media = media
    self.events = EventLog(limits: events) { media.now }
    self.limits = limits
    stateBudget = StateBudget(participants: limits.participantsPerRoom)
    state = Mutex(State(removals: Removals(memory: limits.removalMemory)))
    self.log = log
  }

  /// How often samples of the media plane are read.
  static let sampling = Duration.milliseconds(200)

  /// Passes events and samples of the media plane to their rooms, until it stops.
  public func run() async {
    let sampler = Task {
      while !Task.isCancelled {
        try await media.port.pause(Self.sampling)
        await sample()
        await ring()
        await sweep()
      }
    }
    defer { sampler.cancel() }
    for await _ in media.port.eventsReady {
      for events in media.port.drainEvents() {
        let room = state.withLock { $0.peers[events.peer] }
        await room?.handle(events)
        if events.closed != nil {
          let known = state.withLock { $0.peers.removeValue(forKey: events.peer) != nil }
          if known { media.release(events.peer) }
        }
      }
    }
  }

  private func sample() async {
    let levels = Dictionary(grouping: media.port.levels(), by: \.key.peer)
    let samples = media.port.qualities().map { peer, quality in
      PeerSample(peer: peer, quality: quality, levels: levels[peer, default: []].map { ($0, $1) })
    }
    let byRoom = state.withLock { state in
      Dictionary(grouping: samples) { sample in state.peers[sample.peer]?.number }
        .compactMap { _, samples in state.peers[samples[0].peer].map { ($0, samples) } }
        .sorted { $0.0.number < $1.0.number }
    }
    for (room, samples) in byRoom { await room.take(samples, now: media.now) }
  }

  // MARK: - Those who are away

  /// - Parameter moment: when the room is to be called; `.never`: not at all.
  func setAlarm(of room: Room, at moment: Instant) {
    state.withLock { $0.alarms[room.number] = moment == .never ? nil : (room, moment) }
  }

  /// Calls the rooms whose time has come.
  func ring() async {
    let now = media.now
    events.expire()
    let due = state.withLock { $0.alarms.values.filter { $0.at <= now }.map(\.room) }
      .sorted { $0.number < $1.number }
    for room in due { await room.lookAfter(now: now) }
  }

  /// Lets somebody in; the room is made if need be. An identity that is in already is replaced.
  /// - Parameter issued: when the token counts as issued, seconds since 1970; nil: not known.
  public func join(
    room name: String, identity: String, name display: String?, metadata: String? = nil,
    attributes: [String: String] = [:], grants: Grants, issued: Int? = nil
  ) async throws(JoinError) -> ParticipantSession {
    if isForbidden(identity, in: name, issued: issued) {
      throw state.withLock { $0.counts.refuse(.removed) }
    }
    let found: Result<Room, JoinError> = state.withLock { state in
      if state.isDraining { return .failure(state.counts.refuse(.draining)) }
      let most = state.settings[name]?.maxParticipants ?? limits.participantsPerRoom
      let attendance = state.sessions[name, default: Attendance()]
      // Who comes again takes the place of the older session, which ends as this one begins.
      let replaced = attendance.sessions(of: identity) == 1 ? 1 : 0
      for (count, limit) in [
        (attendance.count, min(most, limits.participantsPerRoom)), (state.sessionCount, limits.participants),
      ] where count - replaced >= limit { return .failure(state.counts.refuse(.full(limit: limit))) }
      let room: Room
      if let known = state.rooms[name] {
        room = known
      } else {
        guard limits.makesRooms else { return .failure(state.counts.refuse(.noRoom)) }
        guard state.rooms.count < limits.rooms else {
          return .failure(state.counts.refuse(.full(limit: limits.rooms)))
        }
        room = make(name, defaults, &state)
      }
      state.deadlines[name] = nil
      state.sessions[name, default: Attendance()].begin(identity)
      state.sessionCount += 1
      return .success(room)
    }
    let room = try found.get()
    do throws(JoinError) {
      let session = try await room.join(
        Newcomer(
          identity: identity, name: display, metadata: metadata, attributes: attributes, grants: grants,
          issued: issued))
      state.withLock { $0.counts.sessionsStarted += 1 }
      return session
    } catch {
      if sessionEnded(of: identity, in: name, reason: nil) { await room.finish() }
      throw state.withLock { $0.counts.refuse(error) }
    }
  }

  /// Whether somebody who has come past the door may not be let in.
  func isForbidden(_ identity: String, in room: String, issued: Int?) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.removalRaced) { return false }
    #endif
    return forbids(identity, in: room, issued: issued)
  }

  func make(_ name: String, _ settings: RoomSettings, _ state: inout State) -> Room {
    state.counts.roomsStarted += 1
    let room = Room(
      number: state.counts.roomsStarted, name: name, settings: settings, media: media, directory: self,
      log: log)
    state.rooms[name] = room
    state.settings[name] = settings
    return room
  }

  /// A session that `join` began is over: a room without any goes, at once or after a while.
  /// - Parameter reason: nil: it was refused, and never a session.
  /// - Returns: whether the room has gone.
  func sessionEnded(of identity: String, in name: String, reason: LeaveReason?) -> Bool {
    let (waiting, isOver) = state.withLock { state -> ([CheckedContinuation<Void, Never>], Bool) in
      guard var attendance = state.sessions[name] else { return ([], false) }
      attendance.end(identity)
      let isEmpty = attendance.count == 0
      if let reason { state.counts.sessionsEnded[reason, default: 0] += 1 }
      state.sessions[name] = isEmpty ? nil : attendance
      state.sessionCount -= 1
      let patience = state.settings[name]?.departureTimeout ?? 0
      let isOver = isEmpty && patience == 0
      if isOver {
        state.forget(name)
      } else if isEmpty {
        state.deadlines[name] = media.now + .seconds(patience)
      }
      guard state.sessions.isEmpty else { return ([], isOver) }
      defer { state.waitingUntilEmpty = [] }
      return (state.waitingUntilEmpty, isOver)
    }
    for continuation in waiting { continuation.resume() }
    return isOver
  }

  /// Sessions of one room by identity.
  struct Attendance {
    private(set) var count = 0
    private var byIdentity: [String: Int] = [:]

    func sessions(of identity: String) -> Int { byIdentity[identity, default: 0] }

    mutating func begin(_ identity: String) {
      count += 1
      byIdentity[identity, default: 0] += 1
    }

    mutating func end(_ identity: String) {
      guard let sessions = byIdentity[identity] else { return }
      count -= 1
      byIdentity[identity] = sessions > 1 ? sessions - 1 : nil
    }
  }

  func room(of name: String) -> Room? { state.withLock { $0.rooms[name] } }

  /// What should be nothing once everybody has left: rooms, sessions, peers that the media plane still has, and rooms
  /// that want to be called.
  package var remainders: (rooms: Int, sessions: Int, peers: Int, alarms: Int) {
    state.withLock { ($0.rooms.count, $0.sessionCount, $0.peers.count, $0.alarms.count) }
  }

  func note(_ key: PeerKey, room: Room) { state.withLock { $0.peers[key] = room } }
}
