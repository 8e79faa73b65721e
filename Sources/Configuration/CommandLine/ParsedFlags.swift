/// A command's flags by name and its arguments in order, each checked against what the command has.
struct ParsedFlags {
  let command: CommandDescription
  private var values: [String: [String]] = [:]
  private(set) var arguments: [String] = []
  private(set) var source = ConfigurationSource()

  subscript(_ name: String) -> String? { values[name]?.first }
  func has(_ name: String) -> Bool { values[name] != nil }
  /// Every value of a flag that may be repeated.
  func all(_ name: String) -> [String] { values[name] ?? [] }

  init(_ words: [String], of command: CommandDescription) throws(UsageError) {
    self.command = command
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--", !command.arguments.isEmpty {
        for argument in rest { try take(argument: argument) }
        break
      }
      guard word.hasPrefix("-"), word.count > 1 || command.arguments.isEmpty else {
        try take(argument: word)
        continue
      }
      try take(flag: word, from: &rest)
    }
    source.development = has("dev")
    source.lan = has("lan")
    guard source.development || !source.lan else { throw wrong("--lan requires --dev") }
    source.file = self["config"]
    if let missing = command.arguments.dropFirst(arguments.count).first(where: { !$0.isOptional }) {
      throw wrong("\(missing.name) is missing: \(command.usage)")
    }
  }

  private mutating func take(argument: String) throws(UsageError) {
    guard !command.arguments.isEmpty else {
      throw wrong("\(Self.shown(argument)): not a flag; flags start with --")
    }
    guard arguments.count < command.arguments.count else {
      let meant = arguments.first.flatMap {
        Suggestion.nearest(to: $0, among: command.actions.map(\.action))
      }
      throw wrong(
        "\(Self.shown(argument)): one argument too many: \(command.usage)"
          + (meant.map { "; did you mean roost \(command.name) \($0)?" } ?? ""))
    }
    guard !argument.isEmpty else {
      throw wrong("\(command.arguments[arguments.count].name) is empty: expected at least one character")
    }
    arguments.append(argument)
  }

  private mutating func take(flag word: String, from rest: inout ArraySlice<String>) throws(UsageError) {
    guard word.hasPrefix("--"), word.count > 2 else {
      throw wrong("\(Self.shown(word)): not a flag; flags start with --")
    }
    let parts = word.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    let given = parts.count == 2 ? String(parts[1]) : nil
    let flag = command.flags.first { $0.name == name }
    let isOption = command.takesOptions && ConfigurationSchema.option(name) != nil
    guard flag != nil || isOption else { throw unknown(name, given) }
    if let flag, flag.value == nil {
      guard given == nil else { throw wrong("--\(name) takes no value") }
      try set(flag, "")
      return
    }
    guard let value = given ?? rest.popFirst() else { throw wrong("--\(name) needs a value") }
    if let flag {
      try set(flag, value)
    } else {
      source.flags.append(ConfigurationSource.Flag(name: name, value: value))
    }
  }

  private func unknown(_ name: String, _ given: String?) -> UsageError {
    let names =
      command.flags.map { "--\($0.name)" }
      + (command.takesOptions ? ConfigurationSchema.options.map { "--\($0.name)" } : [])
    return wrong(
      "no such flag: --\(name)\(Self.shown(given, of: name))" + Suggestion.hint(to: "--\(name)", among: names)
    )
  }

  private static func shown(_ word: String) -> String {
    word.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? word : JSONTree.quoted(word.prefix(80))
  }

  /// The value of a flag that isn't one, unless it may be a secret.
  private static func shown(_ value: String?, of name: String) -> String {
    guard let value else { return "" }
    return ["key", "secret", "token"].contains { name.lowercased().contains($0) }
      ? ", given (hidden)" : ", given \(JSONTree.quoted(value.prefix(80)))"
  }

  private mutating func set(_ flag: CommandDescription.Flag, _ value: String) throws(UsageError) {
    guard values[flag.name] == nil || flag.isRepeatable else { throw wrong("--\(flag.name) was given twice") }
    values[flag.name, default: []].append(value)
  }
}
