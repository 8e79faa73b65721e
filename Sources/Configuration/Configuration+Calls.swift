extension Configuration {
  /// Calls that ring.
  public struct Calls: Equatable, Sendable {
    /// What becomes of a ring of one who is in another call.
    public enum Busy: String, CaseIterable, Sendable {
      case refuse
      case ring
    }

    /// Whether those who may call are shown who else there is.
    public enum Directory: String, CaseIterable, Sendable {
      case closed
      case open
    }

    /// Seconds.
    public var ringTime = 30
    public var aloneTimeout = 60
    public var busy = Busy.refuse
    /// In one call.
    public var people = 32
    public var startsPerMinute = 10
    public var ringsPerMinute = 3
    public var changesPerMinute = 60
    public var historyDays = 180
    public var deliveryHours = 24
    public var signalSeconds = 60
    public var directory = Directory.closed
    /// Where it is asked who may call whom; empty: nowhere.
    public var authorize = ""
    /// Path of a PEM file; empty: the database keeps the key.
    public var logKey = ""
  }

  /// Where phones are woken.
  public struct Push: Equatable, Sendable {
    public struct APNs: Equatable, Sendable {
      /// Path of a PEM file; empty: nothing is pushed to Apple.
      public var key = ""
      public var keyId = ""
      public var teamId = ""
      public var productionURL = "https://api.push.apple.com"
      public var sandboxURL = "https://api.sandbox.push.apple.com"
    }

    public var apns = APNs()
    /// Empty: there is none.
    public var webhook = ""
    /// Path of a PEM file; empty: those of the system.
    public var authorities = ""
    public var callerName = true
  }

  /// Refuses a part of what Apple's push service wants without the rest, and pushes that can't say where the server is reached.
  public func requireWholePush() throws(ConfigurationError) {
    let parts = [
      ("push.apns.key", push.apns.key), ("push.apns.keyId", push.apns.keyId),
      ("push.apns.teamId", push.apns.teamId),
    ]
    if let missing = parts.first(where: { $0.1.isEmpty }), parts.contains(where: { !$0.1.isEmpty }) {
      throw ConfigurationError(
        source: .defaults, option: missing.0, problem: .missing,
        expected:
          "all three of push.apns.key, push.apns.keyId and push.apns.teamId, as Apple gives them, or none")
    }
    // A phone that is woken has nothing but the push to know the server by.
    guard http.url.isEmpty, !push.apns.key.isEmpty || !push.webhook.isEmpty else { return }
    throw ConfigurationError(
      source: .defaults, option: "http.url", problem: .missing,
      expected:
        "where clients reach this server, such as https://media.example, since pushes are configured: phones that they wake connect there"
    )
  }

  /// Where devices of the platform `webhook` are reached, with the API key that signs; nil: nowhere.
  /// - Throws: where the URL names no key that there is, or names none and there are several.
  public func pushTarget() throws(ConfigurationError) -> (url: String, key: String)? {
    guard let target = WebhookURL(push.webhook) else { return nil }
    return (target.url, try key(of: target, option: "push.webhook"))
  }

  /// Where it is asked who may call whom, with the API key that signs; nil: nowhere.
  /// - Throws: likewise.
  public func authorizingTarget() throws(ConfigurationError) -> (url: String, key: String)? {
    guard let target = WebhookURL(calls.authorize) else { return nil }
    return (target.url, try key(of: target, option: "calls.authorize"))
  }

  func key(of target: WebhookURL, option: String) throws(ConfigurationError) -> String {
    guard let key = target.key ?? (keys.count == 1 ? keys.first?.key : nil), keys[key] != nil else {
      throw ConfigurationError(
        source: .defaults, option: option, problem: .missing,
        expected:
          "behind the # of each URL the name of one of the API keys in keys, as in https://desk.example/roost#myKey"
      )
    }
    return key
  }
}
