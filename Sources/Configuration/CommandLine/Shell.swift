/// A shell that completes command lines.
public enum Shell: String, CaseIterable, Sendable {
  case bash
  case zsh
  case fish

  /// What the shell reads to complete `roost`.
  public var completion: String {
    switch self {
    case .bash: Self.bashCompletion
    case .zsh: Self.zshCompletion
    case .fish: Self.fishCompletion
    }
  }

  /// Every command and action, and what may stand behind it.
  static let commands: [CommandDescription] = CommandDescription.all.flatMap { [$0] + $0.actions }

  /// The text in single quotes, as bash and zsh read it.
  static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
  }
}

extension CommandDescription {
  /// Its flags with those that all commands have, and with the options of the configuration.
  var completedFlags: [Flag] {
    guard !passesOn else { return [] }
    let options =
      takesOptions
      ? ConfigurationSchema.options.map {
        Flag(name: $0.name, value: "VALUE", help: "Option of the configuration.")
      } : []
    return flags + [Flag(name: "help", value: nil, help: "Show help.")] + options
  }

  /// What may stand behind it that isn't a flag.
  var completedWords: [(word: String, help: String)] {
    var found = actions.map { (word: $0.action, help: $0.summary) }
    for argument in arguments {
      guard case .oneOf(let words) = argument.kind else { continue }
      found += words.map { ($0, argument.help) }
    }
    return found
  }
}

extension CommandDescription.Flag {
  /// The words that its value is of, and whether there may be several.
  var choices: (words: [String], isList: Bool)? {
    switch kind {
    case .text, .file: nil
    case .oneOf(let words): (words, false)
    case .someOf(let words): (words, true)
    }
  }
}
