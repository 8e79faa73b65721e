/// What a command line asks for.
public enum Invocation: Equatable, Sendable {
  /// Text to be printed.
  case help(String)
  case version
  case serve(ConfigurationSource)
  case token(TokenRequest)
  /// - Parameters:
  ///   - defaults: every default rather than what holds.
  ///   - json: on a line for programs rather than as a file.
  case config(ConfigurationSource, defaults: Bool, json: Bool)
  /// What is asked of a running server.
  case ask(OperatorRequest, command: String)
  /// The arguments are roost-load's.
  case load([String])
  case completion(Shell)
}
