internal import AccessTokens
internal import HTTPClient
internal import Model

/// Carries pushes to the URL of the configuration, signed as other webhooks are.
final class WebhookPush: PushPlatform {
  /// Bytes of an answer that are read, so that the connection can be used again.
  private static let longestAnswer = 65_536

  private let terms: PushWebhookTerms
  private let clocks: PushClocks
  private let client: HTTPClientThread

  init(_ terms: PushWebhookTerms, clocks: PushClocks) {
    self.terms = terms
    self.clocks = clocks
    client = HTTPClientThread(trust: terms.trust, connectionsPerHost: terms.atOnce)
  }

  func push(_ job: PushJob) async -> PushResult {
    let result = await client.send(request(job))
    let attempt = PushTry(
      number: job.tries, now: clocks.instant(), deadline: job.deadline, jitter: Double.random(in: 0...1))
    switch result {
    case .failure(let error): return attempt.result(on: error)
    case .success(let answer):
      return PushResult(Self.verdict(answer.head.status, retryAfter: answer.retryAfter, attempt))
    }
  }

  func stayReady() async {}
  func stop() { client.stop() }

  private func request(_ job: PushJob) -> HTTPClientRequest {
    let body = Self.body(job)
    let signature = WebhookSignature.token(
      for: body, key: terms.key, secret: terms.secret, now: Int(clocks.wall().milliseconds / 1_000))
    var request = HTTPClientRequest(.post, terms.url)
    request.body = body
    request.headers = [
      ("Content-Type", "application/webhook+json"), ("Authorization", signature), ("User-Agent", "roost"),
    ]
    let milliseconds = max(1, Int(clamping: terms.patience.wholeNanoseconds / 1_000_000))
    request.milliseconds = milliseconds
    request.connectMilliseconds = milliseconds
    request.limit = Self.longestAnswer
    return request
  }

  /// The push as a phone would get it, and for whom: the token that the device has given, and an id that is the same in each try.
  static func body(_ job: PushJob) -> [UInt8] {
    let head = StrictJSON.object([
      "event": .string("push"), "id": .string(job.id), "token": .string(job.device.token),
      "topic": .string(job.device.topic),
    ])
    // The payload is JSON already.
    return Array(head.text.utf8.dropLast()) + Array(#","push":"#.utf8) + job.payload + [UInt8(ascii: "}")]
  }

  /// Any 2xx says that it has arrived, 410 that the token is no good any more; a redirect is not followed and says nothing.
  static func verdict(_ status: Int, retryAfter: Int?, _ attempt: PushTry) -> PushVerdict {
    let said = "status\(status)"
    switch status {
    case 200..<300: return .delivered
    case 410: return .remove(reason: said)
    case 408, 425, 429, 500..<600:
      return attempt.again(said, after: .seconds(max(0, min(retryAfter ?? 0, 86_400))))
    case 300..<400, 401, 403, 404, 405: return .misconfigured(reason: said)
    default: return .failed(reason: said)
    }
  }
}
