internal import Model

/// Invitations made, opened and revoked.
extension RoomDirectory {
  /// - Parameter lifetime: seconds.
  public func invite(
    _ terms: Invitation.Terms, for lifetime: Int, to room: String
  ) throws(AdministrationError) -> Invitation {
    guard let live = self.room(of: room) else { throw .unknownRoom }
    var random = media.makeRandom()
    let now = registry.wallSeconds()
    let invitation = Invitation(
      id: InvitationID(&random), room: room, life: live.id, terms: terms, created: now,
      expires: now + lifetime)
    if let full = registry.records.keep(invitation, now: now) { throw .full(full) }
    // The room may have ended meanwhile, or who asks been removed, and with that all that were known then.
    guard self.room(of: room)?.id == live.id, registry.isWelcome(invitation) else {
      _ = registry.records.revoke(invitation.id, of: live.id)
      throw .unknownRoom
    }
    return invitation
  }

  /// Those of a room that hold, as they were made.
  public func invitations(of room: String) throws(AdministrationError) -> [Invitation] {
    guard let live = self.room(of: room) else { throw .unknownRoom }
    return registry.records.invitations(of: live.id, now: registry.wallSeconds())
  }

  /// It opens nothing from here on, and tokens that it has given out let no one in who isn't in: those who wait by them wait no longer.
  public func revoke(_ id: String, of room: String) async throws(AdministrationError) {
    guard let live = self.room(of: room) else { throw .unknownRoom }
    guard registry.records.revoke(InvitationID(known: id), of: live.id) else { throw .unknownInvitation }
    _ = await live.handle(.invitationEnded)
  }

  /// Opens one by its secret's code: who made it must still be welcome, and its room the one that it was.
  /// - Throws: `unknownInvitation`, also where it was opened as often as it may be; `tooOften`.
  public func open(_ code: [UInt8]) throws(AdministrationError) -> Invitation {
    let now = registry.wallSeconds()
    guard let known = registry.records.invitation(of: code, now: now), room(of: known.room)?.id == known.life
    else { throw .unknownInvitation }
    guard registry.isWelcome(known) else { throw .unknownInvitation }
    guard let (invitation, isPaced) = registry.records.open(known.id, now: now, at: media.now) else {
      throw .unknownInvitation
    }
    if isPaced { throw .tooOften }
    return invitation
  }

  /// Whether a token that an invitation has given out may still come in by it.
  public func holds(_ invitation: String, in room: String) -> Bool {
    registry.holds(InvitationID(known: invitation), in: room)
  }
}
