internal import AccessTokens
internal import Model
internal import Rooms
internal import Signalling

/// One participant at the native door, over one socket after the other.
///
///     serving ──socket gone──▶ alone ──grace──▶ over
///        ▲                       │
///        └──────── resume ───────┘     leave, closed ──▶ over, from anywhere
///
/// While it is alone, the room's events are left to the room's log and what changes by message to the next `resumed`;
/// answers are kept by their requests' ids, messages from others in a bounded bag. Requests are handled in order; only an
/// offer's answer is waited for beside them, and comes in its place among what the room says.
///
/// The room knows nothing of sockets: it hears in order that none is there, and that one is again, and answers each of the
/// latter by one `resumed`; which socket that is for is counted here.
actor SignallingSession {
  nonisolated let identity: String
  private let participant: any RoomParticipant
  private let terms: SignallingTerms
  private let tokens: ResumeTokens
  private let intakes: Intakes
  private var token: AccessToken
  private var line: SignallingLine?
  private var lastLine = 0
  /// The resume token that was told last; the one before, where it isn't known whether that arrived.
  private var current: ResumeTokens.Code?
  private var previous: ResumeTokens.Code?
  private var requests = AnsweredRequests()
  /// The request that waits for its answer among the room's messages.
  private var offerInFlight: OfferInFlight?
  /// Nobody was there for it, or may not have got it.
  private var missedAnswer: MissedAnswer?
  private var bag = MessageBag()
  private var turns = PresenceTurns()
  private var isOver = false

  init(
    _ participant: any RoomParticipant, token: AccessToken, terms: SignallingTerms, tokens: ResumeTokens,
    intakes: Intakes
  ) {
    identity = token.identity ?? ""
    self.participant = participant
    self.intakes = intakes
    self.token = token
    self.terms = terms
    self.tokens = tokens
  }

  // MARK: - Sockets

  /// Says `joined` and follows the room from there; returns the socket's number.
  func begin(on socket: any TextSocket, id: RequestID?) -> Int {
    lastLine = 1
    line = SignallingLine(number: lastLine, socket: socket, isOpen: true, isOpening: true)
    var joined = ServerMessage.Joined(participant.joined)
    joined.iceServers = terms.iceServers(joined.participant.id)
    joined.resumeToken = issueToken()
    joined.pingInterval = terms.pingInterval
    // Not among the answers that are sent again: a client whose socket breaks resumes.
    send(text: ServerMessage(.joined(joined), id: id).json)
    line?.isOpening = false
    Task { for await notice in participant.notices { forward(notice) } }
    return lastLine
  }

  /// Goes on over another socket; the one before is closed.
  /// - Parameter code: of the token that was redeemed for this.
  /// - Returns: the socket's number, once `resumed` has been said on it.
  func resume(
    on socket: any TextSocket, room: String, after: Int, code: ResumeTokens.Code, id: RequestID?
  ) async throws(Refusal) -> Int {
    guard !isOver else {
      tokens.revoke(code)
      throw .sessionGone
    }
    guard room.isExactly(terms.room) else {
      tokens.restore(code, for: self)
      throw .sessionGone
    }
    guard token.expires + AccessToken.leeway > terms.now() else {
      tokens.revoke(code)
      throw Refusal(.tokenExpired, "the access token of this session has expired")
    }
    // Who has the last token has got the last `resumed`, with all that came with it.
    if code == current { forgetSent() }
    if code == previous { previous = nil } else { current = nil }
    lastLine += 1
    let (number, old) = (lastLine, line)
    line = SignallingLine(number: number, socket: socket, opener: code, id: id)
    if let opener = old?.opener { tokens.revoke(opener) }
    old?.opened?.resume(returning: false)
    // Who comes back has no use for what waits there, however slowly it is read.
    old?.socket.drop()
    old?.socket.close(.replaced)
    await takeTurn()
    guard line?.number == number, !isOver else {
      endTurn()
      throw .sessionGone
    }
    line?.resumption = turns.beginResumption()
    do throws(RequestError) {
      try await participant.present(after: after)
      endTurn()
    } catch {
      turns.failResumption()
      if case .tooOften = error { await stayAway(number, code) }
      endTurn()
      if case .tooOften = error { throw Refusal(error) }
      // A client that can't get what was missed joins again, and this session is in the way.
      await participant.leave(reason: .connectionLost)
      throw .sessionGone
    }
    let isOpen = await withCheckedContinuation { continuation in
      if line?.number == number, line?.isOpen == false, !isOver {
        line?.opened = continuation
      } else {
        continuation.resume(returning: line?.number == number && !isOver)
      }
    }
    guard isOpen else { throw .sessionGone }
    return number
  }

  /// The room has not taken a socket: its token is good once more, and there is none as long as no other has come.
  private func stayAway(_ number: Int, _ code: ResumeTokens.Code) async {
    guard line?.number == number, !isOver else { return tokens.revoke(code) }
    line = nil
    if let previous { tokens.revoke(previous) }
    previous = code
    tokens.restore(code, for: self)
    await participant.absent()
  }

  /// The socket of that number has ended.
  /// - Parameter inGoodOrder: the client closed it; else it may not have got what was sent last.
  func hungUp(_ number: Int, inGoodOrder: Bool) async {
    guard let line, line.number == number, !isOver else { return }
    self.line = nil
    if let opener = line.opener {
      if inGoodOrder {
        tokens.revoke(opener)
      } else {
        previous = opener
        tokens.restore(opener, for: self)
      }
    }
    await takeTurn()
    await participant.absent()
    endTurn()
  }

  /// Waits until the room knows of all that befell earlier sockets.
  private func takeTurn() async {
    if !turns.begin() { await withCheckedContinuation { turns.wait($0) } }
  }

  private func endTurn() { turns.end()?.resume() }

  /// A new resume token, in place of those before.
  private func issueToken() -> String {
    revokeTokens()
    let issued = tokens.issue(for: self)
    current = issued.code
    return issued.token
  }

  private func revokeTokens() {
    for code in [current, previous] { if let code { tokens.revoke(code) } }
    (current, previous) = (nil, nil)
  }

  /// The client has got what was sent when the line was opened.
  private func heard() {
    guard let opener = line?.opener else { return }
    tokens.revoke(opener)
    line?.opener = nil
    forgetSent()
  }

  private func forgetSent() {
    if missedAnswer?.isSent == true { missedAnswer = nil }
    bag.forgetSent()
  }

  /// Whether what is sent now may not arrive: nobody is there, or nothing was heard of who is.
  private var isDoubtful: Bool { line.map { !$0.isOpen || $0.opener != nil } ?? true }

  private func end() {
    isOver = true
    revokeTokens()
    if let opener = line?.opener { tokens.revoke(opener) }
    line?.opened?.resume(returning: false)
    line?.opened = nil
  }

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
    guard !isOver, line?.number == number else { return false }
    heard()
    if let id = message.id {
      switch requests.enter(id) {
      case .new: break
      case .pending: return true
      case .answered(let answer):
        // However short the request is that has it sent again.
        let wait = charge(again: answer)
        if wait > .zero { try? await terms.pause(wait) }
        guard !isOver, line?.number == number else { return false }
        line?.socket.send(answer)
        // The slots in it may have changed since.
        if case .offer = message.content { await participant.tellSlots() }
        return true
      }
    }
    await obey(message)
    await renewToken()
    return !isOver
  }

  private func obey(_ message: ClientMessage) async {
    let id = message.id
    switch message.content {
    case .offer(let offer): answer(offer, id: id)
    // A server on a public address finds its clients by their checks: their candidates say nothing to it.
    case .candidate: if id != nil { send(.ok, id: id) }
    case .subscribe(let wanted):
      await perform(id) { (room) throws(RequestError) in
        try await room.subscribe(wanted.track, mid: wanted.mid)
      }
    case .unsubscribe(let wanted):
      await perform(id) { (room) throws(RequestError) in try await room.unsubscribe(wanted.track) }
    case .mute(let muting):
      await perform(id) { (room) throws(RequestError) in try await room.mute(muting.track, muting.muted) }
    case .update(let change):
      await perform(id) { (room) throws(RequestError) in
        try await room.update(
          ParticipantChange(name: change.name, metadata: change.metadata, attributes: change.attributes))
      }
    case .data(let data):
      await perform(id) { (room) throws(RequestError) in
        try await room.send(data.payload, topic: data.topic, reliable: data.reliable, to: data.destinations)
      }
    case .ping: send(.pong, id: id)
    case .leave:
      end()
      await participant.leave(reason: .left)
      send(.closed(.left), id: id)
      line?.socket.close(.left)
    case .auth, .resume: send(.error(ServerMessage.ErrorBody(.authRepeated, "already joined")), id: id)
    case .unknown(let type):
      #if PLANTED_DEFECTS
        if PlantedDefect.isOn(.unknownUnanswered) { return }
      #endif
      if id != nil {
        send(.error(ServerMessage.ErrorBody(.unsupported, "this server knows no \(type)")), id: id)
      }
    }
  }

  private func answer(_ offer: ClientMessage.Offer, id: RequestID?) {
    guard offerInFlight == nil else {
      send(.error(ServerMessage.ErrorBody(.offerPending, "another offer is being answered")), id: id)
      return
    }
    offerInFlight = OfferInFlight(id: id)
    missedAnswer = nil
    Task {
      do throws(OfferError) {
        let tracks = offer.tracks.map {
          OfferedTrack(mid: $0.mid, source: $0.source, name: $0.name, muted: $0.muted)
        }
        _ = try await participant.offer(offer.sdp, tracks: tracks)
      } catch {
        offerInFlight = nil
        send(.error(Refusal(error).body), id: id)
      }
    }
  }

  /// Does what has no answer of its own.
  private func perform(
    _ id: RequestID?, _ request: (any RoomParticipant) async throws(RequestError) -> Void
  ) async {
    do throws(RequestError) {
      try await request(participant)
      if id != nil { send(.ok, id: id) }
    } catch {
      send(.error(Refusal(error).body), id: id)
    }
  }

  /// Sends a fresh access token while the old one still holds. Asked with each message of the client's, which comes at
  /// least as a ping.
  private func renewToken() async {
    guard !isOver, isRenewalDue, let grants = await participant.grants() else { return }
    // Meanwhile another message may have brought it about.
    guard !isOver, isRenewalDue, let (text, fresh) = terms.renew(token, grants) else { return }
    token = fresh
    send(.token(text))
  }

  /// Half of a renewed token's life is left, or less; at most once a second.
  private var isRenewalDue: Bool {
    let now = terms.now()
    return token.expires - now <= token.renewalLifetime / 2 && token.issuedAt.map { now > $0 } ?? true
  }

  // MARK: - To the client

  private func forward(_ notice: ParticipantNotice) {
    guard !isOver else { return }
    switch notice {
    case .answer(let answer):
      let id = offerInFlight?.id
      offerInFlight = nil
      let answer = ServerMessage.Answer(answer)
      if isDoubtful {
        missedAnswer = MissedAnswer(id: id, answer: answer, isSent: line?.isOpen == true)
      }
      send(.answer(answer), id: id)
    case .data(let data):
      if data.reliable, isDoubtful { bag.put(data) }
      if line?.isOpen == true { bag.noteSent() }
      send(text: data.text)
    case .event(let event): send(text: event.text)
    case .resumed(let state): open(state)
    case .closed(let reason): close(reason)
    case .streams(let changes): for (track, state) in changes { send(.stream(StreamBody(track, state))) }
    default: if let content = ServerMessage.Content(notice) { send(content) }
    }
  }

  private func close(_ reason: LeaveReason) {
    end()
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.lostClosed) {
        line?.socket.close(SignallingCloseCode(reason))
        return
      }
    #endif
    if reason == .duplicateIdentity { line?.socket.drop() }
    line?.socket.send(ServerMessage(.closed(reason)).json)
    line?.socket.close(SignallingCloseCode(reason))
  }

  /// Says on the new socket what was missed; from here on it gets everything.
  private func open(_ state: ResumedState) {
    let resumption = turns.noteResumed()
    guard line?.resumption == resumption, line?.isOpen == false else { return }
    let id = line?.id
    line?.isOpen = true
    // A token that is good again has the same sent again, which is paid for by what is read next.
    let again = bag.sentBytes + (missedAnswer.map { $0.isSent ? $0.answer.sdp.utf8.count : 0 } ?? 0)
    if again > 0 { _ = charge(again) }
    // All of it has bounds: tracks and participants, the events of a `ResumedState`, the bag.
    line?.isOpening = true
    var resumed = ServerMessage.Resumed(state)
    resumed.resumeToken = issueToken()
    resumed.answer = missedAnswer.map { ServerMessage.ResumedAnswer(id: $0.id, answer: $0.answer) }
    // Not the answer to a request that has the same id and is being done.
    send(text: ServerMessage(.resumed(resumed), id: id).json)
    for event in state.missed { send(text: event.text) }
    for notice in state.notices { forward(notice) }
    for message in bag.messages { send(text: message.text) }
    line?.isOpening = false
    bag.noteSent()
    missedAnswer?.isSent = true
    Task { await renewToken() }
    line?.opened?.resume(returning: true)
    line?.opened = nil
  }

  private func send(text: String) {
    guard let line, line.isOpen else { return }
    if line.isOpening { line.socket.sendOpening(text) } else { line.socket.send(text) }
  }

  /// What is said while there is no socket is part of `resumed`, or is asked for again by its id.
  private func send(_ content: ServerMessage.Content, id: RequestID? = nil) {
    let text = ServerMessage(content, id: id).json
    if let id { requests.answer(id, text) }
    send(text: text)
  }
}
