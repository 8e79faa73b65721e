internal import Engine
internal import Logging
public import Model
internal import Recording

/// What outlives the process.
extension RoomDirectory {
  /// Goes on from what a journal has of the process before this one. Called before the first participant is let in.
  ///
  /// The log of events can be read on, and removals hold. Each room that had not finished goes on under its id: first everybody
  /// who was in it has left, with the reason `serverShutdown`; then it stands again under its name with its settings, waiting for
  /// participants as long as rooms that were made ahead. One that was being closed ends now, and so does one that this server doesn't
  /// take, because its limits are lower.
  ///
  /// Returns once those events can be read, so that who asks first sees all of them; or after some seconds where the store
  /// doesn't take them, which the journal goes on to try.
  public func recover(_ recovery: RoomRecovery) async {
    let records = registry.records
    if let events = recovery.events {
      records.events.restore(events, of: recovery.rooms, wallTime: media.wallTime)
    }
    records.recover(recovery.removals, now: registry.wallSeconds())
    let lives = Set(recovery.rooms.filter(\.stands).compactMap(\.life?.id))
    records.recover(recovery.invitations, of: lives, now: registry.wallSeconds())
    for room in recovery.rooms {
      do throws(AdministrationError) {
        if room.stands {
          try await comeBack(room)
        } else {
          await end(room)
        }
      } catch {
        log.warning("a room of before is not made again", ["room": room.name, "reason": "\(error)"])
        await end(room)
      }
    }
    try? await records.synced()
  }

  private func comeBack(_ kept: RoomRecovery.Room) async throws(AdministrationError) {
    let now = media.now
    try terms.check(kept.settings)
    let (room, isNew) = try registry.withRooms { rooms throws(AdministrationError) in
      try rooms.create(kept.name, patience: kept.settings.emptyTimeout, now: now) {
        make(kept.name, kept.settings, number: $0, life: kept.life)
      }
    }
    guard isNew else { throw .full("rooms of that name: 1") }
    _ = await room.handle(.comeBack(kept))
    await closeRecordings(of: kept.life, room)
    // One of which nothing but its name and settings is known begins like any.
    _ = await room.handle(.start)
  }

  /// The events that it is still to have, of a room that stands nowhere.
  private func end(_ kept: RoomRecovery.Room) async {
    guard let life = kept.life else { return }
    let room = make(kept.name, kept.settings, number: 0, life: life)
    _ = await room.handle(.comeBack(kept))
    await closeRecordings(of: life, room)
    _ = await room.handle(.finish)
  }

  /// That what the process before this one recorded has ended.
  private func closeRecordings(of life: RoomLife?, _ room: Room) async {
    guard let life, let studio else { return }
    for id in studio.leftOpen(of: life.id.text) {
      _ = await room.handle(.recordingLeftOpen(RecordingID(known: id)))
    }
  }

  /// Returns once all that rooms have done by now outlives the process and the machine; at once where nothing is to.
  public func synced() async throws(AdministrationError) {
    do throws(JournalError) { try await registry.records.synced() } catch { throw .notStored }
  }

  /// The present, by the clock of the events' times, which is never stepped.
  public var wallTime: WallTime { media.wallTime }
}
