extension CommandDescription {
  static let events = CommandDescription(
    name: "events", summary: "show what happened in a room, or in all, and go on with what happens",
    arguments: [
      Argument(name: "ROOM", help: "The room's name; without it the events of all rooms.", isOptional: true)
    ],
    flags: [
      Flag(name: "follow", value: nil, help: "Go on with what happens, until this is interrupted."),
      Flag(
        name: "after", value: "EVENT",
        help: "Begin behind this one: its number in the room, or a cursor of --json for all rooms."),
      Flag(
        name: "room-id", value: "ID", help: "Of an earlier room of that name: its id, which begins with RM_."),
      Flag(
        name: "limit", value: "N", help: "End after so many; 10000 unless given, without end with --follow."),
    ] + showing + accessFlags,
    examples: [
      ("roost events demo --dev", "what happened in a room"),
      ("roost events --dev --follow --json", "a line of JSON for each event of any room, as it happens"),
      ("roost events demo --dev --after 41 --follow", "go on where one was"),
    ],
    takesOptions: false,
    notes: """
      With --json each event is a line; in those of all rooms its `cursor` is what --after takes.
      --follow reads a stream of events where the server has one, else asks once a second. A
      connection that breaks is made again, and nothing is missed; where the server no longer
      keeps what follows, it ends with code 5.


      """ + exitCodes)

  static let load = CommandDescription(
    name: "load", summary: "measure what a server carries, with the roost-load beside this program",
    flags: [],
    examples: [
      ("roost load --help", "its flags"),
      (
        "ROOST_LOAD_KEY=myKey ROOST_LOAD_SECRET=\"$SECRET\" roost load --url wss://relay.example",
        "against a server of your own"
      ),
    ],
    takesOptions: false, passesOn: true)

  static let completion = CommandDescription(
    name: "completion", summary: "print what completes command lines in a shell",
    arguments: [
      Argument(name: "SHELL", help: "bash, zsh or fish.", kind: .oneOf(Shell.allCases.map(\.rawValue)))
    ],
    flags: [],
    examples: [
      ("source <(roost completion bash)", "in this bash; in ~/.bashrc for each"),
      ("roost completion zsh > ~/.zfunc/_roost", "where ~/.zfunc is in $fpath, before compinit"),
      ("roost completion fish > ~/.config/fish/completions/roost.fish", "for each fish"),
    ],
    takesOptions: false)
}
