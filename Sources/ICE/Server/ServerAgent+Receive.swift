public import Model
internal import Wire

extension ServerAgent {
  /// Takes a datagram whose first byte is STUN's.
  /// - Parameter output: gets the answer and whatever check follows from it.
  public mutating func receive(
    _ datagram: UnsafeRawBufferPointer, path: NetworkPath, now: Instant, random: inout RandomSource,
    output: inout ICEOutput
  ) -> STUNOutcome {
    let outcome = take(datagram, path, now, &random, &output)
    if case .ignored(let reason) = outcome { drops.count(reason) }
    return outcome
  }

  private mutating func take(
    _ datagram: UnsafeRawBufferPointer, _ path: NetworkPath, _ now: Instant, _ random: inout RandomSource,
    _ output: inout ICEOutput
  ) -> STUNOutcome {
    guard let message = try? STUNMessage(datagram) else { return .ignored(.malformed) }
    guard message.method == STUNMessage.binding else { return .ignored(.notBinding) }
    guard message.hasValidFingerprint(in: datagram) else { return .ignored(.badFingerprint) }
    switch message.messageClass {
    case .request: return request(message, datagram, path, now, &random, &output)
    case .indication: return .ignored(.indication)
    case .success, .failure: return answer(message, datagram, path, now, &random)
    }
  }

  // MARK: Requests

  private mutating func request(
    _ message: STUNMessage, _ datagram: UnsafeRawBufferPointer, _ path: NetworkPath, _ now: Instant,
    _ random: inout RandomSource, _ output: inout ICEOutput
  ) -> STUNOutcome {
    let generation: UInt32
    switch credentials.verifyRequest(message, datagram) {
    case .valid(let found): generation = found
    case .invalid(let reason): return .ignored(reason)
    }
    lastHeard = max(lastHeard, now)
    if let code = objection(to: message) {
      return refuse(message, code, path, generation, now, &output)
    }

    let known = pairs.find(path, generation: generation)
    guard let index = known ?? admit(path, generation, now, &random, &output) else {
      return .ignored(.tableFull)
    }
    pairs[index].heard(datagram.count, at: now)
    guard reply(to: message.transaction, at: index, now, &output) else { return .ignored(.rateLimited) }
    nominate(index, by: message)

    let isDormant = pairs[index].dormantUntil != nil
    if isDormant { pairs[index].revive(random.transaction(), at: now) }
    var outcome = known == nil || isDormant ? STUNOutcome.pending(path) : .answered
    if pairs[index].isValidated {
      if pairs[index].isTrusted { pairs[index].consent.grant(at: now) }
    } else if isTrustedAtSight(generation) {
      trustedGeneration = generation
      pairs[index].validate(trusting: true, nextCheck: now, now: now)
      wasEstablished = true
      sendConsentCheck(at: index, now, &random, &output)
      outcome = .validated(path)
    } else {
      sendVerification(at: index, now, &random, &output)
    }
    if selectIfNominated(index, now, &random) {
      outcome = .selected(path)
    } else {
      challengeSelected(by: index, now)
    }
    return outcome
  }

  /// The code of the error that a valid request is refused with.
  private func objection(to message: borrowing STUNMessage) -> Int? {
    // A lite agent never takes over: a far end that takes itself for controlled as well has to give way (RFC 8445
    // §7.3.1.1).
    if case .controlled = message.role { return 487 }
    return message.unknownCount > 0 ? 420 : nil
  }

  /// Refusals are shorter than three times any valid request, and belong to no pair.
  private mutating func refuse(
    _ message: STUNMessage, _ code: Int, _ path: NetworkPath, _ generation: UInt32, _ now: Instant,
    _ output: inout ICEOutput
  ) -> STUNOutcome {
    guard refusals.take(now: now) else { return .ignored(.rateLimited) }
    if let slot = output.slot() {
      let size = credentials.with(generation) { set in
        code == 487
          ? set.writeRoleConflict(message.transaction, into: slot)
          : set.writeUnknownAttributes(of: message, into: slot)
      }
      if let size { output.commit(size, path) }
    }
    return .refused(code: code)
  }

