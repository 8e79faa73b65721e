#if PLANTED_DEFECTS
  internal import Model
#endif

extension CallState {
  /// Has something happen. What was over by then is so first, whatever comes.
  /// - Returns: what is to be done, in order, and why the event itself isn't; nil: it is. Where nothing is to be done the state may
  ///   have changed all the same, by what its people don't see.
  public mutating func apply(
    _ event: CallEvent, at now: CallTime
  ) -> (effects: [CallEffect], refusal: CallRefusal?) {
    guard !isEnded || event.isOfPeople else { return ([], nil) }
    var effects: [CallEffect] = []
    let before = self
    // Who was in it when the server ended has its time from now on.
    if event == .restart { restart(at: now) }
    if !isEnded { expire(at: now, &effects) }
    var refusal: CallRefusal?
    do throws(CallRefusal) { try perform(event, at: now, &effects) } catch { refusal = error }
    if !looksLike(before) {
      updatedAt = max(updatedAt, now.wall)
      effects.append(isEnded ? .ended : .updated)
    }
    return (effects, refusal)
  }

  /// Has a word take effect that couldn't be written down as it was said, at the time at which it was: what is over later is so behind it.
  /// Said again, or behind the end, it changes nothing.
  /// - Parameter number: of the word, among all of the process; from 1.
  /// - Returns: what is to be done, in order.
  public mutating func hear(_ event: CallEvent, number: UInt64, at moment: CallTime) -> [CallEffect] {
    guard !isEnded, number > heard else { return [] }
    heard = number
    return apply(event, at: moment).effects
  }

  private mutating func perform(
    _ event: CallEvent, at now: CallTime, _ effects: inout [CallEffect]
  ) throws(CallRefusal) {
    switch event {
    case .join(let person, let device, let session, let takeover, let reader):
      try join(person, device, session: session, takeover: takeover, reader: reader, at: now, &effects)
    case .leave(let person, let device, let reason):
      try leave(person, device, reason, at: now, &effects)
    case .invite(let person, let others): try invite(others, by: person, at: now, &effects)
    case .mediaCame(let person, let session): mediaCame(person, session, at: now)
    case .mediaWent(let person, let session, let isLost): mediaWent(person, session, isLost, at: now)
    case .saidConnected(let person, let device): saidConnected(person, device, at: now)
    case .remove(let person): try remove(person, at: now, &effects)
    case .end(let person):
      guard !isEnded else { throw .ended }
      finish(by: person, at: now, &effects)
    case .change(let person, let change):
      _ = try requireActive(person)
      media = change.media ?? media
      if let metadata = change.metadata { self.metadata = metadata }
    case .time, .restart: break
    }
  }

