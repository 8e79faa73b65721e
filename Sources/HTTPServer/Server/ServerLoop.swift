internal import Crypto
internal import Glibc
internal import Model
internal import Polling

/// The server's thread. libmicrohttpd reads and writes HTTP, wslay the frames of what became a WebSocket; the loop
/// accepts, waits, keeps the deadlines and stands between them and the handler's tasks, which reach it through the
/// mailbox. Nothing here is touched by another thread.
final class ServerLoop {
  let limits: HTTPLimits
  let handler: any HTTPHandler
  let mailbox: CommandBox
  let poller: Poller
  var connections = ConnectionTable()
  var counters = HTTPCounters()
  /// What waits on all WebSockets of what their sessions begin or go on with.
  let openings: OpeningTotal
  /// Through which every connection goes where there is TLS.
  var tunnels = TunnelTable()
  /// Answers that are produced over time.
  var streams = StreamTable()
  private(set) var draining = false
  private(set) var aborted = false

  let tls: TLSContext?
  var handshakes: AttemptTable
  /// How connections come.
  var arrivals = Arrivals()
  private(set) var daemon: Daemon?
  /// Those of whose request the first line has come, and not yet the whole head.
  var reading: [UInt64: Connection] = [:]
  /// When libmicrohttpd is run.
  var turns = DaemonTurns()
  /// No connection's deadline is earlier.
  var nextSweep = Instant.never

  private static let mailboxID: UInt64 = 0
  private static let daemonID = UInt64.max
  /// Between two turns of libmicrohttpd in which nothing came of the first.
  private static let idleTurn = Duration.milliseconds(2)
  private static let longestWait = Duration.seconds(60)
  /// A sweep looks at every connection, so that many deadlines are met in one.
  private static let sweepInterval = Duration.milliseconds(20)

  /// - Parameter listening: sockets that are listening already; the loop owns them from the end of `init` on.
  init(
    limits: HTTPLimits, handler: any HTTPHandler, mailbox: CommandBox, listening: [Int32], tls: TLSContext?
  ) throws(HTTPServerError) {
    guard let poller = Poller() else { throw .cannotStart(step: "epoll_create1", errno: errno) }
    self.poller = poller
    self.limits = limits
    self.handler = handler
    self.mailbox = mailbox
    self.tls = tls
    openings = OpeningTotal(limit: limits.openingBytes)
    handshakes = AttemptTable(
      rate: limits.handshakes.perAddress, burst: limits.handshakes.atOncePerAddress, capacity: 10_000)
    let daemon = try Daemon(
      owner: Unmanaged.passUnretained(self).toOpaque(), callbacks: Self.callbacks,
      connections: limits.connections, headBytes: limits.headBytes)
    var watched = self.poller.add(daemon.descriptor, id: Self.daemonID, .readable)
    self.daemon = consume daemon
    watched = self.poller.add(mailbox.descriptor, id: Self.mailboxID, .readable) && watched
    for (index, descriptor) in listening.enumerated() {
      let id = arrivals.takeID()
      watched = self.poller.add(descriptor, id: id, .readable) && watched
      arrivals.listeners[id] = (index, descriptor)
    }
    guard watched else { throw .cannotStart(step: "epoll_ctl", errno: errno) }
  }

  /// Runs until stopped.
  func run() {
    while !aborted && !(draining && connections.isEmpty && tunnels.isEmpty) {
      let next = streams.hasReady ? Instant(nanoseconds: .min) : min(turns.deadline, nextSweep)
      let count = poller.wait(until: next, now: Clocks.now(), atMost: Self.longestWait)
      var daemonIsReady = false
      for event in (0..<count).map({ poller[$0] }) {
        if event.id == Self.daemonID {
          daemonIsReady = true
        } else if event.id == Self.mailboxID {
          for command in mailbox.takeAll() { obey(command) }
        } else if arrivals.listeners[event.id] != nil {
          acceptAll(on: event.id)
        } else if let connection = connections[event.id] {
          noticed(event.what, on: connection)
        } else if let (tunnel, side) = tunnels[event.id] {
          tunnel.noticed(event.what, on: side, now: Clocks.now())
          settle(tunnel)
        }
      }
      let now = Clocks.now()
      if now >= nextSweep { sweep(now: now) }
      if streams.hasReady { goOnWithStreams(now: now) }
      if daemonIsReady || now >= turns.deadline { runDaemon(now: now) }
    }
    end()
  }

