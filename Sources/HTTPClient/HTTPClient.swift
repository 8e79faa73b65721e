internal import CCurl
internal import Glibc

#if PLANTED_DEFECTS
  internal import Model
#endif

/// Requests to servers by libcurl, as many at once as its owner begins, all on the thread that calls it.
///
/// Connections are kept and used again. Redirects are answers like others: nothing is followed, so that no server leads a
/// request, with what it is signed by, to another. Bodies come as they were sent; none is unpacked. Proxies, where they are used, are
/// those of the environment (`https_proxy`, `no_proxy`), but for what is on this machine. Nothing of one answer (cookies,
/// authentication) is in the next request.
public final class HTTPClient {
  /// Whom it believes who they are.
  public enum Trust: Equatable, Sendable {
    /// The authorities that the system knows.
    case system
    /// Those in a PEM file, and no other.
    case file(String)
    /// Any server that answers.
    case anyone
  }

  /// What it speaks.
  public enum Version: Equatable, Sendable {
    /// HTTP/1.1.
    case http1
    /// HTTP/2 over TLS with servers that agree to it (ALPN), and HTTP/1.1 with others. Requests go beside each other over one connection,
    /// which is kept for a day and asked for a sign of life by TCP twice a minute.
    case http2
  }

  public struct TransferID: Hashable, Comparable, Sendable {
    fileprivate var number: Int

    /// The one that was begun first.
    public static func < (one: TransferID, other: TransferID) -> Bool { one.number < other.number }
  }

  /// What has happened to a request.
  public enum Event: Equatable, Sendable {
    /// The answer to what is no stream; nothing follows.
    case answered(TransferID, HTTPAnswer)
    /// A stream's head; its bytes follow.
    case began(TransferID, HTTPAnswerHead)
    case came(TransferID, [UInt8])
    /// A stream is over, as its server wanted; nothing follows.
    case ended(TransferID)
    /// Nothing follows.
    case failed(TransferID, HTTPClientError)
  }

  private let trust: Trust
  private let usesProxies: Bool
  private let version: Version
  private let multi: MultiHandle
  private var transfers: [TransferID: Transfer] = [:]
  private var begun = 0
  /// Of which something has come that wasn't handed over.
  private let heard = HeardTransfers()
  private var nextSilenceCheck = 0

  /// - Parameter usesProxies: false: what is asked for goes to its host, whatever the environment names.
  public convenience init(trust: Trust = .system, usesProxies: Bool = true) {
    self.init(MultiHandle(), trust: trust, usesProxies: usesProxies, version: .http1)
  }

  /// - Parameter waker: by which other threads end its waits; of one client.
  public convenience init(trust: Trust = .system, usesProxies: Bool = true, waker: HTTPClientWaker) {
    self.init(waker.multi, trust: trust, usesProxies: usesProxies, version: .http1)
  }

  /// - Parameter multi: which other threads may wake.
  init(_ multi: MultiHandle, trust: Trust, usesProxies: Bool, version: Version) {
    self.multi = multi
    self.trust = trust
    self.usesProxies = usesProxies
    self.version = version
  }

  deinit {
    for transfer in transfers.values { curl_multi_remove_handle(multi.pointer, transfer.handle) }
  }

  /// How many are on their way.
  public var count: Int { transfers.count }

  /// Begins a request; `wait` has it go on.
  /// - Throws: `request` for what can't be written.
  public func begin(_ request: HTTPClientRequest) throws(HTTPClientError) -> TransferID {
    guard multi.isOpen else { throw .connection("no file descriptor is left") }
    begun += 1
    let id = TransferID(number: begun)
    let transfer = try Transfer(
      request, id: id, trust: trust, usesProxies: usesProxies, version: version, now: Self.now())
    transfer.heard = heard
    guard curl_multi_add_handle(multi.pointer, transfer.handle) == CURLM_OK else {
      throw .connection("libcurl has no memory")
    }
    transfers[id] = transfer
    return id
  }

  /// Gives a request up; nothing more is heard of it.
  public func cancel(_ id: TransferID) {
    guard let transfer = transfers.removeValue(forKey: id) else { return }
    curl_multi_remove_handle(multi.pointer, transfer.handle)
  }

  /// Goes on with all requests.
  /// - Returns: what has happened, as soon as something has; nothing when the time is over first, or another thread wakes this one.
  public func wait(milliseconds: Int) -> [Event] {
    let deadline = Self.now() + milliseconds
    var pause = 0
    while true {
      multi.advance(milliseconds: pause)
      let events = news()
      let left = deadline - Self.now()
      guard events.isEmpty, left > 0, !multi.takeWake() else { return events }
      pause = transfers.isEmpty ? left : min(left, Self.silenceInterval)
    }
  }

  /// Silence is looked for now and then.
  private static let silenceInterval = 500

  /// Asks and waits for the answer; for an owner that has nothing else on its way.
  public func answer(to request: HTTPClientRequest) throws(HTTPClientError) -> HTTPAnswer {
    precondition(transfers.isEmpty && !request.isStream, "what else happens would be lost")
    _ = try begin(request)
    while true {
      switch wait(milliseconds: 60_000).first {
      case .answered(_, let answer): return answer
      case .failed(_, let error): throw error
      case .began, .came, .ended, nil: continue
      }
    }
  }

  // MARK: What has happened

  private func news() -> [Event] {
    var events: [Event] = []
    let now = Self.now()
    for transfer in heard.take() where transfers[transfer.id] != nil {
      transfer.lastHeard = now
      if transfer.isStream { events += stream(transfer) }
    }
    var waiting: Int32 = 0
    while let message = curl_multi_info_read(multi.pointer, &waiting)?.pointee {
      guard message.msg == CURLMSG_DONE,
        let ended = transfers.first(where: { $0.value.handle == message.easy_handle })
      else { continue }
      let (id, transfer) = ended
      cancel(id)
      if let error = transfer.error(message.data.result) {
        events.append(.failed(id, error))
      } else if transfer.isStream {
        events.append(.ended(id))
      } else if let head = transfer.head.head {
        events.append(
          .answered(id, HTTPAnswer(head: head, body: transfer.takeBody(), retryAfter: transfer.retryAfter)))
      }
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.silentStream) { return events }
    #endif
    guard now >= nextSilenceCheck else { return events }
    nextSilenceCheck = now + Self.silenceInterval / 2
    for (id, transfer) in transfers where now - transfer.lastHeard > transfer.idleMilliseconds {
      cancel(id)
      events.append(.failed(id, .timeout))
    }
    return events
  }

  private func stream(_ transfer: Transfer) -> [Event] {
    guard transfer.head.isComplete, let head = transfer.head.head else { return [] }
    var events: [Event] = []
    if !transfer.headIsTaken {
      transfer.headIsTaken = true
      events.append(.began(transfer.id, head))
    }
    let bytes = transfer.takeBody()
    if !bytes.isEmpty { events.append(.came(transfer.id, bytes)) }
    return events
  }

  private static func now() -> Int {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int(time.tv_sec) * 1_000 + Int(time.tv_nsec) / 1_000_000
  }
}
