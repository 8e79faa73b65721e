/// What a command line asks for.
public enum Invocation: Equatable, Sendable {
  /// Text to be printed.
  case help(String)
  case version
  case serve(ConfigurationSource)
  case token(TokenRequest)
  /// - Parameter defaults: the file with every default rather than what holds.
  case config(ConfigurationSource, defaults: Bool)
}

/// Where a command's configuration comes from.
public struct ConfigurationSource: Equatable, Sendable {
  public struct Flag: Equatable, Sendable {
    public var name: String
    public var value: String
  }

  public var development = false
  /// `--lan`, which goes with `--dev`.
  public var lan = false
  /// The path behind `--config`.
  public var file: String?
  public var flags: [Flag] = []

  public init() {}

  /// Reads the file, the environment and the flags.
  /// - Parameters:
  ///   - read: gives a file's text; throws what it likes.
  ///   - secret: draws a random one.
  public func load(
    environment: [String: String], read: (String) throws -> String, secret: () -> String
  ) throws(ConfigurationError) -> Configuration {
    var text: (name: String, text: String)?
    if let file {
      do {
        text = (file, try read(file))
      } catch {
        throw ConfigurationError(source: .file(file, line: nil), option: "", problem: .unreadable("\(error)"))
      }
    }
    var configuration = try Configuration.load(
      file: text, environment: environment, arguments: flags.map { ($0.name, $0.value) })
    if lan {
      configuration.applyDevelopment(lanSecret: secret())
    } else if development {
      configuration.applyDevelopment()
    }
    try configuration.requireWholeTLS()
    try configuration.requireWholeTURN()
    _ = try configuration.webhookTargets()
    return configuration
  }
}

/// What `roost token` is to sign.
public struct TokenRequest: Equatable, Sendable {
  public var configuration = ConfigurationSource()
  public var key: String?
  public var secret: String?
  public var room: String?
  public var identity: String?
  public var name: String?
  public var metadata: String?
  /// Seconds.
  public var validFor = 6 * 3600
  public var publish = true
  public var subscribe = true
  public var data = true
  public var sources: [String] = []
  public var updateMetadata = false
  public var hidden = false
  public var create = false
  public var list = false
  public var admin = false
  /// The page's address; a link to it is printed instead of the bare token.
  public var link: String?

  public init() {}

  /// The key pair to sign with: as given, else the one that is configured.
  /// - Throws: `UsageError` where it isn't clear which one is meant.
  public func keyPair(in configuration: Configuration) throws(UsageError) -> (key: String, secret: String) {
    if let key {
      guard let secret = secret ?? configuration.keys[key] else {
        throw UsageError(
          "no secret for --key \(key): give --secret or a configuration that has it", command: "token")
      }
      return (key, secret)
    }
    guard secret == nil else { throw UsageError("--secret requires --key", command: "token") }
    guard let first = configuration.keys.first, configuration.keys.count == 1 else {
      throw UsageError(
        configuration.keys.isEmpty
          ? "no key to sign with: set ROOST_KEYS, or give --key and --secret, --config FILE, or --dev"
          : "several keys are configured: choose one with --key", command: "token")
    }
    return (first.key, first.value)
  }
}

/// A command line that isn't understood; the exit code is 2.
public struct UsageError: Error, Equatable, Sendable, CustomStringConvertible {
  public static let exitCode: Int32 = 2

  public var message: String
  public var command: String?

  public init(_ message: String, command: String? = nil) {
    self.message = message
    self.command = command
  }

  public var description: String {
    "roost: \(message)\nTry `roost\(command.map { " \($0)" } ?? "") --help`."
  }
}
