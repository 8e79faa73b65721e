public import Model
internal import Synchronization

/// An open WebSocket, to be used from any task. Text messages only.
public final class WebSocket: Sendable {
  /// The other end of the TCP connection.
  public let remote: SocketAddress
  /// What the client says, in order; ends when the connection does. For one reader.
  public let messages: Messages

  let id: UInt64
  private let mailbox: CommandBox
  private let limits: HTTPLimits
  private let received: AsyncStream<String>.Continuation
  private let traffic: Traffic
  private let openings: OpeningTotal

  /// Whether the far end said its close (RFC 6455 §5.5.1), once `messages` has ended: else the connection broke, or was
  /// closed by us alone.
  public var heardClose: Bool { traffic.state.withLock { $0.heardClose } }

  init(
    id: UInt64, remote: SocketAddress, limits: HTTPLimits, greets: Bool, openings: OpeningTotal,
    mailbox: CommandBox
  ) {
    self.openings = openings
    traffic = Traffic(greets: greets)
    self.id = id
    self.remote = remote
    self.limits = limits
    self.mailbox = mailbox
    let (stream, continuation) = AsyncStream<String>.makeStream()
    received = continuation
    messages = Messages(stream: stream, traffic: traffic)
  }

  /// Queues a message; never waits.
  /// - Returns: false when it will not be sent: the connection is closing, or this message would be more than
  ///   `HTTPLimits.queuedBytes` allows to wait. The latter closes with 1013.
  @discardableResult
  public func send(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    let size = bytes.count
    let verdict = traffic.state.withLock { state -> Verdict in
      guard state.open else { return .closed }
      guard
        state.outgoing.bytes + size + (state.outgoing.messages + 1) * limits.queuedOverhead
          <= limits.queuedBytes
      else {
        state.open = false
        return .overflow("too slow")
      }
      state.outgoing.add(size)
      return .queued
    }
    return post(bytes, verdict)
  }

  /// As `send`, before anything else is said: what its caller bounds by itself. It doesn't count as waiting, so that a
  /// client which has had no time to read yet is not taken for a slow one, however much it has to be given at first. On all
  /// connections together so much may wait as `HTTPLimits.openingBytes` allows; beyond, this one closes with 1013.
  @discardableResult
  public func sendOpening(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    let verdict = traffic.state.withLock { state -> Verdict in
      guard state.open else { return .closed }
      guard openings.take(bytes.count) else {
        state.open = false
        return .overflow("too many begin at once")
      }
      state.opening.add(bytes.count)
      return .queued
    }
    return post(bytes, verdict)
  }

  private func post(_ bytes: [UInt8], _ verdict: Verdict) -> Bool {
    switch verdict {
    case .queued:
      mailbox.post(.webSocket(id, .send(text: bytes)))
      return true
    case .overflow(let reason):
      mailbox.post(.webSocket(id, .close(code: 1013, reason: reason, dropping: true)))
    case .closed: break
    }
    return false
  }

  /// Leaves unsaid what waits, for a client that has no more use for it; what is sent next comes at once.
  public func drop() {
    let isOpen = traffic.state.withLock { state in
      state.outgoing = Traffic.Queued()
      return state.open
    }
    if isOpen { mailbox.post(.webSocket(id, .drop)) }
  }

  /// It is known who is there: from now on messages may be as long as any.
  public func admit() {
    let wasGreeting = traffic.state.withLock { state in
      defer { state.greets = false }
      return state.greets
    }
    if wasGreeting { mailbox.post(.webSocket(id, .admit)) }
  }

  /// Says what was queued before, as far as `HTTPLimits.closeTime` allows, then closes; later calls do nothing.
  /// - Parameters:
  ///   - code: 1000–1013 as registered, or 3000–4999 (RFC 6455 §7.4.2).
  ///   - reason: at most 122 bytes; cut.
  public func close(code: UInt16 = 1000, reason: String = "") {
    let first = traffic.state.withLock { state in
      defer { state.open = false }
      return state.open
    }
    if first { mailbox.post(.webSocket(id, .close(code: code, reason: reason, dropping: false))) }
  }

  private enum Verdict {
    case queued, closed
    case overflow(String)
  }
}

extension WebSocket {
  /// The text messages of one connection.
  public struct Messages: AsyncSequence, Sendable {
    public typealias Element = String
    public typealias Failure = Never
    fileprivate let stream: AsyncStream<String>
    fileprivate let traffic: Traffic

    public struct Iterator: AsyncIteratorProtocol {
      fileprivate var base: AsyncStream<String>.Iterator
      fileprivate let traffic: Traffic

      public mutating func next() async -> String? {
        guard let text = await base.next() else { return nil }
        traffic.didRead(text)
        return text
      }
    }

    public func makeAsyncIterator() -> Iterator {
      Iterator(base: stream.makeAsyncIterator(), traffic: traffic)
    }
  }

  /// What is under way, counted.
  fileprivate final class Traffic: Sendable {
    struct State {
      var open = true
      /// Nothing is known of the client yet.
      var greets: Bool
      var heardClose = false
      /// Given to `sendOpening`, not yet taken by TCP. It leaves before all that is in `outgoing`.
      var opening = Queued()
      /// Given to `send`, not yet taken by TCP.
      var outgoing = Queued()
      /// Received, not yet read by the handler.
      var incoming = 0
      var incomingBytes = 0
    }

    struct Queued {
      var messages = 0
      var bytes = 0

      mutating func add(_ size: Int) {
        messages += 1
        bytes += size
      }

      /// - Returns: what is left to be taken from elsewhere.
      mutating func take(_ other: Queued) -> Queued {
        let taken = Queued(messages: min(messages, other.messages), bytes: min(bytes, other.bytes))
        messages -= taken.messages
        bytes -= taken.bytes
        return Queued(messages: other.messages - taken.messages, bytes: other.bytes - taken.bytes)
      }
    }

    let state: Mutex<State>

    init(greets: Bool) { state = Mutex(State(greets: greets)) }

    func didRead(_ text: String) {
      state.withLock {
        $0.incoming -= 1
        $0.incomingBytes -= text.utf8.count
      }
    }
  }

  // MARK: for the server's thread

  /// - Returns: false if the handler leaves too much unread.
  func deliver(_ text: String) -> Bool {
    let fits = traffic.state.withLock { state in
      state.incoming += 1
      state.incomingBytes += text.utf8.count
      #if PLANTED_DEFECTS
        let greets =
          state.greets && !PlantedDefect.isOn(.waitsUnbounded) && !PlantedDefect.isOn(.longGreeting)
      #else
        let greets = state.greets
      #endif
      let bytes = greets ? min(limits.greetingBytes, limits.queuedBytes) : limits.queuedBytes
      return state.incoming <= limits.queuedMessages && state.incomingBytes <= bytes
    }
    if fits { received.yield(text) }
    return fits
  }

  func didWrite(messages: Int, bytes: Int) {
    let written = traffic.state.withLock { state in
      let before = state.opening.bytes
      let rest = state.opening.take(Traffic.Queued(messages: messages, bytes: bytes))
      _ = state.outgoing.take(rest)
      return before - state.opening.bytes
    }
    openings.release(written)
  }

  /// Nothing waits any more. After `ended`, so that nothing comes to wait.
  func didDrop() {
    let rest = traffic.state.withLock { state in
      defer { state.opening = Traffic.Queued() }
      return state.opening.bytes
    }
    openings.release(rest)
  }

  func ended(heardClose: Bool) {
    traffic.state.withLock {
      $0.open = false
      $0.heardClose = $0.heardClose || heardClose
    }
    received.finish()
  }
}
