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
    public init(rooms: Int = 10_000, participantsPerRoom: Int = 1_000) {
      self.rooms = rooms
      self.participantsPerRoom = participantsPerRoom
    }
  }

  struct State {
    var rooms: [String: Room] = [:]
    /// Sessions that are in, or about to be in, each room: a room with none goes.
    var sessions: [String: Int] = [:]
    /// Every peer that the media plane has not reported as closed; its room may be gone before it.
    var peers: [PeerKey: Room] = [:]
    /// Until when those who are in may stay; nobody is let in any more.
    var deadline: WallTime?
    var isDraining: Bool { deadline != nil }
    var counts = RoomCounts()
    var waitingUntilEmpty: [CheckedContinuation<Void, Never>] = []
  }

  let state = Mutex(State())
  let media: MediaPlane
  /// What happened in every room.
  public let events: EventLog
  private let limits: Limits
  private let log: Log

  public init(
    media: MediaPlane, limits: Limits, log: Log, events: EventLog.Limits = EventLog.Limits()
  ) {
    self.media = media
    self.events = EventLog(limits: events) { media.now }
    self.limits = limits
    self.log = log
  }

  /// How often samples of the media plane are read.
  static let sampling = Duration.milliseconds(200)

  /// Passes events and samples of the media plane to their rooms, until it stops.
  public func run() async {
    let sampler = Task {
      while !Task.isCancelled {
        try await Task.sleep(for: Self.sampling)
        await sample()
      }
    }
    defer { sampler.cancel() }
    for await _ in media.engine.eventsReady {
      for events in media.engine.bridge.drainEvents() {
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
    let levels = Dictionary(grouping: media.engine.bridge.levels(), by: \.key.peer)
    let samples = media.engine.bridge.qualities().map { peer, quality in
      PeerSample(peer: peer, quality: quality, levels: levels[peer, default: []].map { ($0, $1) })
    }
    let byRoom = state.withLock { state in
      Dictionary(grouping: samples) { sample in state.peers[sample.peer].map(ObjectIdentifier.init) }
        .compactMap { _, samples in state.peers[samples[0].peer].map { ($0, samples) } }
    }
    for (room, samples) in byRoom { await room.take(samples, now: media.now) }
  }

  /// Lets somebody in; the room is made if need be. An identity that is in already is replaced.
  public func join(
    room name: String, identity: String, name display: String?, metadata: String? = nil,
    attributes: [String: String] = [:], grants: Grants
  ) async throws(JoinError) -> ParticipantSession {
    let found: Result<Room, JoinError> = state.withLock { state in
      if state.isDraining { return .failure(state.counts.refuse(.draining)) }
      if state.sessions[name, default: 0] >= limits.participantsPerRoom {
        return .failure(state.counts.refuse(.full(limit: limits.participantsPerRoom)))
      }
      if let room = state.rooms[name] {
        state.sessions[name]! += 1
        state.counts.sessionsStarted += 1
        return .success(room)
      }
      guard state.rooms.count < limits.rooms else {
        return .failure(state.counts.refuse(.full(limit: limits.rooms)))
      }
      let room = Room(name: name, media: media, directory: self, log: log)
      state.rooms[name] = room
      state.sessions[name] = 1
      state.counts.sessionsStarted += 1
      state.counts.roomsStarted += 1
      return .success(room)
    }
    return await (try found.get()).join(
      Newcomer(
        identity: identity, name: display, metadata: metadata, attributes: attributes, grants: grants))
  }

  /// A session that `join` began is over: a room without any goes.
  func sessionEnded(in name: String, reason: LeaveReason) {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard let count = state.sessions[name] else { return [] }
      state.counts.sessionsEnded[reason, default: 0] += 1
      if count > 1 {
        state.sessions[name] = count - 1
      } else {
        state.sessions[name] = nil
        state.rooms[name] = nil
      }
      guard state.sessions.isEmpty else { return [] }
      defer { state.waitingUntilEmpty = [] }
      return state.waitingUntilEmpty
    }
    for continuation in waiting { continuation.resume() }
  }

  func room(of name: String) -> Room? { state.withLock { $0.rooms[name] } }

  func note(_ key: PeerKey, room: Room) { state.withLock { $0.peers[key] = room } }
}
