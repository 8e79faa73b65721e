internal import HTTPServer
internal import Model
internal import Rooms

/// A connection that carries text messages both ways.
protocol TextSocket: Sendable {
  associatedtype Messages: AsyncSequence<String, Never> & Sendable
  var messages: Messages { get }
  var remote: SocketAddress { get }
  /// - Returns: false once it is closing.
  @discardableResult func send(_ text: String) -> Bool
  func close(code: UInt16, reason: String)
}

extension WebSocket: TextSocket {}

/// One client at the native door, from its first message to its close.
///
///     waiting for auth ──auth──▶ joining ──▶ joined ──leave, closed, socket gone──▶ over
///            └── 5 s, or anything else first: error, close ──────────────────────────┘
///
/// Messages are handled in order; only an offer's answer is waited for beside them, so that a ping or candidate
/// doesn't have to. The answer comes in its place among what the room says.
actor SignallingSession<Socket: TextSocket> {
  struct Terms: Sendable {
    var room: String
    /// Reads a token and says whether it joins that room.
    var authorize: @Sendable (String) throws(AccessTokenRefusal) -> AccessToken
    /// Until `auth` has come.
    var authTime: Duration = .seconds(5)
    /// Seconds between the pings that a client is asked for.
    var pingInterval = 20
    /// Those for the participant of that id.
    var iceServers: @Sendable (String) -> [ICEServerBody] = { _ in [] }
  }

  private struct OfferInFlight { let id: RequestID? }

  private let socket: Socket
  private let terms: Terms
  private let rooms: any RoomService
  private var participant: (any RoomParticipant)?
  private var requests = AnsweredRequests()
  /// The request that waits for its answer among the room's messages.
  private var offerInFlight: OfferInFlight?
  private var isOver = false
  private var pump: Task<Void, Never>?

  init(socket: Socket, terms: Terms, rooms: any RoomService) {
    self.socket = socket
    self.terms = terms
    self.rooms = rooms
  }

  /// Returns when the connection has ended and the room knows.
  /// - Parameter token: that of the request, already found good; nil: it comes in `auth`.
  func run(authorized token: AccessToken?) async {
    let watch = Task { [terms] in
      try await Task.sleep(for: terms.authTime)
      self.authTimedOut()
    }
    if let token { await join(token, id: nil) }
    for await text in socket.messages {
      await receive(text)
      if isOver { break }
    }
    watch.cancel()
    pump?.cancel()
    if let participant, !isOver { await participant.leave(.connectionLost) }
    isOver = true
  }

  private func authTimedOut() {
    guard participant == nil, !isOver else { return }
    fail(.authRequired, "no auth within \(terms.authTime)", id: nil, close: .authTimeout)
  }

  // MARK: from the client

  private func receive(_ text: String) async {
    let message: ClientMessage
    do {
      message = try ClientMessage(json: text)
    } catch {
      switch error {
      case .notJSON: fail(.badMessage, "no JSON object", id: nil, close: .badMessage)
      case .field(let name, let id):
        fail(.badMessage, "\(name) is missing, too long or of the wrong type", id: id)
      case .unsupported(let name, let id): fail(.unsupported, "\(name) is not supported", id: id)
      }
      return
    }
    if case .unknown = message.content { return }
    if let id = message.id {
      switch requests.enter(id) {
      case .new: break
      case .pending: return
      case .answered(let answer):
        socket.send(answer)
        return
      }
    }
    await obey(message)
  }

  private func obey(_ message: ClientMessage) async {
    let id = message.id
    if case .auth(let token) = message.content {
      await authenticate(token, id: id)
      return
    }
    guard let participant else {
      fail(.authRequired, "the first message is auth", id: id, close: .unauthorized)
      return
    }
    switch message.content {
    case .offer(let offer): answer(offer, by: participant, id: id)
    case .candidate(let candidate, let mid): await participant.candidate(candidate, mid: mid)
    case .subscribe(let track, let mid):
      await perform(id) { () throws(RoomRefusal) in try await participant.subscribe(track, mid: mid) }
    case .unsubscribe(let track):
      await perform(id) { () throws(RoomRefusal) in try await participant.unsubscribe(track) }
    case .mute(let track, let muted):
      await perform(id) { () throws(RoomRefusal) in try await participant.mute(track, muted) }
    case .update(let change):
      await perform(id) { () throws(RoomRefusal) in try await participant.update(change) }
    case .data(let message):
      await perform(id) { () throws(RoomRefusal) in try await participant.send(message) }
    case .ping: send(.pong, id: id)
    case .leave:
      isOver = true
      await participant.leave(.left)
      send(.closed(.left), id: id)
      close(.left)
    case .auth, .unknown: break
    }
  }

  private func authenticate(_ text: String, id: RequestID?) async {
    guard participant == nil else {
      fail(.authRepeated, "already joined", id: id)
      return
    }
    do {
      await join(try terms.authorize(text), id: id)
    } catch {
      let code = SignallingErrorCode(rawValue: error.code) ?? .tokenMalformed
      fail(code, error.message, id: id, close: error.status == 403 ? .forbidden : .unauthorized)
    }
  }

  private func join(_ token: AccessToken, id: RequestID?) async {
    guard let identity = token.identity else { return }
    let request = JoinRequest(
      room: terms.room, identity: identity, name: token.name, metadata: token.metadata,
      attributes: token.attributes, grants: token.grants, tokenIssued: token.effectiveIssue,
      remote: socket.remote)
    do {
      let participant = try await rooms.join(request)
      guard !isOver else {
        // Timed out meanwhile.
        await participant.leave(.connectionLost)
        return
      }
      self.participant = participant
      let iceServers = terms.iceServers(participant.joined.participant.id)
      send(
        .joined(participant.joined, iceServers: iceServers, pingInterval: terms.pingInterval), id: id)
      pump = Task {
        for await message in participant.messages { self.forward(message) }
      }
    } catch {
      fail(
        error.code, error.message, id: id, close: error.code == .tokenRemoved ? .forbidden : .joinRefused)
    }
  }

  private func answer(_ offer: SessionOffer, by participant: any RoomParticipant, id: RequestID?) {
    guard offerInFlight == nil else {
      fail(.offerPending, "another offer is being answered", id: id)
      return
    }
    offerInFlight = OfferInFlight(id: id)
    Task {
      do throws(RoomRefusal) {
        try await participant.offer(offer)
      } catch {
        self.offerInFlight = nil
        self.fail(error.code, error.message, id: id)
      }
    }
  }

  /// Does what has no answer of its own.
  private func perform(_ id: RequestID?, _ request: () async throws(RoomRefusal) -> Void) async {
    do throws(RoomRefusal) {
      try await request()
      if id != nil { send(.ok, id: id) }
    } catch {
      fail(error.code, error.message, id: id)
    }
  }

  // MARK: to the client

  private func forward(_ message: RoomMessage) {
    guard !isOver else { return }
    switch message {
    case .answer(let answer):
      let id = offerInFlight?.id
      offerInFlight = nil
      send(.answer(answer), id: id)
    case .speakers(let speakers): send(.speakers(speakers))
    case .quality(let changed): send(.quality(changed))
    case .stream(let stream): send(.stream(stream))
    case .data(let data): send(.data(data))
    case .draining(let deadline): send(.draining(deadline: deadline))
    case .slots(let slots): send(.slots(slots))
    case .offerWanted(let audio, let video, let reason):
      send(.offerWanted(audio: audio, video: video, reason: reason))
    case .event(let event): send(.event(event))
    case .closed(let reason):
      isOver = true
      send(.closed(reason))
      close(SignallingCloseCode(reason))
    }
  }

  private func send(_ message: ServerMessage, id: RequestID? = nil) {
    let text = message.json(id: id)
    if let id { requests.answer(id, text) }
    socket.send(text)
  }

  private func fail(
    _ code: SignallingErrorCode, _ message: String, id: RequestID?,
    close closeCode: SignallingCloseCode? = nil
  ) {
    send(.error(code, message: message), id: id)
    guard let closeCode else { return }
    close(closeCode)
    guard participant == nil else { return }
    isOver = true
  }

  private func close(_ code: SignallingCloseCode) { socket.close(code: code.rawValue, reason: "\(code)") }
}
