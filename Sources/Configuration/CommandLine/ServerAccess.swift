/// Where the server of an operator's command is, and what it is asked with.
public struct ServerAccess: Equatable, Sendable {
  /// What requests are signed by.
  public enum Credential: Equatable, Sendable {
    /// One that another has made.
    case token(String)
    /// A token is made for each request, with what that needs and no more.
    case keyPair(key: String, secret: String)
  }

  public var url: String?
  public var token: String?
  public var keyChoice = KeyChoice()
  /// A PEM file with the authorities that are believed.
  public var authorities: String?
  /// Whether any server is believed, and any connection used.
  public var isInsecure = false
  /// Has keys, and the port of a server on this machine.
  public var configuration = ConfigurationSource()

  public init() {}

  /// What the command line says counts before the environment, and a token before a key.
  /// - Throws: `UsageError` where there is nothing to ask with.
  public func credential(
    in configuration: Configuration, environment: [String: String], command: String
  ) throws(UsageError) -> Credential {
    if let token { return .token(token) }
    let namesKey =
      keyChoice != KeyChoice() || self.configuration.development
      || self.configuration.file != nil && !configuration.keys.isEmpty
    if !namesKey, let token = environment["ROOST_TOKEN"], !token.isEmpty { return .token(token) }
    guard namesKey || !configuration.keys.isEmpty else {
      throw UsageError(
        "no token and no key: set ROOST_TOKEN or ROOST_KEYS, or give --config FILE, or --dev for a server that runs "
          + "with --dev on this machine", command: command)
    }
    let (key, secret) = try keyChoice.pair(in: configuration, command: command)
    return .keyPair(key: key, secret: secret)
  }

  /// The address that is given, else that of a server of this configuration on this machine.
  public func address(in configuration: Configuration, environment: [String: String]) -> String {
    if let url { return url }
    if !self.configuration.development, let url = environment["ROOST_URL"], !url.isEmpty { return url }
    let http = configuration.http
    return "\(http.certificate.isEmpty ? "http" : "https")://localhost:\(http.port)"
  }

  /// The file of authorities that is given; nil: those of the system are believed.
  public func authorities(environment: [String: String]) -> String? {
    authorities ?? environment["ROOST_CA"].flatMap { $0.isEmpty ? nil : $0 }
  }
}

/// Which API key signs.
public struct KeyChoice: Equatable, Sendable {
  public var key: String?
  public var secret: String?

  public init() {}

  /// The pair: as given, else the one that is configured.
  /// - Throws: `UsageError` where it isn't clear which one is meant.
  public func pair(
    in configuration: Configuration, command: String
  ) throws(UsageError) -> (key: String, secret: String) {
    if let key {
      guard let secret = secret ?? configuration.keys[key] else {
        throw UsageError(
          "no secret for --key \(key): give --secret or a configuration that has it", command: command)
      }
      return (key, secret)
    }
    guard secret == nil else { throw UsageError("--secret requires --key", command: command) }
    guard let first = configuration.keys.first, configuration.keys.count == 1 else {
      throw UsageError(
        configuration.keys.isEmpty
          ? "no key to sign with: set ROOST_KEYS, or give --key and --secret, --config FILE, or --dev"
          : "several keys are configured: choose one with --key", command: command)
    }
    return (first.key, first.value)
  }
}
