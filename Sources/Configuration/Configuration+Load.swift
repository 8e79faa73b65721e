extension Configuration {
  /// Puts a configuration together: the defaults, then the file, the environment, the command line.
  /// - Parameters:
  ///   - file: the text of the file with the name to call it by in errors.
  ///   - environment: all of it; what doesn't start with `ROOST_` is left alone.
  ///   - arguments: options given as flags, by dotted name.
  /// - Throws: the first thing that is wrong; a variable that starts with `ROOST_` and is no option's is.
  public static func load(
    file: (name: String, text: String)?, environment: [String: String],
    arguments: [(name: String, value: String)]
  ) throws(ConfigurationError) -> Configuration {
    var configuration = Configuration()
    if let file { try configuration.apply(file: file.name, text: file.text) }
    for option in ConfigurationSchema.options {
      guard let value = environment[option.environmentName] else { continue }
      try configuration.apply(option, text: value, source: .environment(option.environmentName))
    }
    if let error = unknownVariable(in: environment) { throw error }
    for (name, value) in arguments {
      let source = ConfigurationError.Source.commandLine("--\(name)")
      guard let option = ConfigurationSchema.option(name) else {
        throw unknown(name, JSONTree.quoted(value.prefix(80)), source)
      }
      try configuration.apply(option, text: value, source: source)
    }
    return configuration
  }

  /// The first variable that starts with `ROOST_` and is no option's. Those that container platforms set for a
  /// service named roost (`ROOST_SERVICE_HOST`, `ROOST_PORT_7880_TCP`) are somebody else's.
  private static func unknownVariable(in environment: [String: String]) -> ConfigurationError? {
    let known = ConfigurationSchema.options.map(\.environmentName)
    let unknown = environment.keys.sorted().first {
      $0.hasPrefix("ROOST_") && !known.contains($0) && $0 != "ROOST_PORT" && !$0.hasPrefix("ROOST_PORT_")
        && !$0.hasPrefix("ROOST_SERVICE_")
    }
    guard let unknown, let value = environment[unknown] else { return nil }
    let mayBeSecret = ["KEY", "SECRET", "TOKEN"].contains { unknown.contains($0) }
    return ConfigurationError(
      source: .environment(unknown), option: "",
      problem: .unknownOption(
        value: mayBeSecret ? "(hidden)" : JSONTree.quoted(value.prefix(80)),
        suggestion: Suggestion.nearest(to: unknown, among: known)),
      expected: "one of " + known.joined(separator: ", "))
  }

  private mutating func apply(
    _ option: ConfigurationOption, text: String, source: ConfigurationError.Source
  ) throws(ConfigurationError) {
    guard !option.setText(&self, text) else {
      if option.name == "keys" { keySources = keys.mapValues { _ in source } }
      return
    }
    throw ConfigurationError(
      source: source, option: "",
      problem: .wrongValue(option.isSecret ? "(hidden)" : JSONTree.quoted(text.prefix(80))),
      expected: option.expectation)
  }

  private mutating func apply(file: String, text: String) throws(ConfigurationError) {
    guard text.utf8.count <= 1_048_576 else {
      throw ConfigurationError(
        source: .file(file, line: nil), option: "", problem: .unreadable("\(text.utf8.count) bytes"),
        expected: "at most 1 MiB")
    }
    let scanner = KeyScanner(text)
    if let (line, reason) = scanner.problem {
      throw ConfigurationError(source: .file(file, line: line), option: "", problem: .notJSON5(reason))
    }
    let tree: JSONTree
    do {
      tree = try JSONTree.parse(json5: text)
    } catch {
      throw ConfigurationError(
        source: .file(file, line: nil), option: "", problem: .notJSON5(JSONTree.reason(error)))
    }
    var seen: [[String]: Int] = [:]
    for key in scanner.keys {
      if let line = seen.updateValue(key.line, forKey: key.path) {
        throw ConfigurationError(
          source: .file(file, line: key.line), option: key.path.joined(separator: "."),
          problem: .repeated(firstLine: line))
      }
    }
    try apply(tree, path: [], file: file, lines: scanner)
  }

  private mutating func apply(
    _ tree: JSONTree, path: [String], file: String, lines: KeyScanner
  ) throws(ConfigurationError) {
    let name = path.joined(separator: ".")
    let source = ConfigurationError.Source.file(file, line: path.isEmpty ? 1 : lines.line(of: path))
    // A dotted name is for the environment and the command line, not for one key of a file.
    if let option = ConfigurationSchema.option(name), !path.contains(where: { $0.contains(".") }) {
      guard !option.setTree(&self, tree) else {
        if option.name == "keys" {
          for key in keys.keys { keySources[key] = .file(file, line: lines.line(of: path + [key])) }
        }
        return
      }
      throw ConfigurationError(
        source: source, option: name, problem: .wrongValue(option.isSecret ? "(hidden)" : tree.summary),
        expected: option.expectation)
    }
    guard path.isEmpty || ConfigurationSchema.isGroup(name) else {
      throw Self.unknown(name, path.first == "keys" ? "(hidden)" : tree.summary, source)
    }
    guard case .object(let members) = tree else {
      throw ConfigurationError(
        source: source, option: name, problem: .wrongValue(tree.summary), expected: "an object: { … }")
    }
    // In the order of the file, so that the first error reported is the first one there.
    for (key, value) in members.sorted(by: {
      (lines.line(of: path + [$0.key]) ?? 0, $0.key) < (lines.line(of: path + [$1.key]) ?? 0, $1.key)
    }) {
      try apply(value, path: path + [key], file: file, lines: lines)
    }
  }

  private static func unknown(
    _ name: String, _ value: String, _ source: ConfigurationError.Source
  ) -> ConfigurationError {
    var candidates = ConfigurationSchema.options.map(\.name)
    var groups: [String] = []
    for option in ConfigurationSchema.options {
      var parts = option.name.split(separator: ".").dropLast()
      while !parts.isEmpty {
        groups.append(parts.joined(separator: "."))
        parts.removeLast()
      }
    }
    candidates += groups
    // What stands beside it: the names of its group, or the outermost ones.
    var group = name.split(separator: ".").dropLast().joined(separator: ".")
    if !groups.contains(group) { group = "" }
    let prefix = group.isEmpty ? "" : group + "."
    var beside: [String] = []
    for option in ConfigurationSchema.options where option.name.hasPrefix(prefix) {
      let next = prefix + (option.name.dropFirst(prefix.count).split(separator: ".").first ?? "")
      if beside.last != next { beside.append(next) }
    }
    return ConfigurationError(
      source: source, option: name.isEmpty ? "\"\"" : name,
      problem: .unknownOption(value: value, suggestion: Suggestion.nearest(to: name, among: candidates)),
      expected: "one of " + beside.joined(separator: ", "))
  }
}
