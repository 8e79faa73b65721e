internal import HTTPClient
internal import Model

/// Carries pushes to APNs, of one environment.
final class APNsClient: PushPlatform {
  private let url: HTTPURL
  private let patience: Duration
  private let readiness: Duration?
  private let tokens: ProviderTokens
  private let clocks: PushClocks
  private let connection: APNsConnection

  init(_ terms: APNsTerms, at url: HTTPURL, tokens: ProviderTokens, clocks: PushClocks) {
    precondition(url.isSecure, "provider tokens go over TLS alone")
    self.url = url
    patience = terms.patience
    readiness = terms.readiness
    self.tokens = tokens
    self.clocks = clocks
    connection = APNsConnection(trust: terms.trust, now: clocks.instant)
  }

  func push(_ job: PushJob) async -> PushResult {
    if let refusal = APNsRequest.refusal(of: job.device) { return PushResult(refusal) }
    var token = tokens.current
    // Once more where the token has been renewed; that happens once.
    for _ in 0..<2 {
      let result = await connection.send(
        APNsRequest.push(job, to: url, providerToken: token, patience: patience))
      let attempt = PushTry(
        number: job.tries, now: clocks.instant(), deadline: job.deadline, jitter: Double.random(in: 0...1))
      switch result {
      case .failure(let error): return attempt.result(on: error)
      case .success(let answer):
        switch APNsRules.verdict(APNsAnswer(answer), registeredAt: job.device.registeredAt, attempt) {
        case .settled(let verdict): return PushResult(verdict)
        case .renewToken:
          guard let next = tokens.next(after: token) else { return Self.refused }
          token = next
        }
      }
    }
    return Self.refused
  }

  /// A token that is fresh, and yet too old: this machine's clock is wrong.
  private static let refused = PushResult(.misconfigured(reason: "ExpiredProviderToken"))

  func stayReady() async {
    guard let readiness else { return }
    await connection.stayReady(every: readiness, APNsRequest.sign(of: url, patience: patience))
  }

  func stop() { connection.stop() }
}