  private mutating func admit(
    _ path: NetworkPath, _ generation: UInt32, _ now: Instant, _ random: inout RandomSource,
    _ output: inout ICEOutput
  ) -> Int? {
    let pair = ServerPair(path, generation: generation, check: random.transaction(), now: now)
    let unproven = pairs.unprovenCount
    let isFull = pairs.count == ServerPairTable.capacity
    guard let index = pairs.add(pair, now: now) else { return nil }
    // The newcomer is one itself: who gave way was one as well.
    if isFull && pairs.unprovenCount == unproven { output.abandoned += 1 }
    return index
  }

  /// - Returns: false if no reply may be sent.
  private mutating func reply(
    to transaction: STUNTransactionID, at index: Int, _ now: Instant, _ output: inout ICEOutput
  ) -> Bool {
    guard pairs[index].replies.take(now: now) else { return false }
    guard let slot = output.slot() else { return true }
    let path = pairs[index].path
    let size = credentials.with(pairs[index].generation) {
      $0.writeSuccess(transaction, mapped: path.remote, into: slot)
    }
    guard let size, pairs[index].spend(size) else { return false }
    output.commit(size, path)
    return true
  }

  private mutating func nominate(_ index: Int, by message: borrowing STUNMessage) {
    let generation = pairs[index].generation
    let isNewest = credentials.isOfNewestRemote(generation)
    let accepted = nominations.accept(message, isNewest: isNewest) { value in
      for other in 0..<pairs.count
      where other != index && pairs[other].generation == generation && pairs[other].nominationSerial > 0 {
        if value == nil || value == pairs[other].nominationValue { return true }
      }
      return value == nil && pairs[index].nominationSerial > 0
    }
    guard let accepted else { return }
    pairs[index].nominationSerial = accepted.serial
    pairs[index].nominationValue = accepted.value
  }

  private func isTrustedAtSight(_ generation: UInt32) -> Bool {
    guard verification == .onChange, generation == credentials.generation else { return false }
    return trustedGeneration.map { generation > $0 } ?? true
  }

  // MARK: Answers

  private mutating func answer(
    _ message: STUNMessage, _ datagram: UnsafeRawBufferPointer, _ path: NetworkPath, _ now: Instant,
    _ random: inout RandomSource
  ) -> STUNOutcome {
    let transaction = message.transaction
    guard let index = pairs.first(where: { $0.expects(transaction) }) else { return .ignored(.notExpected) }
    guard pairs[index].path == path else { return .ignored(.wrongAddress) }
    let isValid = credentials.with(pairs[index].generation) { $0.verifyAnswer(message, datagram) }
    guard isValid == true else { return .ignored(.badIntegrity) }
    guard message.unknownCount == 0 else { return .ignored(.unknownAttribute) }
    guard !pairs[index].isValidated || !pairs[index].consent.isExpired(at: now) else {
      return .ignored(.notExpected)
    }
    lastHeard = max(lastHeard, now)
    guard message.messageClass == .success else { return .ignored(.checkRefused) }

    pairs[index].heard(datagram.count, at: now)
    guard !pairs[index].isValidated else {
      let roundTrip = pairs[index].answered(transaction, at: now)
      let isTakenBack = settleChallenge(at: index, roundTrip: roundTrip, now, &random)
      return isTakenBack ? .selected(path) : .consentRefreshed
    }
    let nextCheck = now.advanced(byNanoseconds: random.jittered(ICETimers.keepaliveInterval))
    pairs[index].validate(trusting: false, nextCheck: nextCheck, now: now)
    wasEstablished = true
    if selectIfNominated(index, now, &random) { return .selected(path) }
    challengeSelected(by: index, now)
    return .validated(path)
  }

  // MARK: Selection

  /// - Returns: whether the pair is selected now and wasn't before.
  private mutating func selectIfNominated(_ index: Int, _ now: Instant, _ random: inout RandomSource) -> Bool
  {
    let pair = pairs[index]
    guard pair.isValidated, pair.nominationSerial > 0, pairs.selected != index else { return false }
    if let selected = pairs.selected, pairs[selected].generation == pair.generation,
      pairs[selected].nominationSerial > pair.nominationSerial
    {
      return false
    }
    select(index, now, &random)
    if credentials.settle(on: pair.generation) { removeUnserved() }
    return true
  }

  mutating func select(_ index: Int, _ now: Instant, _ random: inout RandomSource) {
    pairs.select(index)
    selected = pairs[index].path
    pairs[index].isDoubted = false
    challenge = nil
    pairs[index].consent.bringForward(
      to: now.advanced(byNanoseconds: random.jittered(ICETimers.consentInterval)))
  }
}
