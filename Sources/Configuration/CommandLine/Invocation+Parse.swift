#if PLANTED_DEFECTS
  internal import Model
#endif

extension Invocation {
  /// - Parameter arguments: without the program's name.
  public init(parsing arguments: [String]) throws(UsageError) {
    guard let first = arguments.first else {
      let names = CommandDescription.all.map(\.name)
      throw UsageError(
        "missing command: \(names.dropLast().joined(separator: ", ")) or \(names[names.count - 1])")
    }
    switch first {
    case "--help", "-h", "help":
      self = .help(
        CommandDescription.named(arguments.dropFirst())?.command.fullHelp ?? CommandDescription.overview)
    case "--version": self = .version
    default:
      guard let (command, rest) = CommandDescription.named(arguments) else {
        let names = CommandDescription.all.map(\.name) + ["--help", "--version"]
        throw UsageError("no such command: \(first)" + Suggestion.hint(to: first, among: names))
      }
      self = try Self.parse(command, rest)
    }
  }

  private static func parse(
    _ command: CommandDescription, _ arguments: [String]
  ) throws(UsageError) -> Invocation {
    if command.passesOn { return .load(arguments) }
    let own = arguments.prefix { $0 != "--" }
    if own.contains("--help") || own.contains("-h") { return .help(command.fullHelp) }
    if !command.actions.isEmpty, command.arguments.isEmpty, let word = own.first, !word.hasPrefix("-") {
      let actions = command.actions.map(\.action)
      throw UsageError(
        "no such action: \(word)"
          + (Suggestion.nearest(to: word, among: actions).map { "; did you mean \($0)?" }
            ?? "; there are \(actions.joined(separator: ", "))"),
        command: command.name)
    }
    let parsed = try ParsedFlags(arguments, of: command)
    switch command.name {
    case "serve": return .serve(parsed.source)
    case "config":
      return .config(parsed.source, defaults: parsed.has("defaults"), json: parsed.has("json"))
    case "token": return .token(try TokenRequest(parsed))
    case "completion": return .completion(try shell(parsed))
    default: return .ask(try OperatorRequest(parsed, of: command), command: command.name)
    }
  }

  private static func shell(_ flags: ParsedFlags) throws(UsageError) -> Shell {
    let name = flags.arguments[0]
    guard let shell = Shell(rawValue: name) else {
      let names = Shell.allCases.map(\.rawValue)
      throw UsageError(
        "no completion for \(name)" + Suggestion.hint(to: name, among: names)
          + "; there are \(names.joined(separator: ", "))", command: "completion")
    }
    return shell
  }
}

extension CommandDescription {
  fileprivate var fullHelp: String { name == "config" ? help + CommandDescription.optionHelp : help }

  /// - Parameter words: of a command line.
  /// - Returns: the command that the first word names, or its action that the first two do; nil where there is none.
  static func named(_ words: some Collection<String>) -> (command: CommandDescription, rest: [String])? {
    guard let first = words.first, let command = all.first(where: { $0.name == first }) else { return nil }
    let rest = Array(words.dropFirst())
    if let second = rest.first, let action = command.actions.first(where: { $0.action == second }) {
      return (action, Array(rest.dropFirst()))
    }
    return (command, rest)
  }
}
