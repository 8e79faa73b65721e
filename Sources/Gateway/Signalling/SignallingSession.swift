internal import AccessTokens
internal import Model
internal import Rooms
internal import Signalling

/// One participant's session at the native door: it has the sockets, the room and the time, and does what `SignallingState` says.
///
/// Requests are handled in order; only an offer's answer is waited for beside them, so that a ping doesn't have to. It comes
/// in its place among what the room says.
actor SignallingSession {
  nonisolated let identity: String
  private let participant: any RoomParticipant
  /// All media of this participant that comes and goes by this door.
  private let transport: (any RoomTransport)?
  private let terms: SignallingTerms
  private let tokens: ResumeTokens
  private let intakes: Intakes
  private var state: SignallingState
  /// By number: the one that is served, and while it is closed the one before.
  private var sockets: [Int: any TextSocket] = [:]
  /// What waits until a socket has got `resumed`.
  private var openings: [Int: CheckedContinuation<Bool, Never>] = [:]
  private var turns = PresenceTurns()
  private var outgoing = OutgoingEvents()

  init(
    _ participant: any RoomParticipant, token: AccessToken, terms: SignallingTerms, tokens: ResumeTokens,
    intakes: Intakes
  ) {
    identity = token.identity ?? ""
    self.participant = participant
    let transport: (any RoomTransport)? = participant.transport
    self.transport = transport
    self.intakes = intakes
    self.terms = terms
    self.tokens = tokens
    state = SignallingState(room: terms.room, token: token, transport: transport?.id) { tokens.draw() }
  }

  private func handle(_ input: SignallingInput) -> [SignallingEffect] {
    state.handle(input, now: terms.now())
  }

  // MARK: - Sockets

  /// Says `joined` and follows the room from there.
  /// - Returns: the socket's number.
  func begin(on socket: any TextSocket, id: RequestID?) async -> Int {
    var joined = ServerMessage.Joined(participant.joined)
    joined.iceServers = terms.iceServers(joined.participant.id)
    joined.pingInterval = terms.pingInterval
    let effects = handle(.begin(joined, id: id))
    sockets[state.lastNumber] = socket
    let line = terms.sessions?.open(identity, in: terms.room)
    _ = await perform(effects)
    if let history = participant.joined.history.text { _ = await perform(handle(.history(history))) }
    Task {
      for await notice in participant.notices { _ = await perform(handle(.notice(notice))) }
      if let line { terms.sessions?.close(line) }
    }
    if let line { Task { await follow(line) } }
    return state.lastNumber
  }

  /// Passes on what happens in the person's shared sessions.
  private func follow(_ line: SessionLine) async {
    for await event in line.events { _ = await perform(handle(.live(event.text))) }
    if line.hasOverflowed { await participant.leave(reason: .connectionLost) }
  }

  /// Goes on over another socket; the one before is closed.
  /// - Parameter code: of the token that was redeemed for this.
  /// - Returns: the socket's number, once `resumed` has been said on it.
  func resume(
    on socket: any TextSocket, room: String, after: Int, code: ResumeCode, id: RequestID?
  ) async throws(Refusal) -> Int {
    let effects = handle(.reconnect(code, room: room, id: id))
    let number = state.lastNumber
    if state.isServed(number), sockets[number] == nil { sockets[number] = socket }
    if let refusal = await perform(effects) { throw refusal }
    await takeTurn()
    if let refusal = await perform(handle(.turn(line: number))) {
      endTurn()
      throw refusal
    }
    do throws(RequestError) {
      try await participant.present(after: after)
      endTurn()
    } catch {
      let effects = handle(.presented(line: number, code, error))
      // The room hears that there is no socket in the same turn; of the end of a session it hears in none.
      let staysAway = error == .tooOften
      if !staysAway { endTurn() }
      let refusal = await perform(effects)
      if staysAway { endTurn() }
      throw refusal ?? .sessionGone
    }
    let isOpen = await withCheckedContinuation { continuation in
      if let hasOpened = state.hasOpened(number) {
        continuation.resume(returning: hasOpened)
      } else {
        openings[number] = continuation
      }
    }
    guard isOpen else { throw .sessionGone }
    return number
  }

  /// The socket of that number has ended.
  /// - Parameter inGoodOrder: the client closed it; else it may not have got what was sent last.
  func hungUp(_ number: Int, inGoodOrder: Bool) async {
    let effects = handle(.hungUp(line: number, inGoodOrder: inGoodOrder))
    if !effects.isEmpty { sockets[number] = nil }
    _ = await perform(effects)
  }

  /// Waits until the room knows of all that befell earlier sockets.
  private func takeTurn() async {
    guard !turns.begin() else { return }
    await withCheckedContinuation { turns.wait($0) }
  }

  private func endTurn() { turns.end()?.resume() }

  // MARK: - From the client

  /// Charges the identity for a message of so many bytes.
  /// - Returns: how long it is to wait before that is read.
  nonisolated func charge(_ bytes: Int) -> Duration { terms.charge(bytes, to: identity, in: intakes) }

  private func charge(again answer: String) -> Duration {
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.answeredForNothing) { return .zero }
    #endif
    return charge(answer.utf8.count)
  }

  /// - Returns: false when nothing more of that socket is wanted.
  func receive(_ message: ClientMessage, on number: Int) async -> Bool {
    guard state.isServed(number) else { return false }
    _ = await perform(handle(.message(message, line: number)))
    return !state.isOver
  }

  // MARK: - What is to be done

  /// - Returns: why a socket is not taken.
  private func perform(_ effects: [SignallingEffect]) async -> Refusal? {
    var refusal: Refusal?
    for effect in effects {
      switch effect {
      case .send(let text, let isOpening):
        let socket = sockets[state.lastNumber]
        if isOpening { socket?.sendOpening(text) } else { socket?.send(text) }
      case .drop(let line): sockets[line]?.drop()
      case .close(let code, let line):
        sockets[line]?.close(code)
        if line != state.lastNumber { sockets[line] = nil }
      case .allow(let code): tokens.allow(code, for: self)
      case .restore(let code): tokens.restore(code, for: self)
      case .revoke(let code): tokens.revoke(code)
      case .opened(let line, let isOpen): openings.removeValue(forKey: line)?.resume(returning: isOpen)
      case .refuse(let reason): refusal = reason
      case .charge(let bytes): _ = charge(bytes)
      case .renewLater: Task { await renew() }
      default: await ask(effect)
      }
    }
    return refusal
  }

  /// What the room or time has a part in.
  private func ask(_ effect: SignallingEffect) async {
    switch effect {
    case .absent(let waits):
      if waits { await takeTurn() }
      await participant.absent()
      if waits { endTurn() }
    case .leave(let reason): await participant.leave(reason: reason)
    case .tellSlots: await participant.tellSlots()
    case .perform(let request, let id):
      let error = await perform(request)
      if error == nil, case .admit(let wanted) = request, !wanted.allowed {
        // That one is refused is said once it is stored, and meanwhile the client may ask for something else.
        Task { await finishStored(id) }
      } else {
        _ = await perform(handle(.done(id, error)))
      }
    case .offer(let offer, let id): Task { await answer(offer, id) }
    case .explain(let id): Task { await explain(id) }
    case .share(let event, let id): await share(event, id)
    case .pay(let answer, let line, let toOffer):
      let wait = charge(again: answer)
      if wait > .zero { try? await terms.pause(wait) }
      _ = await perform(handle(.paid(answer: answer, line: line, toOffer: toOffer)))
    case .renewNow: await renew()
    default: break
    }
  }

  /// - Returns: why the room has not done it.
  private func perform(_ request: ClientMessage.Content) async -> RequestError? {
    do throws(RequestError) {
      switch request {
      case .subscribe(let wanted):
        try await transport?.subscribe(wanted.track, mid: wanted.mid, picture: wanted.picture.preference)
      case .unsubscribe(let wanted): try await transport?.unsubscribe(wanted.track)
      case .view(let wanted):
        try await transport?.view(wanted.tracks.map { ($0.track, $0.picture.preference) })
      case .layers(let said):
        try await transport?.resize(said.track, layers: said.layers.map { OfferedLayer($0) })
      case .mute(let wanted): try await participant.mute(wanted.track, wanted.muted)
      case .update(let change):
        try await participant.update(
          ParticipantChange(name: change.name, metadata: change.metadata, attributes: change.attributes))
      case .hand(let wanted): try await participant.raiseHand(wanted.raised, of: wanted.participant)
      case .admit(let wanted): try await participant.admit(wanted.waiting, wanted.allowed)
      case .data(let data):
        try await participant.send(
          data.payload, topic: data.topic, reliable: data.reliable, to: data.destinations)
      default: break
      }
      return nil
    } catch {
      return error
    }
  }

  private func finishStored(_ id: RequestID?) async {
    var failure: RequestError?
    do throws(RequestError) { try await participant.stored() } catch { failure = error }
    guard !state.isOver else { return }
    _ = await perform(handle(.done(id, failure)))
  }

  private func answer(_ offer: ClientMessage.Offer, _ id: RequestID?) async {
    do throws(OfferError) {
      let tracks = offer.tracks.map {
        OfferedTrack(
          mid: $0.mid, source: $0.source, name: $0.name, muted: $0.muted, encrypted: $0.encrypted,
          layers: $0.layers.map { OfferedLayer($0) })
      }
      guard let transport else { throw .gone }
      _ = try await transport.offer(offer.sdp, tracks: tracks)
    } catch {
      _ = await perform(handle(.offerRefused(id, error)))
    }
  }

  private func explain(_ id: RequestID?) async {
    let found: Result<ParticipantExplanation, RequestError>
    do throws(RequestError) { found = .success(try await participant.explain()) } catch {
      found = .failure(error)
    }
    _ = await perform(handle(.explained(id, found)))
  }

  private func share(_ message: ClientMessage.SessionEvent, _ id: RequestID?) async {
    let isTaken = outgoing.add { [self] in await append(message, id) }
    guard !isTaken else { return }
    let refusal = Refusal(.unavailable, "too many events wait to be stored; send it again a little later")
    _ = await perform(handle(.shared(id, .failure(refusal))))
  }

  private func append(_ message: ClientMessage.SessionEvent, _ id: RequestID?) async {
    let result: Result<ServerMessage.SessionSeq, Refusal>
    do throws(Refusal) {
      guard let sessions = terms.sessions else {
        throw Refusal(.unsupported, "this server knows no calls")
      }
      guard let grants = await participant.grants() else { throw .sessionGone }
      guard grants.canPublishData else {
        throw Refusal(.notAllowed, "the token doesn't allow messages (canPublishData)")
      }
      result = .success(try await sessions.append(message, by: state.token, in: terms.room))
    } catch { result = .failure(error) }
    outgoing.noteDone()
    _ = await perform(handle(.shared(id, result)))
  }

  /// Sends a fresh access token while the old one still holds. Asked with each message of the client's, which comes at
  /// least as a ping.
  private func renew() async {
    guard state.isRenewalDue(terms.now()), let grants = await participant.grants(),
      // Meanwhile another message may have brought it about.
      state.isRenewalDue(terms.now()), let (text, fresh) = terms.renew(state.token, grants)
    else { return }
    _ = await perform(handle(.renewed(text, fresh)))
  }
}

extension OfferedLayer {
  fileprivate init(_ said: ClientMessage.OfferedLayer) {
    self.init(
      rid: said.rid,
      picture: PictureSize(width: UInt16(clamping: said.width), height: UInt16(clamping: said.height)))
  }
}