  /// What a call asked of libmicrohttpd happens in its next run.
  func wakeDaemon() { turns.deadline = Instant(nanoseconds: .min) }

  private func runDaemon(now: Instant) {
    // Callbacks may wake it again.
    turns.deadline = .never
    let before = turns.callbacks
    var next = daemon?.run(now: now) ?? .never
    // It asks to be run at once as long as a connection has bytes that it can't take: of a line of a chunked body that is
    // longer than its buffer nothing comes any more, until the body's time is over.
    if turns.callbacks == before {
      next = max(next, now + Self.idleTurn)
      if now >= turns.nextLookAtBodies { lookAtBodies(now: now) }
    }
    turns.deadline = min(turns.deadline, next)
  }

  // MARK: time

  func schedule(_ connection: Connection, _ deadline: Instant) {
    connection.deadline = deadline
    nextSweep = min(nextSweep, deadline)
  }

  private func sweep(now: Instant) {
    let due = connections.all.filter { $0.deadline <= now }
    for connection in due { expire(connection, now: now) }
    expireTunnels(now: now)
    let earliest = min(connections.all.lazy.map(\.deadline).min() ?? .never, tunnels.earliestDeadline)
    nextSweep = earliest == .never ? .never : max(earliest, now + Self.sweepInterval)
  }

  private func expire(_ connection: Connection, now: Instant) {
    connection.deadline = .never
    switch connection.phase {
    case .head:
      if !connection.isKept { counters.lateHeads &+= 1 }
      cut(connection)
    case .body:
      counters.lateBodies &+= 1
      cut(connection)
    case .answering:
      counters.lateAnswers &+= 1
      var response = HTTPResponse(problem: "late", "The server took too long to answer", status: 503)
      response.headers.add("retry-after", "1")
      resume(connection, .response(response, closing: true))
    case .webSocket:
      connection.frames?.expire(now: now)
      if connection.frames?.phase == .gone { counters.lateWebSockets &+= 1 }
      settleWebSocket(connection, now: now)
    case .streaming: streams.note(ready: connection.id)
    case .lingering: forget(connection)
    // libmicrohttpd's own bound holds there.
    case .writing, .upgrading, .gone: break
    }
  }

  // MARK: descriptors that the loop watches itself

  /// - Parameter interest: nil: no more.
  func watch(_ connection: Connection, _ interest: Poller.Interest?) {
    guard connection.watched != interest else { return }
    switch (connection.watched, interest) {
    case (nil, let interest?): poller.add(connection.descriptor, id: connection.id, interest)
    case (_, let interest?): poller.change(connection.descriptor, id: connection.id, interest)
    case (_, nil): poller.remove(connection.descriptor)
    }
    connection.watched = interest
  }

  private func noticed(_ what: Poller.Interest, on connection: Connection) {
    switch connection.phase {
    case .head, .body:
      // libmicrohttpd misses an end that comes together with bytes; this lets it look again.
      connection.farEndGone = true
      cutIdle(connection)
    // No client waits for the answer any more.
    case .answering: resume(connection, .cut)
    case .writing, .upgrading: connection.farEndGone = true
    case .webSocket: webSocketNoticed(what, on: connection)
    case .streaming: streamNoticed(what, on: connection)
    case .lingering: discard(connection)
    case .gone: break
    }
  }

  // MARK: connections go

  /// Ends it in both directions; libmicrohttpd sees that and lets go of it.
  func cut(_ connection: Connection) { shutdown(connection.descriptor, SocketFlags.both) }

