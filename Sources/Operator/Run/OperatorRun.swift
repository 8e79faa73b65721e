internal import AccessTokens
public import Configuration
internal import Glibc
internal import HTTPClient
internal import Polling

/// Carries a command of the operator out: asks the server, prints what the command's task makes of the answers.
public struct OperatorRun {
  private let request: OperatorRequest
  private let bearer: Bearer
  private let address: String
  private let authorities: String?
  private let client: HTTPClient
  private let style: Style
  private let streams = OperatorStreams()

  /// - Parameters:
  ///   - command: as messages name it.
  ///   - configuration: as the request's access says, loaded.
  /// - Throws: where there is nothing to ask with.
  public init(
    _ request: OperatorRequest, command: String, configuration: Configuration, environment: [String: String]
  ) throws(UsageError) {
    self.request = request
    let access = request.access
    bearer = Bearer(
      credential: try access.credential(in: configuration, environment: environment, command: command))
    address = access.address(in: configuration, environment: environment)
    authorities = access.authorities(environment: environment)
    let trust: HTTPClient.Trust =
      access.isInsecure ? .anyone : authorities.map { .file($0) } ?? .system
    client = HTTPClient(trust: trust)
    style = Style(json: request.json, width: request.wide ? nil : streams.width ?? 80)
  }

  /// - Returns: the exit code.
  public func run() -> Int32 {
    // Where no one reads the output any more, that is an end and no accident.
    signal(SIGPIPE, SIG_IGN)
    do throws(OperatorError) {
      let url = try ServerAddress.read(address, isInsecure: request.access.isInsecure)
      if let task = request.task(style) {
        try perform(task, at: url)
      } else if case .events(let wanted) = request.deed {
        try follow(
          Follower(wanted.source, limit: wanted.page.limit, signs: bearer.signs, style: style), at: url)
      } else {
        try join(at: url)
      }
      return 0
    } catch {
      let text = style.json ? error.json.line : error.text(request.advice(signs: bearer.signs))
      _ = streams.write(text, to: STDERR_FILENO)
      return error.exitCode
    }
  }

  private func perform(_ task: any OperatorTask, at url: HTTPURL) throws(OperatorError) {
    var task = task
    while let ask = task.ask {
      let answer: HTTPAnswer
      do throws(HTTPClientError) { answer = try client.answer(to: message(ask, url)) } catch {
        throw .unreachable(error, url: url.description)
      }
      try task.take(OperatorAnswer(answer))
      guard print(task.takeOutput()) else { return }
    }
  }

  private func message(_ ask: Ask, _ url: HTTPURL) -> HTTPClientRequest {
    var message = HTTPClientRequest(
      ask.method, url.appending(["v1"] + ask.path, query: ask.query.map { ($0.name, $0.value) }))
    message.headers = [("Authorization", "Bearer " + bearer.token(for: ask, now: time(nil)))]
    if let body = ask.body {
      message.body = Array(body.text.utf8)
      message.headers.append(
        ("Content-Type", ask.method == .patch ? "application/merge-patch+json" : "application/json"))
    }
    // A page of those who have all the metadata that they may have.
    message.limit = 64 * 1_024 * 1_024
    guard ask.isStream else {
      message.headers.append(("Accept", "application/json"))
      return message
    }
    message.headers.append(("Accept", "text/event-stream, application/json;q=0.5"))
    if !ask.lastEventID.isEmpty { message.headers.append(("Last-Event-ID", ask.lastEventID)) }
    message.isStream = true
    message.milliseconds = nil
    // A server says something every 15 s.
    message.idleMilliseconds = 45_000
    return message
  }

  // MARK: In a room

  private func join(at url: HTTPURL) throws(OperatorError) {
    let joining = Joining(bearer: bearer, server: url, access: request.access, authorities: authorities)
    let signals = SignalPipe.open(for: [SIGINT, SIGTERM, SIGHUP])
    let streams = streams
    let note = { (text: String) in
      _ = streams.write("roost: \(TerminalText.shown(text))\n", to: STDERR_FILENO)
    }
    let now = time(nil)
    switch request.deed {
    case .publish(let wanted):
      let terms = joining.terms(wanted.session, publishes: true, now: now)
      let run = PublishRun(wanted: wanted, terms: terms, style: style, note: note)
      _ = streams.write(try run.run(signals: signals), to: STDOUT_FILENO)
    case .record(let wanted):
      let terms = joining.terms(wanted.session, publishes: false, now: now)
      try RecordRun(
        wanted: wanted, terms: terms, style: style, note: note,
        show: { _ = streams.write($0, to: STDOUT_FILENO) }
      ).run(signals: signals)
    default: break
    }
  }

  // MARK: Events as they happen

  private func follow(_ follower: Follower, at url: HTTPURL) throws(OperatorError) {
    var follower = follower
    var step = follower.begin()
    while case .ask(let ask, let milliseconds) = step {
      if milliseconds > 0 { usleep(UInt32(clamping: milliseconds * 1_000)) }
      do throws(OperatorError) {
        step = try hear(ask, &follower, url)
      } catch {
        step = try follower.failed(error)
      }
      guard print(follower.takeOutput()) else { return }
    }
  }

  /// One request, until its answer is over.
  private func hear(_ ask: Ask, _ follower: inout Follower, _ url: HTTPURL) throws(OperatorError)
    -> Follower.Step
  {
    let id: HTTPClient.TransferID
    do throws(HTTPClientError) { id = try client.begin(message(ask, url)) } catch {
      throw .unreachable(error, url: url.description)
    }
    defer { client.cancel(id) }
    // Of what is no stream: all of it.
    var head = HTTPAnswerHead(status: 0)
    var body: [UInt8] = []
    var isStream = false
    while true {
      for event in client.wait(milliseconds: 60_000) {
        switch event {
        case .began(_, let its):
          head = its
          isStream = its.status == 200 && its.type == "text/event-stream"
          if isStream { follower.began() }
        case .came(_, let bytes) where isStream:
          let step = try follower.came(bytes)
          guard print(follower.takeOutput()) else { return .done }
          if let step { return step }
        case .came(_, let bytes):
          guard bytes.count <= 64 * 1_024 * 1_024 - body.count else {
            throw .unreachable(.tooLarge(limit: 64 * 1_024 * 1_024), url: url.description)
          }
          body += bytes
        case .ended:
          guard isStream else { return try follower.take(OperatorAnswer(HTTPAnswer(head: head, body: body))) }
          return try follower.ended()
        case .failed(_, let error) where isStream && error != .timeout:
          // Cut off: what the stream said before it broke counts.
          return try follower.ended()
        case .failed(_, let error): throw .unreachable(error, url: url.description)
        case .answered: preconditionFailure("a stream is handed over as it comes")
        }
      }
    }
  }

  /// - Returns: false where no one reads it any more.
  private func print(_ output: Output) -> Bool {
    for note in output.notes {
      guard streams.write("roost: \(TerminalText.shown(note))\n", to: STDERR_FILENO) else { return false }
    }
    return streams.write(output.text, to: STDOUT_FILENO)
  }
}
