internal import AccessTokens
internal import Model
internal import Synchronization

/// Which rooms there are and who is in them, for every thread: one lock over `DirectoryState`, held for that value's calls alone
/// and never across an `await`.
///
/// It stands below both: rooms say here what becomes of them, the directory asks here which of them to call, and it calls
/// neither.
final class RoomRegistry<Handle: Sendable>: Sendable {
  private struct State {
    var rooms: DirectoryState<Handle>
    var waitingUntilEmpty: [CheckedContinuation<Void, Never>] = []
  }

  /// What happened in rooms.
  let records: RoomRecords
  /// What they keep together for those who come later.
  let histories: HistoryDesk
  /// Seconds since 1970, by the clock that tokens go by.
  let wallSeconds: @Sendable () -> Int
  private let state: Mutex<State>
  let overseer = Mutex<(any RoomOverseer)?>(nil)

  init(
    limits: DirectoryState<Handle>.Limits, records: RoomRecords, wallSeconds: @escaping @Sendable () -> Int
  ) {
    self.records = records
    histories = HistoryDesk(rooms: limits.rooms)
    self.wallSeconds = wallSeconds
    state = Mutex(State(rooms: DirectoryState(limits: limits)))
  }

  /// Asks or changes the value under the lock.
  func withRooms<Result: Sendable, Failure: Error>(
    _ body: (inout DirectoryState<Handle>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try state.withLock { state throws(Failure) in try body(&state.rooms) }
  }

  /// A participant's media connects in a room, or ends.
  func noteMedia(of identity: String, stay: String?, in room: String, _ presence: MediaPresence) {
    overseer.withLock { $0 }?.media(of: identity, stay: stay, in: room, presence)
  }

  // MARK: - Removals

  /// Whether a token was issued before its identity was removed from the room.
  /// - Parameter issued: seconds since 1970; nil: the token doesn't say.
  func forbids(_ identity: String, in room: String, issued: Int?) -> Bool {
    records.forbids(identity, in: room, issued: issued, now: wallSeconds())
  }

  /// As `forbids`, asked inside: a removal may have come between the door and here.
  func forbidsInside(_ identity: String, in room: String, issued: Int?) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.removalRaced) { return false }
    #endif
    return forbids(identity, in: room, issued: issued)
  }

  /// Why one that comes may not, asked inside: a removal may have come between the door and here, or the end of its invitation.
  func refusal(of newcomer: Newcomer, in room: String) -> JoinError? {
    if forbidsInside(newcomer.identity, in: room, issued: newcomer.issued) { return .removed }
    if let invitation = newcomer.invitation, !holds(invitation, in: room) { return .revoked }
    return nil
  }

  // MARK: - Invitations

  /// One that comes, as it counts by now: the invitation that spares it the wait may be over.
  func known(_ newcomer: Newcomer, in room: String) -> Newcomer {
    var known = newcomer
    if let invitation = newcomer.admittedBy, holds(invitation, in: room) { known.isAdmitted = true }
    return known
  }

  /// Whether a token that an invitation has given out may still come in by it.
  func holds(_ invitation: InvitationID, in room: String) -> Bool {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.revokedHolds) { return true }
    #endif
    return records.holding(invitation, of: room, now: wallSeconds()).map(isWelcome) ?? false
  }

  func isWelcome(_ invitation: Invitation) -> Bool { records.isWelcome(invitation, now: wallSeconds()) }

  // MARK: - Sessions

  /// A session that `begin` let in is over.
  /// - Parameters:
  ///   - number: of the room, which may have given up its name.
  ///   - reason: nil: it was refused, and never a session.
  ///   - patience: seconds that the room stays once it is empty.
  /// - Returns: whether the room has gone.
  func sessionEnded(
    of identity: String, in name: String, number: UInt64, reason: LeaveReason?, patience: Int, now: Instant
  ) -> Bool {
    let (waiting, isOver) = state.withLock { state -> ([CheckedContinuation<Void, Never>], Bool) in
      let (isOver, isEmpty) = state.rooms.end(
        identity, in: name, number: number, reason: reason, patience: patience, now: now)
      guard isEmpty else { return ([], isOver) }
      defer { state.waitingUntilEmpty = [] }
      return (state.waitingUntilEmpty, isOver)
    }
    for continuation in waiting { continuation.resume() }
    return isOver
  }

  /// One that `begin` let in waits to be let in, and has no place meanwhile.
  /// - Parameter replacing: an earlier one of its identity waits no longer then.
  /// - Throws: as many wait as may.
  func wait(_ identity: String, in name: String, number: UInt64, replacing: Bool) throws(JoinError) {
    let continuations = try state.withLock {
      state throws(JoinError) -> [CheckedContinuation<Void, Never>] in
      let isEmpty = try state.rooms.wait(identity, in: name, number: number, replacing: replacing)
      guard isEmpty else { return [] }
      defer { state.waitingUntilEmpty = [] }
      return state.waitingUntilEmpty
    }
    for continuation in continuations { continuation.resume() }
  }

  /// One that waits to be let in takes a place again.
  func takePlace(_ identity: String, in name: String, number: UInt64) throws(JoinError) {
    try withRooms { rooms throws(JoinError) in try rooms.takePlace(identity, in: name, number: number) }
  }

  /// One waits no longer, whatever became of it.
  /// - Returns: whether the room has gone.
  func waitingEnded(in name: String, number: UInt64, patience: Int, now: Instant) -> Bool {
    withRooms { $0.waitingEnded(in: name, number: number, patience: patience, now: now) }
  }

  /// Returns when all rooms are empty, which may be at once.
  func waitUntilEmpty() async {
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        if state.rooms.sessions > 0 { state.waitingUntilEmpty.append(continuation) }
        return state.rooms.sessions == 0
      }
      if isEmpty { continuation.resume() }
    }
  }
}
