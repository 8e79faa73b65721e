extension CommandDescription {
  /// How the server is found and what it is asked with.
  static let accessFlags = [
    Flag(
      name: "url", value: "URL",
      help: "Where the server is; else ROOST_URL, else http://localhost and the configured port."),
    Flag(name: "dev", value: nil, help: "Ask the server that runs with --dev on this machine, by its key."),
    Flag(
      name: "config", value: "FILE",
      help: "Take the key, and the port on this machine, from this configuration.",
      kind: .file),
    Flag(
      name: "token", value: "TOKEN", help: "The access token; safer in ROOST_TOKEN, as ps shows this one."),
    Flag(
      name: "key", value: "KEY", help: "Of several configured API keys (ROOST_KEYS), the one to sign with."),
    Flag(
      name: "secret", value: "SECRET", help: "The --key's secret; safer in ROOST_KEYS, as ps shows this one."),
    Flag(
      name: "ca", value: "FILE", help: "Believe the authorities in this PEM file alone; else ROOST_CA.",
      kind: .file),
    Flag(
      name: "insecure", value: nil,
      help: "Believe any certificate, and use http to other machines: others may read the token."),
  ]

  static let showing = [
    Flag(name: "json", value: nil, help: "Print JSON, as docs/rest.md describes it."),
    Flag(name: "wide", value: nil, help: "Shorten nothing to fit the terminal."),
  ]

  static let paging = [
    Flag(name: "limit", value: "N", help: "Show at most so many; 1000 unless given."),
    Flag(name: "after", value: "NEXT", help: "Begin behind what an earlier answer called next."),
  ]

  static let exitCodes = """
    Exit codes
      0  done
      1  the configuration is wrong, or something else failed on this machine
      2  the command line is wrong
      3  no server answers there, or what answers is no Roost
      4  the token is no good, or doesn't allow this
      5  the room, participant, track or event isn't there
      6  the server refuses what was asked
      7  the server is busy, full or about to stop: try again

    """

  private static let room = Argument(name: "ROOM", help: "The room's name.")
  private static let identity = Argument(name: "IDENTITY", help: "The participant's identity.")

  private static let settings = [
    Flag(name: "metadata", value: "TEXT", help: "A text for applications, at most 64 KiB."),
    Flag(name: "max-participants", value: "N", help: "How many may be in the room at once."),
    Flag(
      name: "empty-timeout", value: "TIME", help: "How long it waits for its first participant: 90s, 30m, 2h."
    ),
    Flag(
      name: "departure-timeout", value: "TIME", help: "How long it stays once everybody has left: 0s, 20s."),
  ]

  static let rooms = CommandDescription(
    name: "rooms", summary: "list rooms; show, create, update or close one",
    flags: paging + showing + accessFlags,
    examples: [
      ("roost rooms --dev", "the rooms of the server that runs with --dev on this machine"),
      ("ROOST_KEYS=myKey:\"$SECRET\" roost rooms --url https://relay.example", "of another, by its key"),
      ("roost rooms --config /etc/roost/roost.json5 --json", "for programs"),
    ],
    takesOptions: false,
    actions: [
      CommandDescription(
        name: "rooms list", summary: "list rooms, which `roost rooms` does too",
        flags: paging + showing + accessFlags,
        examples: [("roost rooms list --dev --limit 20", "the first twenty by name")], takesOptions: false,
        notes: exitCodes),
      CommandDescription(
        name: "rooms show", summary: "show a room", arguments: [room], flags: showing + accessFlags,
        examples: [("roost rooms show demo --dev", "one room")], takesOptions: false, notes: exitCodes),
      CommandDescription(
        name: "rooms create", summary: "create a room ahead of its first participant", arguments: [room],
        flags: settings + showing + accessFlags,
        examples: [
          ("roost rooms create demo --dev --max-participants 9", "a small one"),
          ("roost rooms create lecture --dev --empty-timeout 2h", "one that waits for long"),
        ], takesOptions: false, notes: exitCodes),
      CommandDescription(
        name: "rooms update", summary: "change a room's metadata and limits", arguments: [room],
        flags: settings + [
          Flag(
            name: "unset", value: "LIST", help: "Back to the server's own: metadata, max-participants, …",
            kind: .someOf(roomSettings))
        ] + showing + accessFlags,
        examples: [
          (
            "roost rooms update demo --dev --metadata 'closing at noon'", "everybody in the room learns of it"
          ),
          ("roost rooms update demo --dev --unset max-participants", "as many as the server allows"),
        ], takesOptions: false, notes: exitCodes),
      CommandDescription(
        name: "rooms close", summary: "end a room and everybody's session in it", arguments: [room],
        flags: showing + accessFlags,
        examples: [("roost rooms close demo --dev", "everybody in it hears why")], takesOptions: false,
        notes: exitCodes),
    ],
    notes: exitCodes)

  /// What `rooms update --unset` may name.
  static let roomSettings = settings.map(\.name)

  static let participants = CommandDescription(
    name: "participants", summary: "list who is in a room; show, update, remove or mute one",
    arguments: [room], flags: paging + showing + accessFlags,
    examples: [
      ("roost participants demo --dev", "who is in the room"),
      ("roost participants list show --dev", "the same of a room that is called as an action is"),
    ],
    takesOptions: false,
    actions: [
      CommandDescription(
        name: "participants list", summary: "list who is in a room, hidden ones too", arguments: [room],
        flags: paging + showing + accessFlags,
        examples: [("roost participants list demo --dev --json", "for programs")], takesOptions: false,
        notes: exitCodes),
      CommandDescription(
        name: "participants show", summary: "show a participant with its tracks and subscriptions",
        arguments: [room, identity], flags: showing + accessFlags,
        examples: [("roost participants show demo ada --dev", "one participant")], takesOptions: false,
        notes: exitCodes),
      participantUpdate,
      CommandDescription(
        name: "participants remove", summary: "end a participant's session and refuse its tokens of before",
        arguments: [room, identity], flags: showing + accessFlags,
        examples: [("roost participants remove demo eve --dev", "also where eve isn't in at the moment")],
        takesOptions: false, notes: exitCodes),
      CommandDescription(
        name: "participants mute", summary: "mute a track for everybody, or lift that mute",
        arguments: [
          room, identity,
          Argument(name: "TRACK", help: "A track's id, or a source for all of it: camera, microphone, …"),
        ],
        flags: [Flag(name: "lift", value: nil, help: "Lift the mute; one of the participant's own stays.")]
          + showing + accessFlags,
        examples: [
          ("roost participants mute demo ada microphone --dev", "the others don't hear ada any more"),
          (
            "roost participants mute demo ada microphone --lift --dev",
            "they hear ada again, whose own mute would stay"
          ),
        ], takesOptions: false, notes: exitCodes),
    ],
    notes: exitCodes)

  private static let participantUpdate = CommandDescription(
    name: "participants update", summary: "change a participant's name, metadata, attributes or permissions",
    arguments: [room, identity],
    flags: [
      Flag(name: "name", value: "NAME", help: "The name to show."),
      Flag(name: "metadata", value: "TEXT", help: "A text for applications, at most 64 KiB."),
      Flag(
        name: "attribute", value: "NAME=TEXT", help: "An attribute; may be repeated.", isRepeatable: true),
      Flag(
        name: "remove-attribute", value: "NAME", help: "Take an attribute away; may be repeated.",
        isRepeatable: true),
      Flag(
        name: "unset", value: "LIST", help: "Take away: name, metadata, attributes.",
        kind: .someOf(participantTexts)),
      Flag(
        name: "allow", value: "LIST", help: "Allow: publish, subscribe, data, update-metadata.",
        kind: .someOf(permissions)),
      Flag(
        name: "deny", value: "LIST", help: "Deny the same; takes effect at once.", kind: .someOf(permissions)),
      Flag(
        name: "sources", value: "LIST",
        help: "Allow these sources only: camera, microphone, …; all allows each.",
        kind: .someOf(["all"] + sources)),
    ] + showing + accessFlags,
    examples: [
      (
        "roost participants update demo ada --dev --deny publish",
        "until allowed again, or until ada joins again"
      ),
      ("roost participants update demo ada --dev --name Ada --attribute seat=12", "what others see of ada"),
    ], takesOptions: false, notes: exitCodes)

  static let participantTexts = ["name", "metadata", "attributes"]
  static let permissions = ParticipantChange.Permission.allCases.map(\.rawValue)
}
