import Testing

@testable import Configuration

@Suite("The operator's command line", .timeLimit(.minutes(2)))
struct OperatorInvocationTests {
  private func request(_ words: String...) throws -> OperatorRequest {
    guard case .ask(let request, _) = try Invocation(parsing: words) else {
      throw UsageError("no request: \(words)")
    }
    return request
  }

  private func message(_ line: String) -> String {
    do {
      return "no error: \(try Invocation(parsing: line.split(separator: " ").map(String.init)))"
    } catch {
      return "\(error)".split(separator: "\n").first.map(String.init) ?? ""
    }
  }

  // MARK: What is asked

  @Test func `a list is what a command without an action is`() throws {
    #expect(try request("rooms").deed == .listRooms(OperatorRequest.Page()))
    #expect(
      try request("rooms", "list", "--limit", "7", "--after=x").deed
        == .listRooms(OperatorRequest.Page(limit: 7, after: "x")))
    #expect(
      try request("participants", "demo").deed == .listParticipants(room: "demo", OperatorRequest.Page()))
  }

  @Test func `a room that is called as an action is can be listed`() throws {
    #expect(
      try request("participants", "list", "show").deed
        == .listParticipants(room: "show", OperatorRequest.Page()))
  }

  @Test func `names of any form stand behind two hyphens`() throws {
    #expect(
      try request("participants", "show", "--json", "--", "--x", "-y").deed
        == .showParticipant(room: "--x", identity: "-y"))
    #expect(try request("rooms", "show", "--", "--help").deed == .showRoom("--help"))
    #expect(try request("rooms", "show", "-").deed == .showRoom("-"))
    #expect(try request("rooms", "show", "ein Raum/ü").deed == .showRoom("ein Raum/ü"))
  }

  @Test func `a room's settings are set, left and taken away`() throws {
    var change = RoomChange()
    change.metadata = .set("")
    change.maxParticipants = .set(9)
    change.emptyTimeout = .set(7_200)
    change.departureTimeout = .set(0)
    #expect(
      try request(
        "rooms", "create", "demo", "--metadata", "", "--max-participants=9", "--empty-timeout", "2h",
        "--departure-timeout=0s"
      ).deed == .createRoom("demo", change))
    change = RoomChange()
    change.metadata = .clear
    change.maxParticipants = .clear
    change.emptyTimeout = .set(90)
    #expect(
      try request("rooms", "update", "demo", "--unset", "metadata, max-participants", "--empty-timeout=90s")
        .deed == .updateRoom("demo", change))
  }

  @Test func `a participant's name, attributes and permissions are changed`() throws {
    var change = ParticipantChange()
    change.name = .set("Ada")
    change.metadata = .clear
    change.attributes = ["seat": "12", "a": "=b", "gone": nil]
    change.permissions = [.publish: false, .data: false, .updateMetadata: true]
    change.sources = .set(["microphone"])
    #expect(
      try request(
        "participants", "update", "demo", "ada", "--name=Ada", "--attribute", "seat=12", "--attribute",
        "a==b",
        "--remove-attribute", "gone", "--unset", "metadata", "--deny", "publish,data", "--allow",
        "update-metadata", "--sources", "microphone"
      ).deed == .updateParticipant(room: "demo", identity: "ada", change))
    change = ParticipantChange()
    change.sources = .clear
    change.clearsAttributes = true
    #expect(
      try request("participants", "update", "r", "i", "--sources=all", "--unset=attributes").deed
        == .updateParticipant(room: "r", identity: "i", change))
  }

  @Test func `a mute is set or lifted`() throws {
    #expect(
      try request("participants", "mute", "r", "i", "camera").deed
        == .mute(room: "r", identity: "i", track: "camera", muted: true))
    #expect(
      try request("participants", "mute", "r", "i", "TR_x", "--lift").deed
        == .mute(room: "r", identity: "i", track: "TR_x", muted: false))
  }

  @Test func `events are of a room or of all, from one on and further`() throws {
    var wanted = EventsWanted()
    #expect(try request("events").deed == .events(wanted))
    wanted.page.after = "a cursor"
    wanted.follows = true
    #expect(try request("events", "--follow", "--after", "a cursor").deed == .events(wanted))
    wanted = EventsWanted(room: "demo")
    wanted.page = OperatorRequest.Page(limit: 5, after: "41")
    wanted.roomID = "RM_x"
    #expect(
      try request("events", "demo", "--after=41", "--room-id", "RM_x", "--limit=5").deed == .events(wanted))
  }

  @Test func `what follows load is roost-load's`() throws {
    #expect(
      try Invocation(parsing: ["load", "--help", "--json", "x"]) == .load(["--help", "--json", "x"]))
    #expect(try Invocation(parsing: ["completion", "fish"]) == .completion(.fish))
  }

  // MARK: With what

  private func credential(
    _ words: String..., file: String = #"{ keys: { file: "in the file" }, http: { port: 1234 } }"#,
    environment: [String: String] = [:]
  ) throws -> ServerAccess.Credential {
    guard case .ask(let request, let command) = try Invocation(parsing: ["rooms"] + words) else {
      throw UsageError("no request")
    }
    let configuration = try request.access.configuration.load(
      environment: environment, read: { _ in file }, secret: { "" })
    return try request.access.credential(
      in: configuration, environment: environment, command: command)
  }

  @Test func `what the command line says counts before the environment, and a token before a key`() throws {
    let both = ["ROOST_TOKEN": "t", "ROOST_KEYS": "k:s"]
    #expect(try credential(environment: both) == .token("t"))
    #expect(try credential(environment: ["ROOST_KEYS": "k:s"]) == .keyPair(key: "k", secret: "s"))
    #expect(try credential("--token", "given", "--dev", environment: both) == .token("given"))
    #expect(try credential("--dev", environment: both) == .keyPair(key: "devkey", secret: "secret"))
    #expect(try credential("--key=k", environment: both) == .keyPair(key: "k", secret: "s"))
    #expect(
      try credential("--key=n", "--secret=o", environment: both) == .keyPair(key: "n", secret: "o"))
    #expect(
      try credential("--config=f", environment: ["ROOST_TOKEN": "t"])
        == .keyPair(key: "file", secret: "in the file"))
    #expect(try credential("--config=f", file: "{}", environment: ["ROOST_TOKEN": "t"]) == .token("t"))
  }

  @Test(
    arguments: [
      ([], [:], "no token and no key"),
      ([], ["ROOST_TOKEN": ""], "no token and no key"),
      (["--key=x"], [:], "no secret for --key x"),
      (["--secret=x"], ["ROOST_KEYS": "a:b"], "--secret requires --key"),
      ([], ["ROOST_KEYS": "a:b,c:d"], "several keys are configured"),
    ] as [([String], [String: String], String)])
  func `where it isn't clear with what, nothing is asked`(
    words: [String], environment: [String: String], expected: String
  ) throws {
    let access = try #require(
      { () throws -> ServerAccess? in
        guard case .ask(let request, _) = try Invocation(parsing: ["rooms"] + words) else { return nil }
        return request.access
      }())
    let configuration = try access.configuration.load(
      environment: environment, read: { _ in "" }, secret: { "" })
    #expect {
      try access.credential(in: configuration, environment: environment, command: "rooms")
    } throws: {
      "\($0)".contains(expected) && "\($0)".contains("Try `roost rooms --help`")
    }
  }

  @Test func `the address is given, or of a server on this machine`() throws {
    var configuration = Configuration()
    var access = ServerAccess()
    #expect(access.address(in: configuration, environment: [:]) == "http://localhost:7880")
    #expect(access.address(in: configuration, environment: ["ROOST_URL": ""]) == "http://localhost:7880")
    #expect(access.address(in: configuration, environment: ["ROOST_URL": "https://a"]) == "https://a")
    configuration.http.port = 1234
    configuration.http.certificate = "c.pem"
    #expect(access.address(in: configuration, environment: [:]) == "https://localhost:1234")
    access.configuration.development = true
    #expect(
      access.address(in: Configuration(), environment: ["ROOST_URL": "https://a"]) == "http://localhost:7880")
    access.url = "https://b"
    #expect(access.address(in: configuration, environment: ["ROOST_URL": "https://a"]) == "https://b")
    #expect(access.authorities(environment: ["ROOST_CA": "f"]) == "f")
    access.authorities = "g"
    #expect(access.authorities(environment: ["ROOST_CA": "f"]) == "g")
  }

  @Test func `where a client looks is no slip of a server's option`() throws {
    let configuration = try Configuration.load(
      file: nil, environment: ["ROOST_URL": "x", "ROOST_TOKEN": "y", "ROOST_CA": "z"], arguments: [])
    #expect(configuration.ignoredVariables.isEmpty)
  }

  // MARK: Slips

  @Test(arguments: [
    ("rooms shwo demo", "roost: no such action: shwo; did you mean show?"),
    ("rooms zzzzzzzz", "roost: no such action: zzzzzzzz; there are list, show, create, update, close"),
    ("rooms show", "roost: ROOM is missing: roost rooms show ROOM"),
    ("participants", "roost: ROOM is missing: roost participants ROOM"),
    (
      "participants show demo",
      "roost: IDENTITY is missing: roost participants show ROOM IDENTITY"
    ),
    (
      "participants remvoe demo ada",
      "roost: demo: one argument too many: roost participants ROOM; did you mean roost participants remove?"
    ),
    ("rooms show a b", "roost: b: one argument too many: roost rooms show ROOM"),
    ("rooms close demo --limit 3", "roost: no such flag: --limit"),
    ("rooms --media.workers=2", "roost: no such flag: --media.workers, given \"2\""),
    ("rooms --tokne=abc", "roost: no such flag: --tokne, given \"abc\"; did you mean --token?"),
    ("rooms --my-token=abc", "roost: no such flag: --my-token, given (hidden)"),
    ("rooms -j", "roost: -j: not a flag; flags start with --"),
    ("rooms --limit 0", "roost: --limit 0: expected a whole number from 1 to 1000000"),
    ("rooms --limit 1e3", "roost: --limit 1e3: expected a whole number from 1 to 1000000"),
    ("rooms update demo", "roost: nothing to change: give --metadata, for instance, or --unset"),
    (
      "rooms update demo --unset metdata",
      "roost: --unset: no such setting: metdata; did you mean metadata?"
    ),
    (
      "rooms update demo --unset metadata --metadata x",
      "roost: --metadata and --unset metadata contradict each other"
    ),
    (
      "rooms create demo --empty-timeout 5",
      "roost: --empty-timeout 5: expected a time such as 90s, 30m or 2h"
    ),
    (
      "participants update r i",
      "roost: nothing to change: give --name, for instance, or --deny publish"
    ),
    (
      "participants update r i --deny publsh",
      "roost: --deny: no such permission: publsh; did you mean publish?"
    ),
    (
      "participants update r i --allow data --deny publish,data",
      "roost: data is named twice in --allow and --deny"
    ),
    ("participants update r i --sources all,camera", "roost: --sources: all stands alone"),
    (
      "participants update r i --sources=",
      "roost: --sources: expected one at least; --deny publish allows none"
    ),
    ("participants update r i --attribute x", "roost: --attribute x: expected NAME=TEXT"),
    (
      "participants update r i --attribute x=1 --remove-attribute x",
      "roost: the attribute x is named twice"
    ),
    ("participants update r i --name a --name b", "roost: --name was given twice"),
    ("events demo --after x", "roost: --after: of a room's events it is a number, such as 41"),
    ("events demo --after -1", "roost: --after: of a room's events it is a number, such as 41"),
    ("events --room-id RM_x", "roost: --room-id is of a ROOM, which is missing"),
    (
      "completion bsh",
      "roost: no completion for bsh; did you mean bash?; there are bash, zsh, fish"
    ),
    ("completion", "roost: SHELL is missing: roost completion SHELL"),
    ("publish --room demo", "roost: FILE is missing: roost publish FILE"),
    ("publish clip.ivf", "roost: --room is missing"),
    ("publish - --room demo --loop", "roost: --loop: standard input can't begin over"),
    ("record", "roost: --room is missing"),
    ("record --room demo --duration 5", "roost: --duration 5: expected a time such as 90s, 30m or 2h"),
    ("record --room demo --out=", "roost: --out \"\": expected at least one character"),
    ("record --room demo --media 192.0.2.7", "roost: --media 192.0.2.7: expected an address and a port"),
    ("record --room demo --media :80", "roost: --media :80: expected an address and a port"),
    ("record --room demo --token t --identity eve", "roost: --identity and --token contradict each other"),
  ])
  func `a slip is answered with what was meant`(line: String, expected: String) {
    #expect(message(line).hasPrefix(expected), "\(message(line))")
  }

  @Test func `commands that are in a room say which, as whom, and by which way`() throws {
    var session = SessionWanted(room: "demo")
    session.identity = "card"
    session.media = SessionWanted.MediaPlace(address: "2001:db8::7", port: 7_881)
    var publish = PublishWanted(file: "clip.webm", session)
    publish.loops = true
    let words = "publish clip.webm --room demo --identity card --loop --media [2001:db8::7]:7881 --dev"
    guard
      case .ask(let request, "publish") = try Invocation(
        parsing: words.split(separator: " ").map(String.init))
    else { return #expect(Bool(false)) }
    #expect(request.deed == .publish(publish) && !request.json && request.access.configuration.development)
    var record = RecordWanted(SessionWanted(room: "demo"))
    (record.folder, record.participant, record.seconds, record.isWebM) = ("take1", "ada", 90, true)
    let line = "record --room demo --out take1 --participant ada --duration 90s --webm --json"
    guard
      case .ask(let other, "record") = try Invocation(parsing: line.split(separator: " ").map(String.init))
    else { return #expect(Bool(false)) }
    #expect(other.deed == .record(record) && other.json)
  }

  @Test func `an empty name is refused before it becomes another path`() {
    #expect(throws: UsageError.self) { try Invocation(parsing: ["rooms", "close", ""]) }
    #expect(throws: UsageError.self) { try Invocation(parsing: ["participants", "remove", "demo", ""]) }
  }

  // MARK: Help and completion

  @Test func `each command and action has help with an example that is understood`() throws {
    for command in Shell.commands {
      let words = command.name.split(separator: " ").map(String.init)
      let line = command.passesOn ? ["help"] + words : words + ["--help"]
      guard case .help(let text) = try Invocation(parsing: line) else {
        Issue.record("no help for \(command.name)")
        continue
      }
      #expect(text.hasPrefix("roost \(command.name): ") && text.contains("Examples\n"))
      #expect(try Invocation(parsing: ["help"] + words) == .help(text))
      for flag in command.flags { #expect(text.contains("--\(flag.name)")) }
      for action in command.actions { #expect(text.contains("  \(action.action) ")) }
      // Those of options are as long as these.
      #expect(
        command.name == "config" || text.split(separator: "\n").allSatisfy { $0.count <= 120 },
        "\(command.name)")
    }
  }

  @Test(arguments: Shell.allCases)
  func `completion knows each command, action and flag`(shell: Shell) {
    let script = shell.completion
    for command in Shell.commands {
      #expect(script.contains(command.action), "\(command.name)")
      for flag in command.completedFlags { #expect(script.contains(flag.name), "\(flag.name)") }
    }
    #expect(!script.contains("\r") && script.hasSuffix("\n"))
  }
}
