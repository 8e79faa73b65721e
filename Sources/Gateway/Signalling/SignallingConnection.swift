package import AccessTokens
internal import Rooms
internal import Signalling

#if PLANTED_DEFECTS
  internal import Model
#endif

/// One WebSocket at the native door: begins a session by `auth`, or takes one over by `resume`, and is its ear until
/// the socket ends.
///
///     waiting ──auth──▶ joining ──▶ serving ──socket gone──▶ over; the session waits for another
///        ├────resume──▶ resuming ──────▲  └──leave, closed, replaced──▶ over
///        └── 5 s, or anything else first: error, close ──▶ over
///
/// Messages are handled in order, and no faster than `IntakeBudget` allows.
package actor SignallingConnection<Socket: TextSocket> {
  private let socket: Socket
  private let terms: SignallingTerms
  private let rooms: any RoomService
  private let tokens: ResumeTokens
  /// Who is served, and this socket's number there.
  private var served: (session: SignallingSession, line: Int)?
  /// The first message is being worked on.
  private var isEntering = false
  private var isOver = false
  private let intakes: Intakes

  package init(
    socket: Socket, terms: SignallingTerms, rooms: any RoomService, tokens: ResumeTokens,
    intakes: Intakes = Intakes()
  ) {
    self.intakes = intakes
    self.socket = socket
    self.terms = terms
    self.rooms = rooms
    self.tokens = tokens
  }

  /// Returns when the connection has ended and the session knows.
  /// - Parameter token: that of the request, already found good; nil: it comes in `auth`.
  package func run(authorized token: AccessToken?) async {
    let watch = Task { [terms] in
      try await terms.pause(terms.authTime)
      self.enteringTimedOut()
    }
    if let token { await join(token, id: nil, bytes: 0) }
    for await text in socket.messages {
      // What came with what ended it is not obeyed: it would join on a socket that is closed.
      #if PLANTED_DEFECTS
        if isOver, !PlantedDefect.isOn(.obeyedWhenOver) { break }
      #else
        if isOver { break }
      #endif
      if let (session, _) = served { await wait(session.charge(charged(text))) }
      await receive(text)
      if isOver { break }
    }
    watch.cancel()
    isOver = true
    if let (session, line) = served { await session.hungUp(line, inGoodOrder: socket.heardClose) }
  }

  private func wait(_ time: Duration) async {
    if time > .zero { try? await terms.pause(time) }
  }

  private func enteringTimedOut() {
    guard served == nil, !isEntering, !isOver else { return }
    fail(.authRequired, "no auth or resume within \(terms.authTime)", id: nil, close: .authTimeout)
  }

  private func receive(_ text: String) async {
    let message: ClientMessage
    do {
      message = try ClientMessage(json: text)
    } catch {
      switch error {
      case .notJSON: fail(.badMessage, "not a JSON object", id: nil, close: .badMessage)
      case .field(let name, let problem, let id):
        // Until it is known who is there one message is read, and no second one.
        #if PLANTED_DEFECTS
          let goesOn = served != nil || PlantedDefect.isOn(.secondMessage)
        #else
          let goesOn = served != nil
        #endif
        fail(.badMessage, problem.description(of: name), id: id, close: goesOn ? nil : .badMessage)
      }
      return
    }
    if let (session, line) = served {
      isOver = await !session.receive(message, on: line)
      return
    }
    switch message.content {
    case .auth(let auth): await authenticate(auth.token, id: message.id, bytes: text.utf8.count)
    case .resume(let wanted):
      await resume(wanted.resumeToken, after: wanted.after, id: message.id, bytes: text.utf8.count)
    default:
      fail(.authRequired, "the first message must be auth or resume", id: message.id, close: .unauthorized)
    }
  }

  private func authenticate(_ text: String, id: RequestID?, bytes: Int) async {
    do {
      await join(try terms.authorize(text), id: id, bytes: bytes)
    } catch {
      let code = SignallingErrorCode(rawValue: error.code) ?? .tokenMalformed
      fail(code, error.message, id: id, close: error.status == 403 ? .forbidden : .unauthorized)
    }
  }

  /// - Parameter bytes: of the message that asks for it.
  private func join(_ token: AccessToken, id: RequestID?, bytes: Int) async {
    guard let identity = token.identity else { return }
    let request = JoinRequest(
      room: terms.room, identity: identity, name: token.name, metadata: token.metadata,
      attributes: token.attributes, grants: token.grants, tokenIssued: token.effectiveIssue,
      device: token.deviceName, remote: socket.remote)
    isEntering = true
    defer { isEntering = false }
    // The first message is charged like any other, once the identity that pays for it is known.
    await wait(terms.charge(bytes, to: identity, in: intakes))
    do throws(JoinError) {
      let participant = try await rooms.join(request)
      let session = SignallingSession(
        participant, token: token, terms: terms, tokens: tokens, intakes: intakes)
      socket.admit()
      served = (session, await session.begin(on: socket, id: id))
    } catch {
      let refusal = Refusal(error)
      fail(
        refusal.code, refusal.message, id: id,
        close: refusal.code == .tokenRemoved ? .forbidden : .joinRefused)
    }
  }

  private func resume(_ token: String, after: Int, id: RequestID?, bytes: Int) async {
    isEntering = true
    defer { isEntering = false }
    var found = tokens.redeem(token)
    // The socket that it was spent for may have broken, and its end be on the way.
    for _ in 0..<20 where found == nil && tokens.isSpent(token) {
      try? await terms.pause(.milliseconds(50))
      found = tokens.redeem(token)
    }
    guard let (session, code) = found else {
      fail(Refusal.sessionGone, id: id)
      return
    }
    await wait(session.charge(bytes))
    do throws(Refusal) {
      socket.admit()
      served = (
        session, try await session.resume(on: socket, room: terms.room, after: after, code: code, id: id)
      )
    } catch {
      fail(error, id: id)
    }
  }

  /// Bytes that a message is charged for, whatever is in it.
  private func charged(_ text: String) -> Int {
    #if PLANTED_DEFECTS
      let isFree =
        switch (try? ClientMessage(json: text))?.content {
        case nil: PlantedDefect.isOn(.malformedForNothing)
        case .ping: PlantedDefect.isOn(.pingForNothing)
        case .candidate: PlantedDefect.isOn(.candidateForNothing)
        case .unknown: PlantedDefect.isOn(.unknownForNothing)
        default: false
        }
      if isFree { return 0 }
    #endif
    return text.utf8.count
  }

  private func fail(_ refusal: Refusal, id: RequestID?) {
    let close: SignallingCloseCode =
      switch refusal.code {
      case .sessionGone: .sessionGone
      case .rateLimited: .joinRefused
      default: .unauthorized
      }
    fail(refusal.code, refusal.message, id: id, close: close)
  }

  private func fail(
    _ code: SignallingErrorCode, _ message: String, id: RequestID?,
    close closeCode: SignallingCloseCode? = nil
  ) {
    socket.send(ServerMessage(.error(ServerMessage.ErrorBody(code, message)), id: id).json)
    guard let closeCode else { return }
    socket.close(closeCode)
    if served == nil { isOver = true }
  }
}
