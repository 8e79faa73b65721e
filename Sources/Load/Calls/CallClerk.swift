internal import Engine
internal import HTTPClient
internal import Model

/// Asks the server for its calls' sake, again where that may help; it belongs to the run's thread.
final class CallClerk {
  enum Outcome {
    case answered(HTTPAnswer)
    /// There is no answer, and what the client says of that.
    case failed(String)

    /// In a line.
    var text: String {
      switch self {
      case .answered(let answer):
        "status \(answer.head.status) \(String(decoding: answer.body.prefix(200), as: UTF8.self))"
      case .failed(let reason): reason
      }
    }
  }

  private struct Asked {
    var request: HTTPClientRequest
    /// After which it isn't asked again.
    var end: Instant
    var then: (Outcome, Instant) -> Void
  }

  private struct Stream {
    var heard: ([ServerSentEvent], Instant) -> Void
    var closed: (String, Instant) -> Void
  }

  let agenda = Agenda()
  private let desk: HTTPDesk
  private let server: HTTPURL
  /// What found no server is asked again.
  private let isPatient: Bool
  private var asked: [Int: Asked] = [:]
  private var streams: [Int: Stream] = [:]
  private var count = 0
  /// Requests that were asked again.
  private(set) var repeats = 0

  /// For which a request is asked again and again.
  private static let patience: Int64 = 60_000_000_000
  /// Before it is asked again.
  private static let pause: Int64 = 200_000_000

  init(_ options: LoadOptions, clock: Clock) throws(LoadError) {
    guard let server = HTTPURL(Self.http(options.url)) else {
      throw LoadError("not a server's URL: \(options.url)")
    }
    self.server = server
    isPatient = options.calls?.survivesRestarts ?? false
    desk = try HTTPDesk(trust: options.checksCertificate ? .system : .anyone, clock: clock)
  }

  private static func http(_ url: String) -> String {
    url.hasPrefix("ws") ? "http" + url.dropFirst(2) : url
  }

  var descriptor: Int32 { desk.descriptor }
  func stop() { desk.stop() }

  /// - Parameters:
  ///   - segments: of the path.
  ///   - then: called once, with the answer or with what became of the request.
  func ask(
    _ method: HTTPClientRequest.Method, _ segments: [String], query: [(name: String, value: String)] = [],
    token: String, body: [UInt8] = [], now: Instant, then: @escaping (Outcome, Instant) -> Void
  ) {
    var request = HTTPClientRequest(method, server.appending(segments, query: query))
    request.headers = [("Authorization", "Bearer \(token)")]
    if !body.isEmpty { request.headers.append(("Content-Type", "application/json")) }
    request.body = body
    request.milliseconds = 10_000
    request.connectMilliseconds = 5_000
    let end = now.advanced(byNanoseconds: Self.patience)
    send(Asked(request: request, end: end, then: then))
  }

  private func send(_ asked: Asked) {
    count += 1
    self.asked[count] = asked
    desk.post(.ask(count, asked.request))
  }

  /// Reads a person's events from behind the last one that is known.
  /// - Returns: what `unlisten` takes.
  func listen(
    token: String, device: String, after last: String, heard: @escaping ([ServerSentEvent], Instant) -> Void,
    closed: @escaping (String, Instant) -> Void
  ) -> Int {
    var request = HTTPClientRequest(
      .get, server.appending(["v1", "calls", "events"], query: [("device", device)]))
    request.headers = [("Authorization", "Bearer \(token)"), ("Accept", "text/event-stream")]
    if !last.isEmpty { request.headers.append(("Last-Event-ID", last)) }
    request.milliseconds = nil
    request.connectMilliseconds = 5_000
    // The server says something every 15 s.
    request.idleMilliseconds = 40_000
    request.isStream = true
    count += 1
    streams[count] = Stream(heard: heard, closed: closed)
    desk.post(.listen(count, request))
    return count
  }

  func unlisten(_ number: Int) {
    guard streams.removeValue(forKey: number) != nil else { return }
    desk.post(.drop(number))
  }

  /// Tells those who asked what has come.
  func takeNews() {
    for news in desk.takeNews() {
      switch news.content {
      case .heard(let events): streams[news.number]?.heard(events, news.at)
      case .answered(let answer): settle(news.number, .answered(answer), news.at)
      case .failed(let reason):
        if let stream = streams.removeValue(forKey: news.number) {
          stream.closed(reason, news.at)
        } else {
          settle(news.number, .failed(reason), news.at)
        }
      }
    }
  }

  private func settle(_ number: Int, _ outcome: Outcome, _ now: Instant) {
    guard let asked = asked.removeValue(forKey: number) else { return }
    guard let pause = pause(before: outcome), now.advanced(byNanoseconds: pause) < asked.end else {
      return asked.then(outcome, now)
    }
    repeats += 1
    agenda.add(at: now.advanced(byNanoseconds: pause)) { [unowned self] _ in send(asked) }
  }

  /// - Returns: nil: it isn't asked again.
  private func pause(before outcome: Outcome) -> Int64? {
    switch outcome {
    case .failed: return isPatient ? Self.pause : nil
    case .answered(let answer):
      guard answer.head.status == 429 || answer.head.status == 503 else { return nil }
      return max(Int64(min(answer.retryAfter ?? 0, 30)) * 1_000_000_000, Self.pause)
    }
  }
}
