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
    try configuration.requireWholePush()
    _ = try configuration.webhookTargets()
    _ = try configuration.pushTarget()
    _ = try configuration.authorizingTarget()
    return configuration
  }
}
