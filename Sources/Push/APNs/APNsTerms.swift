public import Crypto
public import HTTPClient

/// How pushes go to Apple's push notification service.
public struct APNsTerms: Sendable {
  /// The key that Apple gives for push notifications, its id of ten characters, and the team's.
  public var key: SigningKey
  public var keyID: String
  public var teamID: String
  /// Where the services are; https alone.
  public var addresses: [PushDevice.Environment: HTTPURL]
  public var trust = HTTPClient.Trust.system
  /// Without an answer for so long a push is sent again.
  public var patience = Duration.seconds(5)
  /// A connection over which nothing came for so long is asked whether it still stands; nil: never, and none is made ahead of need.
  public var readiness: Duration? = .seconds(600)
  /// Pushes that wait or are under way, for each environment.
  public var waiting = 4_096
  public var waitingBytes = 16 * 1_024 * 1_024
  /// Pushes at once over one connection.
  public var atOnce = 100

  public init(key: SigningKey, keyID: String, teamID: String) {
    self.key = key
    self.keyID = keyID
    self.teamID = teamID
    addresses = [:]
    addresses[.production] = HTTPURL("https://api.push.apple.com")
    addresses[.sandbox] = HTTPURL("https://api.sandbox.push.apple.com")
  }
}
