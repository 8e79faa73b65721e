internal import Model

/// What a journal has heard and not written yet, and of rooms what it needs for their rows: a value.
///
/// It is bounded: events by their bytes, of which the oldest are dropped, all else by what there is in the rooms.
struct PendingRecords: Sendable {
  private let byteLimit: Int
  /// All that have not finished.
  private var lives: [RoomID: RecordBatch.Life] = [:]
  private var standing: [ExactName: RoomID] = [:]
  private var waiting = RecordBatch()
  /// Of what was written before.
  private(set) var deletions = EventDeletions()
  /// Counts what was said.
  private(set) var said: UInt64 = 0
  /// Events that were dropped because too much waited, and rooms, people and tracks that stay in the store although they have gone.
  private(set) var dropped: UInt64 = 0

  /// - Parameter byteLimit: of events.
  init(byteLimit: Int) { self.byteLimit = byteLimit }

  var waitingEvents: Int { waiting.events.count }
  var waitingBytes: Int { waiting.eventBytes }
  var lastPosition: UInt64 { waiting.lastPosition }

  /// Goes on from what the store has.
  mutating func begin(_ rooms: [RecordBatch.Life], lastPosition: UInt64) {
    for life in rooms {
      lives[life.life.id] = life
      if life.stands { standing[ExactName(life.life.name)] = life.life.id }
    }
    waiting.lastPosition = lastPosition
  }

  // MARK: - What rooms say

  mutating func record(_ event: RoomEvent, at position: UInt64) {
    said += 1
    waiting.lastPosition = position
    let bytes = event.storedBytes
    waiting.events.append(RecordBatch.Event(position: position, event: event, bytes: bytes))
    waiting.eventBytes += bytes
    dropOldest()
    follow(event)
  }

  /// It waits for its event, with which it is written.
  mutating func keep(_ settings: RoomSettings, of life: RoomLife) {
    let name = ExactName(life.name)
    if let before = standing[name], before != life.id { endName(of: before) }
    standing[name] = life.id
    let known = lives[life.id]
    var row = known ?? RecordBatch.Life(life: life, settings: settings)
    row.hasNewMetadata = known == nil || row.hasNewMetadata || !row.settings.hasSameMetadata(settings)
    row.settings = settings
    lives[life.id] = row
  }

  mutating func giveUpName(of room: RoomID) {
    said += 1
    endName(of: room)
  }

  mutating func giveUp(_ events: GivenUpEvents) { deletions.giveUp(events, said: lastPosition) }
  mutating func hold(after position: UInt64) { deletions.hold(after: position) }
  /// A portion of what is given up was deleted.
  mutating func finish(_ outcome: EventDeletions.Outcome) { deletions.finish(outcome, said: lastPosition) }

  mutating func remember(_ removal: Removal) {
    said += 1
    waiting.removals.set(removal.key, removal.time, isNew: false)
  }

  mutating func forget(_ removal: Removal) {
    said += 1
    // Where there is no place for that the removal holds until it is too old, which is on the safe side.
    waiting.removals.remove(removal.key)
  }

  mutating func keep(_ invitation: Invitation) {
    said += 1
    // It is said as it is made, and again each time that it is opened: one that comes and goes while nothing can be written leaves nothing.
    waiting.invitations.set(invitation.id, invitation, isNew: invitation.opened == 0)
  }

  mutating func forget(_ invitation: InvitationID) {
    said += 1
    // There is a place for that: of those that are written there are no more than invitations.
    waiting.invitations.remove(invitation)
  }

  private mutating func endName(of room: RoomID) {
    guard var row = lives[room], row.stands else { return }
    row.stands = false
    put(row)
    let name = ExactName(row.life.name)
    if standing[name] == room { standing[name] = nil }
  }

  private mutating func put(_ row: RecordBatch.Life) {
    lives[row.life.id] = row
    waiting.lives.set(row.life.id, row, isNew: !row.isKnown)
  }

  /// What an event changes about its room and who is in it.
  private mutating func follow(_ event: RoomEvent) {
    let room = event.room.id
    if event.kind == .roomFinished {
      endName(of: room)
      lives[room] = nil
      if !waiting.lives.remove(room) { dropped += 1 }
    } else if var row = lives[room] {
      row.lastEvent = event.id
      put(row)
    }
    switch (event.kind, event.participant) {
    case (.participantLeft, let participant?):
      if !waiting.participants.remove(participant.id) { dropped += 1 }
    case (let kind, .whole(let info)?):
      let since = waiting.participants[info.id]?.since ?? event.id
      waiting.participants.set(
        info.id, RecordBatch.Present(room: room, since: since, info: info), isNew: kind == .participantJoined)
    case (let kind, .named(let publisher)?):
      guard let track = event.track else { return }
      if kind == .trackUnpublished {
        if !waiting.tracks.remove(track.id) { dropped += 1 }
      } else {
        let since = waiting.tracks[track.id]?.since ?? event.id
        waiting.tracks.set(
          track.id,
          RecordBatch.Published(room: room, participant: publisher.id, since: since, info: track),
          isNew: kind == .trackPublished)
      }
    case (_, nil): break
    }
  }

  private mutating func dropOldest() {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.pendingUnbounded) { return }
    #endif
    while waiting.eventBytes > byteLimit, let oldest = waiting.events.first {
      waiting.eventBytes -= oldest.bytes
      waiting.events.dropFirst()
      dropped += 1
    }
  }

  // MARK: - Writing

  /// Everything that waits, to be written; until `giveBack` it waits no more.
  mutating func take() -> RecordBatch {
    let batch = waiting
    waiting = RecordBatch()
    waiting.lastPosition = batch.lastPosition
    for (id, row) in batch.lives.present {
      lives[id]?.isKnown = true
      if row.hasNewMetadata, row.settings.metadata == lives[id]?.settings.metadata {
        lives[id]?.hasNewMetadata = false
      }
    }
    return batch
  }

  /// It was not written, and waits again before what has been said since.
  /// - Parameter mayBeDone: whether it was isn't known.
  mutating func giveBack(_ batch: RecordBatch, mayBeDone: Bool) {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.unwrittenForgotten) { return }
    #endif
    var events = batch.events
    for event in waiting.events.slice(0..<waiting.events.count) { events.append(event) }
    waiting.events = events
    waiting.eventBytes += batch.eventBytes
    waiting.lives.giveBack(batch.lives, mayBeDone: mayBeDone)
    for (id, row) in batch.lives.present where row.hasNewMetadata {
      lives[id]?.hasNewMetadata = true
      if let current = lives[id], waiting.lives[id] != nil { put(current) }
    }
    waiting.participants.giveBack(batch.participants, mayBeDone: mayBeDone)
    waiting.tracks.giveBack(batch.tracks, mayBeDone: mayBeDone)
    waiting.removals.giveBack(batch.removals, mayBeDone: mayBeDone)
    waiting.invitations.giveBack(batch.invitations, mayBeDone: mayBeDone)
    dropOldest()
  }
}

extension Removal {
  fileprivate var key: RecordBatch.RemovalKey {
    RecordBatch.RemovalKey(room: ExactName(room), identity: ExactName(identity))
  }
}
