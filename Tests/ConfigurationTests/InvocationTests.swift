import Testing

@testable import Configuration

@Suite("Command line", .timeLimit(.minutes(2)))
struct InvocationTests {
  func parse(_ line: String) throws -> Invocation {
    try Invocation(parsing: line.split(separator: " ").map(String.init))
  }

  func message(_ line: String) -> String {
    do {
      _ = try parse(line)
      return "no error"
    } catch {
      return "\(error)".split(separator: "\n").first.map(String.init) ?? ""
    }
  }

  @Test func `serve takes its source and every option, joined or apart`() throws {
    guard case .serve(let source) = try parse("serve --dev --config f.json5 --media.workers 2 --http.port=0")
    else {
      Issue.record("no serve")
      return
    }
    #expect(source.development && source.file == "f.json5")
    #expect(
      source.flags.map(\.name) == ["media.workers", "http.port"] && source.flags.map(\.value) == ["2", "0"])
    let configuration = try source.load(
      environment: [:], read: { _ in "{ limits: { peers: 7 } }" }, secret: { "" })
    #expect(
      configuration.media.workers == 2 && configuration.http.port == 0 && configuration.limits.peers == 7)
    #expect(configuration.keys["devkey"] == "secret")
  }

  @Test func `--lan opens HTTP to the network, with a secret of its own and files of TLS if given`() throws {
    guard
      case .serve(let source) = try parse(
        "serve --dev --lan --http.certificate c.pem --http.privateKey k.pem")
    else {
      Issue.record("no serve")
      return
    }
    let configuration = try source.load(environment: [:], read: { _ in "" }, secret: { "random" })
    #expect(configuration.keys == ["devkey": "random"])
    #expect(configuration.http.addresses == Configuration().http.addresses)
    #expect(configuration.http.certificate == "c.pem" && configuration.http.privateKey == "k.pem")
    #expect(message("serve --lan") == "roost: --lan requires --dev")
    #expect(message("token --dev --lan --list").contains("no such flag: --lan"))
  }

  @Test(arguments: ["certificate", "privateKey"])
  func `one file of TLS without the other is refused`(given: String) throws {
    let source = ConfigurationSource()
    #expect {
      _ = try source.load(
        environment: [given == "certificate" ? "ROOST_HTTP_CERTIFICATE" : "ROOST_HTTP_PRIVATE_KEY": "x.pem"],
        read: { _ in "" }, secret: { "" })
    } throws: {
      "\($0)".hasPrefix(given == "certificate" ? "http.privateKey: " : "http.certificate: ")
    }
  }

  @Test func `a file that cannot be read is named`() throws {
    guard case .config(let source, let defaults, let json) = try parse("config --config none.json5") else {
      Issue.record("no config")
      return
    }
    #expect(!defaults && !json)
    #expect(
      try parse("config --defaults --json") == .config(ConfigurationSource(), defaults: true, json: true))
    struct Missing: Error, CustomStringConvertible { let description = "no such file" }
    #expect {
      _ = try source.load(environment: [:], read: { _ in throw Missing() }, secret: { "" })
    } throws: {
      "\($0)" == "none.json5: can't be read: no such file"
    }
  }

  @Test func `a token is asked for in full`() throws {
    guard
      case .token(let request) = try parse(
        "token --dev --room r --identity i --name N --valid-for 30m --no-publish --sources camera,microphone --list"
      )
    else {
      Issue.record("no token")
      return
    }
    #expect(request.room == "r" && request.identity == "i" && request.name == "N" && request.validFor == 1800)
    #expect(!request.publish && request.subscribe && request.list && !request.admin)
    #expect(request.sources == ["camera", "microphone"])
  }

  @Test func `a token of an administrator may be one for thumbnails, too`() throws {
    guard case .token(let request) = try parse("token --dev --admin --thumbnails --room *") else {
      Issue.record("no token")
      return
    }
    #expect(request.admin && request.thumbnails && request.identity == nil)
    guard case .token(let plain) = try parse("token --dev --admin --room *") else {
      Issue.record("no token")
      return
    }
    #expect(!plain.thumbnails)
  }

  @Test(arguments: [
    (
      "",
      "roost: missing command: serve, token, config, rooms, participants, events, publish, record, load or completion"
    ),
    ("sreve", "roost: no such command: sreve; did you mean serve?"),
    ("serve --confg x", "roost: no such flag: --confg; did you mean --config?"),
    (
      "serve --media.worker=2",
      "roost: no such flag: --media.worker, given \"2\"; did you mean --media.workers?"
    ),
    ("serve --zzzz-secret=a", "roost: no such flag: --zzzz-secret, given (hidden)"),
    ("token --room= --identity=a", "roost: --room \"\": expected at least one character"),
    ("serve --zzzzzzzz", "roost: no such flag: --zzzzzzzz"),
    ("serve x", "roost: x: not a flag; flags start with --"),
    ("serve --config", "roost: --config needs a value"),
    ("serve --dev=1", "roost: --dev takes no value"),
    ("serve --dev --dev", "roost: --dev was given twice"),
    (
      "token --admin --list",
      "roost: --admin needs the --room to administer; --room '*' is every room"
    ),
    (
      "token --room * --identity ada",
      "roost: --room '*' is for --admin; no room has that name to be joined"
    ),
    ("token", "roost: nothing to allow: give --room and --identity, or --create, --list or --admin"),
    ("token --identity a", "roost: --identity requires --room, or --person for calls"),
    ("token --list --thumbnails", "roost: --thumbnails is for those who --admin a room"),
    ("token --person", "roost: --person needs the --identity of the person, and no --room"),
    (
      "token --person --identity a --room b",
      "roost: --person needs the --identity of the person, and no --room"
    ),
    (
      "token --room a --identity b --valid-for 6",
      "roost: --valid-for 6: expected a time such as 90s, 30m, 6h or 7d"
    ),
    (
      "token --room a --identity b --sources camra",
      "roost: --sources: no such source: camra; did you mean camera?"
    ),
  ])
  func `a slip is answered with what was meant`(line: String, expected: String) {
    #expect(message(line) == expected)
  }

  @Test(arguments: ["0h", "-1h", "h", "1w", "", "99999999999999999999s", "3651d", "1.5h"])
  func `times are whole numbers with a unit`(text: String) {
    #expect(ParsedFlags.seconds(text) == nil)
  }

  @Test func `help is everywhere and teaches by example`() throws {
    for line in ["--help", "-h", "help", "serve --help", "token --room x --help", "config -h", "help token"] {
      guard case .help(let text) = try parse(line) else {
        Issue.record("no help for \(line)")
        continue
      }
      #expect(text.contains("Examples\n"))
    }
    guard case .help(let text) = try parse("config --help") else {
      Issue.record("no help")
      return
    }
    for option in ConfigurationSchema.options { #expect(text.contains(option.name)) }
    #expect(try parse("--version") == .version)
  }

  @Test func `the key to sign with is given, or the only one`() throws {
    var request = TokenRequest()
    var configuration = Configuration()
    #expect {
      try request.keyPair(in: configuration)
    } throws: {
      "\($0)".contains("set ROOST_KEYS")
    }
    configuration.keys = ["a": "1"]
    #expect(try request.keyPair(in: configuration) == ("a", "1"))
    configuration.keys = ["a": "1", "b": "2"]
    #expect(throws: UsageError.self) { try request.keyPair(in: configuration) }
    request.keyChoice.key = "b"
    #expect(try request.keyPair(in: configuration) == ("b", "2"))
    request.keyChoice.secret = "3"
    #expect(try request.keyPair(in: configuration) == ("b", "3"))
    request.keyChoice.key = nil
    #expect(throws: UsageError.self) { try request.keyPair(in: configuration) }
  }
}
