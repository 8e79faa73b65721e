package import AccessTokens
internal import Model
internal import Rooms
internal import Signalling

/// One WebSocket at the native door: begins a session by `auth`, or takes one over by `resume`, and is its ear until
/// the socket ends.
///
///     silent ──auth──▶ joining ───────▶ serving ──socket gone──▶ over; the session waits for another
///        │                └─▶ waiting ───▲ ▲ └──leave, closed, replaced──▶ over
///        ├───resume──▶ resuming ───────────┘
///        └── 5 s, or anything else first: error, close ──▶ over
///
/// While a host of the room is waited for (`SignallingConnection+Waiting`), a client pings or leaves and asks for nothing.
///
/// Messages are handled in order, and no faster than `IntakeBudget` allows.
package actor SignallingConnection<Socket: TextSocket> {
  let socket: Socket
  let terms: SignallingTerms
  private let rooms: any RoomService
  let tokens: ResumeTokens
  /// Who is served, and this socket's number there.
  var served: (session: SignallingSession, line: Int)?
  /// Who waits to be let in, until it is served.
  var waiting: Wait?
  /// The first message is being worked on.
  private var isEntering = false
  var isOver = false
  let intakes: Intakes

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
      if let (session, _) = served {
        await wait(session.charge(charged(text)))
      } else if let waiting {
        await wait(terms.charge(charged(text), to: waiting.identity, in: intakes))
      }
      await receive(text)
      if isOver { break }
    }
    watch.cancel()
    isOver = true
    if let (session, line) = served {
      await session.hungUp(line, inGoodOrder: socket.heardClose)
    } else if let waiting {
      await waiting.place.stop(waiting.hasLeft ? .left : .connectionLost)
    }
  }

  private func wait(_ time: Duration) async {
    if time > .zero { try? await terms.pause(time) }
  }

  private func enteringTimedOut() {
    guard served == nil, waiting == nil, !isEntering, !isOver else { return }
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
          let goesOn = served != nil || waiting != nil || PlantedDefect.isOn(.secondMessage)
        #else
          let goesOn = served != nil || waiting != nil
        #endif
        fail(.badMessage, problem.description(of: name), id: id, close: goesOn ? nil : .badMessage)
      }
      return
    }
    #if PLANTED_DEFECTS
      if let coming = waiting?.coming, !PlantedDefect.isOn(.earlyRefused) { await coming.value }
    #else
      if let coming = waiting?.coming { await coming.value }
    #endif
    if let (session, line) = served {
      isOver = await !session.receive(message, on: line)
      return
    }
    if waiting != nil { return hear(message) }
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
      device: token.deviceName, remote: socket.remote, isAdmitted: token.isAdmitted,
      // It holds for a session that begins while it holds.
      patience: .seconds(max(0, token.validUntil - terms.now())), invitation: token.roost.invitation,
      admittedBy: token.roost.admittedBy)
    isEntering = true
    defer { isEntering = false }
    // The first message is charged like any other, once the identity that pays for it is known.
    await wait(terms.charge(bytes, to: identity, in: intakes))
    do throws(JoinError) {
      switch try await rooms.enter(request) {
      case .joined(let participant): await begin(participant, token, id)
      case .waiting(let place): wait(at: place, token, id)
      }
    } catch { refuse(error, id) }
  }

  func begin(_ participant: any RoomParticipant, _ token: AccessToken, _ id: RequestID?) async {
    let session = SignallingSession(
      participant, token: token, terms: terms, tokens: tokens, intakes: intakes)
    socket.admit()
    served = (session, await session.begin(on: socket, id: id))
  }

  func refuse(_ error: JoinError, _ id: RequestID?) {
    let refusal = Refusal(error)
    let isForbidden = refusal.code == .tokenRemoved || refusal.code == .tokenRevoked
    fail(refusal.code, refusal.message, id: id, close: isForbidden ? .forbidden : .joinRefused)
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

  func fail(
    _ code: SignallingErrorCode, _ message: String, id: RequestID?,
    close closeCode: SignallingCloseCode? = nil
  ) {
    socket.send(ServerMessage(.error(ServerMessage.ErrorBody(code, message)), id: id).json)
    guard let closeCode else { return }
    socket.close(closeCode)
    if served == nil { isOver = true }
  }
}
