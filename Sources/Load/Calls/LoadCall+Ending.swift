internal import HTTPClient
internal import Model

/// How a call comes to its end.
extension LoadCall {
  /// One hangs up, which is the end for both.
  func hangUp(_ now: Instant) {
    phase = .leaving
    times.leave = now
    leave(terms.endedBy, now) { [weak self] outcome, now in
      guard let self else { return }
      noteTalk(until: now)
      if case .answered(let answer) = outcome, answer.head.status == 410 { return close(now) }
      guard case .answered(let answer) = outcome, answer.head.status == 200,
        let left = CallJSON.read(CallLeaveFacts.self, answer.body)
      else { return fail("leave: \(outcome.text)", now) }
      if !left.ended { problems.append("one of two hung up, and the call goes on") }
      close(now)
    }
  }

  private func leave(
    _ end: CallEnd, _ now: Instant, then: @escaping (CallClerk.Outcome, Instant) -> Void
  ) {
    let body = CallJSON.write(CallDeviceBody(deviceId: self[end].device))
    clerk.ask(
      .post, ["v1", "calls", tale.id, "leave"], token: self[end].token, body: body, now: now, then: then)
  }

  /// Between the last meeting and the hang-up it was connected for certain. At most it was between the moment at which the
  /// callee answered and the one at which the hang-up was: the server may have seen both come before they heard each other.
  private func noteTalk(until now: Instant) {
    guard tale.isConnected, times.leave != .never else { return }
    let least = (times.leave.nanoseconds - times.met.nanoseconds) / 1_000_000
    let most = (now.nanoseconds - times.answer.nanoseconds) / 1_000_000
    tale.talked = Int(least)...Int(max(most, least))
  }

  /// Something went wrong at this end: what was begun is taken back.
  func fail(_ reason: String, _ now: Instant) {
    guard phase != .closing, phase != .over else { return }
    failure = reason
    tale.isSpoilt = true
    guard tale.isStarted || phase == .starting else { return finish(now) }
    phase = .leaving
    unseat(.caller)
    unseat(.callee)
    leave(.caller, now) { [weak self] _, now in self?.close(now) }
  }

  /// It is over without one of the two having hung up.
  func endedByServer(_ now: Instant) {
    guard phase == .starting || phase == .gathering || phase == .talking else { return }
    if phase == .talking || tale.isConnected {
      times.leave = now
      noteTalk(until: now)
    }
    if !terms.survivesRestarts { failure = "the server ended it" }
    close(now)
  }

  /// The server is asked until it says that it is over.
  private func close(_ now: Instant) {
    guard phase != .closing, phase != .over else { return }
    phase = .closing
    unseat(.caller)
    unseat(.callee)
    times.closing = now
    look(now)
  }

  private func look(_ now: Instant) {
    clerk.ask(.get, ["v1", "calls", tale.id], token: caller.token, now: now) { [weak self] outcome, now in
      self?.looked(outcome, now)
    }
  }

  private func looked(_ outcome: CallClerk.Outcome, _ now: Instant) {
    guard phase == .closing else { return }
    guard case .answered(let answer) = outcome else {
      failure = failure ?? "reading the call: \(outcome.text)"
      return finish(now)
    }
    // At the end of the run it is looked for again.
    if answer.head.status == 404 { return finish(now) }
    guard answer.head.status == 200, let facts = CallJSON.read(CallFacts.self, answer.body) else {
      failure = failure ?? "reading the call: \(outcome.text)"
      return finish(now)
    }
    if facts.isOver {
      isOver = true
      return closeIfDone(now)
    }
    guard now.nanoseconds - times.closing.nanoseconds < Self.grace else {
      isStuck = true
      return finish(now)
    }
    clerk.agenda.add(at: now.advanced(byNanoseconds: Self.pause)) { [weak self] now in
      guard let self, phase == .closing else { return }
      look(now)
    }
  }

  /// The callee hears of the end as well, soon.
  func closeIfDone(_ now: Instant) {
    guard phase == .closing, isOver else { return }
    guard !heardEnd, listener.isListening else { return finish(now) }
    guard !awaitsWord else { return }
    awaitsWord = true
    let grace = terms.survivesRestarts ? Self.longGrace : Self.grace
    clerk.agenda.add(at: now.advanced(byNanoseconds: grace)) { [weak self] now in
      guard let self, phase == .closing else { return }
      if !heardEnd { problems.append("\(callee.person) didn't hear that it is over") }
      finish(now)
    }
  }

  private func finish(_ now: Instant) {
    guard phase != .over else { return }
    phase = .over
    unseat(.caller)
    unseat(.callee)
    listener.close()
    problems += listener.ledger.problems
    for (hearer, speaker) in [(callee, caller), (caller, callee)]
    where !hearer.sound.publishers.isSubset(of: speaker.numbers) {
      problems.append("\(hearer.person) heard others than \(speaker.person)")
    }
    onOver(now)
  }

  /// Nanoseconds after which a call that was hung up is over, and the other has heard it.
  private static let grace: Int64 = 5_000_000_000
  /// With a restart between.
  private static let longGrace: Int64 = 30_000_000_000
  private static let pause: Int64 = 500_000_000
}
