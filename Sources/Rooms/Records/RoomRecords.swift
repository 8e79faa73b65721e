internal import Model
internal import Synchronization

/// What happened in rooms, for those who ask while the server runs, in memory; each entry goes on to the journal.
final class RoomRecords: Sendable {
  /// Seconds.
  static let sweeping = 3_600

  let events: EventLog
  private let removals: Mutex<Removals>
  private let invitations = Mutex(Invitations())
  private let journal: (any RoomJournal)?

  /// - Parameters:
  ///   - events: which has the same journal.
  ///   - memory: seconds for which a removal is remembered.
  ///   - journal: nil: nothing outlives the process.
  init(events: EventLog, memory: Int, journal: (any RoomJournal)?) {
    self.events = events
    removals = Mutex(Removals(memory: memory))
    self.journal = journal
  }

  /// The next event of its room.
  func record(_ event: RoomEvent) { events.append(event) }

  /// A room is over, whether it had an event or not: what invited to it is forgotten.
  func roomFinished(_ room: RoomID) { changeInvitations { $0.remove(of: room) } }

  /// Gives up what is too old: events at once, removals by the hour, for the journal's sake alone, since they hold no longer
  /// than they may whenever they are asked for.
  /// - Parameter now: seconds since 1970.
  func expire(now: Int) {
    events.expire()
    removals.withLock { removals in
      removals.sweep(now: now, every: Self.sweeping)
      noteForgotten(&removals)
    }
    changeInvitations { $0.expire(now: now) }
  }

  // MARK: - Invitations

  /// The journal has what is forgotten in the order in which that happens.
  @discardableResult
  private func changeInvitations<Result: Sendable>(_ body: (inout Invitations) -> Result) -> Result {
    invitations.withLock { invitations in
      let result = body(&invitations)
      for id in invitations.takeForgotten() { journal?.forget(id) }
      return result
    }
  }

  /// - Returns: nil: it holds from here on; else what is full.
  func keep(_ invitation: Invitation, now: Int) -> String? {
    changeInvitations { invitations in
      let full = invitations.insert(invitation, now: now)
      if full == nil { journal?.keep(invitation) }
      return full
    }
  }

  func invitation(of code: [UInt8], now: Int) -> Invitation? {
    invitations.withLock { $0.find(code, now: now) }
  }

  /// As `Invitations.open`.
  func open(_ id: InvitationID, now: Int, at moment: Instant) -> (Invitation, isPaced: Bool)? {
    changeInvitations { invitations in
      let found = invitations.open(id, now: now, at: moment)
      if let (invitation, isPaced) = found, !isPaced { journal?.keep(invitation) }
      return found
    }
  }

  func holding(_ id: InvitationID, of room: String, now: Int) -> Invitation? {
    invitations.withLock { $0.holding(id, of: room, now: now) }
  }

  func invitations(of life: RoomID, now: Int) -> [Invitation] {
    invitations.withLock { $0.all(of: life, now: now) }
  }

  /// - Returns: whether the room has one of that id.
  func revoke(_ id: InvitationID, of life: RoomID) -> Bool { changeInvitations { $0.remove(id, of: life) } }

  /// Takes over those of rooms that go on, behind the removals.
  func recover(_ kept: [Invitation], of rooms: Set<RoomID>, now: Int) {
    for invitation in kept.sorted(by: { $0.created < $1.created }) {
      let isKept =
        rooms.contains(invitation.life) && invitation.expires > now && isWelcome(invitation, now: now)
        && invitations.withLock { $0.insert(invitation, now: now) } == nil
      if !isKept { journal?.forget(invitation.id) }
    }
  }

  /// Whether who made it is: one that is removed from the room lets no one else in.
  func isWelcome(_ invitation: Invitation, now: Int) -> Bool {
    guard let inviter = invitation.terms.inviter else { return true }
    return !forbids(inviter, in: invitation.room, issued: invitation.terms.inviterIssued, now: now)
  }

  private func noteForgotten(_ removals: inout Removals) {
    for removal in removals.takeForgotten() { journal?.forget(removal) }
  }

  func keep(_ settings: RoomSettings, of room: RoomInfo, created: WallTime) {
    guard let journal else { return }
    journal.keep(
      settings,
      of: RoomLife(id: room.id, name: room.name, created: created, isReborn: events.isReborn(room)))
  }

  func giveUpName(of room: RoomID) { journal?.giveUpName(of: room) }

  /// Returns once all that was said before outlives the process; at once where nothing is to.
  func synced() async throws(JournalError) { try await journal?.synced() }

  /// An identity's tokens of before now let it into that room no more, and what it has made with them invites no one.
  /// - Parameters:
  ///   - life: the room of that name that there is.
  ///   - now: seconds since 1970.
  /// - Returns: false: no more can be remembered.
  func remove(_ identity: String, from room: String, _ life: RoomID? = nil, now: Int) -> Bool {
    // The journal has removals in the order in which they hold.
    let isRemembered = removals.withLock { removals in
      let isRemembered = removals.insert(room: room, identity: identity, now: now)
      // Before it: among them may be an older removal of the same identity.
      noteForgotten(&removals)
      if isRemembered { journal?.remember(Removal(identity: identity, room: room, time: now)) }
      return isRemembered
    }
    if let life, isRemembered {
      changeInvitations { invitations in
        let ended = invitations.all(of: life, now: now).filter { !isWelcome($0, now: now) }
        for invitation in ended { _ = invitations.remove(invitation.id, of: life) }
      }
    }
    // It may be reading.
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.removalUnnoticed) { return isRemembered }
    #endif
    events.wake(readersOf: room)
    return isRemembered
  }

  /// Takes over what a process before this one has remembered.
  /// - Parameter now: seconds since 1970; a removal that is said to come later counts as of now.
  func recover(_ kept: [Removal], now: Int) {
    removals.withLock { removals in
      for removal in kept.sorted(by: { $0.time < $1.time }) {
        let moment = min(removal.time, now)
        let isRemembered = removals.insert(room: removal.room, identity: removal.identity, now: moment)
        if !isRemembered { journal?.forget(removal) }
      }
      removals.sweep(now: now)
      // An identity may be among them twice.
      for removal in removals.takeForgotten()
      where !removals.forbids(room: removal.room, identity: removal.identity, issued: nil, now: now) {
        journal?.forget(removal)
      }
    }
  }

  /// Whether a token was issued before its identity was removed.
  /// - Parameter issued: seconds since 1970; nil: the token doesn't say.
  func forbids(_ identity: String, in room: String, issued: Int?, now: Int) -> Bool {
    removals.withLock { $0.forbids(room: room, identity: identity, issued: issued, now: now) }
  }
}
