internal import CMicroHTTPD
internal import Glibc
internal import Model
internal import Polling

/// Answers that are produced over time. libmicrohttpd keeps such a connection put aside, where it neither reads nor writes it nor
/// counts its time, and the loop writes to the socket itself, as `StreamedBody` says; then libmicrohttpd closes it.
extension ServerLoop {
  // MARK: they begin

  /// - Returns: what is answered instead of a stream; nil: there is room for one more.
  func refusal(of response: HTTPResponse, on connection: Connection) -> HTTPResponse? {
    var refusal: HTTPResponse
    if draining {
      refusal = HTTPResponse(
        problem: "draining", "The server is shutting down and accepts no one new", status: 503)
    } else {
      switch streams.full(for: AddressGroup(client(of: connection)), limits) {
      case nil: return nil
      case .server:
        counters.streams.refusedFull &+= 1
        refusal = HTTPResponse(problem: "full", "The server is full", status: 503)
      case .address:
        counters.streams.refusedPerAddress &+= 1
        refusal = HTTPResponse(problem: "too-many-streams", "Too many streams to this address", status: 429)
      }
    }
    refusal.headers.add("retry-after", "5")
    // What lets a page of another origin read the answer, and caches keep it apart.
    for (name, value) in response.headers.fields
    where name == "vary" || name.hasPrefix("access-control-") { refusal.headers.add(name, value) }
    return refusal
  }

  private func client(of connection: Connection) -> SocketAddress {
    connection.request(trusting: limits.proxies)?.remote ?? connection.remote
  }

  func beginStream(_ response: HTTPResponse, _ source: any HTTPBodySource, on connection: Connection) {
    let isChunked = connection.head?.isHTTP10 == false
    var body = StreamedBody(
      head: response.opening(
        reason: String(cString: MHD_get_reason_phrase_for(UInt32(clamping: response.status))),
        date: Clocks.httpDate(), isChunked: isChunked),
      isChunked: isChunked, limits: limits)
    if connection.head?.method == .head {
      body.hasNoBody()
    } else if !response.body.isEmpty {
      body.fill { bytes, _ in
        bytes += response.body
        return .more
      }
    }
    let client = AddressGroup(client(of: connection))
    counters.answers[response.status, default: 0] &+= 1
    counters.streams.begun &+= 1
    connection.reset()
    connection.phase = .streaming
    let stream = StreamTable.Stream(body: body, source: source, client: client)
    connection.stream = stream
    streams.insert(stream, of: connection.id, mailbox)
    Listening.sendAtOnce(connection.descriptor)
    SendBuffer.bound(connection.descriptor)
    tunnels[connection: connection.id]?.boundSending()
    streams.note(ready: connection.id)
  }

  // MARK: they go on

  /// There is more for those that wait for it.
  func look(_ signal: HTTPBodySignal) {
    // First: what is said from here on is another occasion.
    signal.lower()
    for id in streams.streams(of: signal) {
      connections[id]?.stream?.body.look()
      streams.note(ready: id)
    }
  }

  func goOnWithStreams(now: Instant) {
    for id in streams.takeReady() {
      if let connection = connections[id], connection.phase == .streaming { goOn(with: connection, now: now) }
    }
  }

  func streamNoticed(_ what: Poller.Interest, on connection: Connection) {
    if !what.isDisjoint(with: [.farEndGone, .broken]) { connection.stream?.body.clientWent() }
    if what.contains(.writable) { connection.stream?.body.hasRoom() }
    streams.note(ready: connection.id)
  }

  /// What one turn does for one client at most.
  private static let stepsPerTurn = 16

  private func goOn(with connection: Connection, now: Instant) {
    for _ in 0..<Self.stepsPerTurn {
      guard let action = connection.stream?.body.next(now: now) else { return }
      switch action {
      case .ask(let ending):
        guard let source = connection.stream?.source else { return }
        connection.stream?.body.fill { bytes, enough in
          source.produce(into: &bytes, enough: enough, now: now, ending: ending)
        }
      case .check:
        if connection.stream?.source.mustEnd(now: now) == true { connection.stream?.body.cutOff(now: now) }
      case .send(let pressing): sendStream(on: connection, pressing: pressing, now: now)
      case .wait(let moment, let forRoom):
        watch(connection, forRoom ? [.farEndGone, .onceEach, .writable] : [.farEndGone, .onceEach])
        schedule(connection, moment)
        return
      case .over(let end): return endStream(connection, end)
      }
    }
    streams.note(ready: connection.id)
  }

  private func sendStream(on connection: Connection, pressing: Bool, now: Instant) {
    if pressing { SendBuffer.stretch(connection.descriptor) }
    let count =
      connection.stream?.body.waiting.withUnsafeBytes {
        send(connection.descriptor, $0.baseAddress, $0.count, SocketFlags.dontWait | SocketFlags.noSignal)
      } ?? 0
    if count >= 0 {
      counters.streams.bytes &+= UInt64(count)
      connection.stream?.body.took(count, now: now)
    } else if errno == EAGAIN {
      connection.stream?.body.isFull(now: now)
    } else if errno != EINTR {
      connection.stream?.body.clientWent()
    }
  }

  // MARK: they end

  /// Nothing more is written. What libmicrohttpd does with a connection that it is to close: shuts our side, and hands it over to
  /// linger.
  func endStream(_ connection: Connection, _ end: StreamedBody.End) {
    guard let stream = connection.stream else { return }
    connection.stream = nil
    streams.remove(stream, of: connection.id, mailbox)
    counters.streams.ended[end.rawValue, default: 0] &+= 1
    connection.deadline = .never
    connection.phase = .answering
    resume(connection, .cut)
  }
}
