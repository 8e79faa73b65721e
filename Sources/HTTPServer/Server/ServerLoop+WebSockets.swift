internal import CMicroHTTPD
internal import Glibc
internal import Model
internal import Polling

/// Upgraded connections: libmicrohttpd writes the 101 and hands over the socket, which the loop then watches
/// itself.
extension ServerLoop {
  func acceptUpgrade(_ connection: Connection, _ handle: OpaquePointer, subprotocol: String?) -> Bool {
    guard let key = connection.head?.webSocketKey else { return false }
    let owner = Unmanaged.passUnretained(self).toOpaque()
    let response = MHD_create_response_for_upgrade(
      { owner, handle, _, early, earlySize, descriptor, upgraded in
        guard let handle, let upgraded else { return }
        let early = UnsafeRawBufferPointer(start: early, count: earlySize)
        ServerLoop.of(owner).upgraded(
          handle, upgraded, descriptor: descriptor, early: Array(early))
      }, owner)
    guard let response else { return false }
    defer { MHD_destroy_response(response) }
    MHD_add_response_header(response, "upgrade", "websocket")
    MHD_add_response_header(response, "sec-websocket-accept", WebSocketHandshake.accept(key: key))
    if let subprotocol { MHD_add_response_header(response, "sec-websocket-protocol", subprotocol) }
    counters.answers[101, default: 0] &+= 1
    beginWriting(connection, handle, .upgrading)
    return MHD_queue_response(handle, 101, response) == .YES
  }

  /// The 101 is written.
  /// - Parameter early: frames that came before it.
  private func upgraded(
    _ handle: OpaquePointer, _ upgraded: OpaquePointer, descriptor: Int32, early: [UInt8]
  ) {
    guard let connection = connections[handle: handle], connection.phase == .upgrading,
      case .accept(_, let greets, let serve) = connection.outcome
    else {
      roost_mhd_close_upgraded(upgraded)
      return
    }
    let now = Clocks.now()
    Listening.sendAtOnce(descriptor)
    connection.upgraded = upgraded
    connection.descriptor = descriptor
    connection.phase = .webSocket
    counters.webSocketsOpened &+= 1
    let client = connection.request(trusting: limits.proxies)?.remote ?? connection.remote
    connection.reset()
    connection.frames = WebSocketConnection(
      descriptor: descriptor, early: early, limits: limits, greets: greets, now: now)
    let socket = WebSocket(
      id: connection.id, remote: client, limits: limits, greets: greets, openings: openings, mailbox: mailbox)
    connection.socket = socket
    if draining { connection.frames?.close(code: 1001, reason: "server shutting down", now: now) }
    Task {
      await serve(socket)
      socket.close()
    }
    read(connection, now: now)
  }

  func obey(_ command: WebSocketCommand, on connection: Connection) {
    let now = Clocks.now()
    switch command {
    case .send(let text):
      counters.messagesSent &+= 1
      counters.messageBytesSent &+= UInt64(text.count)
      connection.frames?.send(text)
    case .drop: connection.frames?.drop()
    case .close(let code, let reason, let dropping):
      counters.webSocketsClosed[code, default: 0] &+= 1
      connection.frames?.close(code: code, reason: reason, now: now, dropping: dropping)
    case .admit:
      connection.frames?.admit()
      return
    }
    settleWebSocket(connection, now: now)
  }

  func webSocketNoticed(_ what: Poller.Interest, on connection: Connection) {
    let now = Clocks.now()
    if !what.isDisjoint(with: [.readable, .broken]) { read(connection, now: now) }
    if !what.isDisjoint(with: .broken) { connection.frames?.end() }
    settleWebSocket(connection, now: now)
  }

  private func read(_ connection: Connection, now: Instant) {
    for text in connection.frames?.read(now: now) ?? [] {
      counters.messagesReceived &+= 1
      counters.messageBytesReceived &+= UInt64(text.utf8.count)
      guard connection.socket?.deliver(text) == false else { continue }
      counters.webSocketsClosed[1013, default: 0] &+= 1
      connection.frames?.close(code: 1013, reason: "too fast", now: now, dropping: true)
      break
    }
    settleWebSocket(connection, now: now)
  }

  /// Sends what there is, and waits for what comes next.
  func settleWebSocket(_ connection: Connection, now: Instant) {
    guard connection.phase == .webSocket else { return }
    guard let frames = connection.frames else {
      endWebSocket(connection)
      return
    }
    frames.flush(now: now)
    let done = frames.takeDone()
    if done.messages > 0 { connection.socket?.didWrite(messages: done.messages, bytes: done.bytes) }
    if frames.phase != .open { connection.socket?.ended(heardClose: frames.heardClose) }
    if frames.phase == .gone {
      endWebSocket(connection)
    } else {
      watch(connection, frames.interest)
      schedule(connection, frames.deadline)
    }
  }

  func endWebSocket(_ connection: Connection) {
    watch(connection, nil)
    connection.phase = .gone
    connection.deadline = .never
    release(connection)
    if let upgraded = connection.upgraded { roost_mhd_close_upgraded(upgraded) }
    wakeDaemon()
  }

  /// Nothing more is said or heard on it, and nothing waits.
  func release(_ connection: Connection) {
    connection.socket?.ended(heardClose: connection.frames?.heardClose ?? false)
    connection.frames = nil
    connection.socket?.didDrop()
  }
}
