public import Model
internal import Wire

extension ControllingAgent {
  /// Takes a datagram whose first byte is STUN's.
  /// - Parameter output: gets the answer and whatever follows from it.
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

  // MARK: Requests (RFC 8445 §7.3)

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
    if resolvesConflict(message) {
      return refuse(message, 487, path, generation, now, &output)
    }
    guard message.unknownCount == 0 else { return refuse(message, 420, path, generation, now, &output) }

    let known = pairs.firstIndex { $0.path == path && $0.generation == generation }
    guard let index = known ?? discover(path, generation, message.priority) else {
      return .ignored(.tableFull)
    }
    if let slot = output.slot() {
      let size = credentials.with(generation) {
        $0.writeSuccess(message.transaction, mapped: path.remote, into: slot)
      }
      if let size { output.commit(size, path) }
    }
    if pairs[index].state == .waiting || pairs[index].state == .failed {
      pairs[index].state = .waiting
      if pairs[index].trigger == 0 { trigger(index) }
    }
    guard role == .controlled else { return known == nil ? .pending(path) : .answered }
    let isNewest = generation == credentials.generation
    if let accepted = nominations.accept(message, isNewest: isNewest, isHeld: { _ in false }) {
      pairs[index].nominationSerial = accepted.serial
    }
    if selectIfNominatedByPeer(index) { return .selected(path) }
    return known == nil ? .pending(path) : .answered
  }

  /// Two agents that both believe to be controlling, or controlled: the larger tie-breaker controls
  /// (RFC 8445 §7.3.1.1).
  /// - Returns: whether the other one has to give way, and is answered so.
  private mutating func resolvesConflict(_ message: borrowing STUNMessage) -> Bool {
    switch (role, message.role) {
    case (.controlling, .controlling(let other)):
      if tieBreaker >= other { return true }
      role = .controlled
    case (.controlled, .controlled(let other)):
      if tieBreaker < other { return true }
      role = .controlling
    default: break
    }
    return false
  }

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

  /// The far end's address is none of its candidates: a peer-reflexive one (RFC 8445 §7.3.1.3).
  private mutating func discover(_ path: NetworkPath, _ generation: UInt32, _ priority: UInt32?) -> Int? {
    guard generation == credentials.generation, remotes.count < Self.remoteLimit,
      let local = locals.first(where: { $0.address == path.local })
    else { return nil }
    let remote = RemoteCandidate(
      address: path.remote,
      priority: priority ?? ICEPriority.candidate(.peerReflexive, localPreference: 0))
    if !remotes.contains(where: { $0.address == remote.address }) { remotes.append(remote) }
    return addPair(local, remote)
  }

  // MARK: Answers (RFC 8445 §7.2.5)

  private mutating func answer(
    _ message: STUNMessage, _ datagram: UnsafeRawBufferPointer, _ path: NetworkPath, _ now: Instant,
    _ random: inout RandomSource
  ) -> STUNOutcome {
    let transaction = message.transaction
    guard let index = pairs.firstIndex(where: { $0.expects(transaction) }) else {
      return .ignored(.notExpected)
    }
    guard pairs[index].path == path else { return .ignored(.wrongAddress) }
    let isValid = credentials.with(pairs[index].generation) { $0.verifyAnswer(message, datagram) }
    guard isValid == true else { return .ignored(.badIntegrity) }
    guard message.unknownCount == 0 else { return .ignored(.unknownAttribute) }
    lastHeard = max(lastHeard, now)
    guard message.messageClass == .success else { return refused(index, message.errorCode, &random) }
    noteMapped(message.mappedAddress, index)

    guard let check = pairs[index].check, check.transaction == transaction else {
      pairs[index].roundTrip = pairs[index].consent.answered(transaction, at: now)
      return .consentRefreshed
    }
    if let span = check.roundTrip(at: now) { pairs[index].roundTrip = span }
    let nominated = pairs[index].contents?.useCandidate == true && role == .controlling
    let wasValid = pairs[index].state == .valid
    pairs[index].check = nil
    pairs[index].contents = nil
    if wasValid {
      pairs[index].consent.grant(at: now)
    } else {
      pairs[index].state = .valid
      let next = now.advanced(byNanoseconds: random.jittered(ICETimers.keepaliveInterval))
      pairs[index].consent = Consent(grantedAt: now, nextCheck: next)
      if pairs[index].generation == credentials.generation, firstValid == nil { firstValid = now }
    }
    let isChosen = nominated ? selectNominated(index) : selectIfNominatedByPeer(index)
    if isChosen {
      if let chosen = selectedIndex {
        pairs[chosen].consent.bringForward(
          to: now.advanced(byNanoseconds: random.jittered(ICETimers.consentInterval)))
      }
      return .selected(path)
    }
    considerNomination(now)
    return wasValid ? .consentRefreshed : .validated(path)
  }

  /// A NAT that gave us another address on the path in use: to the far end that is a new pair, to be
  /// nominated.
  private mutating func noteMapped(_ mapped: SocketAddress?, _ index: Int) {
    guard let mapped else { return }
    if configuration.nominatesAgain, let before = mappedAddress, before != mapped, index == selectedIndex,
      role == .controlling
    {
      pairs[index].wantsNomination = true
      trigger(index)
    }
    mappedAddress = mapped
  }

  /// - Parameter code: nil if the error says none.
  private mutating func refused(_ index: Int, _ code: Int?, _ random: inout RandomSource) -> STUNOutcome {
    // An error to a consent check is no consent, and nothing else (RFC 7675 §5.1).
    guard let contents = pairs[index].contents, pairs[index].check != nil else {
      return .ignored(.checkRefused)
    }
    pairs[index].check = nil
    pairs[index].contents = nil
    guard code == 487 else {
      if pairs[index].state != .valid { pairs[index].state = .failed }
      return .ignored(.checkRefused)
    }
    // RFC 8445 §7.2.5.1: the other role, unless we have changed since, and the check again.
    if contents.role == role {
      role = role == .controlling ? .controlled : .controlling
      tieBreaker = random.next()
    }
    if pairs[index].state != .valid { pairs[index].state = .waiting }
    pairs[index].wantsNomination = contents.useCandidate && role == .controlling
    trigger(index)
    return .ignored(.checkRefused)
  }

  // MARK: Selection

  /// A check with USE-CANDIDATE was answered.
  /// - Returns: whether the path in use changed.
  private mutating func selectNominated(_ index: Int) -> Bool {
    if configuration.isAggressive, isSettled, let current = selectedIndex, current != index,
      !pairs[index].isChosen, pairs[current].priority(role) >= pairs[index].priority(role)
    {
      return false
    }
    return select(index)
  }

  private mutating func selectIfNominatedByPeer(_ index: Int) -> Bool {
    let pair = pairs[index]
    guard role == .controlled, pair.state == .valid, pair.nominationSerial > 0 else { return false }
    if selected != nil, selectedGeneration == pair.generation, selectedSerial >= pair.nominationSerial {
      return false
    }
    return select(index)
  }

  private mutating func select(_ index: Int) -> Bool {
    let pair = pairs[index]
    selectedSerial = pair.nominationSerial
    guard selected != pair.path || selectedGeneration != pair.generation else { return false }
    selected = pair.path
    selectedGeneration = pair.generation
    if pair.generation == credentials.generation, credentials.previousGeneration != nil {
      credentials.forgetPrevious()
      pairs.removeAll { $0.generation != pair.generation }
    }
    return true
  }
}
