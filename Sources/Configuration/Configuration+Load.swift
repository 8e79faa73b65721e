#if PLANTED_DEFECTS
  internal import Model
#endif

extension Configuration {
  /// Puts a configuration together: the defaults, then the file, the environment, the command line.
  /// - Parameters:
  ///   - file: the text of the file with the name to call it by in errors.
  ///   - environment: all of it; what doesn't start with `ROOST_` is left alone, and what does and is no option's stands
  ///     in `ignoredVariables`.
  ///   - arguments: options given as flags, by dotted name.
  /// - Throws: the first thing that is wrong; a variable that is nearly an option's is.
  public static func load(
    file: (name: String, text: String)?, environment: [String: String],
    arguments: [(name: String, value: String)]
  ) throws(ConfigurationError) -> Configuration {
    var configuration = Configuration()
    if let file { try configuration.apply(file: file.name, text: file.text) }
    for option in ConfigurationSchema.options {
      guard let value = environment[option.environmentName], !ServiceLink.isAddress(value) else { continue }
      try configuration.apply(option, text: value, source: .environment(option.environmentName))
    }
    configuration.ignoredVariables = try ignoredVariables(in: environment)
    for (name, value) in arguments {
      let source = ConfigurationError.Source.commandLine("--\(name)")
      guard let option = ConfigurationSchema.option(name) else {
        throw unknown(name, JSONTree.quoted(value.prefix(80)), source)
      }
      try configuration.apply(option, text: value, source: source)
    }
    return configuration
  }

  /// Variables that begin with `ROOST_` and set nothing, in order.
  ///
  /// Container platforms set such variables for every service: Kubernetes `ROOST_PORT` and `ROOST_SERVICE_HOST` for one
  /// named roost, and `ROOST_MEDIA_PORT=udp://…` for one named roost-media, which is an option's name. None of them
  /// keeps the server from starting; a name that differs from an option's by a slip of the hand does.
  private static func ignoredVariables(
    in environment: [String: String]
  ) throws(ConfigurationError) -> [String] {
    let known = Set(ConfigurationSchema.options.map(\.environmentName))
    var ignored: [String] = []
    for (name, value) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix("ROOST_") {
      if clientVariables.contains(name) { continue }
      guard !ServiceLink.isAddress(value), !ServiceLink.isName(name) else {
        ignored.append(name)
        continue
      }
      if known.contains(name) { continue }
      #if PLANTED_DEFECTS
        let slip = PlantedDefect.isOn(.twoLetters) ? 1 : 2
      #else
        let slip = 2
      #endif
      guard let meant = known.sorted().first(where: { Suggestion.distance(name, $0) <= slip }) else {
        ignored.append(name)
        continue
      }
      #if PLANTED_DEFECTS
        let mayBeSecret =
          !PlantedDefect.isOn(.secretShown) && ["KEY", "SECRET", "TOKEN"].contains { name.contains($0) }
      #else
        let mayBeSecret = ["KEY", "SECRET", "TOKEN"].contains { name.contains($0) }
      #endif
      throw ConfigurationError(
        source: .environment(name), option: "",
        problem: .unknownOption(
          value: mayBeSecret ? "(hidden)" : JSONTree.quoted(value.prefix(80)), suggestion: meant),
        expected: "one of " + ConfigurationSchema.options.map(\.environmentName).joined(separator: ", "))
    }
    return ignored
  }

  /// Where a client finds the server, its token and whom it believes: not the server's to read.
  private static let clientVariables: Set = ["ROOST_URL", "ROOST_TOKEN", "ROOST_CA"]

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
