internal import Glibc
internal import Model
internal import Polling
internal import Signalling
internal import WebSocketClient

/// What a session says and hears, over one WebSocket after another: where one breaks, the next goes on with the session (docs/signalling.md),
/// for as long as the server keeps it. Media goes on meanwhile.
final class SessionLine {
  private enum State {
    case open
    /// It broke; another is tried for until then.
    case broken(until: Instant, next: Instant, isOpening: Bool)
    /// Another is open, and the server hasn't said yet that the session goes on.
    case resuming(until: Instant)
  }

  /// A server keeps a session for 15 s by default.
  private static let grace = Duration.seconds(14)
  private static let again = Duration.seconds(1)

  private let opener: SocketOpener
  private var webSocket: WebSocketClient
  private var state = State.open
  private var resumeToken = ""
  private var lastEvent = 0
  /// Said while nothing was open.
  private var unsent: [String] = []
  private var ping = (next: Instant.never, interval: Duration.seconds(20))

  /// Blocks until the first one is open.
  init(_ terms: ClientTerms) throws(ClientError) {
    opener = try SocketOpener(terms)
    do throws(WebSocketClientError) { webSocket = try opener.open(token: terms.token) } catch {
      throw .unreachable(error)
    }
  }

  /// Of the WebSocket that is open, or was.
  var descriptor: Int32 { webSocket.descriptor }

  func watch(_ poller: borrowing Poller) -> Bool {
    poller.add(descriptor, id: 1, .readable) && poller.add(opener.descriptor, id: 3, .readable)
  }

  var deadline: Instant {
    switch state {
    case .open: ping.next
    case .broken(let until, let next, let isOpening): isOpening ? until : min(until, next)
    case .resuming(let until): until
    }
  }

  // MARK: - Saying

  func send(_ json: String) {
    guard case .open = state else { return unsent.append(json) }
    webSocket.send(json)
  }

  func flush(now: Instant) {
    if case .open = state, ping.next <= now {
      ping.next = now + ping.interval
      webSocket.send(ClientMessage(.ping).json)
    }
    webSocket.flush()
  }

  func close() {
    if case .open = state { webSocket.send(ClientMessage(.leave).json) }
    webSocket.flush()
    webSocket.close()
  }

  // MARK: - Hearing

  /// What has come, each event once.
  func read(_ poller: borrowing Poller, now: Instant) throws(ClientError) -> [ServerMessage] {
    if case .broken(let until, let next, let isOpening) = state {
      try mend(poller, until: until, next: next, isOpening: isOpening, now: now)
    }
    if case .broken = state { return [] }
    var messages: [ServerMessage] = []
    for text in webSocket.read() {
      let message: ServerMessage
      do throws(MessageError) { message = try ServerMessage(json: text) } catch {
        throw .notRoost("\(error)")
      }
      if try note(message.content, now: now) { messages.append(message) }
    }
    if case .resuming(let until) = state, now >= until {
      throw .connectionLost("the connection to the server broke, and the session did not go on")
    }
    if case .closed(let code, _) = webSocket.state, !messages.contains(where: Self.isEnd) {
      try lose(poller, code, now: now)
    }
    return messages
  }

  private static func isEnd(_ message: ServerMessage) -> Bool {
    switch message.content {
    case .closed, .error: true
    default: false
    }
  }

  /// - Returns: whether it is new.
  private func note(_ message: ServerMessage.Content, now: Instant) throws(ClientError) -> Bool {
    switch message {
    case .joined(let joined):
      (resumeToken, lastEvent) = (joined.resumeToken, joined.lastEvent)
      ping.interval = .seconds(min(joined.pingInterval, 3_600))
      ping.next = now + ping.interval
    case .resumed(let resumed):
      resumeToken = resumed.resumeToken
      state = .open
      ping.next = now + ping.interval
      for text in unsent { webSocket.send(text) }
      unsent = []
    case .event(let event):
      guard event.id > lastEvent else { return false }
      lastEvent = event.id
    case .error(let error):
      if case .resuming = state { throw .connectionLost("the session can't go on: \(error.message)") }
    default: break
    }
    return true
  }

  // MARK: - Breaking

  /// Codes of 4000 and more are the server's own, and final.
  private func lose(_ poller: borrowing Poller, _ code: UInt16, now: Instant) throws(ClientError) {
    guard code < 4_000, !resumeToken.isEmpty else {
      throw .connectionLost("the server closed the connection, code \(code)")
    }
    // What is broken stays readable.
    poller.remove(descriptor)
    let until: Instant = if case .resuming(let until) = state { until } else { now + Self.grace }
    state = .broken(until: until, next: now, isOpening: false)
  }

  private func mend(
    _ poller: borrowing Poller, until: Instant, next: Instant, isOpening: Bool, now: Instant
  ) throws(ClientError) {
    guard now < until else {
      throw .connectionLost("the connection to the server broke, and no other came about")
    }
    switch opener.take() {
    case .success(let opened)?:
      webSocket = opened
      _ = poller.add(opened.descriptor, id: 1, .readable)
      state = .resuming(until: until)
      opened.send(ClientMessage(.resume(.init(resumeToken: resumeToken, after: lastEvent))).json)
      opened.flush()
    case .failure?: state = .broken(until: until, next: now + Self.again, isOpening: false)
    case nil:
      guard !isOpening, next <= now else { return }
      state = .broken(until: until, next: next, isOpening: true)
      opener.begin()
    }
  }
}