  /// Ends it once libmicrohttpd has read what is there.
  func cutIdle(_ connection: Connection) { shutdown(connection.descriptor, SocketFlags.reading) }

  /// libmicrohttpd has shut its side and is about to close the socket.
  func closed(_ connection: Connection) {
    connections.unbind(connection)
    reading[connection.id] = nil
    watch(connection, nil)
    connection.reset()
    release(connection)
    var byte: UInt8 = 0
    let waits = recv(connection.descriptor, &byte, 1, SocketFlags.peek | SocketFlags.dontWait)
    let copy =
      connection.upgraded == nil && !aborted && (waits > 0 || waits < 0 && errno == EAGAIN)
      ? fcntl(connection.descriptor, F_DUPFD_CLOEXEC, 0) : -1
    guard copy >= 0 else {
      connection.phase = .gone
      connections.remove(connection)
      return
    }
    connection.descriptor = copy
    connection.phase = .lingering
    watch(connection, .readable)
    schedule(connection, Clocks.now() + limits.closeTime)
  }

  private func discard(_ connection: Connection) {
    let ended = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 16) { buffer in
      for _ in 0..<16 {
        let count = recv(connection.descriptor, buffer.baseAddress, buffer.count, SocketFlags.dontWait)
        if count <= 0 { return count == 0 || errno != EAGAIN && errno != EINTR }
      }
      return false
    }
    if ended { forget(connection) }
  }

  /// A lingering connection has nothing more to wait for.
  func forget(_ connection: Connection) {
    watch(connection, nil)
    close(connection.descriptor)
    connection.phase = .gone
    connections.remove(connection)
  }

  // MARK: the mailbox

  private func obey(_ command: Command) {
    switch command {
    case .respond(let id, let response):
      if let connection = connections[id] { resume(connection, .response(response, closing: false)) }
    case .decide(let id, .refuse(let response)):
      if let connection = connections[id] { resume(connection, .response(response, closing: false)) }
    case .decide(let id, .accept(let subprotocol, let greets, let serve)):
      if let connection = connections[id] {
        resume(connection, .accept(subprotocol: subprotocol, greets: greets, serve: serve))
      }
    case .webSocket(let id, let command):
      if let connection = connections[id] { obey(command, on: connection) }
    case .look(let signal): look(signal)
    case .report(let answer): answer(report())
    case .drain: drain()
    case .abort: aborted = true
    }
  }

  private func report() -> HTTPReport {
    var report = HTTPReport()
    report.connections = connections.all.count
    report.webSockets = connections.all.count { $0.phase == .webSocket }
    report.streams = streams.count
    report.counters = counters
    return report
  }

  private func closeListeners() {
    for listener in arrivals.listeners.values {
      poller.remove(listener.descriptor)
      close(listener.descriptor)
    }
    arrivals.listeners = [:]
  }

  private func drain() {
    draining = true
    closeListeners()
    let now = Clocks.now()
    for connection in Array(connections.all) {
      switch connection.phase {
      case .head where connection.requestLine == nil: cutIdle(connection)
      case .webSocket:
        counters.webSocketsClosed[1001, default: 0] &+= 1
        connection.frames?.close(code: 1001, reason: "server shutting down", now: now)
        settleWebSocket(connection, now: now)
      case .streaming:
        connection.stream?.body.shutDown(now: now)
        streams.note(ready: connection.id)
      default: break
      }
    }
  }

  private func end() {
    aborted = true
    mailbox.close()
    closeListeners()
    for connection in Array(connections.all) {
      switch connection.phase {
      // libmicrohttpd stops only with none put aside.
      case .answering: resume(connection, .cut)
      case .webSocket: endWebSocket(connection)
      case .streaming: endStream(connection, .shutdown)
      case .lingering: forget(connection)
      default: break
      }
    }
    daemon = nil
    tunnels = TunnelTable()
  }
}
