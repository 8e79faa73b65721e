internal import AccessTokens
internal import HTTPClient
internal import Logging
internal import Model
internal import Rooms

/// Carries what happens to one URL: reads and sends what `WebhookQueue` says, and does nothing else.
actor WebhookSender {
  struct Clocks: Sendable {
    /// Seconds since 1970, as tokens have them.
    let seconds: @Sendable () -> Int
    /// As events have it.
    let wall: @Sendable () -> WallTime
    /// One that is never stepped.
    let instant: @Sendable () -> Instant
  }

  /// Bytes of events that are read at once.
  private static let page = 1_024 * 1_024
  /// To the next try, where the store can't be read.
  private static let retry = Duration.seconds(1)

  private let target: Webhooks.Target
  private let ledger: any WebhookLedger
  private let events: EventLog
  private let client: HTTPClientThread
  private let clocks: Clocks
  private let log: Log
  /// Why nothing got through when the operator heard of it last; nil: all is well.
  private var trouble: String?
  private var lastWord: Instant?
  private var queue: WebhookQueue
  private var isReading = false
  /// There may be more than is being read.
  private var isToReadOn = false
  private var isOver = false
  private let occasions: AsyncStream<Void>
  private let occasion: AsyncStream<Void>.Continuation
  private var alarm: Task<Void, any Error>?

  /// - Parameter client: of its own.
  init(
    _ target: Webhooks.Target, of events: EventLog, ledger: any WebhookLedger, client: HTTPClientThread,
    clocks: Clocks, log: Log,
    limits: WebhookQueue.Limits
  ) {
    self.log = log
    self.events = events
    self.target = target
    self.ledger = ledger
    self.client = client
    self.clocks = clocks
    queue = WebhookQueue(limits: limits)
    (occasions, occasion) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
  }

  var report: Webhooks.Report {
    let kept = ledger.report(for: target.name)
    return Webhooks.Report(
      arrived: queue.counters.arrived, failed: queue.counters.failed, late: kept.late,
      crowdedOut: kept.crowdedOut, refused: queue.counters.refused, waiting: queue.count + kept.unread,
      waitingBytes: queue.bytes)
  }

  /// Whether everything has arrived that could be read by now.
  var isDone: Bool { queue.isEmpty && !isReading && ledger.report(for: target.name).unread == 0 }

  /// Until the task is cancelled. What is on its way then may have arrived.
  func run() async {
    let watch = events.watch { [occasion] in occasion.yield() }
    occasion.yield()
    for await _ in occasions {
      send()
      // Behind what is sent and given up, which makes place.
      readOn()
    }
    isOver = true
    alarm?.cancel()
    withExtendedLifetime(watch) {}
  }

  // MARK: - Reading

  /// Beside what is sent meanwhile.
  private func readOn() {
    guard !isReading else {
      isToReadOn = true
      return
    }
    isReading = true
    Task { await read() }
  }

  private func read() async {
    defer { isReading = false }
    while !isOver, queue.hasSpace {
      isToReadOn = false
      guard let events = await ledger.next(for: target.name, bytes: Self.page) else {
        try? await Task.sleep(for: Self.retry)
        continue
      }
      if events.isEmpty, !isToReadOn { return }
      for entry in events {
        let id = entry.id
        queue.add(id, at: entry.position) { WebhookBody.bytes(entry.event, id) }
      }
      send()
    }
  }

  private func read(_ span: WebhookQueue.Span, bytes: Int) async {
    let page = await ledger.events(of: span.room, ids: span.first.number...span.last.number, bytes: bytes)
    if let page {
      let notices = page.events.map {
        WebhookQueue.Notice(id: $0.id, position: $0.position, body: WebhookBody.bytes($0.event, $0.id))
      }
      let rest = page.rest.map { WebhookQueue.Mark(number: $0.id, position: $0.position) }
      queue.came(notices, rest: rest, of: span.room)
    } else {
      queue.cameNot(of: span.room, now: clocks.instant())
    }
    send()
    // A room of which nothing is left makes place.
    occasion.yield()
  }

  // MARK: - Sending

  /// What was given up or has arrived is no longer kept for this receiver.
  private func settle() {
    for event in queue.takeSettled() { ledger.settle(event, for: target.name) }
  }

  private func send() {
    defer { settle() }
    queue.giveUp(upTo: ledger.report(for: target.name).givenUp)
    while !isOver {
      switch queue.next(now: clocks.instant()) {
      case .send(let notice): Task { await send(notice) }
      case .read(let span, let bytes): Task { await read(span, bytes: bytes) }
      case .wait(let moment): return wake(at: moment)
      }
    }
  }

  private func wake(at moment: Instant) {
    alarm?.cancel()
    guard moment != .never else { return }
    let pause = max(moment - clocks.instant(), .milliseconds(1))
    alarm = Task { [occasion] in
      try await Task.sleep(for: pause)
      occasion.yield()
    }
  }

  private func send(_ notice: WebhookQueue.Notice) async {
    let token = WebhookSignature.token(
      for: notice.body, key: target.key, secret: target.secret, now: clocks.seconds())
    let answer = await post(notice.body, token: token)
    // What becomes of it is the next process's to find out.
    guard answer != .failure(.stopped) else { return }
    let outcome = Self.outcome(answer)
    say(outcome == .arrived ? nil : Self.trouble(answer))
    queue.answered(notice.id.roomId, outcome, now: clocks.instant())
    settle()
    occasion.yield()
  }

  /// For all of it, from the look-up of the name to the last byte of the answer.
  private static let milliseconds = 5_000
  /// Bytes of an answer's body that are read, so that the connection can be used again; a longer one says that nothing arrived.
  private static let longestAnswer = 65_536

  private func post(_ body: [UInt8], token: String) async -> Result<HTTPAnswer, HTTPClientError> {
    guard let url = HTTPURL(target.url) else { return .failure(.request("the URL is none that HTTP knows")) }
    var request = HTTPClientRequest(.post, url)
    request.body = body
    request.headers = [
      ("Content-Type", "application/webhook+json"), ("Authorization", token), ("User-Agent", "roost"),
    ]
    request.milliseconds = Self.milliseconds
    request.connectMilliseconds = Self.milliseconds
    request.limit = Self.longestAnswer
    return await client.send(request)
  }

  /// When something changes, and once a minute at most: a room whose notices are refused, beside others that arrive, would
  /// change it at every try. Of the URL only where it leads: the rest may be a secret.
  private func say(_ trouble: String?) {
    let now = clocks.instant()
    guard trouble != self.trouble, lastWord.map({ now - $0 >= .seconds(60) }) ?? true else { return }
    (self.trouble, lastWord) = (trouble, now)
    let place = target.url.split(separator: "/", maxSplits: 2).prefix(2).joined(separator: "//").prefix {
      $0 != "?"
    }
    if let trouble {
      log.warning("webhook does not get through", ["receiver": String(place), "reason": trouble])
    } else {
      log.info("webhook gets through again", ["receiver": String(place)])
    }
  }

  private static func trouble(_ answer: Result<HTTPAnswer, HTTPClientError>) -> String {
    switch answer {
    case .success(let answer): "status \(answer.head.status)"
    case .failure(let error): "\(error)"
    }
  }

  /// Answers that are about the notice itself: its form, size or kind.
  private static let refusals: Set<Int> = [400, 413, 414, 415, 422]

  /// Any 2xx says that it has arrived; a redirect is not followed and says nothing.
  static func outcome(_ answer: Result<HTTPAnswer, HTTPClientError>) -> WebhookQueue.Outcome {
    guard case .success(let answer) = answer else { return .failed(pause: nil) }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.redirectArrives), (300..<400).contains(answer.head.status) { return .arrived }
    #endif
    if (200..<300).contains(answer.head.status) { return .arrived }
    if refusals.contains(answer.head.status), answer.retryAfter == nil { return .refused }
    return .failed(pause: answer.retryAfter.map { .seconds(min($0, 86_400)) })
  }
}

extension StoredEvent {
  fileprivate var id: EventID { EventID(roomId: event.room.id.text, number: event.id) }
}

/// What goes over the wire: the event as everywhere, with the notice's own name and time.
enum WebhookBody {
  static func bytes(_ event: RoomEvent, _ id: EventID) -> [UInt8] {
    var bytes = Array(#"{"createdAt":"\#(event.time.text)","event":"#.utf8)
    bytes.append(contentsOf: event.json)
    bytes.append(contentsOf: #","id":"\#(id.text)"}"#.utf8)
    return bytes
  }
}
