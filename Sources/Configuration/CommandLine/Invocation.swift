/// What a command line asks for.
public enum Invocation: Equatable, Sendable {
  /// Text to be printed.
  case help(String)
  case version
  case serve(ConfigurationSource)
  case token(TokenRequest)
  /// - Parameter defaults: the file with every default rather than what holds.
  case config(ConfigurationSource, defaults: Bool)
  /// What is asked of a running server.
  case ask(OperatorRequest, command: String)
  /// The arguments are roost-load's.
  case load([String])
  case completion(Shell)
}
