import Foundation
import Model
import Testing

@testable import Configuration

@Suite("Configuration", .timeLimit(.minutes(2)))
struct ConfigurationTests {
  func load(
    _ text: String? = nil, _ environment: [String: String] = [:], _ arguments: [(String, String)] = []
  ) throws -> Configuration {
    try Configuration.load(
      file: text.map { ("roost.json5", $0) }, environment: environment,
      arguments: arguments.map { (name: $0.0, value: $0.1) })
  }

  static let brackets = String(repeating: "[", count: 100_000)

  func message(_ body: () throws -> Configuration) -> String {
    do {
      _ = try body()
      return "no error"
    } catch {
      return "\(error)"
    }
  }

  @Test func `the file in Config has exactly the options, explanations and defaults of the schema`() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Config/roost.json5")
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text == Configuration().json5)
    #expect(try load(text) == Configuration())
    let keys = KeyScanner(text).keys.map { $0.path.joined(separator: ".") }
    #expect(Set(keys).isSuperset(of: ConfigurationSchema.options.map(\.name)))
    #expect(keys.filter { ConfigurationSchema.option($0) == nil && !ConfigurationSchema.isGroup($0) } == [])
  }

  @Test func `what is written is read back`() throws {
    var changed = Configuration()
    changed.http.addresses.removeLast()
    changed.media.workers = 3
    changed.ice.verify = .onChange
    changed.media.advertise.ipv6 = .addresses([try #require(.init(host: "2001:db8::1", port: 0))])
    #expect(try load(changed.json5) == changed)
    changed.keys = ["k": "top secret"]
    #expect(!changed.json5.contains("top secret"))
  }

  @Test func `the file yields to the environment and that to the command line`() throws {
    let file = "{ media: { workers: 1, port: 9000 }, log: { level: 'error' } }"
    let environment = ["ROOST_MEDIA_WORKERS": "2", "ROOST_LOG_LEVEL": "debug", "PATH": "/bin"]
    let loaded = try load(file, environment, [("media.workers", "3")])
    #expect(loaded.media.workers == 3 && loaded.media.port == 9000 && loaded.log.level == .debug)
    let expected = "ROOST_MEDIA_RECEIVE_BUFFER_BYTES"
    #expect(ConfigurationSchema.option("media.receiveBufferBytes")?.environmentName == expected)
  }

  @Test func `JSON5 is taken as people write it`() throws {
    let text = """
      // comment { with: brackets ]
      {
        'media': { port: 0x1f90, /* inline */ "workers": +2, },
        keys: { "a:b": 'it\\'s // no comment', },
        http: { addresses: ["127.0.0.1", '::1',], },
      }
      """
    let loaded = try load(text)
    #expect(loaded.media.port == 8080 && loaded.media.workers == 2)
    #expect(loaded.keys == ["a:b": "it's // no comment"])
    #expect(loaded.http.addresses.map(\.host) == ["127.0.0.1", "::1"])
  }

  static let mistakes: [(String, String)] = [
    (
      "{\n media: {\n  prot: 1,\n },\n}",
      "roost.json5:3: media.prot: no such option, given 1; did you mean media.port?; expected: one of "
        + "media.port, media.addresses, media.workers, media.advertise, media.receiveBufferBytes, media.sendBufferBytes, media.codecs, media.publisherMaxBitrate, media.gatherMicroseconds"
    ),
    (
      "{\n\n meda: { port: 1 } }",
      "roost.json5:3: meda: no such option, given { … }; did you mean media?; expected: one of "
        + "http, admin, media, ice, stun, turn, keys, webhooks, log, rooms, limits, drain, reconnect, flights, storage, recording, calls, push"
    ),
    (
      "{ 'media.port': \n'x' }",
      "roost.json5:1: media.port: no such option, given \"x\"; did you mean media.port?; expected: one of "
        + "media.port, media.addresses, media.workers, media.advertise, media.receiveBufferBytes, media.sendBufferBytes, media.codecs, media.publisherMaxBitrate, media.gatherMicroseconds"
    ),
    (
      "{ completelyElse: true }",
      "roost.json5:1: completelyElse: no such option, given true; expected: one of http, admin, media, ice, stun, turn, keys, webhooks, log, rooms, limits, drain, reconnect, flights, storage, recording, calls, push"
    ),
    (
      "{ \"\\u006dedia\": {\n\"p\\x6frt\": 0 } }",
      "roost.json5:2: media.port: invalid value 0; expected: a whole number from 1 to 65535"
    ),
    (
      "{ media: {\n port: 70000 } }",
      "roost.json5:2: media.port: invalid value 70000; expected: a whole number from 1 to 65535"
    ),
    (
      "{ media: { port: '7882' } }",
      "roost.json5:1: media.port: invalid value \"7882\"; expected: a whole number from 1 to 65535"
    ),
    (
      "{ media: { port: 7.5 } }",
      "roost.json5:1: media.port: invalid value 7.5; expected: a whole number from 1 to 65535"
    ),
    ("{ media: 5 }", "roost.json5:1: media: invalid value 5; expected: an object: { … }"),
    (
      "{ ice: { verify: 'Always' } }",
      "roost.json5:1: ice.verify: invalid value \"Always\"; expected: one of \"always\", \"onChange\""
    ),
    (
      "{ media: { advertise: { ipv4: ['::1'] } } }",
      "roost.json5:1: media.advertise.ipv4: invalid value [\"::1\"]; "
        + "expected: a list of up to 16 IPv4 addresses that clients can reach, or \"none\""
    ),
    (
      "{ media: { advertise: { ipv6: ['::'] } } }",
      "roost.json5:1: media.advertise.ipv6: invalid value [\"::\"]; "
        + "expected: a list of up to 16 IPv6 addresses that clients can reach, or \"none\""
    ),
    (
      "{ keys: { a: 5 } }",
      "roost.json5:1: keys: invalid value (hidden); "
        + "expected: up to 64 pairs, { apiKey: \"secret\" } in a file, apiKey:secret,… elsewhere"
    ),
    (
      "{ log: { level: 'info' },\n\n log: {} }", "roost.json5:3: log: already set in line 1"
    ),
  ]

  @Test(arguments: mistakes)
  func `an error names the place, the option, the value and what was expected`(text: String, expected: String)
  {
    #expect(message { try load(text) } == expected)
  }

  @Test(arguments: [
    ("{ media: {\n port: 1 ", "roost.json5:1: not valid JSON5: unclosed bracket"),
    ("{ a: 1 ]", "roost.json5:1: not valid JSON5: unmatched closing bracket"),
    ("{\n a: 'x\n }", "roost.json5:2: not valid JSON5: unclosed string"),
    ("{}\n/* x", "roost.json5:2: not valid JSON5: unclosed comment"),
    ("// nothing\n\n", "roost.json5:3: not valid JSON5: the file is empty"),
    (
      "{\n media: {\n port: 78 82 } }",
      "roost.json5:3: not valid JSON5: \"82\" stands where a comma or a closing bracket is due"
    ),
    ("{\n media: {\n port: high } }", "roost.json5:3: not valid JSON5: \"high\" stands where a value is due"),
    ("{\n media: {\n port 7882 } }", "roost.json5:3: not valid JSON5: \"7882\" stands where a colon is due"),
    (
      "{ log: {}\n media: {} }",
      "roost.json5:2: not valid JSON5: \"media\" stands where a comma or a closing bracket is due"
    ),
    ("{\n log: {},,}", "roost.json5:2: not valid JSON5: \",\" stands where a key or a closing brace is due"),
    ("{\n media: {\n port: 0x } }", "roost.json5:3: not valid JSON5: \"0x\" stands where a value is due"),
    ("{}\n{}", "roost.json5:2: not valid JSON5: \"{\" stands where nothing more is due"),
    (Self.brackets, "roost.json5:1: not valid JSON5: more than 64 brackets deep"),
  ])
  func `text that is no JSON5 is reported with its line`(text: String, expected: String) {
    #expect(message { try load(text) } == expected)
  }

  @Test(arguments: ["", "[]", "nonsense", "{ media: }", "{ media port }", "{} {}", "{ a: 1 2 }"])
  func `whatever is no JSON5 object stops the start`(text: String) {
    #expect(throws: ConfigurationError.self) { try load(text) }
  }

  @Test func `the environment and the flags are named by their own names`() {
    #expect(
      message { try load(nil, ["ROOST_MEDIA_WORKERS": "two"]) }
        == "environment variable ROOST_MEDIA_WORKERS: invalid value \"two\"; "
        + "expected: a whole number from 0 to 64")
    #expect(
      message { try load(nil, [:], [("http.port", "-1")]) }
        == "--http.port: invalid value \"-1\"; expected: a whole number from 0 to 65535")
    #expect(
      message { try load(nil, [:], [("http.prt", "1")]) }
        == "--http.prt: http.prt: no such option, given \"1\"; did you mean http.port?; expected: one of "
        + "http.port, http.addresses, http.url, http.connections, http.connectionsPerAddress, http.streams, "
        + "http.streamsPerAddress, http.trustedProxies, http.headSeconds, http.bodySeconds, http.bodyBytes, http.messageBytes, "
        + "http.origins, http.certificate, http.privateKey"
    )
    let secret = message { try load(nil, ["ROOST_KEYS": "verysecret"]) }
    #expect(secret.contains("ROOST_KEYS") && !secret.contains("verysecret"))
  }

  @Test func `TURN servers are URLs, and come with a secret that is never shown`() throws {
    let urls = [
      "turn:turn.example", "turn:192.0.2.1:3478?transport=tcp", "turns:turn.example:443",
      "turn:[2001:db8::1]:3478?transport=udp", "turn:[::1]",
    ]
    let list = urls.map { "'\($0)'" }.joined(separator: ",")
    var loaded = try load("{ turn: { urls: [\(list)], secret: 'top secret' }, stun: { urls: ['stun:a:1'] } }")
    #expect(loaded.turn.urls == urls && loaded.stun.urls == ["stun:a:1"])
    #expect(try load(nil, ["ROOST_TURN_URLS": urls.joined(separator: ", ")]).turn.urls == urls)
    #expect(loaded.json5.contains("secret: \"(hidden)\"") && !loaded.json5.contains("top secret"))
    try loaded.requireWholeTURN()
    loaded.turn.secret = ""
    #expect(throws: ConfigurationError.self) { try loaded.requireWholeTURN() }
  }

  @Test(arguments: [
    "turn.example", "http://turn.example", "stun:turn.example", "turn:", "turn:a b", "turn:a:0",
    "turn:a:65536",
    "turn:a:", "turn:a?transport=sctp", "turn:a?x", "turn:[::1", "turn:[]:1", "turn://a", "turn:user@a",
    "TURN:a",
  ])
  func `what is no TURN server's URL is refused`(url: String) throws {
    #expect(throws: ConfigurationError.self) { try load("{ turn: { urls: ['\(url)'] } }") }
  }

  @Test func `trusted proxies are addresses or networks`() throws {
    let loaded = try load("{ http: { trustedProxies: ['127.0.0.1', '10.0.0.0/8', 'fd00::/8'] } }")
    #expect(loaded.http.trustedProxies.map(\.description) == ["127.0.0.1", "10.0.0.0/8", "fd00::/8"])
    #expect(loaded.json5.contains("trustedProxies: [\"127.0.0.1\", \"10.0.0.0/8\", \"fd00::/8\"]"))
    #expect(try load(nil, ["ROOST_HTTP_TRUSTED_PROXIES": "::1, 10.0.0.0/8"]).http.trustedProxies.count == 2)
    for wrong in ["proxy.example", "10.0.0.1/8", "*", ""] {
      #expect(
        message { try load("{ http: { trustedProxies: ['\(wrong)'] } }") }.hasSuffix(
          "expected: a list of up to 64 IP addresses or networks such as 10.0.0.0/8"))
    }
  }

  @Test func `a family is announced as the interfaces have it, by given addresses, or not at all`() throws {
    #expect(try load("{}").media.advertise.ipv6 == .interfaces)
    for loaded in [
      try load("{ media: { advertise: { ipv6: 'none' } } }"),
      try load(nil, ["ROOST_MEDIA_ADVERTISE_IPV6": "none"]),
    ] {
      #expect(loaded.media.advertise.ipv6 == .none && loaded.media.advertise.ipv4 == .interfaces)
      #expect(loaded.json5.contains("ipv6: \"none\""))
      #expect(try load(loaded.json5).media.advertise == loaded.media.advertise)
    }
    for wrong in ["None", "no", "none,::1", "0.0.0.0", "::"] {
      #expect(throws: ConfigurationError.self) { try load(nil, ["ROOST_MEDIA_ADVERTISE_IPV6": wrong]) }
    }
    #expect(throws: ConfigurationError.self) { try load("{ media: { advertise: { ipv4: ['none'] } } }") }
  }

  @Test func `media is bound to addresses of both families, or to all of one`() throws {
    let loaded = try load("{ media: { addresses: ['192.0.2.1', '::'] } }")
    #expect(loaded.media.addresses.map(\.host) == ["192.0.2.1", "::"])
    #expect(try load(loaded.json5).media.addresses == loaded.media.addresses)
    #expect(try load("{ media: { addresses: [] } }").media.addresses.isEmpty)
    for wrong in ["['192.0.2.1', '192.0.2.1']", "['eth0']", "['192.0.2.1:80']", "'none'"] {
      #expect(throws: ConfigurationError.self) { try load("{ media: { addresses: \(wrong) } }") }
    }
  }

  @Test func `lists and keys come from text too`() throws {
    let loaded = try load(
      nil, ["ROOST_KEYS": "a:s:1,b:t", "ROOST_MEDIA_ADVERTISE_IPV4": "203.0.113.7, 198.51.100.1"])
    #expect(loaded.keys == ["a": "s:1", "b": "t"])
    #expect(
      loaded.media.advertise.ipv4
        == .addresses(["203.0.113.7", "198.51.100.1"].compactMap { SocketAddress(host: $0, port: 0) }))
    #expect(throws: ConfigurationError.self) { try load(nil, ["ROOST_KEYS": "a:1,a:2"]) }
    #expect(throws: ConfigurationError.self) { try load(nil, ["ROOST_HTTP_ADDRESSES": ""]) }
  }

  @Test func `a variable that is nearly an option's stops the start, others are reported`() throws {
    let slip = message { try load(nil, ["ROOST_MEDIA_WORKER": "1"]) }
    #expect(
      slip.hasPrefix(
        "environment variable ROOST_MEDIA_WORKER: no such option, given \"1\"; did you mean ROOST_MEDIA_WORKERS?; expected: one of ROOST_HTTP_PORT, "
      ))
    #expect(!message { try load(nil, ["ROOST_KEY": "hunter2"]) }.contains("hunter2"))
    #expect(message { try load(nil, ["ROOST_KEY": "hunter2"]) }.contains("did you mean ROOST_KEYS?"))
    for (name, isIgnored) in [
      ("ROOST_KEYSS", false), ("ROOST_KEYSSS", false), ("ROOST_LOG_LEVLE", false), ("ROOST_HOME", true),
      ("ROOST_", true), ("ROOST_MEDIA", true), ("ROOSTER", true),
    ] {
      let given = ["": "", name: "a:b"]
      #expect(((try? load(nil, given)) != nil) == isIgnored, "\(name)")
    }
    #expect(
      try load(nil, ["ROOST_HOME": "x", "ROOST_A": "y"]).ignoredVariables == ["ROOST_A", "ROOST_HOME"])
    #expect(try load(nil, ["ROOST_URL": "http://a", "ROOST_TOKEN": "b", "PATH": "c"]).ignoredVariables == [])
  }

  /// As Kubernetes makes them for services named roost, roost-media and roost-http in the same namespace.
  @Test func `what container platforms set for services of that name doesn't stop the start`() throws {
    var platform: [String: String] = [:]
    for service in ["ROOST", "ROOST_MEDIA", "ROOST_HTTP"] {
      platform["\(service)_SERVICE_HOST"] = "10.0.0.1"
      platform["\(service)_SERVICE_PORT"] = "7880"
      platform["\(service)_SERVICE_PORT_RTP"] = "7882"
      platform["\(service)_PORT"] = "udp://10.0.0.1:7882"
      platform["\(service)_PORT_7882_UDP"] = "udp://10.0.0.1:7882"
      platform["\(service)_PORT_7882_UDP_PROTO"] = "udp"
      platform["\(service)_PORT_7882_UDP_PORT"] = "7882"
      platform["\(service)_PORT_7880_TCP_ADDR"] = "10.0.0.1"
    }
    // The address of the service's first port, which may also be a TCP port.
    platform["ROOST_HTTP_PORT"] = "tcp://10.0.0.1:7880"
    let loaded = try load(nil, platform)
    #expect(loaded.media.port == 7882 && loaded.http.port == 7880)
    #expect(loaded.ignoredVariables == platform.keys.sorted())
    // Other values of these names still set the option, or are errors.
    #expect(try load(nil, ["ROOST_MEDIA_PORT": "9000"]).media.port == 9_000)
    #expect(throws: ConfigurationError.self) { try load(nil, ["ROOST_HTTP_PORT": "http://10.0.0.1:7880"]) }
  }

  @Test func `a byte order mark is no part of the text`() throws {
    #expect(try load("\u{FEFF}{ media: { port: 7 } }").media.port == 7)
  }

  @Test func `a short secret is reported with its place`() {
    let short = { (configuration: Configuration) in
      self.message {
        try configuration.requireProductionKeys()
        return configuration
      }
    }
    let text = "{\n keys: {\n long: '\(String(repeating: "x", count: 32))',\n k: 'abc' } }"
    #expect(throws: Never.self) {
      let file = short(try load(text))
      #expect(
        file.hasPrefix("roost.json5:4: keys.k: its secret has only 3 bytes; expected: ")
          && !file.contains("abc"))
      let variable = short(try load(text, ["ROOST_KEYS": "j:abcd"]))
      #expect(variable.hasPrefix("environment variable ROOST_KEYS: keys.j: its secret has only 4 bytes"))
    }
  }

  @Test func `no start without key or with a short secret, except for development`() throws {
    var configuration = Configuration()
    #expect {
      try configuration.requireProductionKeys()
    } throws: {
      let text = "\($0)"
      return text.contains("keys: { myKey:") && text.contains("ROOST_KEYS=") && text.contains("--dev")
    }
    configuration.keys = ["k": String(repeating: "x", count: 31)]
    #expect {
      try configuration.requireProductionKeys()
    } throws: {
      let text = "\($0)"
      return text.hasPrefix("keys.k: its secret has only 31 bytes; expected: a secret of at least 32 bytes")
        && !text.contains("xxx")
    }
    configuration.keys = ["k": String(repeating: "x", count: 32)]
    #expect(throws: Never.self) { try configuration.requireProductionKeys() }
    configuration.applyDevelopment()
    #expect(configuration.keys == ["devkey": "secret"])
    #expect(
      configuration.http.addresses.allSatisfy { $0.isLoopback } && configuration.http.addresses.count == 2)
  }

  @Test func `pushes have to say where the server is reached`() throws {
    var configuration = Configuration()
    configuration.push.webhook = "https://push.example/roost"
    #expect { try configuration.requireWholePush() } throws: { "\($0)".hasPrefix("http.url: missing") }
    configuration.http.url = "https://media.example"
    #expect(throws: Never.self) { try configuration.requireWholePush() }
  }

  @Test func `the nearest word is suggested and a far one isn't`() {
    #expect(Suggestion.distance("kitten", "sitting") == 3)
    #expect(Suggestion.distance("prot", "port") == 1)
    #expect(Suggestion.distance("", "abc") == 3)
    #expect(Suggestion.nearest(to: "xyz", among: ["http.port"]) == nil)
  }

  @Test func `as JSON it has every option in its group, and no secret`() throws {
    var configuration = Configuration()
    configuration.keys = ["a": "do not show"]
    configuration.turn.secret = "nor this"
    let text = configuration.json
    #expect(!text.contains("show") && !text.contains("nor this") && !text.contains("\n"))
    guard case .object(let members) = try JSONTree.parse(json5: text),
      case .object(let media)? = members["media"],
      case .object(let advertise)? = media["advertise"]
    else {
      Issue.record("\(text)")
      return
    }
    #expect(media["workers"] == .integer(0) && advertise["ipv4"] == .array([]))
    #expect(members["keys"] == .object(["a": .string("(hidden)")]))
    for option in ConfigurationSchema.options {
      var tree = JSONTree.object(members)
      for part in option.name.split(separator: ".") {
        guard case .object(let inner) = tree, let next = inner[String(part)] else {
          Issue.record("\(option.name) is missing")
          break
        }
        tree = next
      }
    }
  }
}
