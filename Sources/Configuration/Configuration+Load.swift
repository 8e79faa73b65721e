extension Configuration {
  /// Puts a configuration together: the defaults, then the file, the environment, the command line.
  /// - Parameters:
  ///   - file: the text of the file with the name to call it by in errors.
  ///   - environment: all of it; what doesn't start with `ROOST_` is left alone.
  ///   - arguments: options given as flags, by dotted name.
  /// - Throws: the first thing that is wrong.
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
    for (name, value) in arguments {
      let source = ConfigurationError.Source.commandLine("--\(name)")
      guard let option = ConfigurationSchema.option(name) else {
        throw unknown(name, source)
      }
      try configuration.apply(option, text: value, source: source)
    }
    return configuration
  }

  /// Variables that start with `ROOST_` and are no option's: a slip perhaps, or somebody else's, as container
  /// platforms set them for a service of that name.
  public static func unknownVariables(in environment: [String: String]) -> [(
    name: String, suggestion: String?
  )] {
    let known = ConfigurationSchema.options.map(\.environmentName)
    return environment.keys.filter { $0.hasPrefix("ROOST_") && !known.contains($0) }.sorted()
      .map { ($0, Suggestion.nearest(to: $0, among: known)) }
  }

  private mutating func apply(
    _ option: ConfigurationOption, text: String, source: ConfigurationError.Source
  ) throws(ConfigurationError) {
    guard !option.setText(&self, text) else { return }
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
    let source = ConfigurationError.Source.file(file, line: lines.line(of: path))
    if let option = ConfigurationSchema.option(name) {
      guard !option.setTree(&self, tree) else { return }
      throw ConfigurationError(
        source: source, option: name, problem: .wrongValue(option.isSecret ? "(hidden)" : tree.summary),
        expected: option.expectation)
    }
    guard path.isEmpty || ConfigurationSchema.isGroup(name) else { throw Self.unknown(name, source) }
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

  private static func unknown(_ name: String, _ source: ConfigurationError.Source) -> ConfigurationError {
    var candidates = ConfigurationSchema.options.map(\.name)
    for option in ConfigurationSchema.options {
      var parts = option.name.split(separator: ".").dropLast()
      while !parts.isEmpty {
        candidates.append(parts.joined(separator: "."))
        parts.removeLast()
      }
    }
    return ConfigurationError(
      source: source, option: name,
      problem: .unknownOption(suggestion: Suggestion.nearest(to: name, among: candidates)))
  }
}
