#if PLANTED_DEFECTS
  internal import Model
#endif

/// When a call is over, and what became of it.
extension CallState {
  /// What was waited for until now and didn't come.
  mutating func expire(at now: CallTime, _ effects: inout [CallEffect]) {
    for index in people.indices {
      guard let deadline = people[index].deadline, deadline <= now.steady else { continue }
      take(index, out: people[index].ring == nil ? .networkError : .timedOut, by: nil, at: now, &effects)
    }
    settle(at: now, &effects)
    if let aloneUntil, aloneUntil <= now.steady { finish(by: nil, at: now, &effects) }
  }

  /// Ends the call where it is over by the state of its people.
  /// - Parameter person: whose act it was.
  mutating func settle(by person: PersonID? = nil, at now: CallTime, _ effects: inout [CallEffect]) {
    guard !isEnded else { return }
    let active = people.filter { $0.session != nil }
    guard let last = active.first else { return finish(by: person, at: now, &effects) }
    guard active.count == 1, invited.isEmpty else {
      aloneUntil = nil
      return
    }
    let others = people.filter { $0.id != last.id && $0.hasJoined }
    let hungUp = others.count == 1 && others[0].leaveReason?.isFinal ?? false
    guard !others.isEmpty, !hungUp else { return finish(by: person, at: now, &effects) }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.aloneForEver) { return }
    #endif
    aloneUntil = aloneUntil ?? now.steady + terms.alone
  }

  /// Ends it, for everybody.
  mutating func finish(by person: PersonID?, at now: CallTime, _ effects: inout [CallEffect]) {
    guard !isEnded else { return }
    let outcome = outcome
    for index in people.indices {
      switch people[index].status {
      case .invited: take(index, out: .cancelled, by: nil, at: now, &effects)
      case .active(let session):
        effects.append(.close(people[index].id, session: session.id, .callEnded))
        // Who waited for an answer in vain has not hung up.
        people[index].status = .left(outcome == .missed ? .timedOut : .userLeft, at: now.wall)
        people[index].leftAt = now.wall
      case .left: break
      }
    }
    aloneUntil = nil
    end = CallEnd(
      at: now.wall, by: person, outcome: outcome,
      duration: connectedAt.map { now.steady.span(since: $0.steady) })
  }

  /// What became of it if it were over now.
  private var outcome: CallOutcome {
    if connectedAt != nil { return .answered }
    let others = people.filter { $0.id != caller }
    if others.contains(where: \.hasJoined) { return .failed }
    switch self[caller]?.leaveReason {
    case .networkError, .serverError: return .failed
    case .timedOut: return .missed
    case .userLeft where others.contains(where: { $0.ring != nil }), .removed: return .cancelled
    default: break
    }
    let reasons = others.map(\.leaveReason)
    if reasons.contains(nil) { return .cancelled }
    if reasons.contains(.timedOut) { return .missed }
    if reasons.contains(.rejected) { return .declined }
    return reasons.contains(.busy) ? .busy : .cancelled
  }

  /// What became of it for one of its people, as the history shows it; nil: it isn't over for them.
  public func outcome(for person: PersonID) -> CallOutcome? {
    guard let mine = self[person], isEnded || mine.leaveReason != nil else { return nil }
    if mine.wasConnected { return .answered }
    if person == caller, let end { return end.outcome == .answered ? .failed : end.outcome }
    if mine.hasJoined { return .failed }
    return mine.leaveReason == .rejected ? .declined : .missed
  }
}

extension Int64 {
  /// 0 where it lies ahead, or so far back that no clock can have been there: a row of the database may say anything.
  fileprivate func span(since moment: Int64) -> Int64 {
    let (span, isOver) = subtractingReportingOverflow(moment)
    return isOver ? 0 : Swift.max(0, span)
  }
}
