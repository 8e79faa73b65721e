internal import Engine
internal import Logging
public import Model
internal import Synchronization

/// Rooms made, found and ended from outside.
extension RoomDirectory {
  /// What holds for a room of which nothing else was said.
  public var defaults: RoomSettings { terms.defaults }

  /// Makes a room ahead of its first participant; one that stands stays as it is.
  public func create(
    _ name: String, _ settings: RoomSettings
  ) async throws(AdministrationError) -> (room: RoomSnapshot, isNew: Bool) {
    try terms.check(settings)
    let now = media.now
    let (room, isNew) = try registry.withRooms { rooms throws(AdministrationError) in
      try rooms.create(name, patience: settings.emptyTimeout, now: now) { make(name, settings, number: $0) }
    }
    _ = await room.handle(.start)
    return (await room.snapshot, isNew)
  }

  /// Rooms in the order of their names' bytes.
  /// - Parameter after: only those behind this name.
  public func rooms(after: String?, limit: Int) async -> [RoomSnapshot] {
    let rooms = registry.withRooms { $0.page(after: after, limit: limit) }
    var snapshots: [RoomSnapshot] = []
    for room in rooms { snapshots.append(await room.snapshot) }
    return snapshots
  }

  /// - Returns: nil: there is none of that name.
  public func administration(of name: String) -> RoomAdministration? {
    room(of: name).map(RoomAdministration.init)
  }

  /// Closes a room: everybody in it learns of it and leaves, and so does who is on the way in. Its name is free at once.
  public func close(room name: String) async throws(AdministrationError) {
    let isOpen = room(of: name) != nil
    let problem = await overseen { overseer async throws(AdministrationError) in
      try await overseer.willClose(name)
    }
    if let (room, isOver) = registry.withRooms({ $0.close(name) }) {
      _ = await room.handle(.close(.roomClosed))
      if isOver { _ = await room.handle(.finish) }
    } else if !isOpen {
      throw problem ?? .unknownRoom
    }
    // A room that went meanwhile is closed: that of a call does as the call ends.
    if let problem { throw problem }
  }

  /// What oversees rooms does its part of something.
  /// - Returns: what is wrong with that.
  private func overseen(
    _ body: (any RoomOverseer) async throws(AdministrationError) -> Void
  ) async -> AdministrationError? {
    guard let overseer = registry.overseer.withLock({ $0 }) else { return nil }
    do throws(AdministrationError) {
      try await body(overseer)
      return nil
    } catch { return error }
  }

  /// Has every room go on from its own state as bytes.
  package func rebuildRooms() async throws(StateError) {
    for room in registry.withRooms({ $0.inOrder }) { try await room.rebuild() }
  }

  /// Ends an identity's session in a room, if it is there by that stay of those that `RoomOverseer.entered` has named. It may come back,
  /// by another one. One that is being let in, and turns out to be of that stay, goes at once.
  public func disconnect(
    _ identity: String, stay: String, from room: String, _ reason: LeaveReason
  ) async {
    _ = await self.room(of: room)?.handle(.administration(.disconnect(identity, stay: stay, reason)))
  }

  // MARK: - Identities that were removed

  /// Whether a token was issued before its identity was removed from the room.
  /// - Parameter issued: seconds since 1970; nil: the token doesn't say.
  public func forbids(_ identity: String, in room: String, issued: Int?) -> Bool {
    registry.forbids(identity, in: room, issued: issued)
  }

  /// Ends an identity's session in a room, if it has one, and lets its tokens of before in no more.
  ///
  /// An identity that is absent is remembered like one that is there: it may be on its way in.
  public func remove(_ identity: String, from room: String) async throws(AdministrationError) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.removalOfAbsent),
        registry.withRooms({ $0.sessions(of: identity, in: room) }) == 0
      {
        return
      }
    #endif
    let problem = await overseen { overseer async throws(AdministrationError) in
      try await overseer.willRemove(identity, from: room)
    }
    // First, so that none slips in between; the room asks again as it lets one in.
    let isRemembered = registry.records.remove(
      identity, from: room, self.room(of: room)?.id, now: registry.wallSeconds())
    _ = await self.room(of: room)?.handle(.administration(.remove(identity)))
    guard isRemembered else { throw .full("removals: \(Removals.capacity)") }
    if let problem { throw problem }
  }
}
