#if PLANTED_DEFECTS
  internal import Model
#endif

extension Invocation {
  /// - Parameter arguments: without the program's name.
  public init(parsing arguments: [String]) throws(UsageError) {
    guard let first = arguments.first else {
      throw UsageError("missing command: serve, token or config")
    }
    switch first {
    case "--help", "-h", "help":
      if let command = CommandDescription.all.first(where: { $0.name == arguments.dropFirst().first }) {
        self = .help(command.fullHelp)
      } else {
        self = .help(CommandDescription.overview)
      }
    case "--version": self = .version
    default:
      guard let command = CommandDescription.all.first(where: { $0.name == first }) else {
        let names = CommandDescription.all.map(\.name) + ["--help", "--version"]
        throw UsageError("no such command: \(first)" + Self.hint(Suggestion.nearest(to: first, among: names)))
      }
      self = try Self.parse(command, Array(arguments.dropFirst()))
    }
  }

  private static func hint(_ suggestion: String?) -> String {
    suggestion.map { "; did you mean \($0)?" } ?? ""
  }

  private static func parse(
    _ command: CommandDescription, _ arguments: [String]
  ) throws(UsageError) -> Invocation {
    if arguments.contains("--help") || arguments.contains("-h") { return .help(command.fullHelp) }
    let parsed = try ParsedFlags(arguments, of: command)
    switch command.name {
    case "serve": return .serve(parsed.source)
    case "config": return .config(parsed.source, defaults: parsed.has("defaults"))
    default: return .token(try tokenRequest(parsed))
    }
  }

  private static func tokenRequest(_ flags: ParsedFlags) throws(UsageError) -> TokenRequest {
    var request = TokenRequest()
    request.configuration = flags.source
    request.key = flags["key"]
    request.secret = flags["secret"]
    request.room = flags["room"]
    request.identity = flags["identity"]
    request.name = flags["name"]
    request.metadata = flags["metadata"]
    request.publish = !flags.has("no-publish")
    request.subscribe = !flags.has("no-subscribe")
    request.data = !flags.has("no-data")
    request.sources = flags["sources"]?.split(separator: ",").map { String($0.trimmed) } ?? []
    request.updateMetadata = flags.has("update-metadata")
    request.hidden = flags.has("hidden")
    request.create = flags.has("create")
    request.list = flags.has("list")
    request.admin = flags.has("admin")
    request.link = flags["link"]
    if let text = flags["valid-for"] {
      guard let seconds = seconds(text) else {
        throw UsageError("--valid-for \(text): expected a time such as 90s, 30m, 6h or 7d", command: "token")
      }
      request.validFor = seconds
    }
    let known = ["camera", "microphone", "screen_share", "screen_share_audio", "unknown"]
    for source in request.sources where !known.contains(source) {
      throw UsageError(
        "--sources: no such source: \(source)" + hint(Suggestion.nearest(to: source, among: known)),
        command: "token")
    }
    for (name, value) in [("room", request.room), ("identity", request.identity)] where value == "" {
      throw UsageError("--\(name) \"\": expected at least one character", command: "token")
    }
    if request.identity != nil, request.room == nil {
      throw UsageError("--identity requires --room", command: "token")
    }
    if request.admin, request.room == nil {
      throw UsageError("--admin needs the --room to administer; --room '*' is every room", command: "token")
    }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.everyRoomJoined) { return request }
    #endif
    if request.identity != nil, request.room == "*" {
      throw UsageError("--room '*' is for --admin; no room has that name to be joined", command: "token")
    }
    guard request.identity != nil || request.create || request.list || request.admin else {
      throw UsageError(
        "nothing to allow: give --room and --identity, or --create, --list or --admin", command: "token")
    }
    return request
  }

  /// - Returns: nil for anything but a whole number of at least 1 with its unit, up to ten years.
  static func seconds(_ text: String) -> Int? {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    guard let last = text.last, let unit = units[last], let count = Int(text.dropLast()),
      (1...315_360_000 / unit).contains(count)
    else { return nil }
    #if PLANTED_DEFECTS
      if PlantedDefect.isOn(.minutesAsHours), last == "m" { return count * 3600 }
    #endif
    return count * unit
  }
}

extension CommandDescription {
  fileprivate var fullHelp: String { name == "config" ? help + CommandDescription.optionHelp : help }
}

/// Flags by name, each checked against what the command has.
private struct ParsedFlags {
  private var values: [String: String] = [:]
  private(set) var source = ConfigurationSource()

  subscript(_ name: String) -> String? { values[name] }
  func has(_ name: String) -> Bool { values[name] != nil }

  init(_ arguments: [String], of command: CommandDescription) throws(UsageError) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      guard argument.hasPrefix("--"), argument.count > 2 else {
        throw UsageError("\(argument): not a flag; flags start with --", command: command.name)
      }
      let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0])
      let given = parts.count == 2 ? String(parts[1]) : nil
      let flag = command.flags.first { $0.name == name }
      let isOption = command.takesOptions && ConfigurationSchema.option(name) != nil
      guard flag != nil || isOption else {
        let names = command.flags.map { "--\($0.name)" } + ConfigurationSchema.options.map { "--\($0.name)" }
        let nearest = Suggestion.nearest(to: "--\(name)", among: names)
        throw UsageError(
          "no such flag: --\(name)\(Self.shown(given, of: name))"
            + (nearest.map { "; did you mean \($0)?" } ?? ""), command: command.name)
      }
      if let flag, flag.value == nil {
        guard given == nil else { throw UsageError("--\(name) takes no value", command: command.name) }
        try set(name, "", command)
        continue
      }
      guard let value = given ?? rest.popFirst() else {
        throw UsageError("--\(name) needs a value", command: command.name)
      }
      if isOption {
        source.flags.append(ConfigurationSource.Flag(name: name, value: value))
      } else {
        try set(name, value, command)
      }
    }
    source.development = has("dev")
    source.lan = has("lan")
    guard source.development || !source.lan else {
      throw UsageError("--lan requires --dev", command: command.name)
    }
    source.file = self["config"]
  }

  /// The value of a flag that isn't one, unless it may be a secret.
  private static func shown(_ value: String?, of name: String) -> String {
    guard let value else { return "" }
    return ["key", "secret"].contains { name.lowercased().contains($0) }
      ? ", given (hidden)" : ", given \(JSONTree.quoted(value.prefix(80)))"
  }

  private mutating func set(_ name: String, _ value: String, _ command: CommandDescription) throws(UsageError)
  {
    guard values.updateValue(value, forKey: name) == nil else {
      throw UsageError("--\(name) was given twice", command: command.name)
    }
  }
}
