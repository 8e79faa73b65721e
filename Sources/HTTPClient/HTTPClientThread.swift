internal import Glibc
internal import Polling

/// An HTTP client on a thread of its own, for those who may not block: any number of requests at once, each awaited.
///
/// Proxies of the environment are not used: what is asked for goes to its host and to no other.
public final class HTTPClientThread: Sendable {
  private typealias Reply = @Sendable (Result<HTTPAnswer, HTTPClientError>) -> Void

  private enum Command: Sendable {
    case send(HTTPClientRequest, Reply)
    case stop
  }

  /// What the thread begins with.
  private final class Start: Sendable {
    let multi: MultiHandle
    let box: Mailbox<Command>
    let trust: HTTPClient.Trust
    let version: HTTPClient.Version

    init(
      _ multi: MultiHandle, _ box: Mailbox<Command>, _ trust: HTTPClient.Trust, _ version: HTTPClient.Version
    ) {
      self.multi = multi
      self.box = box
      self.trust = trust
      self.version = version
    }
  }

  private let box: Mailbox<Command>

  /// - Parameter connectionsPerHost: at once; further requests wait for one, and their time runs meanwhile. Of HTTP/2 a second is made
  ///   only where the first takes no more requests: it has as many as its server allows, or the server is about to close it.
  public init(
    trust: HTTPClient.Trust = .system, version: HTTPClient.Version = .http1, connectionsPerHost: Int = 8
  ) {
    let multi = MultiHandle()
    multi.bound(connectionsPerHost: connectionsPerHost)
    box = Mailbox(limit: .max, wake: { multi.wake() })
    let start = Unmanaged.passRetained(Start(multi, box, trust, version)).toOpaque()
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { start in
        if let start { HTTPClientThread.run(Unmanaged<Start>.fromOpaque(start).takeRetainedValue()) }
        return nil
      }, start)
    precondition(result == 0, "no thread for the HTTP client: \(result)")
    pthread_detach(thread)
  }

  deinit { box.post(.stop, force: true) }

  /// Sends a request that is no stream.
  /// - Returns: how it was answered, or why it was not, once its time is over at the latest.
  public func send(_ request: HTTPClientRequest) async -> Result<HTTPAnswer, HTTPClientError> {
    precondition(!request.isStream, "a stream has no end to wait for")
    return await withCheckedContinuation { continuation in
      let isTaken = box.post(.send(request) { continuation.resume(returning: $0) }, force: true)
      if !isTaken { continuation.resume(returning: .failure(.stopped)) }
    }
  }

  /// Gives up what is under way; what is asked for later fails too.
  public func stop() { box.post(.stop, force: true) }

  private static func run(_ start: Start) {
    let client = HTTPClient(
      start.multi, trust: start.trust, usesProxies: false, version: start.version)
    var waiting: [HTTPClient.TransferID: Reply] = [:]
    var isStopped = false
    while !isStopped {
      for event in client.wait(milliseconds: 60_000) {
        switch event {
        case .answered(let id, let answer): waiting.removeValue(forKey: id)?(.success(answer))
        case .failed(let id, let error): waiting.removeValue(forKey: id)?(.failure(error))
        case .began, .came, .ended: preconditionFailure("no stream was asked for")
        }
      }
      for command in start.box.take() {
        switch command {
        case .send(_, let reply) where isStopped: reply(.failure(.stopped))
        case .send(let request, let reply):
          do throws(HTTPClientError) {
            let id = try client.begin(request)
            waiting[id] = reply
          } catch {
            reply(.failure(error))
          }
        case .stop: isStopped = true
        }
      }
    }
    for case .send(_, let reply) in start.box.close() { reply(.failure(.stopped)) }
    for reply in waiting.values { reply(.failure(.stopped)) }
  }
}
