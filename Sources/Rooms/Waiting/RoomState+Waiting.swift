internal import AccessTokens
internal import Model

/// Sessions that wait to be let in. They know nothing of the room, and the room's participants, but for its hosts, nothing of them.
extension RoomState {
  /// Sessions that wait at once.
  static let waitingLimit = 50
  /// How long one waits at most.
  static let waitingTime = Duration.seconds(600)
  /// That one comes to wait, and no longer does, in requests: each tells hosts, the log and its readers.
  static let waitingCost = 10.0

  /// In the order in which they came: of each identity one.
  var waiting: [WaitingSession] {
    get { newcomers.waiting }
    set { newcomers.waiting = newValue }
  }

  /// How a session comes in.
  enum Entrance {
    case open
    /// A host has to let it in.
    case waits
    case locked
  }

  /// Whether a session may come in by now: the one place where that is decided, for every door, as it comes and as it is let in.
  func entrance(of newcomer: Newcomer) -> Entrance {
    if newcomer.grants.roomAdmin { return .open }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.admissionByName), member(of: newcomer.identity) != nil { return .open }
    #endif
    if settings.isLocked { return .locked }
    return settings.admission && !newcomer.isAdmitted ? .waits : .open
  }

  /// A session is to wait: the directory is asked whether one more may.
  mutating func wait(_ newcomer: Newcomer) throws(JoinError) {
    guard let patience = newcomer.patience else { throw .admissionRequired }
    if deadline != nil { throw .draining }
    if let closed { throw closed == .serverShutdown ? .draining : .noRoom }
    let isKnown = waiting.contains { $0.newcomer.identity.isExactly(newcomer.identity) }
    guard waiting.count - (isKnown ? 1 : 0) < Self.waitingLimit || yielding(to: newcomer) != nil else {
      throw .full(limit: Self.waitingLimit)
    }
    guard pay(newcomer, Self.waitingCost) else { throw .tooOften }
    #if PLANTED_DEFECTS
      let isPaced = !PlantedDefect.isOn(.waitingUnpaced)
    #else
      let isPaced = true
    #endif
    if isPaced { try takePace(newcomer) }
    let time = min(patience, Self.waitingTime)
    let session = WaitingSession(
      id: WaitingID(&random), newcomer: newcomer, since: wallTime, until: wallTime.advanced(by: time),
      deadline: now + time)
    ask(.askWait(session, replacing: isKnown))
  }

  /// That one more comes to wait: by its identity, its invitation and the room. Who comes too often for one of them takes nothing of the
  /// others.
  private mutating func takePace(_ newcomer: Newcomer) throws(JoinError) {
    let (identity, invitation) = (newcomer.identity, newcomer.invitation)
    guard spend(of: identity, { $0.waits.wait(now: $1) }) == .zero,
      newcomers.paces.wait(for: invitation, now: now) == .zero
    else { throw .tooOften }
    _ = spend(of: identity) { $0.waits.take(now: $1) }
    newcomers.paces.take(invitation, now: now)
  }

  /// A session waits, unless as many do as may. An earlier one of its identity waits no longer: one of a name does, whom hosts know by it.
  mutating func beginWaiting(_ session: WaitingSession, _ error: JoinError?) {
    if let error {
      emit(.sessionEnded(identity: session.newcomer.identity, nil, patience: patience))
      return reply(.joinRefused(error))
    }
    endWaiting(of: session.newcomer.identity, .duplicateIdentity)
    if waiting.count >= Self.waitingLimit, let index = yielding(to: session.newcomer) {
      endWaiting(index, .refused, .full(limit: Self.waitingLimit))
    }
    start()
    waiting.append(session)
    emit(.wait(session.waiter))
    record(.participantWaiting, EventWaiting(waiter: session.waiter))
    reply(.waiting)
    presenceChanged()
  }

  /// Who gives up a place where all are taken: the newest of the invitation that has more than half of them, so that those who have one
  /// link keep no others out.
  private func yielding(to newcomer: Newcomer) -> Int? {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.waitingForOneLink) { return nil }
    #endif
    var counts: [InvitationID: Int] = [:]
    for session in waiting {
      if let invitation = session.newcomer.invitation { counts[invitation, default: 0] += 1 }
    }
    let most = counts.first { $0.value * 2 > Self.waitingLimit }?.key
    guard let most, newcomer.invitation != most else { return nil }
    return waiting.lastIndex { $0.newcomer.invitation == most }
  }

  // MARK: - Its end

  /// It waits no longer, and doesn't come in.
  /// - Parameter error: what it hears; nil: what follows from the reason.
  mutating func endWaiting(_ index: Int, _ reason: WaitingEndReason, _ error: JoinError? = nil) {
    let session = waiting.remove(at: index)
    record(.waitingEnded, EventWaiting(waiter: session.waiter, reason: reason))
    emit(.waitingEnded(patience: patience))
    emit(.settle(session.id, .ended(error ?? JoinError(reason))))
  }

  mutating func endAllWaiting(_ reason: WaitingEndReason) {
    while !waiting.isEmpty { endWaiting(0, reason) }
  }

  /// - Parameter id: another session of its name may have followed it.
  mutating func stopWaiting(_ id: WaitingID, _ reason: WaitingEndReason) {
    if let index = waiting.firstIndex(where: { $0.id == id }) { endWaiting(index, reason) }
  }

  mutating func endWaiting(of identity: String, _ reason: WaitingEndReason) {
    if let index = waiting.firstIndex(where: { $0.newcomer.identity.isExactly(identity) }) {
      endWaiting(index, reason)
    }
  }

  /// Asks which of the invitations hold by which some wait.
  mutating func askInvitations() {
    var invitations: [InvitationID] = []
    for session in waiting {
      guard let invitation = session.newcomer.invitation, !invitations.contains(invitation) else { continue }
      invitations.append(invitation)
    }
    if !invitations.isEmpty { emit(.askInvitations(invitations)) }
  }

  /// Ends those that came by invitations which hold no more.
  mutating func endWaiting(by invitations: [InvitationID]) {
    while let index = waiting.firstIndex(where: { session in
      session.newcomer.invitation.map { invitations.contains($0) } ?? false
    }) {
      endWaiting(index, .removed, .revoked)
    }
  }

  /// Ends those that have waited for as long as they may.
  mutating func expireWaiting() {
    while let index = waiting.firstIndex(where: { $0.deadline <= now }) { endWaiting(index, .timedOut) }
  }

  // MARK: - Coming in

  /// A host lets it in. What stands in its way is said to the host, and it goes on waiting.
  mutating func letIn(_ index: Int, _ cause: AdmissionCause) throws(JoinError) {
    var newcomer = waiting[index].newcomer
    // That a host says so takes the place of what tokens say of it, and of nothing else.
    newcomer.isAdmitted = true
    guard case .open = entrance(of: newcomer) else { throw .locked }
    if let closed { throw closed == .serverShutdown ? .draining : .noRoom }
    _ = try review(newcomer, replacing: member(of: newcomer.identity))
    ask(.askPlace(waiting[index].id, waiting[index].newcomer, cause))
  }

  /// A host refuses it. Its identity's tokens of before come in no more, unless that is in by another session: who is in stays.
  mutating func turnAway(_ index: Int, _ cause: AdmissionCause) {
    let (id, identity) = (waiting[index].id, waiting[index].newcomer.identity)
    guard member(of: identity) == nil else { return endWaiting(index, .refused) }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.refusedUnforbidden) { return forbidden(id, isRemembered: true, cause) }
    #endif
    // Its answer comes with what is remembered.
    ask(.forbid(id, identity, cause))
  }

  /// Its identity's tokens of before come in no more; or as many removals are remembered as can be, and it may come again by its token.
  mutating func forbidden(_ id: WaitingID, isRemembered: Bool, _ cause: AdmissionCause) {
    guard let index = waiting.firstIndex(where: { $0.id == id }) else { return say(.notAdmitted, to: cause) }
    remove(waiting[index].newcomer.identity)
    guard !isRemembered else { return }
    switch cause {
    case .settings: break
    case .host: reply(.refused(.unremembered))
    case .administration: reply(.administrationRefused(.full("removals: \(Removals.capacity)")))
    }
  }

  /// What keeps sessions out has changed: those that wait for nothing any more come in, in their order.
  mutating func letInWhoMay() {
    for session in waiting {
      guard case .open = entrance(of: session.newcomer) else { continue }
      ask(.askPlace(session.id, session.newcomer, .settings))
    }
  }

  /// The directory has a place for it, or says why there is none.
  mutating func placed(
    _ id: WaitingID, of identity: String, _ error: JoinError?, _ cause: AdmissionCause
  ) {
    guard let index = waiting.firstIndex(where: { $0.id == id }) else {
      if error == nil { emit(.sessionEnded(identity: identity, nil, patience: patience)) }
      return say(.notAdmitted, to: cause)
    }
    if let error { return keepOut(index, error, cause) }
    let session = waiting.remove(at: index)
    var newcomer = session.newcomer
    newcomer.isAdmitted = true
    do throws(JoinError) {
      // Asked once more: of several that come in at once each takes a place from the next.
      let isNew = try come(newcomer)
      emit(.waitingEnded(patience: patience))
      record(.waitingEnded, EventWaiting(waiter: session.waiter, reason: .admitted))
      emit(.settle(id, .admitted(isNew: isNew)))
      say(nil, to: cause)
    } catch {
      // As it was, in its place among the others: nothing of it has come in.
      waiting.insert(session, at: index)
      emit(.sessionEnded(identity: identity, nil, patience: patience))
      keepOut(index, error, cause)
    }
  }

  /// It can't come in. Where a host would have it, it goes on waiting, unless its token will never let it in.
  private mutating func keepOut(_ index: Int, _ error: JoinError, _ cause: AdmissionCause) {
    switch (error, cause) {
    case (.removed, _), (.revoked, _): endWaiting(index, .removed, error)
    case (_, .settings): endWaiting(index, .refused, error)
    default: break
    }
    say(error, to: cause)
  }

  /// - Parameter error: nil: it is in.
  private mutating func say(_ error: JoinError?, to cause: AdmissionCause) {
    switch (cause, error) {
    case (.settings, _): break
    case (_, nil): reply(.done)
    // It waits no longer.
    case (.host, .notAdmitted?), (.host, .removed?), (.host, .revoked?): reply(.refused(.unknownParticipant))
    case (.administration, .notAdmitted?), (.administration, .removed?), (.administration, .revoked?):
      reply(.administrationRefused(.unknownParticipant))
    case (.host, let error?): reply(.refused(.joining(error)))
    case (.administration, let error?): reply(.administrationRefused(.joining(error)))
    }
  }
}

extension JoinError {
  /// What one hears that waits no longer.
  init(_ reason: WaitingEndReason) {
    self =
      switch reason {
      case .removed: .waitingEnded(.removed)
      case .left, .admitted: .waitingEnded(.left)
      case .connectionLost: .waitingEnded(.connectionLost)
      case .duplicateIdentity: .waitingEnded(.duplicateIdentity)
      case .roomClosed: .waitingEnded(.roomClosed)
      case .serverShutdown: .waitingEnded(.serverShutdown)
      case .timedOut, .refused: .notAdmitted
      }
  }
}
