internal import Glibc
public import Model
internal import Synchronization

/// An HTTP/1.1 and WebSocket server with a thread of its own. It runs from `init` until `shutdown`.
public final class HTTPServer: Sendable {
  /// Where it really listens, in the order of the configured listeners.
  public let addresses: [SocketAddress]

  private let mailbox = CommandBox()
  private let ending = Ending()
  private let thread: UInt

  /// - Throws: `HTTPServerError.cannotListen` when an address can't be had; nothing is left open then.
  public init(
    configuration: HTTPServerConfiguration, handler: some HTTPHandler
  ) throws(HTTPServerError) {
    var sockets: [Int32] = []
    var addresses: [SocketAddress] = []
    do {
      for listener in configuration.listeners {
        let (descriptor, address) = try Listening.open(listener.address)
        sockets.append(descriptor)
        addresses.append(address)
      }
    } catch {
      for descriptor in sockets { close(descriptor) }
      throw error
    }
    self.addresses = addresses
    let loop: ServerLoop
    do {
      loop = try ServerLoop(
        limits: configuration.limits, handler: handler, mailbox: mailbox, listening: sockets,
        tls: configuration.tls)
    } catch {
      for descriptor in sockets { close(descriptor) }
      throw error
    }
    thread = ServerThread.start(loop, ending: ending)
  }

  /// What is open and was counted; nil when the server has ended or does not answer in time.
  public func report(within patience: Duration) async -> HTTPReport? {
    let (answers, answer) = AsyncStream.makeStream(of: HTTPReport.self)
    guard mailbox.post(.report { answer.yield($0) }) else { return nil }
    let limit = Task {
      try await Task.sleep(for: patience)
      answer.finish()
    }
    defer { limit.cancel() }
    return await answers.first { _ in true }
  }

  /// Stops listening at once, lets requests in progress have their answers, closes WebSockets with 1001, and
  /// returns when the thread has ended.
  /// - Parameter grace: after this long whatever is left is cut off.
  public func shutdown(grace: Duration = .seconds(5)) async {
    mailbox.post(.drain)
    let limit = Task { [mailbox] in
      try await Task.sleep(for: grace)
      mailbox.post(.abort)
    }
    await ending.wait()
    limit.cancel()
    if ending.claimThread() { pthread_join(pthread_t(thread), nil) }
  }

  deinit {
    mailbox.post(.abort)
    if ending.claimThread() { pthread_detach(pthread_t(thread)) }
  }
}

/// Whether the thread has ended, and who is waiting for it.
private final class Ending: Sendable {
  private struct State {
    var ended = false
    var claimed = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func wait() async {
    await withCheckedContinuation { continuation in
      let ended = state.withLock { state in
        if !state.ended { state.waiting.append(continuation) }
        return state.ended
      }
      if ended { continuation.resume() }
    }
  }

  func end() {
    let waiting = state.withLock { state in
      state.ended = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// True once: a thread is joined or let go, and that exactly one time.
  func claimThread() -> Bool {
    state.withLock { state in
      defer { state.claimed = true }
      return !state.claimed
    }
  }
}

private final class ServerThread {
  let loop: ServerLoop
  let ending: Ending

  private init(_ loop: ServerLoop, _ ending: Ending) {
    self.loop = loop
    self.ending = ending
  }

  static func start(_ loop: ServerLoop, ending: Ending) -> UInt {
    let box = Unmanaged.passRetained(ServerThread(loop, ending)).toOpaque()
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { box in
        if let box {
          let this = Unmanaged<ServerThread>.fromOpaque(box).takeRetainedValue()
          this.loop.run()
          this.ending.end()
        }
        return nil
      }, box)
    precondition(result == 0, "no thread for the HTTP server: \(result)")
    return UInt(thread)
  }
}
