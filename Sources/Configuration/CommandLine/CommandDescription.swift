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
    let all = flags + [Flag(name: "help", value: nil, help: "Show this help.")]
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
    Flag(
      name: "dev", value: nil,
      help: "Try Roost out: key devkey with secret 'secret', HTTP on this machine only."),
  ]

  static let serve = CommandDescription(
    name: "serve", summary: "run the server",
    flags: sourceFlags + [
      Flag(
        name: "lan", value: nil,
        help: "With --dev: serve the local network too, over https with a self-signed certificate.")
    ],
    examples: [
      ("roost serve --dev", "try it on this machine: open http://localhost:7880"),
      ("roost serve --dev --lan", "try it with a friend on the same network"),
      ("roost serve --config /etc/roost/roost.json5", "run it with a configuration"),
      (
        "ROOST_KEYS=myKey:\"$SECRET\" roost serve --media.advertise.ipv4=203.0.113.7",
        "behind a NAT, with the key from the environment"
      ),
    ])

  static let token = CommandDescription(
    name: "token", summary: "sign an access token",
    flags: [
      Flag(name: "room", value: "ROOM", help: "The room that the token is for."),
      Flag(
        name: "identity", value: "ID", help: "The participant's identity; without it the token can't join."),
      Flag(name: "name", value: "NAME", help: "The participant's display name."),
      Flag(name: "metadata", value: "TEXT", help: "The participant's metadata."),
      Flag(
        name: "valid-for", value: "TIME", help: "How long it is valid: 90s, 30m, 6h or 7d; 6h by default."),
      Flag(name: "no-publish", value: nil, help: "Don't allow publishing tracks (or sending data)."),
      Flag(name: "no-subscribe", value: nil, help: "Don't allow subscribing to tracks."),
      Flag(name: "no-data", value: nil, help: "Don't allow sending data."),
      Flag(
        name: "sources", value: "LIST",
        help: "Allow these sources only: camera, microphone, screen_share, screen_share_audio."),
      Flag(
        name: "update-metadata", value: nil, help: "Allow changing one's own name, metadata and attributes."),
      Flag(name: "hidden", value: nil, help: "Hide the participant from the others."),
      Flag(name: "create", value: nil, help: "Allow creating and deleting rooms."),
      Flag(name: "list", value: nil, help: "Allow listing rooms."),
      Flag(name: "admin", value: nil, help: "Allow administering the room, or all without --room."),
      Flag(name: "key", value: "KEY", help: "The API key to sign with."),
      Flag(
        name: "secret", value: "SECRET",
        help: "The key's secret; safer in ROOST_KEYS, because ps shows command lines."),
      Flag(name: "link", value: "URL", help: "Print a link to the page at URL with the token in it."),
    ] + sourceFlags,
    examples: [
      ("roost token --dev --room demo --identity ada", "a token for a server that runs with --dev"),
      (
        "roost token --config /etc/roost/roost.json5 --room demo --identity bob --name Bob --no-publish --valid-for 30m",
        "watch for half an hour"
      ),
      (
        "roost token --dev --room demo --identity eve --link http://localhost:7880",
        "a link to open in a browser"
      ),
      ("roost token --dev --list --admin --create", "a token for administrators"),
    ])

  static let config = CommandDescription(
    name: "config", summary: "check the configuration and show the result",
    flags: [
      Flag(name: "defaults", value: nil, help: "Show a configuration file with every option at its default.")
    ] + sourceFlags,
    examples: [
      ("roost config --defaults > roost.json5", "a file to start from"),
      ("roost config --config roost.json5", "the resulting configuration; exit code 1 if something is wrong"),
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
