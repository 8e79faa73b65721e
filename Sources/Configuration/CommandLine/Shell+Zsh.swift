extension Shell {
  static var zshCompletion: String {
    let actions = commands.filter { $0.name.contains(" ") }.map { quoted($0.name) }.joined(separator: "|")
    let names = CommandDescription.all.map { ($0.name, $0.summary) } + [("help", "explain a command")]
    return """
      #compdef roost
      # Completes roost in zsh; written by `roost completion zsh`.
      _roost() {
        local command=$words[2] skipped=1
        local -a names specs
        names=(\(described(names)))
        if (( CURRENT == 2 )); then
          _describe command names
          return
        fi
        if (( CURRENT > 3 )); then
          case "$words[2] $words[3]" in
            (\(actions))
              command="$words[2] $words[3]" skipped=2 ;;
          esac
        fi
        case $command in
          (help)
            _describe command names
            return ;;
      \(commands.filter { !$0.passesOn }.map(zshCase).joined(separator: "\n"))
          (*)
            return 1 ;;
        esac
        shift $skipped words
        (( CURRENT -= skipped ))
        _arguments $specs
      }
      if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
        _roost "$@"
      else
        compdef _roost roost
      fi

      """
  }

  /// `'name:what it does'` for each.
  private static func described(_ words: [(word: String, help: String)]) -> String {
    words.map { quoted("\($0.word):\($0.help)") }.joined(separator: " ")
  }

  private static func zshCase(_ command: CommandDescription) -> String {
    var lines = ["    (\(quoted(command.name)))"]
    if !command.actions.isEmpty {
      lines.append("      if (( CURRENT == 3 )) && [[ $words[3] != -* ]]; then")
      lines.append("        names=(\(described(command.completedWords)))")
      lines.append("        _describe action names")
      lines.append("        return")
      lines.append("      fi")
    }
    var specs = command.completedFlags.map { flag in
      var spec = (flag.isRepeatable ? "*" : "") + "--\(flag.name)" + (flag.value == nil ? "" : "=")
      spec += "[\(escaped(flag.help))]"
      if let value = flag.value { spec += ":\(value):\(action(flag.kind))" }
      return spec
    }
    for (place, argument) in command.arguments.enumerated() {
      specs.append("\(place + 1):\(argument.name):\(action(argument.kind))")
    }
    lines.append("      specs=(\(specs.map(quoted).joined(separator: " "))) ;;")
    return lines.joined(separator: "\n")
  }

  private static func action(_ kind: CommandDescription.Kind) -> String {
    switch kind {
    case .text: " "
    case .file: "_files"
    case .oneOf(let words): "(\(words.joined(separator: " ")))"
    case .someOf(let words): "_sequence compadd - \(words.joined(separator: " "))"
    }
  }

  /// For the brackets of a description, where these mean something.
  private static func escaped(_ text: String) -> String {
    String(text.flatMap { "[]\\".contains($0) ? "\\\($0)" : String($0) })
  }
}
