internal import CMicroHTTPD
internal import Glibc
internal import Model

/// What libmicrohttpd calls, and how a request goes through it: its head, its body, put aside while a task makes
/// the answer, taken up again to be answered.
extension ServerLoop {
  static var callbacks: roost_mhd_callbacks {
    roost_mhd_callbacks(
      target: { owner, target, handle in
        if let handle, let target { ServerLoop.of(owner).requestLineCame(on: handle, target: target) }
        return nil
      },
      request: { owner, handle, _, method, version, bytes, size, _ in
        guard let handle, let method, let version, let size else { return .NO }
        let upload = UnsafeRawBufferPointer(start: bytes, count: size.pointee)
        let goesOn = ServerLoop.of(owner).requestGoesOn(
          on: handle, method: method, version: version, upload: upload)
        size.pointee = 0
        return goesOn ? .YES : .NO
      },
      completed: { owner, handle, _, _ in
        if let handle { ServerLoop.of(owner).requestEnded(on: handle) }
      },
      connection: { owner, handle, _, event in
        guard let handle else { return }
        let loop = ServerLoop.of(owner)
        if event == .CONNECTION_NOTIFY_STARTED {
          loop.started(handle)
        } else if let connection = loop.connections[handle: handle] {
          loop.closed(connection)
        }
      },
      message: { owner, _, _ in ServerLoop.of(owner).saidSomething() })
  }

  static func of(_ owner: UnsafeMutableRawPointer?) -> ServerLoop {
    guard let owner else { preconditionFailure("libmicrohttpd lost its owner") }
    let loop = Unmanaged<ServerLoop>.fromOpaque(owner).takeUnretainedValue()
    loop.turns.callbacks &+= 1
    return loop
  }

  // MARK: from the client

  /// - Parameter target: as on the wire; what libmicrohttpd hands out later is decoded.
  private func requestLineCame(on handle: OpaquePointer, target: UnsafePointer<CChar>) {
    guard let connection = connections[handle: handle], connection.phase == .head else { return }
    let bytes = UnsafeRawBufferPointer(start: target, count: strlen(target))
    connection.isKept = false
    connection.requestLine = .init(target: RequestTarget(bytes), start: target, end: target + bytes.count)
    schedule(connection, Clocks.now() + limits.headTime)
    reading[connection.id] = connection
  }

  /// - Returns: false to end the connection.
  private func requestGoesOn(
    on handle: OpaquePointer, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>,
    upload: UnsafeRawBufferPointer
  ) -> Bool {
    guard let connection = connections[handle: handle] else { return false }
    switch connection.phase {
    case .head: return headCame(connection, handle, method: method, version: version)
    case .body where !upload.isEmpty:
      connection.upload.count &+= 1
      guard connection.body.count + upload.count <= limits.bodyBytes else {
        #if PLANTED_DEFECTS
          if PlantedDefect.isOn(.bodyReadOn) { return true }
        #endif
        // Of unannounced length. The caller ends the connection, which then lingers as after any last answer.
        refuseAtOnce(connection, .bodyTooLarge)
        return false
      }
      connection.body.append(contentsOf: upload)
      return true
    case .body: return putAside(connection, handle)
    case .answering: return takeUp(connection, handle)
    case .writing, .upgrading, .webSocket, .streaming, .lingering, .gone: return false
    }
  }

  private func headCame(
    _ connection: Connection, _ handle: OpaquePointer, method: UnsafePointer<CChar>,
    version: UnsafePointer<CChar>
  ) -> Bool {
    reading[connection.id] = nil
    do throws(RequestRefusal) {
      // libmicrohttpd ends each part of the line with a zero byte, in place. One that the client sent looks the same,
      // but then the next part doesn't follow at once.
      guard let line = connection.requestLine, line.start == method + strlen(method) + 1,
        version == line.end + 1
      else { throw .malformedTarget }
      let size = roost_mhd_head_size(handle)
      let end = UnsafeRawPointer(method) + size
      connection.head = try RequestHead(
        method: String(cString: method), target: line.target,
        headers: try FieldReader.fields(of: handle, after: version, head: UnsafeRawPointer(method)..<end),
        isHTTP10: strcmp(version, "HTTP/1.0") == 0, size: size, limits: limits)
      connection.phase = .body
      schedule(connection, Clocks.now() + limits.bodyTime)
      return true
    } catch {
      return refuse(connection, handle, error)
    }
  }

  // MARK: to the handler and back

  private func putAside(_ connection: Connection, _ handle: OpaquePointer) -> Bool {
    guard let request = connection.request(trusting: limits.proxies), !connection.farEndGone else {
      return false
    }
    connection.phase = .answering
    schedule(connection, Clocks.now() + limits.answerTime)
    MHD_suspend_connection(handle)
    let (id, handler, mailbox) = (connection.id, handler, mailbox)
    if connection.head?.webSocketKey != nil {
      connection.task = Task { mailbox.post(.decide(id, await handler.upgrade(request))) }
    } else {
      connection.task = Task { mailbox.post(.respond(id, await handler.respond(to: request))) }
    }
    return true
  }

  /// Ignored when no answer is expected any more.
  func resume(_ connection: Connection, _ outcome: Connection.Outcome) {
    guard connection.phase == .answering, connection.outcome == nil, let handle = connection.handle else {
      return
    }
    var outcome = outcome
    if case .response(let response, closing: false) = outcome, let source = response.stream {
      guard let refusal = refusal(of: response, on: connection) else {
        return beginStream(response, source, on: connection)
      }
      outcome = .response(refusal, closing: false)
    }
    connection.outcome = outcome
    connection.endTask()
    MHD_resume_connection(handle)
    wakeDaemon()
  }

  private func takeUp(_ connection: Connection, _ handle: OpaquePointer) -> Bool {
    switch connection.outcome {
    case .response(let response, let closing): answer(connection, handle, response, closing: closing)
    case .accept where draining: answer(connection, handle, HTTPResponse(status: 503), closing: true)
    case .accept(let subprotocol, _, _): acceptUpgrade(connection, handle, subprotocol: subprotocol)
    case .cut, nil: false
    }
  }

  func answer(
    _ connection: Connection, _ handle: OpaquePointer, _ response: HTTPResponse, closing: Bool
  ) -> Bool {
    guard let made = response.made(closing: closing || draining) else { return false }
    defer { MHD_destroy_response(made) }
    counters.answers[response.status, default: 0] &+= 1
    beginWriting(connection, handle, .writing)
    return MHD_queue_response(handle, UInt32(clamping: response.status), made) == .YES
  }

  func beginWriting(_ connection: Connection, _ handle: OpaquePointer, _ phase: Connection.Phase) {
    connection.phase = phase
    connection.deadline = .never
    let seconds = (limits.writeTime.wholeNanoseconds &+ 999_999_999) / 1_000_000_000
    roost_mhd_set_timeout(handle, UInt32(clamping: max(seconds, 1)))
  }

  /// The answer is written, or the connection is about to be closed.
  private func requestEnded(on handle: OpaquePointer) {
    guard let connection = connections[handle: handle], connection.phase != .webSocket else { return }
    connection.reset()
    guard connection.phase == .writing, !aborted else { return }
    connection.phase = .head
    connection.isKept = true
    roost_mhd_set_timeout(handle, 0)
    schedule(connection, Clocks.now() + limits.keepAlive)
    if draining || connection.farEndGone { cutIdle(connection) }
  }
}
