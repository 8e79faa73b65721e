public import Model
internal import Wire

extension ServerAgent {
  /// Sends the checks that are due and ends what is over.
  /// - Returns: one event; call again, with the output sent, until it is `.idle`.
  public mutating func poll(
    now: Instant, random: inout RandomSource, output: inout ICEOutput
  ) -> ICEPoll {
    if let path = pollChallenge(now, &random, &output) { return .selected(path) }
    // Backwards, because a pair that goes is replaced by the last one.
    for index in (0..<pairs.count).reversed() {
      let pair = pairs[index]
      if pair.isValidated {
        if pair.consent.isExpired(at: now) {
          pairs[index].lapse(at: now)
          if pairs.selected == index {
            pairs.deselect()
            selected = nil
            challenge = nil
            return .expired(pair.path)
          }
        } else if now >= pair.consent.nextCheck {
          sendConsentCheck(at: index, now, &random, &output)
        }
      } else if let end = pair.dormantUntil {
        if now >= end {
          pairs.remove(at: index)
          output.abandoned += 1
        }
      } else if credentials.hasRemote(pair.generation), now >= pair.check.next {
        if pair.check.isExhausted {
          pairs[index].giveUp(at: now)
        } else {
          sendVerification(at: index, now, &random, &output)
        }
      }
    }
    if !wasEstablished, !hasFailed, now >= establishmentEnd {
      hasFailed = true
      return .failed
    }
    return .idle(until: deadline)
  }

  /// Sends our check of a pair that isn't validated: when it is due, or, if the peer's check asks for it, a
  /// while after the last.
  mutating func sendVerification(
    at index: Int, _ now: Instant, _ random: inout RandomSource, _ output: inout ICEOutput
  ) {
    let check = pairs[index].check
    let isDue = now >= check.next && !check.isExhausted
    guard isDue || check.isQuiet(for: ServerPair.verificationTimeout, at: now),
      credentials.hasRemote(pairs[index].generation)
    else { return }
    let wasSent = send(check.transaction, at: index, &random, &output)
    switch (isDue, wasSent) {
    case (true, true): pairs[index].check.sent(at: now)
    case (true, false): pairs[index].check.skipped(at: now)
    case (false, true): pairs[index].check.sentOutOfTurn(at: now)
    case (false, false): break
    }
  }

  mutating func sendConsentCheck(
    at index: Int, _ now: Instant, _ random: inout RandomSource, _ output: inout ICEOutput
  ) {
    let transaction = random.transaction()
    _ = send(transaction, at: index, &random, &output)
    let interval = pairs.selected == index ? ICETimers.consentInterval : ICETimers.keepaliveInterval
    pairs[index].consent.sent(transaction, at: now, interval: interval, random: &random)
  }

  private mutating func send(
    _ transaction: STUNTransactionID, at index: Int, _ random: inout RandomSource, _ output: inout ICEOutput
  ) -> Bool {
    guard let slot = output.slot() else { return false }
    while tieBreaker == 0 { tieBreaker = random.next() }
    let contents = CheckContents(
      role: .controlled, tieBreaker: tieBreaker,
      priority: ICEPriority.candidate(.peerReflexive, localPreference: .max))
    let size = credentials.with(pairs[index].generation) {
      $0.writeCheck(transaction, contents, into: slot)
    }
    guard let size, pairs[index].spend(size) else { return false }
    output.commit(size, pairs[index].path)
    return true
  }
}
