internal import Engine
internal import Model
internal import Synchronization

/// Rooms made, found and ended from outside.
extension RoomDirectory {
  /// What holds for a room of which nothing else was said.
  public var defaults: RoomSettings { limits.defaults }

  /// Makes a room ahead of its first participant; one that stands stays as it is.
  public func create(
    _ name: String, _ settings: RoomSettings
  ) async throws(AdministrationError) -> (room: RoomSnapshot, isNew: Bool) {
    try check(settings)
    let found: Result<(Room, Bool), AdministrationError> = state.withLock { state in
      if let room = state.rooms[name] { return .success((room, false)) }
      if state.isDraining { return .failure(.draining) }
      guard state.rooms.count < limits.rooms else { return .failure(.full("rooms: \(limits.rooms)")) }
      let room = make(name, settings, &state)
      state.deadlines[name] = media.now + .seconds(settings.emptyTimeout)
      return .success((room, true))
    }
    let (room, isNew) = try found.get()
    await room.start()
    return (await room.snapshot, isNew)
  }

  /// A room's own limits stay below the server's.
  func check(_ settings: RoomSettings) throws(AdministrationError) {
    #if PLANTED_DEFECTS
      let most = PlantedDefect.isOn(.aboveTheServer) ? .max : limits.participantsPerRoom
    #else
      let most = limits.participantsPerRoom
    #endif
    if let wanted = settings.maxParticipants, wanted > most { throw .aboveLimit("maxParticipants", most) }
  }

  /// Rooms in the order of their names' bytes.
  /// - Parameter after: only those behind this name.
  public func rooms(after: String?, limit: Int) async -> [RoomSnapshot] {
    let rooms = state.withLock { state in
      state.rooms.filter { entry in after.map { $0.isBefore(entry.key) } ?? true }
        .sorted { $0.key.isBefore($1.key) }.prefix(limit).map(\.value)
    }
    var snapshots: [RoomSnapshot] = []
    for room in rooms { snapshots.append(await room.snapshot) }
    return snapshots
  }

  /// - Returns: nil: there is none of that name.
  public func administration(of name: String) -> RoomAdministration? {
    room(of: name).map(RoomAdministration.init)
  }

  /// Tells everybody in it, and ends it.
  public func close(room name: String) async throws(AdministrationError) {
    let found = state.withLock { state -> (room: Room, isEmpty: Bool)? in
      guard let room = state.rooms[name] else { return nil }
      // Who is on the way in is ended on arrival; it goes with the last of them.
      #if PLANTED_DEFECTS
        if !PlantedDefect.isOn(.closedRoomWaits) { state.settings[name]?.departureTimeout = 0 }
      #else
        state.settings[name]?.departureTimeout = 0
      #endif
      let isEmpty = state.sessions[name] == nil
      if isEmpty { state.forget(name) }
      return (room, isEmpty)
    }
    guard let found else { throw .unknownRoom }
    await found.room.close(reason: .roomClosed)
    if found.isEmpty { await found.room.finish() }
  }

  // MARK: - Identities that were removed

  /// Whether a token was issued before its identity was removed from the room.
  /// - Parameter issued: seconds since 1970; nil: the token doesn't say.
  public func forbids(_ identity: String, in room: String, issued: Int?) -> Bool {
    let now = seconds
    return state.withLock { $0.removals.forbids(room: room, identity: identity, issued: issued, now: now) }
  }

  /// Ends an identity's session in a room, if it has one, and lets its tokens of before in no more.
  ///
  /// An identity that is absent is remembered like one that is there: it may be on its way in.
  public func remove(_ identity: String, from room: String) async throws(AdministrationError) {
    let now = seconds
    // First, so that none slips in between; the room asks again as it lets one in.
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.removalOfAbsent),
        state.withLock({ $0.sessions[room]?.sessions(of: identity) ?? 0 }) == 0
      {
        return
      }
    #endif
    let (isRemembered, found) = state.withLock { state in
      (state.removals.insert(room: room, identity: identity, now: now), state.rooms[room])
    }
    await found?.remove(identity)
    guard isRemembered else { throw .full("removals: \(Removals.capacity)") }
  }

  private var seconds: Int { Int(media.wallTime.milliseconds / 1_000) }

  // MARK: - Rooms that nobody is in

  func note(_ settings: RoomSettings, of name: String) {
    state.withLock { if $0.rooms[name] != nil { $0.settings[name] = settings } }
  }

  /// Ends rooms whose time has come.
  func sweep() async {
    let now = media.now
    let over = state.withLock { state in
      let over = state.deadlines.filter { $0.value <= now }.keys.compactMap { state.rooms[$0] }
      for room in over { state.forget(room.name) }
      return over.sorted { $0.number < $1.number }
    }
    for room in over { await room.finish() }
  }
}

/// One room, as those who run it reach it.
public struct RoomAdministration: Sendable {
  private let room: Room

  init(_ room: Room) { self.room = room }

  public func snapshot() async -> RoomSnapshot { await room.snapshot }

  public func change(_ patch: RoomPatch) async throws(AdministrationError) -> RoomSnapshot {
    try await room.change(patch)
  }

  /// In the order of their identities' bytes.
  /// - Parameter after: only those behind this one.
  public func participants(after: String?, limit: Int) async -> [ParticipantSnapshot] {
    await room.participants(after: after, limit: limit)
  }

  public func participant(_ identity: String) async throws(AdministrationError) -> ParticipantSnapshot {
    try await room.participant(identity)
  }

  /// At once, also what the participant may do.
  public func change(
    _ identity: String, _ patch: ParticipantPatch
  ) async throws(AdministrationError) -> ParticipantSnapshot { try await room.change(identity, patch) }

  /// Sets or lifts an administrator's mute; the publisher's own is another.
  public func mute(
    _ track: String, of identity: String, _ muted: Bool
  ) async throws(AdministrationError) -> TrackInfo { try await room.mute(track, of: identity, muted) }

  /// A message from nobody in the room.
  /// - Parameters:
  ///   - payload: as the front door has it, at most 16 KiB in base64.
  ///   - destinations: identities; nil: everybody.
  public func send(
    _ payload: String, topic: String?, reliable: Bool, to destinations: [String]?
  ) async {
    await room.send(
      DataMessage(from: nil, payload: payload, topic: topic, reliable: reliable), to: destinations)
  }
}
