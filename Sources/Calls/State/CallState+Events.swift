extension CallState {
  /// Has something happen. What was over by then is so first, whatever comes.
  /// - Returns: what is to be done, in order, and why the event itself isn't; nil: it is.
  public mutating func apply(
    _ event: CallEvent, at now: CallTime
  ) -> (effects: [CallEffect], refusal: CallRefusal?) {
    var effects: [CallEffect] = []
    let before = self
    if !isEnded { expire(at: now, &effects) }
    var refusal: CallRefusal?
    do throws(CallRefusal) { try perform(event, at: now, &effects) } catch { refusal = error }
    return (note(before, at: now, effects), refusal)
  }

  private mutating func note(_ before: CallState, at now: CallTime, _ effects: [CallEffect]) -> [CallEffect] {
    guard self != before else { return [] }
    updatedAt = max(updatedAt, now.wall)
    return effects + [isEnded ? .ended : .updated]
  }

  private mutating func perform(
    _ event: CallEvent, at now: CallTime, _ effects: inout [CallEffect]
  ) throws(CallRefusal) {
    switch event {
    case .join(let person, let device, let session, let takeover):
      try join(person, device, session: session, takeover: takeover, at: now, &effects)
    case .leave(let person, let device, let reason):
      try leave(person, device, reason, at: now, &effects)
    case .invite(let person, let others): try invite(others, by: person, at: now, &effects)
    case .mediaCame(let person, let session): mediaCame(person, session, at: now)
    case .mediaWent(let person, let session): mediaWent(person, session, at: now)
    case .remove(let person): try remove(person, at: now, &effects)
    case .end(let person):
      guard !isEnded else { throw .ended }
      finish(by: person, at: now, &effects)
    case .change(let person, let media):
      try requireActive(person)
      if let media { self.media = media }
    case .time: break
    case .restart: restart(at: now)
    }
  }

  /// Somebody of the call, while it stands.
  private func requireMember(_ person: PersonID) throws(CallRefusal) -> Int {
    guard let index = index(of: person) else { throw .unknown }
    guard people[index].leaveReason != .removed else { throw .removed }
    guard !isEnded else { throw .ended }
    return index
  }

  private func requireActive(_ person: PersonID) throws(CallRefusal) {
    let index = try requireMember(person)
    guard people[index].session != nil else { throw .notAllowed }
  }

  // MARK: - In and out

  private mutating func join(
    _ person: PersonID, _ device: DeviceID, session: CallUUID, takeover: Bool, at now: CallTime,
    _ effects: inout [CallEffect]
  ) throws(CallRefusal) {
    let index = try requireMember(person)
    switch people[index].status {
    case .invited(let ring):
      effects.append(.ringEnded(person, ring: ring.id, .answeredElsewhere, except: device))
      people[index].enter(device, session: session, terms: terms, at: now)
    case .active(let standing) where standing.device == device:
      // The same device again: its media, if it stands, goes on.
      people[index].status = .active(CallSession(id: session, device: device, media: standing.media))
    case .active(let standing):
      guard takeover else { throw .activeElsewhere }
      effects.append(.close(person, session: standing.id, .movedElsewhere))
      people[index].enter(device, session: session, terms: terms, at: now)
    case .left:
      people[index].enter(device, session: session, terms: terms, at: now)
    }
    settle(at: now, &effects)
  }

  private mutating func leave(
    _ person: PersonID, _ device: DeviceID?, _ reason: LeaveReason, at now: CallTime,
    _ effects: inout [CallEffect]
  ) throws(CallRefusal) {
    guard let index = index(of: person) else { throw .unknown }
    // Twice is as good as once, also behind the end.
    guard !isEnded, people[index].leaveReason == nil else { return }
    take(index, out: people[index].ring == nil ? reason : .rejected, by: device, at: now, &effects)
    settle(by: person, at: now, &effects)
  }

  private mutating func remove(
    _ person: PersonID, at now: CallTime, _ effects: inout [CallEffect]
  ) throws(CallRefusal) {
    guard let index = index(of: person) else { throw .unknown }
    guard !isEnded else { throw .ended }
    guard people[index].leaveReason != .removed else { return }
    take(index, out: .removed, by: nil, at: now, &effects)
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
      effects.append(.ringEnded(person.id, ring: ring.id, reason.ringEnd, except: device))
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
    try requireActive(person)
    var seen: Set<PersonID> = [person]
    let new = others.filter { seen.insert($0.person).inserted }
    guard !new.isEmpty else { throw .noRecipients }
    guard people.count + new.count(where: { index(of: $0.person) == nil }) <= terms.people else {
      throw .tooManyPeople(most: terms.people)
    }
    for invitation in new { ring(invitation, from: person, at: now, &effects) }
    settle(at: now, &effects)
  }

  /// One who is rung or in the call already isn't rung, nor is one whom an admin has taken out.
  mutating func ring(
    _ invitation: CallInvitation, from caller: PersonID, at now: CallTime, _ effects: inout [CallEffect]
  ) {
    let place = index(of: invitation.person)
    if let place {
      guard let reason = people[place].leaveReason, reason != .removed else { return }
    }
    let ring = CallRing(
      id: invitation.ring, from: caller, until: now.steady + terms.ring, isSilent: invitation.isSilent,
      isBusy: invitation.ringsBusy)
    let status =
      invitation.isBusy ? CallPerson.Status.left(.busy, at: now.wall) : CallPerson.Status.invited(ring)
    if let place {
      people[place].status = status
    } else {
      people.append(CallPerson(id: invitation.person, status: status))
    }
    if invitation.isBusy {
      people[place ?? people.count - 1].leftAt = now.wall
    } else {
      effects.append(.ring(invitation.person, ring))
    }
  }

  // MARK: - Media

  private mutating func mediaCame(_ person: PersonID, _ session: CallUUID, at now: CallTime) {
    guard !isEnded, let index = index(of: person), var standing = people[index].session,
      standing.id == session
    else { return }
    standing.media = .standing
    people[index].status = .active(standing)
    if connectedAt == nil, people.count(where: { $0.session?.isStanding ?? false }) >= 2 { connectedAt = now }
  }

  private mutating func mediaWent(_ person: PersonID, _ session: CallUUID, at now: CallTime) {
    guard !isEnded, let index = index(of: person), var standing = people[index].session,
      standing.id == session,
      standing.isStanding
    else { return }
    standing.media = .gone(until: now.steady + terms.grace)
    people[index].status = .active(standing)
  }

  /// No media stands any more, and each may come back within its time; rings go on.
  private mutating func restart(at now: CallTime) {
    guard !isEnded else { return }
    for index in people.indices {
      guard var session = people[index].session else { continue }
      session.media = .gone(until: now.steady + terms.restart)
      people[index].status = .active(session)
    }
  }
}

extension CallPerson {
  mutating func enter(_ device: DeviceID, session: CallUUID, terms: CallTerms, at now: CallTime) {
    status = .active(
      CallSession(id: session, device: device, media: .awaited(until: now.steady + terms.media)))
    joinedAt = joinedAt ?? now.wall
    leftAt = nil
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
