internal import AccessTokens
internal import Calls
public import HTTPClient

/// Asks the app's own server who may call whom, where the configuration names it.
///
/// A question is signed as webhooks are. Any 2xx is a yes; everything else, and a second without an answer, is a no: a server that
/// can't be asked lets no one through.
public final class CallAuthorizer: Sendable {
  /// Milliseconds.
  private static let patience = 1_000
  private static let longestAnswer = 65_536

  private let url: HTTPURL
  private let key: String
  private let secret: String
  private let client: HTTPClientThread
  /// Seconds since 1970.
  private let now: @Sendable () -> Int

  public init(
    asking url: HTTPURL, key: String, secret: String, trust: HTTPClient.Trust = .system,
    now: @escaping @Sendable () -> Int
  ) {
    (self.url, self.key, self.secret, self.now) = (url, key, secret, now)
    client = HTTPClientThread(trust: trust, connectionsPerHost: 16)
  }

  deinit { client.stop() }

  /// Whether a person may ring these people, in that call.
  func allows(_ caller: PersonID, _ recipients: [PersonID], in call: CallUUID) async -> Bool {
    let body = Array(
      StrictJSON.object([
        "event": .string("call.authorize"), "call": .string(call.text), "caller": .string(caller.text),
        "recipients": .array(recipients.map { .string($0.text) }),
      ]).text.utf8)
    var request = HTTPClientRequest(.post, url)
    request.body = body
    request.headers = [
      ("Content-Type", "application/webhook+json"),
      ("Authorization", WebhookSignature.token(for: body, key: key, secret: secret, now: now())),
      ("User-Agent", "roost"),
    ]
    (request.milliseconds, request.connectMilliseconds) = (Self.patience, Self.patience)
    request.limit = Self.longestAnswer
    guard case .success(let answer) = await client.send(request) else { return false }
    return (200..<300).contains(answer.head.status)
  }
}