  /// Returns the place of a participant, while the call is active.
  private func requireMember(_ person: PersonID) throws(CallRefusal) -> Int {
    guard let index = index(of: person), !people[index].isHidden else { throw .unknown }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.removedReturns), !isEnded { return index }
    #endif
    guard people[index].leaveReason != .removed else { throw .removed }
    guard !isEnded else { throw .ended }
    return index
  }

  /// Returns the session of an active participant.
  @discardableResult
  public func requireActive(_ person: PersonID) throws(CallRefusal) -> CallSession {
    let index = try requireMember(person)
    guard let session = people[index].session else { throw .notAllowed }
    return session
  }

  // MARK: - In and out

  private mutating func join(
    _ person: PersonID, _ device: DeviceID, session: CallUUID, takeover: Bool, reader: DeviceID?,
    at now: CallTime, _ effects: inout [CallEffect]
  ) throws(CallRefusal) {
    let index = try requireMember(person)
    let span = terms.awaited(path)
    switch people[index].status {
    case .invited(let ring):
      if !ring.isSilent {
        effects.append(.ringEnded(person, ring: ring.id, .answeredElsewhere, except: device))
      }
      people[index].enter(device, session: session, for: span, at: now)
    case .active(var standing) where standing.isBy(device) || reader.map { standing.isBy($0) } ?? false:
      // The same device again, by whichever of its names: its media, if it stands, goes on.
      if device != standing.reader { standing.device = device }
      standing.first = standing.stay
      standing.id = session
      if !standing.isStanding { standing.media = .awaited(until: now.steady + span) }
      people[index].status = .active(standing)
    case .active(let standing):
      guard takeover else { throw .activeElsewhere }
      effects.append(.close(person, session: standing.id, .movedElsewhere))
      people[index].enter(device, session: session, for: span, at: now)
    case .left:
      people[index].enter(device, session: session, for: span, at: now)
    }
    if let reader, var mine = people[index].session {
      mine.reader = reader
      people[index].status = .active(mine)
    }
    settle(at: now, &effects)
  }

  private mutating func leave(
    _ person: PersonID, _ device: DeviceID?, _ reason: LeaveReason, at now: CallTime,
    _ effects: inout [CallEffect]
  ) throws(CallRefusal) {
    guard let index = index(of: person), !people[index].isHidden else { throw .unknown }
    guard LeaveReason.ofClients.contains(reason) else { throw .notAllowed }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.laterReason), !isEnded, people[index].leaveReason != nil {
        people[index].status = .left(reason, at: now.wall)
      }
    #endif
    // Twice is as good as once, also behind the end.
    guard !isEnded, people[index].leaveReason == nil else { return }
    #if PLANTED_DEFECTS
      let device = PlantedDefect.isOn(.anyDeviceLeaves) ? nil : device
    #endif
    // Another device has answered, or taken over: what this one says is of before.
    if let device, let session = people[index].session, !session.isBy(device) { return }
    take(index, out: people[index].ring == nil ? reason : .rejected, by: device, at: now, &effects)
    settle(by: person, at: now, &effects)
  }

  private mutating func remove(
    _ person: PersonID, at now: CallTime, _ effects: inout [CallEffect]
  ) throws(CallRefusal) {
    guard let index = index(of: person) else { throw .unknown }
    guard !isEnded else { throw .ended }
    switch people[index].status {
    case .left(.removed, _): return
    // One who has left already did so then.
    case .left(_, let moment): people[index].status = .left(.removed, at: moment)
    case .invited, .active: take(index, out: .removed, by: nil, at: now, &effects)
    }
    effects.append(.revoke(person))
    settle(at: now, &effects)
  }

  /// Of one who is rung or in the call.
  mutating func take(
    _ index: Int, out reason: LeaveReason, by device: DeviceID?, at now: CallTime,
    _ effects: inout [CallEffect]
  ) {
    let person = people[index]
    switch person.status {
    case .invited(let ring):
      if !ring.isSilent {
        effects.append(.ringEnded(person.id, ring: ring.id, reason.ringEnd, except: device))
      }
    case .active(let session):
      effects.append(.close(person.id, session: session.id, reason == .removed ? .removed : .left))
    case .left: break
    }
    people[index].status = .left(reason, at: now.wall)
    people[index].leftAt = now.wall
  }

  // MARK: - Rings

  private mutating func invite(
    _ others: [CallInvitation], by person: PersonID, at now: CallTime, _ effects: inout [CallEffect]
  ) throws(CallRefusal) {
    let new = try invitable(others, by: person)
    for invitation in new { ring(invitation, from: person, at: now, &effects) }
    settle(at: now, &effects)
  }

  /// Whom an invitation is about, each once, if it may be made.
  func invitable(_ others: [CallInvitation], by person: PersonID) throws(CallRefusal) -> [CallInvitation] {
    try requireActive(person)
    let new = CallInvitation.each(others, without: person)
    guard !new.isEmpty else { throw .noRecipients }
    guard people.count + new.count(where: { index(of: $0.person) == nil }) <= terms.people else {
      throw .tooManyPeople(most: terms.people)
    }
    return new
  }

  /// Whether somebody who is invited now is rung, or at least written down: not one who is rung or in the call already, nor one whom
  /// an admin has taken out. A ring that is kept from a person keeps no one else's from it.
  /// - Parameter unheard: by an invitation that doesn't ring it either.
  public func canInvite(_ person: PersonID, unheard: Bool) -> Bool {
    guard let place = index(of: person) else { return true }
    if let ring = people[place].ring, ring.isSilent, !unheard { return true }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.rungTwice), people[place].ring != nil { return true }
    #endif
    guard let reason = people[place].leaveReason else { return false }
    return reason != .removed
  }

  mutating func ring(
    _ invitation: CallInvitation, from caller: PersonID, at now: CallTime, _ effects: inout [CallEffect]
  ) {
    guard canInvite(invitation.person, unheard: invitation.isUnheard) else { return }
    // Who has blocked the other learns nothing, and isn't given away by being busy.
    let isBusy = invitation.isBusy && !invitation.isSilent
    // One that takes the place of a ring that wasn't heard ends with that: others see no difference.
    let until = self[invitation.person]?.ring?.until ?? now.steady + terms.ring
    let ring = CallRing(
      id: invitation.ring, from: caller, until: until, isSilent: invitation.isSilent,
      isBusy: invitation.ringsBusy && !invitation.isSilent, head: invitation.head)
    let status = isBusy ? CallPerson.Status.left(.busy, at: now.wall) : .invited(ring)
    let known = index(of: invitation.person)
    if known == nil { people.append(CallPerson(id: invitation.person, status: status)) }
    let place = known ?? people.count - 1
    people[place].status = status
    people[place].leftAt = isBusy ? now.wall : nil
    // Whom the call was shown to already it stays shown to.
    people[place].isHidden = invitation.isSilent && (known == nil || people[place].isHidden)
    if !isBusy { effects.append(.ring(invitation.person, ring)) }
  }

  // MARK: - Media

  private mutating func mediaCame(_ person: PersonID, _ session: CallUUID, at now: CallTime) {
    guard let index = index(of: person), var mine = people[index].session, mine.id == session else { return }
    mine.media = .standing(by: session)
    people[index].status = .active(mine)
    noteConnected(at: now)
  }

  private mutating func mediaWent(
    _ person: PersonID, _ session: CallUUID, _ isLost: Bool, at now: CallTime
  ) {
    guard let index = index(of: person), var mine = people[index].session else { return }
    let until = now.steady + (isLost && path == .relay ? terms.afterRoom : terms.gone(path))
    switch mine.media {
    case .standing(by: session): mine.media = .gone(until: until)
    // That it was waited for is known later than that it went.
    case .gone(let known) where isLost && mine.id == session: mine.media = .gone(until: min(known, until))
    case .standing, .gone, .awaited: return
    }
    people[index].status = .active(mine)
  }

  private mutating func saidConnected(_ person: PersonID, _ device: DeviceID?, at now: CallTime) {
    guard path == .direct, let index = index(of: person), var mine = people[index].session,
      device.map({ mine.isBy($0) }) ?? true
    else { return }
    mine.saysConnected = true
    people[index].status = .active(mine)
    noteConnected(at: now)
  }

  private func isConnected(_ person: CallPerson) -> Bool {
    guard let session = person.session else { return false }
    return path == .relay ? session.isStanding : session.saysConnected
  }

  /// The media of two people stands at the same time.
  private mutating func noteConnected(at now: CallTime) {
    let standing = people.indices.filter { isConnected(people[$0]) }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.connectedByOne), !standing.isEmpty { connectedAt = connectedAt ?? now }
    #endif
    guard standing.count >= 2 else { return }
    for index in standing { people[index].wasConnected = true }
    connectedAt = connectedAt ?? now
  }

  /// No media stands any more, and each may come back within its time; rings go on.
  private mutating func restart(at now: CallTime) {
    #if PLANTED_DEFECTS
      let span = PlantedDefect.isOn(.restartAtOnce) ? 0 : terms.restart
    #else
      let span = terms.restart
    #endif
    let until = now.steady + span
    for index in people.indices {
      guard var session = people[index].session else { continue }
      session.media = .gone(until: until)
      people[index].status = .active(session)
    }
    aloneUntil = aloneUntil.map { max($0, until) }
  }
}

extension CallEvent {
  /// It is answered, and so is also asked for behind the end of a call.
  fileprivate var isOfPeople: Bool {
    switch self {
    case .join, .leave, .invite, .change, .remove, .end: true
    case .mediaCame, .mediaWent, .saidConnected, .time, .restart: false
    }
  }
}

extension CallPerson {
  mutating func enter(_ device: DeviceID, session: CallUUID, for span: Int64, at now: CallTime) {
    status = .active(CallSession(id: session, device: device, media: .awaited(until: now.steady + span)))
    joinedAt = joinedAt ?? now.wall
    leftAt = nil
    isHidden = false
  }
}

extension LeaveReason {
  /// What the other devices of one who was rung hear.
  var ringEnd: RingEnd {
    switch self {
    case .rejected: .declinedElsewhere
    case .timedOut: .timedOut
    case .userLeft, .networkError, .serverError, .cancelled, .busy, .removed: .cancelled
    }
  }
}
