/// A command as its help shows it and the parser takes it.
struct CommandDescription: Sendable {
  struct Flag: Sendable {
    var name: String
    /// What its value is called; nil for a switch.
    var value: String?
    var help: String
  }

  var name: String
  var summary: String
  var flags: [Flag]
  var examples: [(command: String, meaning: String)]
  /// Whether every option of the configuration is a flag of it.
  var takesOptions = true

  var help: String {
    var text = "roost \(name): \(summary)\n\nFlags\n"
    let all = flags + [Flag(name: "help", value: nil, help: "Print this.")]
    let names = all.map { "--\($0.name)" + ($0.value.map { " \($0)" } ?? "") }
    let width = (names.map(\.count).max() ?? 0) + 2
    for (flag, name) in zip(all, names) {
      text += "  \(name)\(String(repeating: " ", count: width - name.count))\(flag.help)\n"
    }
    if takesOptions {
      text += "\nEvery option of the configuration is a flag as well, as in --media.workers=2;\n"
      text += "`roost config --help` explains them.\n"
    }
    text += "\nExamples\n"
    for (command, meaning) in examples { text += "  # \(meaning)\n  \(command)\n" }
    return text
  }
}

extension CommandDescription {
  private static let sourceFlags = [
    Flag(name: "config", value: "FILE", help: "Read the configuration from this JSON5 file."),
    Flag(name: "dev", value: nil, help: "Use the key pair devkey / secret; HTTP on this machine only."),
  ]

  static let serve = CommandDescription(
    name: "serve", summary: "run the server",
    flags: sourceFlags + [
      Flag(
        name: "lan", value: nil,
        help: "With --dev: for friends on the network too, by https with a certificate of one's own.")
    ],
    examples: [
      ("roost serve --dev", "try it on this machine: open http://localhost:7880"),
      ("roost serve --dev --lan", "try it with a friend on the same network"),
      ("roost serve --config /etc/roost/roost.json5", "run it for others"),
      (
        "ROOST_KEYS=myKey:\"$SECRET\" roost serve --media.advertise.ipv4=203.0.113.7",
        "behind a NAT, with the key from the environment"
      ),
    ])

  static let token = CommandDescription(
    name: "token", summary: "sign an access token",
    flags: [
      Flag(name: "room", value: "ROOM", help: "The room that it is for."),
      Flag(name: "identity", value: "ID", help: "Who joins with it; without it nobody does."),
      Flag(name: "name", value: "NAME", help: "The name to show."),
      Flag(name: "metadata", value: "TEXT", help: "Goes with the participant."),
      Flag(name: "valid-for", value: "TIME", help: "90s, 30m, 6h or 7d from now; 6h unless given."),
      Flag(name: "no-publish", value: nil, help: "Refuse sending tracks (and data)."),
      Flag(name: "no-subscribe", value: nil, help: "Refuse receiving tracks."),
      Flag(name: "no-data", value: nil, help: "Refuse sending data."),
      Flag(
        name: "sources", value: "LIST",
        help: "Allow these tracks only: camera, microphone, screen_share, screen_share_audio."),
      Flag(name: "update-metadata", value: nil, help: "Allow changing one's own name and metadata."),
      Flag(name: "hidden", value: nil, help: "Be seen by nobody."),
      Flag(name: "create", value: nil, help: "Allow creating and deleting rooms."),
      Flag(name: "list", value: nil, help: "Allow listing rooms."),
      Flag(name: "admin", value: nil, help: "Allow administering the room, or all without --room."),
      Flag(name: "key", value: "KEY", help: "The API key that signs."),
      Flag(
        name: "secret", value: "SECRET",
        help: "Its secret; better in ROOST_KEYS than here, where ps shows it."),
      Flag(name: "link", value: "URL", help: "Print a link to the page at URL that joins with the token."),
    ] + sourceFlags,
    examples: [
      ("roost token --dev --room demo --identity ada", "a token for a server that runs with --dev"),
      (
        "roost token --config /etc/roost/roost.json5 --room demo --identity bob --name Bob --no-publish --valid-for 30m",
        "half an hour of watching"
      ),
      (
        "roost token --dev --room demo --identity eve --link http://localhost:7880",
        "a link to open in a browser"
      ),
      ("roost token --dev --list --admin --create", "a token for administering"),
    ])

  static let config = CommandDescription(
    name: "config", summary: "show the configuration that would hold, and check it",
    flags: [
      Flag(name: "defaults", value: nil, help: "Show a file with every option at its default, to start from.")
    ] + sourceFlags,
    examples: [
      ("roost config --defaults > roost.json5", "a file to start from"),
      ("roost config --config roost.json5", "what holds with this file; exit code 1 if something is wrong"),
    ])

  static let all = [serve, token, config]

  static var overview: String {
    """
    roost: a WebRTC server that forwards media between the people in a room

    Commands
      serve    \(serve.summary)
      token    \(token.summary)
      config   \(config.summary)

    Flags
      --version   Print the version.
      --help      Print this; after a command, explain it.

    Examples
      # try it on this machine: open http://localhost:7880
      roost serve --dev
      # a token for it
      roost token --dev --room demo --identity ada

    """
  }

  /// The options, for `roost config --help`.
  static var optionHelp: String {
    var text = "\nOptions\n"
    for option in ConfigurationSchema.options {
      text += "  \(option.name)\n      \(option.explanation)\n"
      text += "      Takes \(option.expectation); default \(option.render(Configuration())).\n"
      text += "      Also --\(option.name) and \(option.environmentName).\n"
    }
    return text
  }
}
