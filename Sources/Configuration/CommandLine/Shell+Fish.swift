extension Shell {
  static var fishCompletion: String {
    let actions = commands.filter { $0.name.contains(" ") }.map { fishQuoted($0.name) }.joined(separator: " ")
    var lines = [
      """
      # Completes roost in fish; written by `roost completion fish`.
      # Whether the command line, as far as it is complete, is of that command.
      function __roost_is
          set -l words (commandline --tokenize --cut-at-cursor --current-process)
          set -l name "$words[2]"
          if contains -- "$words[2] $words[3]" \(actions)
              set name "$words[2] $words[3]"
          end
          test "$name" = "$argv"
      end
      # Whether so many words stand before the one that is completed.
      function __roost_behind
          test (count (commandline --tokenize --cut-at-cursor --current-process)) -eq $argv[1]
      end
      complete --command roost --no-files
      complete --command roost --condition '__roost_behind 1' --long-option help --description 'Show help.'
      complete --command roost --condition '__roost_behind 1' --long-option version --description 'Print the version.'
      """
    ]
    for command in CommandDescription.all {
      lines.append(word(command.name, command.summary, where: "__roost_behind 1"))
      lines.append(word(command.name, command.summary, where: "__roost_behind 2; and __roost_is help"))
    }
    for command in commands {
      for (name, help) in command.completedWords {
        lines.append(word(name, help, where: "__roost_behind 2; and __roost_is \(command.name)"))
      }
      for flag in command.completedFlags { lines.append(option(flag, of: command)) }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func word(_ word: String, _ help: String, where condition: String) -> String {
    "complete --command roost --condition '\(condition)' --arguments \(word) --description \(fishQuoted(help))"
  }

  private static func option(_ flag: CommandDescription.Flag, of command: CommandDescription) -> String {
    var line = "complete --command roost --condition '__roost_is \(command.name)' --long-option \(flag.name)"
    line += " --description \(fishQuoted(flag.help))"
    guard flag.value != nil else { return line }
    line += flag.kind == .file ? " --require-parameter --force-files" : " --exclusive"
    if let (words, isList) = flag.choices {
      // Of a list with commas the last word is completed.
      line +=
        " --arguments "
        + fishQuoted(
          isList
            ? "(__fish_complete_list , 'string split \" \" \"\(words.joined(separator: " "))\"')"
            : words.joined(separator: " "))
    }
    return line
  }

  private static func fishQuoted(_ text: String) -> String {
    "'" + String(text.flatMap { "'\\".contains($0) ? "\\\($0)" : String($0) }) + "'"
  }
}
