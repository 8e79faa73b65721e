public import Model
internal import Wire

extension ControllingAgent {
  /// Sends the checks that are due and ends what is over.
  /// - Returns: one event; call again, with the output sent, until it is `.idle` with an instant to come.
  public mutating func poll(
    now: Instant, random: inout RandomSource, output: inout ICEOutput
  ) -> ICEPoll {
    for index in pairs.indices {
      if pairs[index].state == .valid, let lost = keepConsent(index, now, &random, &output) {
        return .expired(lost)
      }
      repeatCheck(index, now, &output)
    }
    considerNomination(now)
    if startedAt == nil, hasWork { startedAt = now }
    startCheck(now, &random, &output)
    if !isSettled, !hasFailed, now >= establishmentEnd {
      hasFailed = true
      return .failed
    }
    return .idle(until: deadline)
  }

  /// When `poll` is due.
  public var deadline: Instant {
    var deadline = isSettled || hasFailed ? Instant.never : establishmentEnd
    if hasWork { deadline = min(deadline, nextPace) }
    for pair in pairs {
      if pair.state == .valid { deadline = min(deadline, pair.consent.deadline) }
      if let check = pair.check { deadline = min(deadline, check.next) }
    }
    if awaitsNomination, let firstValid { deadline = min(deadline, firstValid + configuration.patience) }
    return deadline
  }

  private var establishmentEnd: Instant {
    startedAt?.advanced(byNanoseconds: ICETimers.establishment) ?? .never
  }

  /// Whether a new check waits for its turn.
  private var hasWork: Bool { pairs.contains { isReady($0) } }

  private func isReady(_ pair: ControllingPair) -> Bool {
    (pair.trigger > 0 || pair.state == .waiting) && credentials.hasRemote(pair.generation)
  }

  // MARK: Consent and repetition

  /// - Returns: the selected path, if consent for it ended.
  private mutating func keepConsent(
    _ index: Int, _ now: Instant, _ random: inout RandomSource, _ output: inout ICEOutput
  ) -> NetworkPath? {
    let pair = pairs[index]
    let isSelected = index == selectedIndex
    if pair.consent.isExpired(at: now) {
      pairs[index].state = .failed
      pairs[index].check = nil
      pairs[index].nominationSerial = 0
      if isSelected { selected = nil }
      return isSelected ? pair.path : nil
    }
    guard now >= pair.consent.nextCheck, let slot = output.slot() else { return nil }
    let transaction = random.transaction()
    // Where every check nominates, the far end goes by the latest: repeating tells it what is used.
    let contents = contents(
      for: pair, nominating: isSelected && role == .controlling && configuration.isAggressive)
    let size = credentials.with(pair.generation) { $0.writeCheck(transaction, contents, into: slot) }
    if let size { output.commit(size, pair.path) }
    let interval = isSelected ? ICETimers.consentInterval : ICETimers.keepaliveInterval
    pairs[index].consent.sent(transaction, at: now, interval: interval, random: &random)
    return nil
  }

  private mutating func repeatCheck(_ index: Int, _ now: Instant, _ output: inout ICEOutput) {
    guard let check = pairs[index].check, now >= check.next else { return }
    guard !check.isExhausted else {
      pairs[index].check = nil
      pairs[index].contents = nil
      if pairs[index].state != .valid { pairs[index].state = .failed }
      return
    }
    transmit(index, now, &output)
  }

  private mutating func transmit(_ index: Int, _ now: Instant, _ output: inout ICEOutput) {
    let pair = pairs[index]
    guard let check = pair.check, let contents = pair.contents, let slot = output.slot() else { return }
    let size = credentials.with(pair.generation) {
      $0.writeCheck(check.transaction, contents, into: slot)
    }
    if let size { output.commit(size, pair.path) }
    pairs[index].check?.sent(at: now)
  }

  // MARK: New checks

  /// One new check at the pace: a triggered one first, else the best that waits.
  private mutating func startCheck(
    _ now: Instant, _ random: inout RandomSource, _ output: inout ICEOutput
  ) {
    guard now >= nextPace, output.count < ICEOutput.capacity else { return }
    let ready = pairs.indices.filter { isReady(pairs[$0]) }
    let triggered = ready.filter { pairs[$0].trigger > 0 }
    let next =
      triggered.min { pairs[$0].trigger < pairs[$1].trigger }
      ?? ready.max { pairs[$0].priority(role) < pairs[$1].priority(role) }
    guard let next else { return }

    let nominating =
      role == .controlling && (pairs[next].wantsNomination || configuration.isAggressive)
    if nominating, configuration.sendsNominationValue { serials.nomination &+= 1 }
    // RFC 8445 §14.3: the more checks there are, the longer each may take to be answered.
    let wait = max(
      configuration.retransmission.wholeNanoseconds,
      configuration.pace.wholeNanoseconds &* Int64(ready.count + pairs.count { $0.check != nil }))
    let contents = contents(for: pairs[next], nominating: nominating)
    pairs[next].check = RetransmittedCheck(random.transaction(), timeout: wait, first: now)
    pairs[next].contents = contents
    pairs[next].isChosen = pairs[next].wantsNomination
    pairs[next].trigger = 0
    pairs[next].wantsNomination = false
    if pairs[next].state != .valid { pairs[next].state = .inProgress }
    transmit(next, now, &output)
    nextPace = now + configuration.pace
  }

  private func contents(for pair: ControllingPair, nominating: Bool) -> CheckContents {
    CheckContents(
      role: role, tieBreaker: tieBreaker,
      priority: ICEPriority.candidate(.peerReflexive, localPreference: pair.localPreference),
      useCandidate: nominating,
      nomination: nominating && configuration.sendsNominationValue ? serials.nomination : 0)
  }

  // MARK: Nomination (RFC 8445 §8.1.1)

  /// Whether a pair works, none is used, and none is being nominated.
  private var awaitsNomination: Bool {
    let generation = credentials.generation
    guard role == .controlling, !isSettled, !configuration.isAggressive, firstValid != nil else {
      return false
    }
    return !pairs.contains {
      $0.generation == generation && ($0.wantsNomination || $0.contents?.useCandidate == true)
    } && pairs.contains { $0.generation == generation && $0.state == .valid }
  }

  /// Nominates the best valid pair, once no better one may come or patience ends.
  mutating func considerNomination(_ now: Instant) {
    guard awaitsNomination, let firstValid else { return }
    let generation = credentials.generation
    let current = pairs.indices.filter { pairs[$0].generation == generation }
    let valid = current.filter { pairs[$0].state == .valid }
    guard let best = valid.max(by: { pairs[$0].priority(role) < pairs[$1].priority(role) }) else { return }
    let mayImprove = current.contains {
      (pairs[$0].state == .waiting || pairs[$0].state == .inProgress)
        && pairs[$0].priority(role) > pairs[best].priority(role)
    }
    guard !mayImprove || now >= firstValid + configuration.patience else { return }
    pairs[best].wantsNomination = true
    trigger(best)
  }
}
