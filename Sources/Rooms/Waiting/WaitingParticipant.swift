import AccessTokens
public import Model

/// How one has come to a room.
public enum RoomEntry: Sendable {
  case joined(ParticipantSession)
  case waiting(WaitingParticipant)
}

/// A session that waits to be let in, as its front door has it: it hears of nothing but its end.
public final class WaitingParticipant: Sendable {
  private let ticket: WaitingTicket
  private let directory: RoomDirectory
  private let room: Room
  private let grants: Grants
  private let device: String?

  init(_ ticket: WaitingTicket, in room: Room, of directory: RoomDirectory, grants: Grants, device: String?) {
    self.ticket = ticket
    self.room = room
    self.directory = directory
    self.grants = grants
    self.device = device
  }

  /// Until when it may wait.
  public var until: WallTime { ticket.waiter.until }

  /// Returns once it is let in; asked once.
  /// - Throws: why it isn't: as joining is refused, `notAdmitted` or `waitingEnded`.
  public func outcome() async throws(JoinError) -> ParticipantSession {
    switch await ticket.outcome() {
    case .failure(let error):
      directory.turnAway(ticket.waiter.identity, device: device, from: room.name)
      throw directory.noteRefusal(error)
    case .success(let (session, isNew)):
      return try await directory.begin(
        session, isNew: isNew, identity: ticket.waiter.identity, device: device, in: room, grants: grants)
    }
  }

  /// Its client has gone. One that was let in a moment before isn't put out by that: its session is the door's to end.
  public func stop(_ reason: WaitingEndReason) async {
    _ = await room.handle(.stopWaiting(ticket.waiter.id, reason))
  }
}
