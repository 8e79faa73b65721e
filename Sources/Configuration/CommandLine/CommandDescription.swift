/// A command as its help shows it, the parser takes it and shells complete it.
struct CommandDescription: Sendable {
  /// What a value is, for shells that complete it.
  enum Kind: Equatable, Sendable {
    case text
    case file
    case oneOf([String])
    /// Some of these, with commas between.
    case someOf([String])
  }

  struct Flag: Sendable {
    var name: String
    /// What its value is called; nil for a switch.
    var value: String?
    var help: String
    var kind = Kind.text
    var isRepeatable = false
  }

  /// What stands behind the command without a flag.
  struct Argument: Sendable {
    var name: String
    var help: String
    var isOptional = false
    var kind = Kind.text
  }

  /// All its words, `rooms show` for instance.
  var name: String
  var summary: String
  var arguments: [Argument] = []
  var flags: [Flag]
  var examples: [(command: String, meaning: String)]
  /// Whether every option of the configuration is a flag of it.
  var takesOptions = true
  /// Whether what follows is another program's to read.
  var passesOn = false
  /// What may stand behind it in place of its arguments.
  var actions: [CommandDescription] = []
  /// What help says at its end.
  var notes = ""

  /// The last of its words.
  var action: String { name.split(separator: " ").last.map(String.init) ?? name }

  /// How it is written, without flags.
  var usage: String {
    "roost " + ([name] + arguments.map { $0.isOptional ? "[\($0.name)]" : $0.name }).joined(separator: " ")
  }

  var help: String {
    var text = "roost \(name): \(summary)\n"
    if !arguments.isEmpty || !actions.isEmpty {
      text += "\nUsage\n  \(usage) [FLAGS]\n"
      if !actions.isEmpty { text += "  roost \(name) ACTION …; see `roost \(name) ACTION --help`\n" }
    }
    if !actions.isEmpty { text += "\nActions\n" + Self.table(actions.map { ($0.action, $0.summary) }) }
    if !arguments.isEmpty { text += "\nArguments\n" + Self.table(arguments.map { ($0.name, $0.help) }) }
    let all = passesOn ? flags : flags + [Flag(name: "help", value: nil, help: "Show this help.")]
    if !all.isEmpty {
      text +=
        "\nFlags\n" + Self.table(all.map { ("--\($0.name)" + ($0.value.map { " \($0)" } ?? ""), $0.help) })
    }
    if takesOptions {
      text += "\nEvery option of the configuration is a flag as well, as in --media.workers=2;\n"
      text += "`roost config --help` explains them.\n"
    }
    text += "\nExamples\n"
    for (command, meaning) in examples { text += "  # \(meaning)\n  \(command)\n" }
    return text + (notes.isEmpty ? "" : "\n" + notes)
  }

  private static func table(_ rows: [(name: String, help: String)]) -> String {
    let width = (rows.map(\.name.count).max() ?? 0) + 2
    return rows.map { "  \($0.name)\(String(repeating: " ", count: width - $0.name.count))\($0.help)\n" }
      .joined()
  }
}

extension CommandDescription {
  static let sourceFlags = [
    Flag(name: "config", value: "FILE", help: "Read the configuration from this JSON5 file.", kind: .file),
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
      Flag(
        name: "person", value: nil,
        help: "Let it stand for the --identity in no room: for calls, devices and keys."),
      Flag(name: "name", value: "NAME", help: "The participant's display name."),
      Flag(name: "metadata", value: "TEXT", help: "The participant's metadata."),
      Flag(
        name: "valid-for", value: "TIME", help: "How long it is valid: 90s, 30m, 6h or 7d; 6h by default."),
      Flag(name: "no-publish", value: nil, help: "Don't allow publishing tracks (or sending data)."),
      Flag(name: "no-subscribe", value: nil, help: "Don't allow subscribing to tracks."),
      Flag(name: "no-data", value: nil, help: "Don't allow sending data."),
      Flag(
        name: "sources", value: "LIST",
        help: "Allow these sources only: camera, microphone, screen_share, screen_share_audio.",
        kind: .someOf(sources)),
      Flag(
        name: "update-metadata", value: nil, help: "Allow changing one's own name, metadata and attributes."),
      Flag(name: "hidden", value: nil, help: "Hide the participant from the others."),
      Flag(name: "create", value: nil, help: "Allow creating and deleting rooms."),
      Flag(name: "list", value: nil, help: "Allow listing rooms."),
      Flag(name: "admin", value: nil, help: "Allow administering the --room, or every room with --room '*'."),
      Flag(
        name: "thumbnails", value: nil,
        help: "With --admin: allow single pictures of tracks, of which their rooms hear."),
      Flag(name: "key", value: "KEY", help: "The API key to sign with."),
      Flag(
        name: "secret", value: "SECRET",
        help: "The key's secret; safer in ROOST_KEYS, because ps shows command lines."),
      Flag(name: "link", value: "URL", help: "Print a link to the page at URL with the token in it."),
      Flag(name: "json", value: nil, help: "Print an object with the token, and the link if there is one."),
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
      ("roost token --dev --person --identity ada --name Ada", "a token to call people with"),
      ("roost token --dev --list --admin --create --room '*'", "a token for administrators of every room"),
    ])

  static let config = CommandDescription(
    name: "config", summary: "check the configuration and show the result",
    flags: [
      Flag(name: "defaults", value: nil, help: "Show a configuration file with every option at its default."),
      Flag(name: "json", value: nil, help: "Print one JSON object."),
    ] + sourceFlags,
    examples: [
      ("roost config --defaults > roost.json5", "a file to start from"),
      ("roost config --config roost.json5", "the resulting configuration; exit code 1 if something is wrong"),
    ])

  /// What a track may be of.
  static let sources = ["camera", "microphone", "screen_share", "screen_share_audio", "unknown"]

  static let all = [serve, token, config, rooms, participants, events, publish, record, load, completion]

  static var overview: String {
    """
    roost: a WebRTC server that forwards media between the people in a room

    Commands
    \(table(all.map { ($0.name, $0.summary) }))
    Flags
      --version   Print the version.
      --help      Print this; after a command, explain it.

    Examples
      # try it on this machine: open http://localhost:7880
      roost serve --dev
      # a token for it
      roost token --dev --room demo --identity ada
      # who is in the room
      roost participants demo --dev

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
