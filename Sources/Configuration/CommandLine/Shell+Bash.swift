extension Shell {
  static var bashCompletion: String {
    let names = CommandDescription.all.map(\.name)
    let actions = commands.filter { $0.name.contains(" ") }.map { quoted($0.name) }.joined(separator: " | ")
    return """
      # Completes roost in bash; written by `roost completion bash`.
      _roost() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
        local command=${COMP_WORDS[1]} words= flags= files= texts= choices= list=
        COMPREPLY=()
        # The shell takes --flag=value apart.
        if [[ $current == '=' ]]; then
          current=
        elif [[ $previous == '=' ]]; then
          previous=${COMP_WORDS[COMP_CWORD - 2]}
        fi
        if ((COMP_CWORD == 1)); then
          mapfile -t COMPREPLY < <(compgen -W '\(names.joined(separator: " ")) help --help --version' -- "$current")
          return
        fi
        if ((COMP_CWORD > 2)); then
          case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
          \(actions))
            command="${COMP_WORDS[1]} ${COMP_WORDS[2]}" ;;
          esac
        fi
        case $command in
        help)
          words='\(names.joined(separator: " "))' ;;
      \(commands.filter { !$0.passesOn }.map(bashCase).joined(separator: "\n"))
        esac
        if [[ -n $choices ]]; then
          # Of a list with commas the last word is completed.
          local before=
          if [[ -n $list && $current == *,* ]]; then before=${current%,*},; fi
          mapfile -t COMPREPLY < <(compgen -P "$before" -W "$choices" -- "${current#"$before"}")
        elif [[ " $files " == *" $previous "* ]]; then
          compopt -o filenames 2>/dev/null
          mapfile -t COMPREPLY < <(compgen -f -- "$current")
        elif [[ " $texts " == *" $previous "* ]]; then
          return
        elif [[ $current == -* || -z $words ]]; then
          mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$current")
        elif ((COMP_CWORD == 2)); then
          mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        fi
      }
      complete -F _roost roost

      """
  }

  private static func bashCase(_ command: CommandDescription) -> String {
    let flags = command.completedFlags
    func names(_ isMeant: (CommandDescription.Flag) -> Bool) -> String {
      flags.filter(isMeant).map { "--" + $0.name }.joined(separator: " ")
    }
    var lines = ["  \(quoted(command.name)))"]
    lines.append("    words=\(quoted(command.completedWords.map(\.word).joined(separator: " ")))")
    lines.append("    flags=\(quoted(names { _ in true }))")
    lines.append("    files=\(quoted(names { $0.kind == .file }))")
    lines.append("    texts=\(quoted(names { $0.value != nil && $0.kind == .text }))")
    for flag in flags {
      guard let (words, isList) = flag.choices else { continue }
      lines.append(
        "    [[ $previous != --\(flag.name) ]] || choices=\(quoted(words.joined(separator: " ")))"
          + (isList ? " list=yes" : ""))
    }
    return lines.joined(separator: "\n") + " ;;"
  }
}
