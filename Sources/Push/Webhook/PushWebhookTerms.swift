public import HTTPClient

/// Where devices of the platform `webhook` are reached.
public struct PushWebhookTerms: Sendable {
  public var url: HTTPURL
  /// The API key that signs, and its secret.
  public var key: String
  public var secret: String
  public var trust = HTTPClient.Trust.system
  /// Without an answer for so long a push is sent again.
  public var patience = Duration.seconds(5)
  /// Pushes that wait or are under way.
  public var waiting = 4_096
  public var waitingBytes = 16 * 1_024 * 1_024
  /// Pushes at once.
  public var atOnce = 16

  public init(url: HTTPURL, key: String, secret: String) {
    self.url = url
    self.key = key
    self.secret = secret
  }
}
